// Wherry's own lane beside a communicator: a private communicator and a way to wait.
#pragma once

#include <mpi.h>

#include <span>

#include "mpi/api.hpp"

namespace wherry::run {

/// How a rank waits for its messages.
///
/// library: in the library's own MPI_Wait* (Open MPI yields there when it should).
/// yielding: test, and give the processor away between tests after a while. Libraries that spin without
/// yielding become 100 times slower when a node has more ranks than processors.
enum class Waiting { library, yielding };

/// A piece of memory as MPI sees it.
struct Piece {
  void* address = nullptr;
  long long count = 0;
  MPI_Datatype type = MPI_BYTE;  // legal even where nothing is sent
};

/// Point-to-point transfers on a private communicator; never meets the program's traffic.
class Channel {
 public:
  Channel(const mpi::Api& api, MPI_Comm comm, Waiting waiting) : api_(&api), comm_(comm), waiting_(waiting) {}

  const mpi::Api& api() const { return *api_; }
  MPI_Comm comm() const { return comm_; }

  int send(const Piece& piece, int peer, int tag, MPI_Request* request) const;
  int receive(const Piece& piece, int peer, int tag, MPI_Request* request) const;
  /// Sends one piece and receives another; either peer may be MPI_PROC_NULL.
  int exchange(const Piece& out, int to, const Piece& in, int from, int tag) const;
  int wait_all(std::span<MPI_Request> requests) const;
  /// Waits until one of the requests completes; *index is MPI_UNDEFINED if all are MPI_REQUEST_NULL.
  int wait_any(std::span<MPI_Request> requests, int* index) const;

 private:
  const mpi::Api* api_;
  MPI_Comm comm_;
  Waiting waiting_;
};

}  // namespace wherry::run
