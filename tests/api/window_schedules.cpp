// Random schedules on a cached window and on a native one, with the same content: both must bring the same
// bytes to the same places, and nothing anywhere else.
//
//   window_schedules SCHEDULES [preload | blind WHAT]
// So many in each mode. preload: MPI's names are Wherry's. blind: Wherry is not told of WHAT (put, invalidate, end),
// and what it brings must differ: the schedules would notice.
// A schedule is one epoch of each rank, of any kind of synchronization, with a few operations of any kind and type.
// Schedules are legal MPI, and what they read is defined: each rank writes only its own slices of the others' memory,
// what others may be writing is not read, and an operation that touches what is not complete waits for a flush, or is
// left out where none is allowed.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../seed.hpp"
#include "schedule_transfers.hpp"

namespace {

using namespace test;

enum class Phase { reading, writing };

/// What an operation reads or writes of its target, until it is complete.
struct Touched {
  int target, begin, end;  // ints
  bool written;
};

class Schedules {
 public:
  Schedules(const OneSided& ours, const Caching& caching, int disp_unit, unsigned seed);
  Schedules(const Schedules&) = delete;
  Schedules& operator=(const Schedules&) = delete;
  ~Schedules();

  /// One epoch. Collective.
  void run();
  long wrong() const { return wrong_; }
  Side& ours() { return sides_[0]; }

 private:
  // Alike on all ranks, and this rank's own.
  unsigned together(unsigned below) { return together_() % below; }
  unsigned alone(unsigned below) { return alone_() % below; }
  template <class Do>
  void both(Do&& act) {
    for (Side& side : sides_) act(side);
  }

  void store_locally();
  void invalidate();
  void operate(Epoch epoch, Phase phase, int only);
  void flush(int target);
  bool free_to(Epoch epoch, const Transfer& t, bool writes);
  bool choose(Transfer& t, Phase phase, int only, bool writes);
  void perform(const Transfer& t, bool writes, bool passive);
  void fill_origin(const Transfer& t);
  void compare(const char* when);
  void compare_memory();
  void complain(const char* what, long at);

  Side sides_[2];
  const std::string mode_;
  const int unit_;
  const unsigned seed_;
  int rank_ = 0, size_ = 0;
  MPI_Group group_ = MPI_GROUP_NULL;
  std::mt19937 together_, alone_;
  std::vector<Type> types_ = make_types();
  std::vector<Touched> touched_;
  int arena_ = 0;
  long wrong_ = 0, schedule_ = 0;
  Epoch epoch_ = Epoch::fence;
  bool apart_ = false;  // the epoch needs barriers around it
};

Schedules::Schedules(const OneSided& ours, const Caching& caching, int disp_unit, unsigned seed)
    : sides_{Side(ours), Side(by_library)}, mode_(caching.mode), unit_(disp_unit), seed_(seed) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_group(MPI_COMM_WORLD, &group_);
  together_.seed(seed);
  alone_.seed(seed * 31 + 1 + static_cast<unsigned>(rank_));
  sides_[0].make_window(caching, unit_, rank_, size_);
  sides_[1].make_window({.mode = "off"}, unit_, rank_, size_);
  MPI_Barrier(MPI_COMM_WORLD);
}

Schedules::~Schedules() {
  both([](Side& side) { side.mpi.free(&side.win); });
  MPI_Group_free(&group_);
  free_types(types_);
}

void Schedules::run() {
  ++schedule_;
  epoch_ = static_cast<Epoch>(together(static_cast<unsigned>(Epoch::count)));
  const Phase phase = together(5) == 0 ? Phase::writing : Phase::reading;
  const bool was_apart =
      std::exchange(apart_, phase == Phase::writing || epoch_ == Epoch::fence || epoch_ == Epoch::pscw);
  // Nobody may still be in another kind of epoch, or reading what is written now.
  if (was_apart || apart_) MPI_Barrier(MPI_COMM_WORLD);
  if (mode_ != "always" && together(8) == 0) store_locally();
  const int target = static_cast<int>(alone(static_cast<unsigned>(size_)));
  const bool one = epoch_ == Epoch::lock || epoch_ == Epoch::exclusive;
  both([&](Side& side) { side.open(epoch_, target, group_); });
  const unsigned operations = 1 + alone(16);
  for (unsigned i = 0; i < operations; ++i) operate(epoch_, phase, one ? target : -1);
  both([&](Side& side) { side.close(epoch_, target); });
  touched_.clear();
  compare("an epoch's end");
  if (phase == Phase::reading) return;
  MPI_Barrier(MPI_COMM_WORLD);
  compare_memory();
  invalidate();
}

