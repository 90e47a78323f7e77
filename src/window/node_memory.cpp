#include "window/node_memory.hpp"

#include <sys/statvfs.h>

#include <cstring>
#include <span>

#include "mpi/errors_returned.hpp"

namespace wherry::window {
namespace {

constexpr std::size_t alignment = 64;

/// Where MPI libraries have the memory that ranks share; it may be far less than there is in all, as in containers.
constexpr const char* shared_memory = "/dev/shm";

/// Whether there is room, as far as one can tell: libraries have been seen to wait for ever where there is none.
bool has_room(std::size_t bytes) {
  struct statvfs room{};
  return ::statvfs(shared_memory, &room) != 0 || bytes / room.f_frsize < room.f_bavail;
}

constexpr const char* none =
    "the MPI library has no memory that the ranks of a node could share for a window; they share nothing";

std::string no_room(std::size_t bytes) {
  return "the ranks of a node are to share " + std::to_string(bytes) + " bytes for a window, but " +
         shared_memory + " has less; they share nothing; give less (wherry_cache_node, WHERRY_CACHE_NODE)";
}

}  // namespace

std::unique_ptr<NodeMemory> NodeMemory::make(const mpi::Api& api, MPI_Comm comm, std::size_t bytes,
                                             std::string& problem) {
  const run::ErrorsReturned returned(comm, api);
  MPI_Comm node = MPI_COMM_NULL;
  if (api.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS) return nullptr;
  api.Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  std::unique_ptr<NodeMemory> made(new NodeMemory(api));
  int ranks = 0;
  const bool together = api.Comm_size(node, &ranks) == MPI_SUCCESS && ranks > 1;
  if (together) problem = made->allocate(node, bytes);
  api.Comm_free(&node);
  return together && problem.empty() ? std::move(made) : nullptr;
}

/// Empty: all ranks of the node have it. Else why none has.
std::string NodeMemory::allocate(MPI_Comm node, std::size_t bytes) {
  int rank = 0, unit = 0;
  api_.Comm_rank(node, &rank);
  const std::size_t room = bytes + alignment;
  int fits = rank == 0 ? has_room(room) : 1;
  if (api_.Bcast(&fits, 1, MPI_INT, 0, node) != MPI_SUCCESS) return none;
  if (fits == 0) return no_room(bytes);
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
    return none;
  }
  std::size_t left = room;
  cache_.emplace(std::span(static_cast<std::byte*>(std::align(alignment, bytes, memory, left)), bytes));
  return {};
}

NodeMemory::~NodeMemory() {
  if (win_ != MPI_WIN_NULL) api_.Win_free(&win_);
}

}  // namespace wherry::window
