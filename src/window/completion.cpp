// What completes operations, and what ends with it.
#include <algorithm>

#include "base/floating_point.hpp"
#include "window/typical_time.hpp"
#include "window/window.hpp"

namespace wherry::window {
namespace {

/// Those up to a number; what is listed is in the order of numbers.
template <class Items>
auto end_of(Items& items, Number last) {
  return std::find_if(items.begin(), items.end(), [last](const auto& item) { return item.number > last; });
}

/// Uses those up to a number, and drops them.
template <class Items, class Use>
void take(Items& items, Number last, Use&& use) {
  if (items.empty()) return;
  const auto end = items.back().number <= last ? items.end() : end_of(items, last);
  std::for_each(items.begin(), end, use);
  items.erase(items.begin(), end);
}

}  // namespace

Window::Window(const mpi::Api& api, Types& types, MPI_Win win, const std::vector<Segment>& segments, int own,
               const Options& options, bool threads)
    : api_(api),
      types_(types),
      win_(win),
      own_(own),
      options_(options),
      threads_(threads),
      may_be_untracked_(forgets() && options.bypass && !threads),
      by_blocks_below_(options.cache.mode == cache::Mode::transparent ? 0
                                                                      : most_blocks * options.block_bytes),
      due_(options.without_cache_s),
      targets_(segments.size()) {
  for (std::size_t rank = 0; rank < segments.size(); ++rank) {
    targets_[rank].segment = segments[rank];
    targets_[rank].is_cached = static_cast<int>(rank) != own && segments[rank].unit > 0;
  }
}

Number Window::issue(int rank) {
  Target& target = targets_[static_cast<std::size_t>(rank)];
  if (!target.listed) open_.push_back(rank);
  target.listed = true;
  ++target.under_way;
  return target.issued = ++issued_;
}

/// The same, if operations are tracked.
void Window::track(int rank) {
  if (is_untracked()) has_untracked_ = true;
  else issue(rank);
}

/// Whether a target that may be no rank at all has operations that are not complete in this sense.
bool Window::needs(int rank, Number Target::* reached) {
  if (!is_rank(rank)) return true;
  const Target& target = targets_[static_cast<std::size_t>(rank)];
  return target.*reached < target.issued;
}

Window::Covered Window::cover(int rank) {
  find_mixed_for_waiters();
  Covered covered{issued_, send_rest(rank)};
  if (!is_rank(rank)) return covered;
  const Target& target = targets_[static_cast<std::size_t>(rank)];
  covered.operations = target.under_way;
  // What is not tracked takes its part of the time, nobody knows how much.
  covered.timed = !std::exchange(has_untracked_, false) && target.timed != 0;
  return covered;
}

Window::Covered Window::cover_all() {
  find_mixed_for_waiters();
  Covered covered{issued_, send_all_rest()};
  for (const int rank : open_) {
    const Target& target = targets_[static_cast<std::size_t>(rank)];
    covered.operations += target.under_way;
    covered.timed |= target.timed != 0;
  }
  covered.timed &= !std::exchange(has_untracked_, false);
  return covered;
}

/// An unlock takes time even with nothing to complete; only what it takes beyond that is the gets'.
Window::Covered Window::cover_unlock(Covered covered, TypicalTime& idle) {
  covered.idle = &idle;
  covered.notes_idle = covered.operations == 0 && idle.is_due();
  return covered;
}

/// Makes the library's call, and takes its time if somebody asks for that.
Window::Done Window::run_completion(const Covered& covered, const Native& native) {
  if (!covered.timed && !covered.notes_idle) return {covered.last, covered.with(native()), {}};
  const Stopwatch watch;
  const int code = covered.with(native());
  const double taken_s = watch.seconds();
  if (covered.notes_idle) {
    const Guard guard(*this);
    covered.idle->add({taken_s});
    return {covered.last, code, {}};
  }
  return {covered.last, code, computed([&] {
            const auto operations = static_cast<float>(std::max(covered.operations, Number{1}));
            return PlainTime{0, static_cast<float>(taken_s), 1 / operations, covered.idle, 0};
          })};
}

/// What was read comes in, and its epoch ends. Where that ends what is valid, it does so first: what comes need not be
/// kept.
template <class Complete>
void Window::conclude(Complete&& complete) {
  const Guard guard(*this);
  if (forgets()) {
    end_reading();
    complete();
    return rest();
  }
  if (destinations_.doubtful()) find_mixed();
  complete();
  end_reading();
}

/// At one target, which may be no rank.
int Window::conclude_at(int rank, const Done& done, Reach reach) {
  conclude([&] {
    if (is_rank(rank)) (this->*reach)(targets_[static_cast<std::size_t>(rank)], done);
  });
  return done.code;
}

/// At all targets that have something open.
int Window::conclude_all(const Done& done, Reach reach) {
  conclude([&] { complete_open([&](Target& target) { (this->*reach)(target, done); }); });
  return done.code;
}

int Window::flush(int rank, const Native& native) {
  return flush_target(rank, &Target::completed, native, &Window::complete);
}

int Window::flush_local(int rank, const Native& native) {
  return flush_target(rank, &Target::local, native, &Window::complete_locally);
}

int Window::flush_target(int rank, Number Target::* reached, const Native& native, Reach reach) {
  Covered covered;
  {
    const Guard guard(*this);
    if (!needs(rank, reached)) return flush_untracked(native);
    covered = cover(rank);
  }
  return conclude_at(rank, run_completion(covered, native), reach);
}

int Window::flush_all(const Native& native) { return flush_open(native, &Window::complete); }

int Window::flush_local_all(const Native& native) { return flush_open(native, &Window::complete_locally); }

int Window::flush_open(const Native& native, Reach reach) {
  Covered covered;
  {
    const Guard guard(*this);
    if (!has_open()) return flush_untracked(native);
    covered = cover_all();
  }
  return conclude_all(run_completion(covered, native), reach);
}

int Window::unlock(int rank, const Native& native) {
  Covered covered;
  {
    const Guard guard(*this);
    covered = cover_unlock(cover(rank), idle_unlock_);
  }
  return conclude_at(rank, run_completion(covered, native), &Window::complete);
}

int Window::unlock_all(const Native& native) {
  Covered covered;
  {
    const Guard guard(*this);
    covered = cover_unlock(cover_all(), idle_unlock_all_);
  }
  return conclude_all(run_completion(covered, native), &Window::complete);
}

int Window::end_epoch(const Native& native) {
  Covered covered;
  {
    const Guard guard(*this);
    covered = cover_all();
  }
  covered.timed = false;  // these wait for other ranks, too: their time says nothing of the gets
  return conclude_all(run_completion(covered, native), &Window::complete);
}

int Window::synchronize(const Native& native) {
  const int code = native();
  const Guard guard(*this);
  end_reading();
  return code;
}

void Window::invalidate() {
  const Guard guard(*this);
  sharing_.next_phase();
  if (cache_ != nullptr) cache_->invalidate();
}

/// Notes what is read to places to which something else is written as well.
void Window::find_mixed() {
  has_open();  // only the targets that have something under way
  destinations_.check(
      [&](auto&& use) {
        for (const int rank : open_) {
          Target& target = targets_[static_cast<std::size_t>(rank)];
          for (Fetched& each : target.fetched) use({each.range, each.bytes, each.number, &each.aliased});
          for (Coming& each : target.coming) use({each.range, each.bytes, each.number, &each.aliased});
        }
      },
      [&](const Written& copy) { return copy.number <= targets_[copy.range.target].local; });
}

/// Before a completion. Where what comes is not kept, nobody wants to know but those who wait for it.
void Window::find_mixed_for_waiters() {
  if (destinations_.doubtful() && (!forgets() || destinations_.has_copies())) find_mixed();
}

/// The data of gets up to `last` have come, if the library says so.
void Window::arrive(Target& target, const Done& done) {
  const bool come = done.code == MPI_SUCCESS;
  const Number last = done.last;
  for (auto each = target.spread.begin(), end = end_of(target.spread, last); each != end; ++each)
    if (each->gathers) gather(*each->shape, each->count, each->origin, each->data.get());
  take(target.fetched, last, [&](const Fetched& each) {
    destinations_.arrived();
    if (each.ticket == 0) return;
    if (!come) cache_->abandoned(each.ticket);
    else if (each.aliased)
      left_out(NotCached::mixed).add(each.range.bytes), cache_->passed_on(each.ticket, each.bytes);
    else cache_->filled(each.ticket, each.bytes);
  });
  take(target.coming, last, [&](const Coming& each) {
    if (come) sharing_.offer(target, each);
  });
  take(target.blocks, last, [](const BlockMemory&) {});
  // Last: what was already under way for others has come into these by now.
  take(target.spread, last, [&](const Spread& each) {
    if (!each.gathers && come) scatter(*each.shape, each.count, each.data.get(), each.origin);
  });
  if (target.issued <= last) target.under_way = 0;
  if (target.timed <= last) settle_time(target, done);
}

/// Of a get whose call was timed, if there is one: now its completion is known, too.
void Window::settle_time(Target& target, const Done& done) {
  if (target.timed != 0 && done.time && done.code == MPI_SUCCESS) {
    const OwnArithmetic arithmetic;
    PlainTime time = *done.time;
    time.call_s = static_cast<float>(target.timed_s);
    time.bytes = static_cast<float>(target.timed_bytes);
    target.account.timed(time);
  }
  target.timed = 0;
}

void Window::complete(Target& target, const Done& done) {
  arrive(target, done);
  forget_writes(target, done.last);
  target.completed = std::max(target.completed, done.last);
  target.local = std::max(target.local, done.last);
}

/// Gets are complete then at both ends; writes are not.
void Window::complete_locally(Target& target, const Done& done) {
  if (target.written <= target.completed) return complete(target, done);
  arrive(target, done);
  target.local = std::max(target.local, done.last);
}

/// What completes at all targets that have something open.
template <class Complete>
void Window::complete_open(Complete&& complete) {
  std::erase_if(open_, [&](int rank) {
    Target& target = targets_[static_cast<std::size_t>(rank)];
    complete(target);
    target.listed = !target.is_clean();
    return !target.listed;
  });
}

/// Whether anything is not complete, at whatever target. Those that single flushes have completed are no longer listed
/// then.
bool Window::has_open() {
  complete_open([](Target&) {});
  return !open_.empty();
}

/// The writes have reached the target, if there are any. What was read meanwhile may be older than they are.
void Window::forget_writes(Target& target, Number last) {
  if (target.written <= target.completed) return;
  sharing_.note_write(target);
  const auto end = end_of(target.writes, last);
  if (target.reread && cache_ != nullptr)
    for (auto each = target.writes.begin(); each != end; ++each) cache_->written(each->range);
  target.writes.erase(target.writes.begin(), end);
  target.reread &= target.written > last;
}

void Window::end_reading() {
  if (!caches_nothing()) cache_->end_epoch();
}

std::vector<cache::Adjustment> Window::adjustments() const {
  const Guard guard(*this);
  if (cache_ == nullptr) return {};
  return {cache_->adjustments().begin(), cache_->adjustments().end()};
}

Statistics Window::statistics() const {
  const Guard guard(*this);
  Statistics statistics = statistics_;
  statistics.node = sharing_.statistics();
  computed([&] {
    for (const Target& target : targets_) statistics.seconds_saved += target.account.saved_s();
  });
  if (cache_ == nullptr) return statistics;
  statistics.cache = cache_->statistics();
  const auto take = [&](NotCached why, std::uint64_t count, std::uint64_t bytes) {
    statistics.not_cached[static_cast<std::size_t>(why)] = {count, bytes};
  };
  take(NotCached::exceeds, statistics.cache.too_large, statistics.cache.too_large_bytes);
  take(NotCached::worth_less, statistics.cache.refused, statistics.cache.refused_bytes);
  // For the cache these are fetched, from whatever place.
  statistics.cache.bytes_fetched -= statistics.node.found_bytes;
  statistics.cache.bytes_saved += statistics.node.found_bytes;
  statistics.entries = cache_->entries();
  statistics.bytes = cache_->bytes();
  statistics.ceiling_bytes = options_.cache.ceiling_bytes;
  return statistics;
}

std::vector<cache::Timeline::Point> Window::timeline() const {
  const Guard guard(*this);
  if (cache_ == nullptr) return {};
  return {cache_->timeline().begin(), cache_->timeline().end()};
}

std::vector<cache::MissRatioCurve::Point> Window::miss_ratio_curve() const {
  const Guard guard(*this);
  if (cache_ == nullptr) return {};
  return cache_->miss_ratio_curve();
}

}  // namespace wherry::window
