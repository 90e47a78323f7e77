// MPI_Pack and MPI_Unpack of derived types by Wherry's kernels, where these are faster.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/settings.hpp"
#include "comm/accelerator.hpp"
#include "layout/parallel_pack.hpp"
#include "mpi/api.hpp"
#include "p2p/copier_choices.hpp"
#include "p2p/known_types.hpp"

namespace wherry::p2p {

/// Elements in memory, and the packed bytes they go to or come from.
struct Data {
  Direction direction;
  void* memory;
  Offset count;
  MPI_Datatype type;
  void* packed;
  Offset room;  // bytes there
};

/// What became of one call.
struct Moved {
  Copier copier = Copier::native;
  // The call was right: MPICH gives MPI_SUCCESS where an error handler of the program's own has seen an error.
  bool taken = false;
  Offset bytes = 0;  // of derived types; 0: there was nothing to choose
  std::optional<Found> found;
  std::string_view fallback;  // why it was native, where Wherry cannot do it

  // Between begin() and end():
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool unknown = false;
  CopierChoices::Turn turn;
  std::uint64_t begun_ns = 0;
};

/// Packed bytes are those of the library: the data in type map order. Thread-safe.
class Packer {
 public:
  Packer(LayoutLever lever, const mpi::Api& api, const layout::ParallelPacker& parallel)
      : parallel_(parallel), types_(api, least_bytes), choices_(lever, layout::CopyTiming::own) {}

  /// Does the call, or has the library do it by `next`, which returns MPI's code. Wherry takes only what is right for
  /// sure: a type that the library has taken before, enough room, host memory. taken: whether the library did what it
  /// was told (Moved::taken).
  template <class Next, class Taken>
  int move(const Data& data, Moved& moved, const Next& next, const Taken& taken) {
    begin(data, moved);
    const bool ours = moved.copier == Copier::kernels;
    const int code = ours ? MPI_SUCCESS : next();
    if ((moved.unknown || moved.turn.timed) && code == MPI_SUCCESS && (ours || taken())) end(moved);
    return code;
  }

 private:
  static constexpr Offset least_bytes = 512;

  void begin(const Data& data, Moved& moved);
  void copy(const Data& data, const layout::PackPlan& plan) const;
  void end(Moved& moved);
  datatype::PlanPtr choose(const Data& data, Moved& moved);
  bool wants_kernels(const Data& data, const KnownType& known, Moved& moved);

  const layout::ParallelPacker& parallel_;
  std::mutex mutex_;
  KnownTypes types_;
  run::AcceleratorWatch accelerator_;
  CopierChoices choices_;  // by signature of the type, size and direction
};

}  // namespace wherry::p2p
