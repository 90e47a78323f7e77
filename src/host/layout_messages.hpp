// Messages between two ranks whose ends are both Wherry's, and packing: data of any layout by the kernels, packed while
// the bytes before are under way. They travel on the program's communicator with the program's tag.
#pragma once

#include <mpi.h>

#include <memory>

#include "comm/accelerator.hpp"
#include "comm/channel.hpp"
#include "comm/staging.hpp"
#include "datatype/type_layouts.hpp"
#include "exec/pair_exchange.hpp"
#include "host/planned_exchange.hpp"
#include "layout/parallel_pack.hpp"
#include "mpi/api.hpp"
#include "waiting/free_cores.hpp"

namespace wherry::run {

/// The bytes of a packed buffer, and where the next go: MPI_Pack's arguments.
struct PackedPlace {
  void* buffer;
  int bytes;
  int* position;
};

/// All functions return MPI codes; errors have been passed to comm's error handler. Arguments that are not legal are
/// validated by the library: `native` is its call. Thread-safe, but see wherry.h about threads that share a tag.
class LayoutMessages {
 public:
  /// Between MPI_Init and MPI_Finalize. waiting: for its own requests.
  LayoutMessages(const mpi::Api& api, Waiting waiting, const VariableReader& read);

  template <class Native>
  int send(const MessageEnd& out, MPI_Comm comm, const Native& native) {
    const End sent = read(out, Direction::out, comm);
    return sent.legal ? transfer(sent, nothing, comm, MPI_STATUS_IGNORE) : native();
  }
  template <class Native>
  int receive(const MessageEnd& in, MPI_Comm comm, MPI_Status* status, const Native& native) {
    const End received = read(in, Direction::in, comm);
    return received.legal ? transfer(nothing, received, comm, status) : native();
  }
  template <class Native>
  int exchange(const MessageEnd& out, const MessageEnd& in, MPI_Comm comm, MPI_Status* status,
               const Native& native) {
    const End sent = read(out, Direction::out, comm), received = read(in, Direction::in, comm);
    return sent.legal && received.legal ? transfer(sent, received, comm, status) : native();
  }

  /// Local. Arguments that are not legal are validated by the library, at each start. Throws std::bad_alloc.
  std::unique_ptr<PlannedExchange> plan(const MessageEnd& out, const MessageEnd& in, MPI_Comm comm) {
    return std::make_unique<PlannedExchange>(Channel(api_, comm, waiting_), packer_, planned(out),
                                             planned_receive(in, comm));
  }

  /// Whether the elements were packed or unpacked; false: the library is to do it, or to say what is wrong.
  bool pack(const MessageEnd& from, const PackedPlace& to);
  bool unpack(const PackedPlace& from, const MessageEnd& to);

 private:
  static constexpr std::size_t kept_bytes = 4 << 20;
  enum class Direction { out, in };
  struct End {
    Share share;
    Endpoint peer;
    bool legal;
  };
  static const End nothing;

  End read(const MessageEnd& end, Direction direction, MPI_Comm comm);
  bool is_usable(const MessageEnd& end);
  bool is_legal(Endpoint peer, Direction direction, MPI_Comm comm) const;
  int transfer(const End& out, const End& in, MPI_Comm comm, MPI_Status* status);
  void tell(const Exchanged& done, const Share& room, MPI_Status* status) const;
  PlannedExchange::End planned(const MessageEnd& end);
  PlannedExchange::End planned_receive(const MessageEnd& in, MPI_Comm comm);
  datatype::PlanPtr plan_within(const MessageEnd& data, const PackedPlace& packed);

  const mpi::Api& api_;
  const Waiting waiting_;
  waiting::FreeCores free_cores_;
  const layout::ParallelPacker packer_;
  int last_tag_ = 0;  // MPI_TAG_UB
  datatype::TypeLayouts layouts_;
  Staging staging_;
  AcceleratorWatch accelerator_;
};

}  // namespace wherry::run
