#include "window/node_memory.hpp"

#include <cstring>
#include <span>

#include "run/errors_returned.hpp"

namespace wherry::window {
namespace {

constexpr std::size_t alignment = 64;

}  // namespace

std::unique_ptr<NodeMemory> NodeMemory::make(const mpi::Api& api, MPI_Comm comm, std::size_t bytes) {
  const run::ErrorsReturned quiet(comm, api);
  MPI_Comm node = MPI_COMM_NULL;
  if (api.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS) return nullptr;
  api.Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  std::unique_ptr<NodeMemory> made(new NodeMemory(api));
  int ranks = 0;
  const bool shared = api.Comm_size(node, &ranks) == MPI_SUCCESS && ranks > 1 && made->allocate(node, bytes);
  api.Comm_free(&node);
  return shared ? std::move(made) : nullptr;
}

/// Whether all ranks of the node have it.
bool NodeMemory::allocate(MPI_Comm node, std::size_t bytes) {
  int rank = 0, unit = 0;
  api_.Comm_rank(node, &rank);
  const std::size_t room = bytes + alignment;
  void *own = nullptr, *memory = nullptr;
  MPI_Aint size = 0;
  // The first rank has all of it.
  const MPI_Aint mine = rank == 0 ? static_cast<MPI_Aint>(room) : 0;
  int made = api_.Win_allocate_shared(mine, 1, MPI_INFO_NULL, node, &own, &win_) == MPI_SUCCESS;
  made = made != 0 && api_.Win_shared_query(win_, 0, &size, &unit, &memory) == MPI_SUCCESS;
  if (made != 0 && rank == 0) std::memset(memory, 0, room);
  int everywhere = 0;
  const int code = api_.Allreduce(&made, &everywhere, 1, MPI_INT, MPI_MIN, node);
  if (code != MPI_SUCCESS || everywhere == 0) {
    // Who has none cannot take part in its end: what others have stays until MPI ends.
    win_ = MPI_WIN_NULL;
    return false;
  }
  std::size_t left = room;
  cache_.emplace(std::span(static_cast<std::byte*>(std::align(alignment, bytes, memory, left)), bytes));
  return true;
}

NodeMemory::~NodeMemory() {
  if (win_ != MPI_WIN_NULL) api_.Win_free(&win_);
}

}  // namespace wherry::window
