#include "interpose/post_notices.hpp"

#include <numeric>

#include "profile/recorder.hpp"
#include "waiting/poll.hpp"

namespace wherry::interpose {
namespace {

constexpr std::uint64_t longest_wait_ns = 1'000'000'000;
// Starts in which that was too short; later ones take what has come, and wait in the library.
constexpr int most_late = 3;
constexpr int tag = 0;

}  // namespace

void PostNotices::begin() {
  if (api_.Comm_split(MPI_COMM_WORLD, 0, 0, &comm_) != MPI_SUCCESS) comm_ = MPI_COMM_NULL;
}

void PostNotices::end() {
  if (are_on()) api_.Comm_free(&comm_);
}

/// Those that are in MPI_COMM_WORLD: the others know nothing of this either.
std::vector<int> PostNotices::in_world(MPI_Group group) const {
  int size = 0;
  if (queries_.Group_size(group, &size) != MPI_SUCCESS) return {};
  std::vector<int> ranks(static_cast<std::size_t>(size)), found(ranks.size(), MPI_UNDEFINED);
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group world = MPI_GROUP_NULL;
  api_.Comm_group(comm_, &world);
  api_.Group_translate_ranks(group, size, ranks.data(), world, found.data());
  api_.Group_free(&world);
  std::erase(found, int{MPI_UNDEFINED});
  return found;
}

void PostNotices::tell(MPI_Group origins) const {
  for (const int origin : in_world(origins)) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (api_.Isend(nullptr, 0, MPI_BYTE, origin, tag, comm_, &request) == MPI_SUCCESS)
      api_.Request_free(&request);
  }
}

void PostNotices::await(MPI_Group targets) {
  const std::uint64_t until_ns = profile::monotonic_ns() + (late_ < most_late ? longest_wait_ns : 0);
  bool all = true;
  for (const int target : in_world(targets)) {
    // Those of earlier starts come first.
    int& owed = owed_[target];
    ++owed;
    while (owed > 0 && has_come(target, until_ns) && receive(target)) --owed;
    all = all && owed == 0;
  }
  if (!all) ++late_;
}

bool PostNotices::receive(int target) const {
  MPI_Request request = MPI_REQUEST_NULL;
  if (api_.Irecv(nullptr, 0, MPI_BYTE, target, tag, comm_, &request) != MPI_SUCCESS) return false;
  waiting::poll([&](int* flag) { return api_.Test(&request, flag, MPI_STATUS_IGNORE); });
  return true;
}

bool PostNotices::has_come(int target, std::uint64_t until_ns) const {
  int come = 0;
  waiting::poll([&](int* flag) {
    const int code = api_.Iprobe(target, tag, comm_, &come, MPI_STATUS_IGNORE);
    *flag = come != 0 || profile::monotonic_ns() >= until_ns;
    return code;
  });
  return come != 0;
}

}  // namespace wherry::interpose
