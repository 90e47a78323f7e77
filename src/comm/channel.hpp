// Wherry's own channel beside a communicator: a private communicator and a way to wait.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/settings.hpp"
#include "mpi/api.hpp"

namespace wherry::run {

/// How a rank waits for its messages.
///
/// library: in the library's own MPI_Wait* (Open MPI yields there when it should).
/// yielding: test, and give the processor away between tests after a while. Libraries that spin without
/// yielding become 100 times slower when a node has more ranks than processors.
enum class Waiting { library, yielding };

/// What is asked for; where nothing is, what is right for this library and thread level.
Waiting waiting_in(const mpi::Api& api, WaitMode asked);

/// What to do about a message that has not come: wait for it, or look again later.
enum class Patience { wait, test };

/// A piece of memory as MPI sees it.
struct Piece {
  void* address = nullptr;
  long long count = 0;
  MPI_Datatype type = MPI_BYTE;  // legal even where nothing is sent
};

/// The other end of a message; its rank may be MPI_PROC_NULL.
struct Endpoint {
  int rank;
  int tag;
};

/// Of two steps that were both taken: the error of the first that failed, or MPI_SUCCESS.
inline int first_error(int earlier, int later) { return earlier != MPI_SUCCESS ? earlier : later; }

/// Memory for messages that cannot land where they should; it must outlive their requests.
using Spare = std::vector<std::unique_ptr<std::byte[]>>;

/// Point-to-point transfers on a private communicator; never meets the program's traffic.
///
/// All return MPI codes. The peer counts on its message: in place of a transfer that the library refuses, say for a
/// type that is not committed, an empty message is sent, or what comes is received and dropped, and the error returned.
/// So requests must be waited for after an error too.
class Channel {
 public:
  Channel(const mpi::Api& api, MPI_Comm comm, Waiting waiting) : api_(&api), comm_(comm), waiting_(waiting) {}

  const mpi::Api& api() const { return *api_; }
  MPI_Comm comm() const { return comm_; }
  bool yields() const { return waiting_ == Waiting::yielding; }

  int send(const Piece& piece, int peer, int tag, MPI_Request* request) const;
  int receive(const Piece& piece, int peer, int tag, MPI_Request* request, Spare& spare) const;
  /// Sends one piece and receives another, whose source and tag may be wildcards.
  int exchange(const Piece& out, Endpoint to, const Piece& in, Endpoint from,
               MPI_Status* status = MPI_STATUS_IGNORE) const;
  /// Sends one piece and receives another in its place.
  int replace(const Piece& piece, int peer, int tag) const;
  int wait(MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE) const;
  /// Completes all of them, whatever becomes of each; the first error.
  int wait_all(std::span<MPI_Request> requests) const;
  /// Waits until one of the requests completes or fails; *index is MPI_UNDEFINED if all are MPI_REQUEST_NULL.
  int wait_any(std::span<MPI_Request> requests, int* index) const;
  /// Whether the request has completed, or failed. An error means that it is over.
  int test(MPI_Request& request, bool* over) const;
  /// As wait_any(), if one of them is over or all are MPI_REQUEST_NULL. An error means that one is over.
  int test_any(std::span<MPI_Request> requests, int* index, bool* any) const;

  /// Lets the library progress.
  void progress() const;
  /// Waits for what another process of this host does in memory; meanwhile the library progresses.
  template <class Ready>
  void wait_until(Ready ready) const {
    if (!ready()) wait_for([](const void* is) { return (*static_cast<const Ready*>(is))(); }, &ready);
  }

 private:
  void wait_for(bool (*ready)(const void*), const void* context) const;
  int post_receive(const Piece& piece, int peer, int tag, MPI_Request* request) const;
  Piece spare_for(const Piece& piece, Spare& spare) const;
  bool refused(int code) const;
  bool is_worth_asking(MPI_Request request) const;

  const mpi::Api* api_;
  MPI_Comm comm_;
  Waiting waiting_;
};

/// A channel, the tag of one collective's messages on it, and how it waits for them.
struct Lane {
  const Channel* channel;
  int tag;
  Patience patience;
};

}  // namespace wherry::run