/// Where it is the program's task. What nobody else writes, and all in transparent mode, must be right without.
void Schedules::invalidate() {
  if (mode_ == "user") both([](Side& side) { side.mpi.invalidate(side.win); });
}

/// Every rank changes the slice that nobody else writes.
void Schedules::store_locally() {
  MPI_Barrier(MPI_COMM_WORLD);
  const unsigned at = alone(slice_ints), value = alone_();
  both([&](Side& side) {
    side.mpi.lock(MPI_LOCK_EXCLUSIVE, rank_, 0, side.win);
    side.memory[static_cast<std::size_t>(slice_ints * size_) + at] = static_cast<std::int32_t>(value);
    side.mpi.unlock(rank_, side.win);
  });
  MPI_Barrier(MPI_COMM_WORLD);
  invalidate();
}

void Schedules::operate(Epoch epoch, Phase phase, int only) {
  const bool passive = epoch != Epoch::fence && epoch != Epoch::pscw;
  if (passive && alone(5) == 0) return flush(only);
  const bool writes = phase == Phase::writing && alone(2) == 0;
  Transfer t{};
  if (!choose(t, phase, only, writes) || !free_to(epoch, t, writes)) return;
  perform(t, writes, passive);
}

/// Operations with requests are for passive targets.
void Schedules::perform(const Transfer& t, bool writes, bool passive) {
  const unsigned how = passive ? alone(4) : 0;
  const bool atomically = writes && alone(2) == 0;
  if (writes) fill_origin(t);
  const unsigned operation = alone(4);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  both([&, i = 0](Side& side) mutable {
    if (!writes) get(side, t, how, &requests[i++]);
    else if (atomically) operate_atomically(side, t, operation);
    else put(side, t, how, &requests[i++]);
  });
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/// Completes what is under way in one of the ways there are; at one target, or at all.
void Schedules::flush(int target) {
  const unsigned how = alone(4);
  if (target < 0 && how % 2 == 0) target = static_cast<int>(alone(static_cast<unsigned>(size_)));
  const bool one = target >= 0;
  const bool local = how >= 2;
  both([&](Side& side) { side.flush(one ? target : -1, local); });
  std::erase_if(touched_,
                [&](const Touched& t) { return (!one || t.target == target) && !(local && t.written); });
  if (!one) compare("a flush");
}

/// Whether the operation touches nothing that is under way; if it does, a flush is made, where one is allowed.
bool Schedules::free_to(Epoch epoch, const Transfer& t, bool writes) {
  const int begin = static_cast<int>(t.begin / 4);
  const Touched mine{t.target, begin, begin + t.ints_there(), writes};
  bool conflict = false;
  for (const Touched& other : touched_)
    conflict |= other.target == mine.target && other.begin < mine.end && mine.begin < other.end &&
                (other.written || mine.written);
  if (conflict && (epoch == Epoch::fence || epoch == Epoch::pscw)) return false;
  if (conflict) {
    both([&](Side& side) { side.mpi.flush(t.target, side.win); });
    std::erase_if(touched_, [&](const Touched& other) { return other.target == t.target; });
  }
  touched_.push_back(mine);
  return true;
}

/// Something inside one slice, of equal signature at both ends. False: there is no room for its data.
bool Schedules::choose(Transfer& t, Phase phase, int only, bool writes) {
  t.unit = unit_;
  t.target = only >= 0 ? only : static_cast<int>(alone(static_cast<unsigned>(size_)));
  t.there = &types_[alone(2) == 0 ? 0 : alone(static_cast<unsigned>(types_.size()))];
  t.here = &types_[alone(2) == 0 ? 0 : alone(static_cast<unsigned>(types_.size()))];
  const int most = slice_ints / static_cast<int>(t.there->extent / 4);
  t.elements = 1 + static_cast<int>(alone(alone(8) == 0 ? static_cast<unsigned>(most) : 4u));
  const auto room = static_cast<unsigned>(slice_ints - t.ints_there());
  // The same places again and again, and some anywhere.
  const unsigned at = alone(4) == 0 ? alone(room + 1) : alone(room / 60 + 1) * 60;
  const bool everywhere = phase == Phase::reading && mode_ != "always";
  int slice = rank_;
  if (!writes && everywhere) slice = static_cast<int>(alone(static_cast<unsigned>(size_ + 1)));
  else if (!writes && alone(2) == 0) slice = size_;
  t.begin = 4L * (slice * slice_ints + static_cast<int>(at)) / unit_ * unit_;
  if (t.begin < 4L * slice * slice_ints) t.begin += unit_;
  if (t.begin + t.elements * t.there->extent > 4L * (slice + 1) * slice_ints) return false;
  const int ints = t.ints_here();
  if (arena_ + ints + 8 > arena_ints) return false;
  t.arena = arena_ + 4;
  arena_ += ints + 8;
  return true;
}

void Schedules::fill_origin(const Transfer& t) {
  for (int i = 0; i < t.ints_here(); ++i) {
    const auto value = static_cast<std::int32_t>(alone_());
    both([&](Side& side) { side.arena[static_cast<std::size_t>(t.arena + i)] = value; });
  }
}

/// All that has come, and all that must not have changed. Only when nothing is under way.
void Schedules::compare(const char* when) {
  for (std::size_t i = 0; i < arena_ints; ++i)
    if (sides_[0].arena[i] != sides_[1].arena[i]) return complain(when, static_cast<long>(i));
  arena_ = 0;
  both([](Side& side) { std::fill(side.arena.begin(), side.arena.end(), guard); });
}

void Schedules::compare_memory() {
  for (std::size_t i = 0; i < sides_[0].memory.size(); ++i)
    if (sides_[0].memory[i] != sides_[1].memory[i])
      return complain("the window's memory", static_cast<long>(i));
}

void Schedules::complain(const char* what, long at) {
  if (++wrong_ > 3) return;
  std::fprintf(stderr,
               "rank %d of %d: mode %s, unit %d, seed %u, schedule %ld, epoch %d: at %s int %ld differs\n",
               rank_, size_, mode_.c_str(), unit_, seed_, schedule_, static_cast<int>(epoch_), what, at);
}

/// By MPI's own means, for a window that is cached below it.
int invalidate_by_info(MPI_Win win) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "wherry_cache", "invalidate");
  const int code = MPI_Win_set_info(win, info);
  MPI_Info_free(&info);
  return code;
}

