#include "run/channel.hpp"

#include <sched.h>

#include <climits>

#include "run/large_count.hpp"

namespace wherry::run {

namespace {

// Polls before the first yield: about the time of one message between two running ranks.
constexpr int polls_before_yield = 64;

/// Calls `done` until it reports completion or an error, yielding between calls after a while.
template <class Test>
int poll(Test done) {
  for (int polls = 0;; ++polls) {
    int flag = 0;
    const int code = done(&flag);
    if (code != MPI_SUCCESS || flag) return code;
    if (polls >= polls_before_yield) sched_yield();
  }
}

}  // namespace

int Channel::send(const Piece& piece, int peer, int tag, MPI_Request* request) const {
  return with_int_count(*api_, piece.count, piece.type, INT_MAX, [&](int count, MPI_Datatype type) {
    return api_->Isend(piece.address, count, type, peer, tag, comm_, request);
  });
}

int Channel::receive(const Piece& piece, int peer, int tag, MPI_Request* request) const {
  return with_int_count(*api_, piece.count, piece.type, INT_MAX, [&](int count, MPI_Datatype type) {
    return api_->Irecv(piece.address, count, type, peer, tag, comm_, request);
  });
}

int Channel::exchange(const Piece& out, int to, const Piece& in, int from, int tag) const {
  const bool counts_fit = out.count <= INT_MAX && in.count <= INT_MAX;
  if (waiting_ == Waiting::library && counts_fit)
    return api_->Sendrecv(out.address, static_cast<int>(out.count), out.type, to, tag, in.address,
                          static_cast<int>(in.count), in.type, from, tag, comm_, MPI_STATUS_IGNORE);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int code = receive(in, from, tag, &requests[0]);
  if (code == MPI_SUCCESS) code = send(out, to, tag, &requests[1]);
  return code == MPI_SUCCESS ? wait_all(requests) : code;
}

int Channel::wait_all(std::span<MPI_Request> requests) const {
  const int count = static_cast<int>(requests.size());
  if (waiting_ == Waiting::library) return api_->Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  return poll([&](int* flag) { return api_->Testall(count, requests.data(), flag, MPI_STATUSES_IGNORE); });
}

int Channel::wait_any(std::span<MPI_Request> requests, int* index) const {
  const int count = static_cast<int>(requests.size());
  if (waiting_ == Waiting::library) return api_->Waitany(count, requests.data(), index, MPI_STATUS_IGNORE);
  return poll(
      [&](int* flag) { return api_->Testany(count, requests.data(), index, flag, MPI_STATUS_IGNORE); });
}

}  // namespace wherry::run
