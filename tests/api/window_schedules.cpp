// Random schedules on a cached window and on one of the library's, with the same content: both must bring the same bytes to the
// same places, and nothing anywhere else.
//
//   window_schedules SCHEDULES [preload]   so many in each mode; "preload": MPI's names are Wherry's
// A schedule is one epoch of each rank, of any kind of synchronization, with a few operations of any kind and type. Schedules
// are legal MPI, and what they read is defined: each rank writes only its own slices of the others' memory, what others may be
// writing is not read, and an operation that touches what is not complete waits for a flush, or is left out where none is allowed.
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

#include "one_sided.hpp"
#include "window_types.hpp"

namespace {

using namespace test;

constexpr int slice_ints =
    600;  // of each rank, in each rank's memory, and one more that nobody writes but its owner
constexpr int arena_ints = 1 << 15;
constexpr std::int32_t guard = 0x5A5A5A5A;

enum class Epoch { fence, lock_all, lock, exclusive, pscw, count };
enum class Phase { reading, writing };

/// One side of the comparison: a window, and memory for what comes and goes.
struct Side {
  explicit Side(const OneSided& functions) : mpi(functions) {}

  const OneSided& mpi;
  MPI_Win win = MPI_WIN_NULL;
  std::vector<std::int32_t> memory, arena;
};

/// What an operation reads or writes of its target, until it is complete.
struct Touched {
  int target, begin, end;  // ints
  bool written;
};

/// Of an operation: `ints` ints, laid out by a type at each end.
struct Transfer {
  int target;
  long begin;  // the first byte of the target's data
  const Type* there;
  const Type* here;
  int elements;  // of six ints
  int arena;     // the first int of the origin

  int count_there() const { return elements * there->per_element; }
  int count_here() const { return elements * here->per_element; }
};

class Schedules {
 public:
  Schedules(const OneSided& ours, const char* mode, int disp_unit, unsigned seed);
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