/// Wherry's functions, but for those that would tell it of something.
OneSided blind_to(const std::string& what) {
  OneSided functions = by_wherry;
  if (what == "put") {
    functions.put = MPI_Put;
    functions.rput = MPI_Rput;
  } else if (what == "invalidate") {
    functions.invalidate = invalidate_nothing;
  } else if (what == "end") {
    functions.fence = MPI_Win_fence;
    functions.unlock = MPI_Win_unlock;
    functions.unlock_all = MPI_Win_unlock_all;
    functions.complete = MPI_Win_complete;
  } else {
    std::fprintf(stderr, "window_schedules: nobody can be blind to '%s'; give put, invalidate or end\n",
                 what.c_str());
    std::exit(2);
  }
  return functions;
}

OneSided functions_for(int argc, char** argv) {
  if (argc > 3 && std::string(argv[2]) == "blind") return blind_to(argv[3]);
  if (argc <= 2) return by_wherry;
  OneSided preloaded = by_library;
  preloaded.invalidate = invalidate_by_info;
  return preloaded;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long schedules = argc > 1 ? std::atol(argv[1]) : 100;
  const OneSided ours = functions_for(argc, argv);
  const unsigned seed = wherry::test::seed_from_environment();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("seed %u\n", seed), std::fflush(stdout);
  // What the ranks of a node share is little, so that it is not always found.
  struct Variant {
    int unit;  // of displacements
    const char *block, *node;
  };
  constexpr Variant variants[] = {{.unit = 1, .block = "0", .node = "64K"},
                                  {.unit = 4, .block = "128", .node = "0"},
                                  {.unit = 8, .block = "0", .node = "64K"}};
  long mine[4] = {};
  for (const char* mode : {"transparent", "always", "user"})
    for (const auto& [unit, block, node] : variants) {
      const unsigned own_seed = seed + static_cast<unsigned>(unit);
      const Caching caching{.mode = mode, .coalesces = own_seed % 2 == 0, .block = block, .node = node};
      Schedules runs(ours, caching, unit, own_seed);
      for (long i = 0; i < schedules / 3; ++i) runs.run();
      wherry_win_statistics s;
      wherry_win_get_statistics(runs.ours().win, &s);
      mine[0] += runs.wrong();
      mine[1] += static_cast<long>(s.full_hits + s.pending_hits + s.partial_hits);
      mine[2] += static_cast<long>(s.compulsory_misses + s.capacity_misses + s.conflict_misses +
                                   s.invalidated_misses);
      mine[3] += static_cast<long>(s.node_found);
    }
  long all[4] = {};
  MPI_Allreduce(mine, all, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("wrong %ld hits %ld misses %ld found %ld\n", all[0], all[1], all[2], all[3]);
  MPI_Finalize();
  return all[0] != 0;
}
