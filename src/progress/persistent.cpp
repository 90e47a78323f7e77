#include "progress/persistent.hpp"

namespace wherry::run {

namespace {

// Of static storage, for the request is left alone.
constexpr char nothing[1] = {};

}  // namespace

int Persistent::make(MPI_Request* request) {
  const Channel& channel = communicator()->channel();
  return channel.api().Recv_init(landing_, 0, MPI_BYTE, communicator()->rank(), tag_, channel.comm(),
                                 request);
}

/// A byte too much says that the collective failed: what most often goes wrong is a receive buffer that is too short, and
/// MPI_ERR_TRUNCATE is what the request then says.
void Persistent::close(int code) {
  const Channel& channel = communicator()->channel();
  MPI_Request sent = MPI_REQUEST_NULL;
  const int bytes = code == MPI_SUCCESS ? 0 : 1;
  if (channel.api().Isend(nothing, bytes, MPI_BYTE, communicator()->rank(), tag_, channel.comm(), &sent) ==
      MPI_SUCCESS)
    channel.api().Request_free(&sent);
}

}  // namespace wherry::run
