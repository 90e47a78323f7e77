#include "window/completion.hpp"

#include <algorithm>

#include "base/floating_point.hpp"

namespace wherry::window {
namespace {

/// Uses items up to a number, and drops them.
template <class Items, class Use>
void take(Items& items, SequenceNumber last, Use&& use) {
  if (items.empty()) return;
  const auto end = items.back().sequence <= last ? items.end() : end_of(items, last);
  std::for_each(items.begin(), end, use);
  items.erase(items.begin(), end);
}

}  // namespace

Completion::Covered Completion::cover(int rank) {
  common_.overlaps.find_in_time(!common_.cache.forgets());
  Covered covered{common_.operations.issued(), held_.send(rank)};
  if (!common_.operations.is_rank(rank)) return covered;
  const Target& target = common_.operations.target(rank);
  covered.operations = target.under_way;
  // What is not tracked takes its part of the time, nobody knows how much.
  covered.timed = !common_.cache.end_untracked() && target.timed != 0;
  return covered;
}

Completion::Covered Completion::cover_all() {
  common_.overlaps.find_in_time(!common_.cache.forgets());
  Covered covered{common_.operations.issued(), held_.send_all()};
  for (const int rank : common_.operations.open()) {
    const Target& target = common_.operations.target(rank);
    covered.operations += target.under_way;
    covered.timed |= target.timed != 0;
  }
  covered.timed &= !common_.cache.end_untracked();
  return covered;
}

/// An unlock takes time even with nothing to complete; only what it takes beyond that is the gets'.
Completion::Covered Completion::cover_unlock(Covered covered, TypicalTime& idle) {
  covered.idle = &idle;
  covered.notes_idle = covered.operations == 0 && idle.is_due();
  return covered;
}

/// Makes the native call, and takes its time if somebody asks for that.
Completion::Done Completion::run(const Covered& covered, const Native& native) {
  if (!covered.timed && !covered.notes_idle) return {covered.last, covered.with(native()), {}};
  const Stopwatch watch;
  const int code = covered.with(native());
  const double taken_s = watch.seconds();
  if (covered.notes_idle) {
    const Lock::Guard guard(common_.lock);
    covered.idle->add({taken_s});
    return {covered.last, code, {}};
  }
  return {covered.last, code, computed([&] {
            const auto operations = static_cast<float>(std::max(covered.operations, std::uint64_t{1}));
            return PlainTime{0, static_cast<float>(taken_s), 1 / operations, covered.idle, 0};
          })};
}

int Completion::flush_target(int rank, SequenceNumber Target::* reached, const Native& native, Reach reach) {
  Covered covered;
  {
    const Lock::Guard guard(common_.lock);
    if (!common_.operations.needs(rank, reached)) return flush_untracked(native);
    covered = cover(rank);
  }
  return conclude_at(rank, run(covered, native), reach);
}

int Completion::flush_all(const Native& native) { return flush_open(native, &Completion::complete); }

int Completion::flush_local_all(const Native& native) {
  return flush_open(native, &Completion::complete_locally);
}

int Completion::flush_open(const Native& native, Reach reach) {
  Covered covered;
  {
    const Lock::Guard guard(common_.lock);
    if (!common_.operations.has_open()) return flush_untracked(native);
    covered = cover_all();
  }
  return conclude_all(run(covered, native), reach);
}

/// Nothing is known to be under way.
int Completion::flush_untracked(const Native& native) {
  if (common_.cache.is_untracked()) return common_.cache.end_untracked(), native();
  return save_flush();
}

int Completion::unlock(int rank, const Native& native) {
  Covered covered;
  {
    const Lock::Guard guard(common_.lock);
    covered = cover_unlock(cover(rank), idle_unlock_);
  }
  return conclude_at(rank, run(covered, native), &Completion::complete);
}

int Completion::unlock_all(const Native& native) {
  Covered covered;
  {
    const Lock::Guard guard(common_.lock);
    covered = cover_unlock(cover_all(), idle_unlock_all_);
  }
  return conclude_all(run(covered, native), &Completion::complete);
}

int Completion::end_epoch(const Native& native) {
  Covered covered;
  {
    const Lock::Guard guard(common_.lock);
    covered = cover_all();
  }
  covered.timed = false;  // these wait for other ranks, too: their time says nothing of the gets
  return conclude_all(run(covered, native), &Completion::complete);
}

int Completion::synchronize(const Native& native) {
  const int code = native();
  const Lock::Guard guard(common_.lock);
  common_.cache.end_reading();
  return code;
}

/// What was read comes in, and its epoch ends. Where that ends what is valid, it does so first: what comes need not be
/// kept.
template <class Complete>
void Completion::conclude(Complete&& complete) {
  const Lock::Guard guard(common_.lock);
  if (common_.cache.forgets()) {
    common_.cache.end_reading();
    complete();
    return common_.cache.rest(native_gets_.bypassed());
  }
  common_.overlaps.find_if_uncertain();
  complete();
  common_.cache.end_reading();
}

/// At one target, which may be no rank.
int Completion::conclude_at(int rank, const Done& done, Reach reach) {
  conclude([&] {
    if (common_.operations.is_rank(rank)) (this->*reach)(common_.operations.target(rank), done);
  });
  return done.code;
}

/// At all targets that have something open.
int Completion::conclude_all(const Done& done, Reach reach) {
  conclude([&] { common_.operations.complete([&](Target& target) { (this->*reach)(target, done); }); });
  return done.code;
}

void Completion::complete(Target& target, const Done& done) {
  arrive(target, done);
  writes_.complete(target, done.last);
  target.completed = std::max(target.completed, done.last);
  target.local = std::max(target.local, done.last);
}

/// Gets are complete then at both ends; writes are not.
void Completion::complete_locally(Target& target, const Done& done) {
  if (target.written <= target.completed) return complete(target, done);
  arrive(target, done);
  target.local = std::max(target.local, done.last);
}

/// The data of gets up to `last` have come, if the library says so.
void Completion::arrive(Target& target, const Done& done) {
  const bool come = done.code == MPI_SUCCESS;
  const SequenceNumber last = done.last;
  for (auto each = target.unpacks.begin(), end = end_of(target.unpacks, last); each != end; ++each)
    if (each->gathers) datatype::gather(*each->map, each->count, each->origin, each->data.get());
  take(target.fetched, last, [&](const Fetched& each) { take_in(each, come); });
  take(target.coming, last, [&](const Coming& each) {
    if (come) common_.sharing.offer(target, each);
  });
  take(target.blocks, last, [](const BlockMemory&) {});
  // Last: what was already under way for others has come into these by now.
  take(target.unpacks, last, [&](const PendingUnpack& each) {
    if (!each.gathers && come) datatype::scatter(*each.map, each.count, each.data.get(), each.origin);
  });
  if (target.issued <= last) target.under_way = 0;
  if (target.timed <= last) settle_time(target, done);
}

/// come: its bytes have; else they never will.
void Completion::take_in(const Fetched& fetched, bool come) {
  common_.overlaps.arrived();
  if (fetched.ticket == 0) return;
  if (!come) return common_.cache->abandoned(fetched.ticket);
  if (!fetched.aliased) return common_.cache->filled(fetched.ticket, fetched.bytes);
  aliased_.add(fetched.range.bytes);
  common_.cache->passed_on(fetched.ticket, fetched.bytes);
}

/// Of a get whose call was timed, if there is one: now its completion is known, too.
void Completion::settle_time(Target& target, const Done& done) {
  if (target.timed != 0 && done.time && done.code == MPI_SUCCESS) {
    const OwnArithmetic arithmetic;
    PlainTime time = *done.time;
    time.call_s = static_cast<float>(target.timed_s);
    time.bytes = static_cast<float>(target.timed_bytes);
    target.cost_benefit.timed(time);
  }
  target.timed = 0;
}

void Completion::report(WindowStatistics& statistics) const {
  statistics.flushes_saved = flushes_saved_;
  statistics.left_out(NotCached::aliased) = aliased_;
}

}  // namespace wherry::window
