// Random schedules on a cached window of the stand-in library, and what each get may bring.
//
// The model: the bytes that the targets will have when all is complete. What a get brings that races with a write is
// anybody's guess; all else is exact, and nothing around it may change. Where the ranks of a node share what they read,
// another rank reads, too: of what this one has written since the last invalidation that rank may have anything.
#pragma once

#include <algorithm>
#include <list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "window/rig.hpp"

namespace window_test {

class Schedule {
 public:
  Schedule(const window::Options& options, int unit, unsigned seed)
      : rig_(options, ranks, bytes, unit, seed), mode_(options.cache.mode), random_(seed) {
    for (int rank = 0; rank < ranks; ++rank)
      for (std::int64_t at = 0; at < bytes; ++at) truth_[rank][at] = rig_.library.read(rank, at);
    if (options.shared_bytes() > 0) node_ = &rig_.share();
    types_ = {{MPI_BYTE, 24},
              {rig_.library.make_type({{0, 3}, {8, 5}}, 16), 3},  // gaps
              {rig_.library.make_type({{4, 4}, {0, 2}}, 8), 4},   // not in the order of memory
              {rig_.library.make_type({{2, 12}}, 0), 2}};         // begins behind its address
    types_in_use_ = rig_.library.types();
  }
  ~Schedule() {
    for (const Type& type : types_)
      if (type.type != MPI_BYTE) rig_.library.free_type(type.type);
  }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// So many calls, and the end of the epoch.
  void run(int calls) {
    for (int i = 0; i < calls && problem_.empty(); ++i) step();
    end_epoch();
    if (rig_.library.types() != types_in_use_) complain("types are left");
  }

  const std::string& problem() const { return problem_; }
  window::WindowStatistics statistics() const { return rig_.window.statistics(); }

 private:
  static constexpr int ranks = 3;
  static constexpr std::int64_t bytes = 2048;
  static constexpr std::byte guard{0xa5};
  enum : int { untouched = -1, any = -2 };

  struct Type {
    MPI_Datatype type;
    int per_unit;  // elements that have 24 bytes of data
  };
  using Place = std::pair<int, std::int64_t>;  // rank and byte
  struct Get {
    int rank;
    std::vector<std::byte> memory;
    std::vector<int> expected;                               // of memory: a byte, untouched or any
    std::vector<std::pair<std::int64_t, std::size_t>> from;  // byte there, index in memory
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Transfer {
    int rank;
    Data there, here;  // here: from an address of 0 on
    std::vector<std::int64_t> offsets_there, offsets_here;
  };

