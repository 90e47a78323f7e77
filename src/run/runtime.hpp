// The run layer's face: collectives that pick and execute a schedule, or fall through to the library.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include "base/settings.hpp"
#include "mpi/api.hpp"
#include "run/counts.hpp"
#include "run/observer.hpp"

namespace wherry::run {

/// Arguments of MPI_Alltoall (MPI 4.1, 6.8), counts widened.
struct Alltoall {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Arguments of MPI_Alltoallv: displacements in units of the type's extent.
struct Alltoallv {
  const void* sendbuf;
  Numbers sendcounts;
  Numbers sdispls;
  MPI_Datatype sendtype;
  void* recvbuf;
  Numbers recvcounts;
  Numbers rdispls;
  MPI_Datatype recvtype;
  MPI_Comm comm;
};

/// Arguments of MPI_Alltoallw: displacements in bytes, one type per rank.
struct Alltoallw {
  const void* sendbuf;
  Numbers sendcounts;
  Numbers sdispls;
  const MPI_Datatype* sendtypes;
  void* recvbuf;
  Numbers recvcounts;
  Numbers rdispls;
  const MPI_Datatype* recvtypes;
  MPI_Comm comm;
};

/// The library's own collective with the same arguments; returns its code.
using Native = std::function<int()>;

/// Everything Wherry keeps in one process: settings, what was learned, and communicator state.
///
/// The collectives may be called from several threads as MPI allows (not at once on one communicator). They are collective
/// over comm and return MPI codes; an error that arises in Wherry's own messages has been passed to
/// comm's error handler. Each call runs `native` or a schedule; all ranks run the same.
class Runtime {
 public:
  /// observer may be nullptr; both references must outlive the runtime.
  Runtime(const Settings& settings, const mpi::Api& api, Observer* observer);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  int alltoall(const Alltoall& call, const Native& native);
  int alltoallv(const Alltoallv& call, const Native& native);
  int alltoallw(const Alltoallw& call, const Native& native);

  /// How the next calls choose: a strategy's name or "native" instead of the settings, or "auto" for the settings again.
  /// Local, but must be given alike on all ranks. Returns false if the name is unknown.
  bool force(std::string_view name);

  /// Completes what is under way and frees Wherry's communicators, before MPI_Finalize. Collective over every
  /// communicator that Wherry used. Saves what was learned. Calls after it go to the library.
  void finalize();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wherry::run
