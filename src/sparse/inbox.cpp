#include "sparse/inbox.hpp"

#include <algorithm>
#include <utility>

namespace wherry::run {

namespace {
constexpr std::size_t chunk_bytes = 16 << 10;
}

// Small messages share chunks: one allocation for each would take longer than the message.
std::byte* Inbox::room(std::size_t bytes) {
  const std::size_t padded = (bytes + alignment - 1) / alignment * alignment;
  const bool alone = padded > chunk_bytes / 4;
  if (alone || padded > left_) {
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(alone ? padded : chunk_bytes));
    if (alone) return memory_.back().get();
    next_ = memory_.back().get();
    left_ = chunk_bytes;
  }
  left_ -= padded;
  return std::exchange(next_, next_ + padded);
}

std::byte* Inbox::add(int source, std::size_t bytes) {
  std::byte* const data = room(bytes);
  messages_.push_back({source, data, bytes});
  return data;
}

void Inbox::sort() { std::ranges::stable_sort(messages_, {}, &SparseMessage::peer); }

// The receive names the source that the probe told: it gets that very message, since one thread at a time is here
// (MPI 4.1, 3.8.1).
bool Collector::take() {
  int found = 0;
  MPI_Status status;
  const mpi::Api& api = channel_.api();
  code_ = first_error(code_, api.Iprobe(MPI_ANY_SOURCE, tag_, channel_.comm(), &found, &status));
  if (!found) return false;
  MPI_Count bytes = 0;
  code_ = first_error(code_, api.Get_elements_x(&status, MPI_BYTE, &bytes));
  std::byte* const to = inbox_.add(status.MPI_SOURCE, static_cast<std::size_t>(bytes));
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  code_ = first_error(code_, channel_.receive({to, bytes}, status.MPI_SOURCE, tag_, &request, spare_));
  return true;
}

int Collector::finish() { return first_error(code_, channel_.wait_all(requests_)); }

}  // namespace wherry::run