  int choose(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  void step() {
    switch (choose(26)) {
      case 0: return flush();
      case 1: return flush_local();
      case 2: return end_epoch();
      case 3: return others_write();
      case 4: return put();
      case 5: return increment();
      case 6: return rget();
      case 7: return invalidate();
      case 8: return neighbor_reads();
      case 9: return neighbor_looks();
      default: return get();
    }
  }

  Transfer some_transfer() {
    const Type &there = types_[pick_type()], &here = types_[pick_type()];
    const int units = 1 + (choose(8) == 0 ? choose(12) : choose(2));
    Transfer t{1 + choose(ranks - 1),
               {0, units * there.per_unit, there.type},
               {0, units * here.per_unit, here.type},
               {},
               {}};
    t.offsets_there = rig_.library.offsets(t.there);
    t.offsets_here = rig_.library.offsets(t.here);
    const std::int64_t reach = *std::max_element(t.offsets_there.begin(), t.offsets_there.end()) + 1;
    // The same places again and again, some beside each other, and some anywhere.
    const auto room = static_cast<int>(bytes - reach);
    std::int64_t at = choose(3) == 0 ? choose(room) : choose(room / 24) * 24;
    at = at / rig_.unit * rig_.unit;
    t.there.at = at;
    for (std::int64_t& offset : t.offsets_there) offset += at;
    return t;
  }
  std::size_t pick_type() { return choose(2) == 0 ? 0 : static_cast<std::size_t>(choose(4)); }

  Get& prepare(const Transfer& t) {
    const auto reach =
        static_cast<std::size_t>(*std::max_element(t.offsets_here.begin(), t.offsets_here.end()));
    Get& get = gets_.emplace_back();
    get.rank = t.rank;
    get.memory.assign(reach + 9, guard);
    get.expected.assign(reach + 9, untouched);
    for (std::size_t i = 0; i < t.offsets_here.size(); ++i) {
      const auto here = static_cast<std::size_t>(t.offsets_here[i]);
      const std::int64_t there = t.offsets_there[i];
      get.from.emplace_back(there, here);
      get.expected[here] =
          unsettled_.contains({t.rank, there}) ? any : std::to_integer<int>(truth_[t.rank][there]);
    }
    return get;
  }

  void get() {
    const Transfer t = some_transfer();
    Get& made = prepare(t);
    rig_.get(made.memory.data(), t.here.count, t.here.type, t.rank, t.there);
  }

  /// Waited for at once, or after its target's operations are complete.
  void rget() {
    const Transfer t = some_transfer();
    Get& made = prepare(t);
    rig_.rget(made.memory.data(), t.here.count, t.here.type, t.rank, t.there, &made.request);
    if (choose(2) == 0) return;
    rig_.library.wait(made.request);
    check(made);
    gets_.pop_back();
  }

  void put() {
    const Transfer t = some_transfer();
    settle_before(t);
    std::list<std::vector<std::byte>>& sent = sent_[t.rank];
    sent.emplace_back(prepare_sent(t));
    for (std::size_t i = 0; i < t.offsets_here.size(); ++i)
      write({t.rank, t.offsets_there[i]}, sent.back()[static_cast<std::size_t>(t.offsets_here[i])], true);
    rig_.put(sent.back().data(), t.here.count, t.here.type, t.rank, t.there);
  }
  std::vector<std::byte> prepare_sent(const Transfer& t) {
    std::vector<std::byte> data(
        static_cast<std::size_t>(*std::max_element(t.offsets_here.begin(), t.offsets_here.end())) + 1);
    for (std::byte& each : data) each = static_cast<std::byte>(random_());
    return data;
  }

  void increment() {
    const Transfer t = some_transfer();
    settle_before(t);
    for (const std::int64_t at : t.offsets_there)
      write({t.rank, at}, static_cast<std::byte>(std::to_integer<int>(truth_[t.rank][at]) + 1), true);
    rig_.increment(t.rank, t.there);
  }

  /// Two writes of the same bytes must not be under way together.
  void settle_before(const Transfer& t) {
    const bool meets = std::any_of(t.offsets_there.begin(), t.offsets_there.end(),
                                   [&](std::int64_t at) { return unsettled_.contains({t.rank, at}); });
    if (meets) flush(t.rank);
  }

  void write(const Place& place, std::byte byte, bool own) {
    truth_[place.first][place.second] = byte;
    if (own) unsettled_.insert(place), changed_.insert(place);
    for (Get& get : gets_)
      for (const auto& [there, here] : get.from)
        if (get.rank == place.first && there == place.second) get.expected[here] = any;
  }

  /// As far as the mode allows, and what is not under way; the program then says so, where that is its task.
  void others_write() {
    if (mode_ == cache::Mode::always_cache) return;
    const Transfer t = some_transfer();
    for (const std::int64_t at : t.offsets_there) {
      if (unsettled_.contains({t.rank, at}) || is_read({t.rank, at})) continue;
      const auto byte = static_cast<std::byte>(random_());
      rig_.library.write(t.rank, at, byte);
      write({t.rank, at}, byte, false);
    }
    if (mode_ == cache::Mode::user_defined) invalidate();
  }
  void invalidate() {
    rig_.window.invalidate();
    ++phase_;
    changed_ = unsettled_;
  }

  void neighbor_reads() {
    if (node_ == nullptr) return;
    for (int i = 0; i < 8; ++i) neighbor_reads(some_range());
  }
  void neighbor_reads(const cache::TargetRange& range) {
    std::vector<std::byte> seen;
    for (std::uint64_t at = range.displacement; at < range.end(); ++at)
      seen.push_back(is_changed(range, at) ? static_cast<std::byte>(random_()) : truth(range, at));
    node_->keep(range, phase_, seen.data());
  }
  void neighbor_looks() {
    if (node_ == nullptr) return;
    const cache::TargetRange range = some_range();
    std::vector<std::byte> found(range.bytes);
    if (!node_->find(range, phase_, found.data())) return;
    for (std::uint64_t at = range.displacement; at < range.end(); ++at)
      if (!is_changed(range, at) && found[at - range.displacement] != truth(range, at))
        complain("another rank of the node is given a wrong byte");
  }
  cache::TargetRange some_range() {
    const std::int64_t at = choose(static_cast<int>(bytes) / 24 - 4) * 24 / rig_.unit * rig_.unit;
    return {static_cast<std::uint32_t>(1 + choose(ranks - 1)), static_cast<std::uint64_t>(at),
            24 * static_cast<std::uint64_t>(1 + choose(4))};
  }
  bool is_changed(const cache::TargetRange& range, std::uint64_t at) const {
    return changed_.contains({static_cast<int>(range.target), static_cast<std::int64_t>(at)});
  }
  std::byte truth(const cache::TargetRange& range, std::uint64_t at) const {
    return truth_[range.target][at];
  }

  bool is_read(const Place& place) const {
    for (const Get& get : gets_)
      for (const auto& [there, here] : get.from)
        if (get.rank == place.first && there == place.second) return true;
    return false;
  }

  void flush() { choose(2) == 0 ? flush(1 + choose(ranks - 1)) : flush_all(); }
  void flush(int rank) {
    choose(2) == 0 ? rig_.flush(rank) : rig_.unlock(rank);
    settle(rank);
    check_all(rank);
  }
  void flush_all() {
    choose(2) == 0 ? rig_.flush_all() : rig_.unlock_all();
    for (int rank = 1; rank < ranks; ++rank) settle(rank), check_all(rank);
  }
  void end_epoch() {
    rig_.end_epoch();
    for (int rank = 1; rank < ranks; ++rank) settle(rank), check_all(rank);
  }
  /// Gets are complete then; writes need not be.
  void flush_local() {
    if (choose(2) == 0) {
      rig_.flush_local_all();
      for (int rank = 1; rank < ranks; ++rank) check_all(rank);
    } else {
      const int rank = 1 + choose(ranks - 1);
      rig_.flush_local(rank);
      check_all(rank);
    }
  }

  void settle(int rank) {
    std::erase_if(unsettled_, [&](const Place& place) { return place.first == rank; });
    sent_[rank].clear();
  }

  void check_all(int rank) {
    gets_.remove_if([&](const Get& get) {
      if (get.rank != rank) return false;
      check(get);
      return true;
    });
  }
  void check(const Get& get) {
    for (std::size_t i = 0; i < get.memory.size(); ++i) {
      const int expected = get.expected[i] == untouched ? std::to_integer<int>(guard) : get.expected[i];
      if (expected != any && std::to_integer<int>(get.memory[i]) != expected)
        return complain(
            (get.expected[i] == untouched ? "wrote outside of the data, at byte " : "wrong byte ") +
            std::to_string(i));
    }
  }
  void complain(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }

  Rig rig_;
  const cache::Mode mode_;
  std::mt19937 random_;
  std::vector<Type> types_;
  std::size_t types_in_use_ = 0;
  std::byte truth_[ranks][bytes];
  cache::NodeCache* node_ = nullptr;  // nullptr: the node shares nothing
  std::uint64_t phase_ = 1;           // as the window counts them
  std::set<Place> changed_;           // by own writes, in this phase
  std::set<Place> unsettled_;         // own writes that the targets may not have
  std::list<Get> gets_;               // under way
  std::list<std::vector<std::byte>> sent_[ranks];
  std::string problem_;
};

}  // namespace window_test
