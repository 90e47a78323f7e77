// A message out and one in, whose arguments are fixed: packed by the kernels at each start, unpacked when it is over.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>

#include "comm/channel.hpp"
#include "datatype/type_layouts.hpp"
#include "layout/parallel_pack.hpp"
#include "mpi/api.hpp"

namespace wherry::run {

/// One end of a message, as MPI's arguments have it.
struct MessageEnd {
  const void* buffer;
  int count;
  MPI_Datatype type;
  Endpoint peer;
};

/// What travels is what MPI would send, in one message each way. The functions return MPI codes, those of the library's
/// calls. A start that fails has begun no send; where that is what failed, the receive stays posted. Not thread-safe.
class PlannedExchange {
 public:
  struct End {
    MessageEnd data;
    datatype::PlanPtr plan;               // nullptr: the library moves the elements
    std::unique_ptr<std::byte[]> packed;  // as many bytes as the plan has
  };

  /// channel: the program's communicator, whose error handler hears of errors.
  PlannedExchange(const Channel& channel, const layout::ParallelPacker& packer, End out, End in)
      : channel_(channel), packer_(packer), out_(std::move(out)), in_(std::move(in)) {}

  /// None may be under way.
  int start();
  int test(int* over);
  int wait();
  /// Whether the kernels pack or unpack.
  bool is_by_kernels() const { return out_.plan != nullptr || in_.plan != nullptr; }

 private:
  int begin_receive();
  int begin_send();
  int received(int code, const MPI_Status& status);
  MPI_Status empty_status() const;

  const mpi::Api& api() const { return channel_.api(); }

  const Channel channel_;
  const layout::ParallelPacker& packer_;
  End out_, in_;
  MPI_Request sending_ = MPI_REQUEST_NULL, receiving_ = MPI_REQUEST_NULL;
  int failed_ = MPI_SUCCESS;  // what the first of the two to fail returned
};

}  // namespace wherry::run
