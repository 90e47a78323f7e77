// The operations of random schedules, on one side.
#pragma once

#include <algorithm>

#include "schedule_sides.hpp"
#include "window_types.hpp"

namespace test {

/// Of an operation: some ints, laid out by a type at each end.
struct Transfer {
  int target;
  long begin;  // the first byte of the target's data
  int unit;    // bytes of a displacement
  const Type* there;
  const Type* here;
  int elements;  // of six ints
  int arena;     // the first int of the origin

  int count_there() const { return elements * there->per_element; }
  int count_here() const { return elements * here->per_element; }
  int ints_there() const { return elements * static_cast<int>(there->extent / 4); }
  int ints_here() const { return elements * static_cast<int>(here->extent / 4); }
  MPI_Aint displacement() const { return begin / unit; }
};

/// In one of three ways. request: of what must be waited for.
inline void get(Side& side, const Transfer& t, unsigned how, MPI_Request* request) {
  void* const origin = side.arena.data() + t.arena;
  if (how == 1)
    side.mpi.rget(origin, t.count_here(), t.here->type, t.target, t.displacement(), t.count_there(),
                  t.there->type, side.win, request);
  else if (how == 2 && t.here->is_plain && t.there->is_plain)
    side.mpi.get_accumulate(nullptr, 0, MPI_INT, origin, t.count_here(), t.here->type, t.target,
                            t.displacement(), t.count_there(), t.there->type, MPI_NO_OP, side.win);
  else
    side.mpi.get(origin, t.count_here(), t.here->type, t.target, t.displacement(), t.count_there(),
                 t.there->type, side.win);
}

inline void put(Side& side, const Transfer& t, unsigned how, MPI_Request* request) {
  const void* const origin = side.arena.data() + t.arena;
  if (how == 1)
    side.mpi.rput(origin, t.count_here(), t.here->type, t.target, t.displacement(), t.count_there(),
                  t.there->type, side.win, request);
  else
    side.mpi.put(origin, t.count_here(), t.here->type, t.target, t.displacement(), t.count_there(),
                 t.there->type, side.win);
}

/// Operations on ints, one after the other in memory at both ends.
inline void operate_atomically(Side& side, const Transfer& t, unsigned how) {
  const int count = std::min(t.ints_here(), t.ints_there());
  std::int32_t* const origin = side.arena.data() + t.arena;
  const int half = std::max(count / 2, 1);  // the other half gets what was there
  switch (how) {
    case 0:
      side.mpi.accumulate(origin, count, MPI_INT, t.target, t.displacement(), count, MPI_INT, MPI_SUM,
                          side.win);
      break;
    case 1:
      if (count >= 2)
        side.mpi.get_accumulate(origin, half, MPI_INT, origin + count - half, half, MPI_INT, t.target,
                                t.displacement(), half, MPI_INT, MPI_BXOR, side.win);
      break;
    case 2:
      if (count >= 2)
        side.mpi.fetch_and_op(origin, origin + 1, MPI_INT, t.target, t.displacement(), MPI_SUM, side.win);
      break;
    default:
      if (count >= 3)
        side.mpi.compare_and_swap(origin, origin + 1, origin + 2, MPI_INT, t.target, t.displacement(),
                                  side.win);
  }
}

}  // namespace test
