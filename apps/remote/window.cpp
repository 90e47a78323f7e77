#include "remote/window.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include "support/mpi/comm.hpp"

namespace remote {

Window::Window(MPI_Comm comm, std::span<const std::byte> mine)
    : comm_(comm), sizes_(static_cast<std::size_t>(apps::size_of(comm))) {
  const std::uint64_t bytes = mine.size();
  MPI_Allgather(&bytes, 1, MPI_UINT64_T, sizes_.data(), 1, MPI_UINT64_T, comm);
  // MPI takes no memory as const; nobody writes through this window.
  MPI_Win_create(const_cast<std::byte*>(mine.data()), static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm,
                 &window_);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
}

Window::~Window() {
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

void Window::start_get(std::span<std::byte> into, int target, std::size_t displacement) {
  if (into.size() > std::numeric_limits<int>::max())
    throw std::length_error("a get of " + std::to_string(into.size()) +
                            " bytes is more than MPI_Get can take");
  const int bytes = static_cast<int>(into.size());
  MPI_Get(into.data(), bytes, MPI_BYTE, target, static_cast<MPI_Aint>(displacement), bytes, MPI_BYTE,
          window_);
  under_way_ = true;
}

void Window::complete() {
  if (under_way_) MPI_Win_flush_all(window_);
  under_way_ = false;
}

/// MPI 4.1, section 12.7: what was stored to the memory of a window is there for others after a synchronization of the
/// window here, and one there.
void Window::renew() {
  complete();
  MPI_Win_sync(window_);
  MPI_Barrier(comm_);
  MPI_Win_sync(window_);
}

}  // namespace remote
