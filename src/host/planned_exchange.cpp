#include "host/planned_exchange.hpp"

#include <algorithm>
#include <utility>

namespace wherry::run {

int PlannedExchange::begin_receive() {
  const auto& [buffer, count, type, peer] = in_.data;
  if (in_.plan == nullptr)
    return api().Irecv(const_cast<void*>(buffer), count, type, peer.rank, peer.tag, channel_.comm(),
                       &receiving_);
  return api().Irecv(in_.packed.get(), static_cast<int>(in_.plan->size()), MPI_BYTE, peer.rank, peer.tag,
                     channel_.comm(), &receiving_);
}

int PlannedExchange::begin_send() {
  const auto& [buffer, count, type, peer] = out_.data;
  if (out_.plan == nullptr)
    return api().Isend(buffer, count, type, peer.rank, peer.tag, channel_.comm(), &sending_);
  const layout::DataRange all{0, out_.plan->size()};
  packer_.pack(*out_.plan, static_cast<const std::byte*>(buffer), out_.packed.get(), all);
  return api().Isend(out_.packed.get(), static_cast<int>(all.end), MPI_BYTE, peer.rank, peer.tag,
                     channel_.comm(), &sending_);
}

int PlannedExchange::start() {
  if (const int code = begin_receive(); code != MPI_SUCCESS) return code;
  const int code = begin_send();
  if (code == MPI_SUCCESS) return code;
  // The receive stays posted. Nobody can tell when it is over, so its memory is lost.
  if (receiving_ != MPI_REQUEST_NULL) api().Request_free(&receiving_);
  static_cast<void>(in_.packed.release());
  in_.plan = nullptr;
  return code;
}

/// Of no bytes, should an error handler of the program's make MPI_SUCCESS of an error.
MPI_Status PlannedExchange::empty_status() const {
  MPI_Status status{};
  api().Status_set_elements_x(&status, MPI_BYTE, 0);
  return status;
}

int PlannedExchange::received(int code, const MPI_Status& status) {
  if (code != MPI_SUCCESS || in_.plan == nullptr) return code;
  MPI_Status told = status;
  int bytes = 0;
  if (api().Get_count(&told, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes == MPI_UNDEFINED) return MPI_ERR_OTHER;
  auto* const memory = static_cast<std::byte*>(const_cast<void*>(in_.data.buffer));
  packer_.unpack(*in_.plan, memory, in_.packed.get(), {0, std::min<layout::Offset>(bytes, in_.plan->size())});
  return code;
}

/// An error of one message is told when both are over: until then, memory of the plan is the library's.
int PlannedExchange::test(int* over) {
  int received_all = 1, sent_all = 1;
  if (receiving_ != MPI_REQUEST_NULL) {
    MPI_Status status = empty_status();
    const int code = api().Test(&receiving_, &received_all, &status);
    failed_ = first_error(failed_, received_all != 0 ? received(code, status) : code);
  }
  if (sending_ != MPI_REQUEST_NULL)
    failed_ = first_error(failed_, api().Test(&sending_, &sent_all, MPI_STATUS_IGNORE));
  *over = received_all != 0 && sent_all != 0 ? 1 : 0;
  return *over != 0 ? std::exchange(failed_, MPI_SUCCESS) : MPI_SUCCESS;
}

int PlannedExchange::wait() {
  if (receiving_ != MPI_REQUEST_NULL) {
    MPI_Status status = empty_status();
    const int code = channel_.wait(receiving_, &status);
    failed_ = first_error(failed_, received(code, status));
  }
  if (sending_ != MPI_REQUEST_NULL) failed_ = first_error(failed_, channel_.wait(sending_));
  return std::exchange(failed_, MPI_SUCCESS);
}

}  // namespace wherry::run
