#include "sparse/sparse_strategies.hpp"

#include <climits>
#include <vector>

#include "comm/polled_wait.hpp"
#include "datatype/large_count.hpp"
#include "sparse/inbox.hpp"

namespace wherry::run {

namespace {

class Nbx {
 public:
  explicit Nbx(const SparseCall& call)
      : call_(call),
        api_(call.channel.api()),
        tag_(straight_tag(call.odd)),
        collector_(call.channel, tag_, call.inbox) {}

  int run() {
    for (const SparseMessage& message : call_.sends) send(message);
    poll([this](int* over) {
      *over = step();
      return MPI_SUCCESS;
    });
    return first_error(code_, collector_.finish());
  }

 private:
  void note(int code) { code_ = first_error(code_, code); }

  /// Nobody waits for a message that the library refuses.
  void send(const SparseMessage& m) {
    MPI_Request& request = sends_.emplace_back(MPI_REQUEST_NULL);
    note(datatype::with_int_count(
        api_, static_cast<long long>(m.bytes), MPI_BYTE, INT_MAX, [&](int count, MPI_Datatype type) {
          return api_.Issend(m.data, count, type, m.peer, tag_, call_.channel.comm(), &request);
        }));
  }

  /// Whether the exchange is over.
  bool step() {
    while (collector_.take()) continue;
    if (in_barrier_) return is_complete(barrier_);
    while (taken_ < sends_.size() && is_complete(sends_[taken_])) ++taken_;
    return taken_ == sends_.size() && !enter_barrier();
  }

  bool is_complete(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return true;
    int flag = 0;
    const int code = api_.Test(&request, &flag, MPI_STATUS_IGNORE);
    note(code);
    return flag || code != MPI_SUCCESS;
  }

  bool enter_barrier() {
    const int code = api_.Ibarrier(call_.channel.comm(), &barrier_);
    note(code);
    return in_barrier_ = code == MPI_SUCCESS;
  }

  const SparseCall& call_;
  const mpi::Api& api_;
  int tag_;
  Collector collector_;
  std::vector<MPI_Request> sends_;
  std::size_t taken_ = 0;  // of the sends: the first so many have been taken by their receivers
  bool in_barrier_ = false;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
};

}  // namespace

int nbx(const SparseCall& call) { return Nbx(call).run(); }

}  // namespace wherry::run