  void make_window(Side& side, const char* mode);
  void store_locally();
  void invalidate();
  void open(Epoch epoch, int target);
  void close(Epoch epoch, int target);
  void operate(Epoch epoch, Phase phase, int only);
  void flush(int target);
  bool free_to(Epoch epoch, const Transfer& t, bool writes);
  bool choose(Transfer& t, Phase phase, int only, bool writes);
  void get(const Transfer& t, unsigned how);
  void put(const Transfer& t, unsigned how);
  void atomic(const Transfer& t, unsigned how);
  long displacement(const Transfer& t) const { return t.begin / unit_; }
  void fill_origin(const Transfer& t);
  void wait_for(MPI_Request (&requests)[2]);
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

Schedules::Schedules(const OneSided& ours, const char* mode, int disp_unit, unsigned seed)
    : sides_{Side(ours), Side(by_library)}, mode_(mode), unit_(disp_unit), seed_(seed) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_group(MPI_COMM_WORLD, &group_);
  together_.seed(seed);
  alone_.seed(seed * 31 + 1 + static_cast<unsigned>(rank_));
  make_window(sides_[0], mode);
  make_window(sides_[1], "off");
  MPI_Barrier(MPI_COMM_WORLD);
}

Schedules::~Schedules() {
  both([](Side& side) { side.mpi.free(&side.win); });
  MPI_Group_free(&group_);
  free_types(types_);
}

void Schedules::make_window(Side& side, const char* mode) {
  side.memory.resize(static_cast<std::size_t>(slice_ints * (size_ + 1)));
  for (std::size_t i = 0; i < side.memory.size(); ++i)
    side.memory[i] = static_cast<std::int32_t>(i * 2654435761u + static_cast<unsigned>(rank_) * 40503u);
  side.arena.assign(arena_ints, guard);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "wherry_cache", mode);
  MPI_Info_set(info, "wherry_cache_ceiling", "128K");  // too little for what is read
  MPI_Info_set(info, "wherry_cache_storage", "16K");
  MPI_Info_set(info, "wherry_cache_entries", "64");
  MPI_Info_set(info, "wherry_cache_bypass", "0");
  side.mpi.create(side.memory.data(), static_cast<MPI_Aint>(4 * side.memory.size()), unit_, info,
                  MPI_COMM_WORLD, &side.win);
  MPI_Info_free(&info);
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
  open(epoch_, target);
  const unsigned operations = 1 + alone(16);
  for (unsigned i = 0; i < operations; ++i) operate(epoch_, phase, one ? target : -1);
  close(epoch_, target);
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

void Schedules::open(Epoch epoch, int target) {
  both([&](Side& side) {
    switch (epoch) {
      case Epoch::fence: side.mpi.fence(0, side.win); break;
      case Epoch::lock_all: side.mpi.lock_all(0, side.win); break;
      case Epoch::lock: side.mpi.lock(MPI_LOCK_SHARED, target, 0, side.win); break;
      case Epoch::exclusive: side.mpi.lock(MPI_LOCK_EXCLUSIVE, target, 0, side.win); break;
      default: side.mpi.post(group_, 0, side.win); side.mpi.start(group_, 0, side.win);
    }
  });
}

void Schedules::close(Epoch epoch, int target) {
  both([&](Side& side) {
    switch (epoch) {
      case Epoch::fence: side.mpi.fence(MPI_MODE_NOSUCCEED, side.win); break;
      case Epoch::lock_all: side.mpi.unlock_all(side.win); break;
      case Epoch::lock:
      case Epoch::exclusive: side.mpi.unlock(target, side.win); break;
      default: side.mpi.complete(side.win); side.mpi.wait(side.win);
    }
  });
}

void Schedules::operate(Epoch epoch, Phase phase, int only) {
  const bool passive = epoch != Epoch::fence && epoch != Epoch::pscw;
  if (passive && alone(5) == 0) return flush(only);
  const bool writes = phase == Phase::writing && alone(2) == 0;
  Transfer t{};
  if (!choose(t, phase, only, writes) || !free_to(epoch, t, writes)) return;
  const unsigned how = passive ? alone(4) : 0;
  if (!writes) return get(t, how);
  if (alone(2) == 0) put(t, how);
  else atomic(t, alone(4));
}

/// Completes what is under way in one of the ways there are; at one target, or at all.
void Schedules::flush(int target) {
  const unsigned how = alone(4);
  if (target < 0 && how % 2 == 0) target = static_cast<int>(alone(static_cast<unsigned>(size_)));
  const bool one = target >= 0;
  const bool local = how >= 2;
  both([&](Side& side) {
    if (one) (local ? side.mpi.flush_local : side.mpi.flush)(target, side.win);
    else (local ? side.mpi.flush_local_all : side.mpi.flush_all)(side.win);
  });
  std::erase_if(touched_,
                [&](const Touched& t) { return (!one || t.target == target) && !(local && t.written); });
  if (!one) compare("a flush");
}

/// Whether the operation touches nothing that is under way; if it does, a flush is made, where one is allowed.
bool Schedules::free_to(Epoch epoch, const Transfer& t, bool writes) {
  const int begin = static_cast<int>(t.begin / 4);
  const Touched mine{t.target, begin, begin + static_cast<int>(t.there->extent / 4) * t.elements, writes};
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
  t.target = only >= 0 ? only : static_cast<int>(alone(static_cast<unsigned>(size_)));
  t.there = &types_[alone(2) == 0 ? 0 : alone(static_cast<unsigned>(types_.size()))];
  t.here = &types_[alone(2) == 0 ? 0 : alone(static_cast<unsigned>(types_.size()))];
  const int most = slice_ints / static_cast<int>(t.there->extent / 4);
  t.elements = 1 + static_cast<int>(alone(alone(8) == 0 ? static_cast<unsigned>(most) : 4u));
  const auto room = static_cast<unsigned>(slice_ints - t.elements * static_cast<int>(t.there->extent / 4));
  // The same places again and again, and some anywhere.
  const unsigned at = alone(4) == 0 ? alone(room + 1) : alone(room / 60 + 1) * 60;
  const bool everywhere = phase == Phase::reading && mode_ != "always";
  int slice = rank_;
  if (!writes && everywhere) slice = static_cast<int>(alone(static_cast<unsigned>(size_ + 1)));
  else if (!writes && alone(2) == 0) slice = size_;
  t.begin = 4L * (slice * slice_ints + static_cast<int>(at)) / unit_ * unit_;
  if (t.begin < 4L * slice * slice_ints) t.begin += unit_;
  if (t.begin + t.elements * t.there->extent > 4L * (slice + 1) * slice_ints) return false;
  const int ints = t.elements * static_cast<int>(t.here->extent / 4);
  if (arena_ + ints + 8 > arena_ints) return false;
  t.arena = arena_ + 4;
  arena_ += ints + 8;
  return true;
}

void Schedules::wait_for(MPI_Request (&requests)[2]) { MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); }

