#include "interpose/post_notices.hpp"

#include <numeric>

#include "profile/recorder.hpp"
#include "waiting/poll.hpp"

namespace wherry::interpose {
namespace {

constexpr std::uint64_t longest_wait_ns = 1'000'000'000;
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

void PostNotices::await(MPI_Group targets) const {
  const std::uint64_t until_ns = profile::monotonic_ns() + longest_wait_ns;
  for (const int target : in_world(targets)) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (!has_come(target, until_ns)) return;
    if (api_.Irecv(nullptr, 0, MPI_BYTE, target, tag, comm_, &request) != MPI_SUCCESS) return;
    waiting::poll([&](int* flag) { return api_.Test(&request, flag, MPI_STATUS_IGNORE); });
  }
}

bool PostNotices::has_come(int target, std::uint64_t until_ns) const {
  int come = 0;
  waiting::poll([&](int* flag) {
    const int code = api_.Iprobe(target, tag, comm_, &come, MPI_STATUS_IGNORE);
    *flag = come != 0 || profile::monotonic_ns() > until_ns;
    return code;
  });
  return come != 0;
}

}  // namespace wherry::interpose
