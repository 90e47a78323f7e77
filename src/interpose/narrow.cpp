#include "interpose/narrow.hpp"

#include <mutex>

#include "interpose/backend.hpp"

namespace wherry::interpose {

int Narrow::keep_until(const MPI_Request* request, int code) {
  // Never destroyed: exit handlers may call MPI.
  static auto& kept = *new profile::FlatMap<std::uint64_t, std::list<std::vector<int>>>;
  if (code != MPI_SUCCESS) return code;
  const std::lock_guard lock(backend().record.lock);
  kept.insert(number_of(*request), {}) = std::move(copies_);
  return code;
}

int refuse(MPI_Comm comm) {
  backend().api().Comm_call_errhandler(comm, MPI_ERR_COUNT);
  return MPI_ERR_COUNT;
}

int refuse_window(MPI_Win win) {
  backend().queries().Win_call_errhandler(win, MPI_ERR_COUNT);
  return MPI_ERR_COUNT;
}

}  // namespace wherry::interpose