void Schedules::get(const Transfer& t, unsigned how) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  both([&, i = 0](Side& side) mutable {
    void* const origin = side.arena.data() + t.arena;
    if (how == 1)
      side.mpi.rget(origin, t.count_here(), t.here->type, t.target, displacement(t), t.count_there(),
                    t.there->type, side.win, &requests[i++]);
    else if (how == 2 && t.here->is_plain && t.there->is_plain)
      side.mpi.get_accumulate(nullptr, 0, MPI_INT, origin, t.count_here(), t.here->type, t.target,
                              displacement(t), t.count_there(), t.there->type, MPI_NO_OP, side.win);
    else
      side.mpi.get(origin, t.count_here(), t.here->type, t.target, displacement(t), t.count_there(),
                   t.there->type, side.win);
  });
  wait_for(requests);
}

void Schedules::fill_origin(const Transfer& t) {
  const int ints = t.elements * static_cast<int>(t.here->extent / 4);
  for (int i = 0; i < ints; ++i) {
    const auto value = static_cast<std::int32_t>(alone_());
    both([&](Side& side) { side.arena[static_cast<std::size_t>(t.arena + i)] = value; });
  }
}

void Schedules::put(const Transfer& t, unsigned how) {
  fill_origin(t);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  both([&, i = 0](Side& side) mutable {
    const void* const origin = side.arena.data() + t.arena;
    if (how == 1)
      side.mpi.rput(origin, t.count_here(), t.here->type, t.target, displacement(t), t.count_there(),
                    t.there->type, side.win, &requests[i++]);
    else
      side.mpi.put(origin, t.count_here(), t.here->type, t.target, displacement(t), t.count_there(),
                   t.there->type, side.win);
  });
  wait_for(requests);
}

/// Operations on ints, one after the other in memory at both ends.
void Schedules::atomic(const Transfer& t, unsigned how) {
  const int count = t.elements * static_cast<int>(std::min(t.here->extent, t.there->extent) / 4);
  fill_origin(t);
  both([&](Side& side) {
    std::int32_t* const origin = side.arena.data() + t.arena;
    const int half = std::max(count / 2, 1);  // the other half gets what was there
    switch (how) {
      case 0:
        side.mpi.accumulate(origin, count, MPI_INT, t.target, displacement(t), count, MPI_INT, MPI_SUM,
                            side.win);
        break;
      case 1:
        if (count >= 2)
          side.mpi.get_accumulate(origin, half, MPI_INT, origin + count - half, half, MPI_INT, t.target,
                                  displacement(t), half, MPI_INT, MPI_BXOR, side.win);
        break;
      case 2:
        if (count >= 2)
          side.mpi.fetch_and_op(origin, origin + 1, MPI_INT, t.target, displacement(t), MPI_SUM, side.win);
        break;
      default:
        if (count >= 3)
          side.mpi.compare_and_swap(origin, origin + 1, origin + 2, MPI_INT, t.target, displacement(t),
                                    side.win);
    }
  });
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

unsigned seed_from_environment() {
  const char* text = std::getenv("WHERRY_TEST_SEED");
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 20261122u;
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

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long schedules = argc > 1 ? std::atol(argv[1]) : 100;
  OneSided preloaded = by_library;
  preloaded.invalidate = invalidate_by_info;
  const OneSided& ours = argc > 2 ? preloaded : by_wherry;
  const unsigned seed = seed_from_environment();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("seed %u\n", seed), std::fflush(stdout);
  long mine[3] = {};
  for (const char* mode : {"transparent", "always", "user"})
    for (const int unit : {1, 4, 8}) {
      Schedules runs(ours, mode, unit, seed + static_cast<unsigned>(unit));
      for (long i = 0; i < schedules / 3; ++i) runs.run();
      mine[0] += runs.wrong();
      wherry_win_statistics statistics;
      wherry_win_get_statistics(runs.ours().win, &statistics);
      mine[1] += static_cast<long>(statistics.full_hits + statistics.pending_hits + statistics.partial_hits);
      mine[2] += static_cast<long>(statistics.compulsory_misses + statistics.capacity_misses +
                                   statistics.conflict_misses + statistics.invalidated_misses);
    }
  long all[3] = {};
  MPI_Allreduce(mine, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("wrong %ld hits %ld misses %ld\n", all[0], all[1], all[2]);
  MPI_Finalize();
  return all[0] != 0;
}
