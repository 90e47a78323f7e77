#include "host/planned_exchange.hpp"

#include <algorithm>
#include <utility>

namespace wherry::run {
namespace {

int first_of(int a, int b) { return a != MPI_SUCCESS ? a : b; }

}  // namespace

int PlannedExchange::begin_receive() {
  const auto& [buffer, count, type, peer] = in_.data;
  if (in_.plan == nullptr)
    return api_.Irecv(const_cast<void*>(buffer), count, type, peer.rank, peer.tag, comm_, &receiving_);
  return api_.Irecv(in_.packed.get(), static_cast<int>(in_.plan->size()), MPI_BYTE, peer.rank, peer.tag,
                    comm_, &receiving_);
}

int PlannedExchange::begin_send() {
  const auto& [buffer, count, type, peer] = out_.data;
  if (out_.plan == nullptr) return api_.Isend(buffer, count, type, peer.rank, peer.tag, comm_, &sending_);
  const layout::DataRange all{0, out_.plan->size()};
  packer_.pack(*out_.plan, static_cast<const std::byte*>(buffer), out_.packed.get(), all);
  return api_.Isend(out_.packed.get(), static_cast<int>(all.end), MPI_BYTE, peer.rank, peer.tag, comm_,
                    &sending_);
}

int PlannedExchange::start() {
  if (const int code = begin_receive(); code != MPI_SUCCESS) return code;
  const int code = begin_send();
  if (code == MPI_SUCCESS) return code;
  // The receive stays posted. Nobody can tell when it is over, so its memory is lost.
  if (receiving_ != MPI_REQUEST_NULL) api_.Request_free(&receiving_);
  static_cast<void>(in_.packed.release());
  in_.plan = nullptr;
  return code;
}

/// Of no bytes, should an error handler of the program's make MPI_SUCCESS of an error.
MPI_Status PlannedExchange::empty_status() const {
  MPI_Status status{};
  api_.Status_set_elements_x(&status, MPI_BYTE, 0);
  return status;
}

int PlannedExchange::received(int code, const MPI_Status& status) {
  if (code != MPI_SUCCESS || in_.plan == nullptr) return code;
  MPI_Status told = status;
  int bytes = 0;
  if (api_.Get_count(&told, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes == MPI_UNDEFINED) return MPI_ERR_OTHER;
  auto* const memory = static_cast<std::byte*>(const_cast<void*>(in_.data.buffer));
  packer_.unpack(*in_.plan, memory, in_.packed.get(), {0, std::min<layout::Offset>(bytes, in_.plan->size())});
  return code;
}

/// An error of one message is told when both are over: until then, memory of the plan is the library's.
int PlannedExchange::test(int* over) {
  int received_all = 1, sent_all = 1;
  if (receiving_ != MPI_REQUEST_NULL) {
    MPI_Status status = empty_status();
    const int code = api_.Test(&receiving_, &received_all, &status);
    failed_ = first_of(failed_, received_all != 0 ? received(code, status) : code);
  }
  if (sending_ != MPI_REQUEST_NULL)
    failed_ = first_of(failed_, api_.Test(&sending_, &sent_all, MPI_STATUS_IGNORE));
  *over = received_all != 0 && sent_all != 0 ? 1 : 0;
  return *over != 0 ? std::exchange(failed_, MPI_SUCCESS) : MPI_SUCCESS;
}

int PlannedExchange::wait() {
  if (receiving_ != MPI_REQUEST_NULL) {
    MPI_Status status = empty_status();
    const int code = api_.Wait(&receiving_, &status);
    failed_ = first_of(failed_, received(code, status));
  }
  if (sending_ != MPI_REQUEST_NULL) failed_ = first_of(failed_, api_.Wait(&sending_, MPI_STATUS_IGNORE));
  return std::exchange(failed_, MPI_SUCCESS);
}

}  // namespace wherry::run
