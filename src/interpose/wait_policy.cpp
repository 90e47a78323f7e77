#include "interpose/wait_policy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <numeric>
#include <string>
#include <vector>

#include "base/floating_point.hpp"
#include "waiting/host.hpp"
#include "waiting/poll.hpp"

namespace wherry::interpose {

namespace {

using waiting::Processors;

bool is_library(const mpi::Api& api, const char* name) {
  return mpi::library_name(api).find(name) != std::string::npos;
}

int thread_level(const mpi::Api& api) {
  int level = MPI_THREAD_SINGLE;
  api.Query_thread(&level);
  return level;
}

/// The library's first version number; 0: none is to be read.
int major_version(const mpi::Api& api) {
  const std::string name = mpi::library_name(api);
  const std::size_t digit = std::min(name.find_first_of("0123456789"), name.size());
  int version = 0;
  std::from_chars(name.data() + digit, name.data() + name.size(), version);
  return version;
}

/// Whether the library gives the core away by itself where there are more ranks than cores: to poll on top of that gains
/// nothing, or costs.
///
/// Open MPI does where its launcher sees more ranks than cores, but not with several threads in it; polling costs
/// programs 8 to 10%. Intel MPI always does: a barrier of 4 ranks on 2 cores took 6 to 9 us, and 11 to 21 us by
/// polling. MPICH does since version 5, with MPI_THREAD_MULTIPLE alone: 13,000 barriers in a second on 4 ranks and 2
/// cores, and 131 with less; 4.0 to 4.3 make 110 to 160 with any.
bool library_yields(const mpi::Api& api) {
  const bool has_threads = thread_level(api) == MPI_THREAD_MULTIPLE;
  if (is_library(api, "MPICH")) return has_threads && major_version(api) >= 5;
  return !has_threads && (is_library(api, "Open MPI") || is_library(api, "Intel"));
}

/// What a rank says of its settings: one bit. Where the ranks say the same, together they say no more.
std::uint64_t setting_bit(const Settings& s) {
  return std::uint64_t{1} << (2 * static_cast<int>(s.wait) + (s.reproducible ? 1 : 0));
}

// Whether the library yields; has several threads; and whether the launcher does not say how many ranks a host has.
constexpr std::uint64_t yields_bit = std::uint64_t{1} << 32, threads_bit = std::uint64_t{1} << 33,
                        uncounted_bit = std::uint64_t{1} << 34;

}  // namespace

void WaitPolicy::begin(bool has_world, void* (*find)(const char* name)) {
  if (settings_.wait == WaitMode::spin) return;
  library_.begin(find);
  large_counts_ = !is_library(api_, "Intel");
  orders_neighbors_ = !is_library(api_, "Open MPI");
  situation_.library_yields = library_yields(api_);
  situation_.ranks_on_host = waiting::ranks_on_host(read_variable);
  if (has_world) agree();
  decision_ = waiting::Decision(settings_.wait, situation_);
  hot_.polls = decision_.polls();
  if (decision_.adapts()) hot_.calls_to_sample = 0;
}

/// First what all ranks may use, then whether any of them has too little: the same question for all hosts.
void WaitPolicy::agree() {
  std::array<std::uint64_t, 1 + std::tuple_size_v<Processors>> told{};
  told[0] = setting_bit(settings_) | (situation_.library_yields ? yields_bit : 0) |
            (thread_level(api_) == MPI_THREAD_MULTIPLE ? threads_bit : 0) |
            (situation_.ranks_on_host <= 0 ? uncounted_bit : 0);
  const Processors own = waiting::allowed_processors();
  std::ranges::copy(own, told.begin() + 1);
  const bool heard = combined(told.data(), static_cast<int>(told.size())) != 0;
  Processors all;
  std::copy_n(told.begin() + 1, all.size(), all.begin());
  situation_.cores = computed([&] { return waiting::cores_of(all); });
  if ((told[0] & uncounted_bit) != 0) count_ranks_on_host();
  situation_.library_yields = (told[0] & yields_bit) != 0;
  const bool wants =
      settings_.wait == WaitMode::yield || (!situation_.library_yields && is_crowded(situation_));
  std::uint64_t wanted = wants ? 1 : 0;
  const bool alike =
      heard && (told[0] & ~(yields_bit | threads_bit | uncounted_bit)) == setting_bit(settings_);
  combined(&wanted, 1);
  api_.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval_, nullptr);
  hot_.polls_together = alike && wanted != 0 && keyval_ != MPI_KEYVAL_INVALID;
  // Two threads that start with one target would take each other's notices.
  const bool one_by_one = (told[0] & threads_bit) == 0;
  if (hot_.polls_together && one_by_one && is_library(api_, "MPICH")) notices_.begin();
}

/// Whether the request, which was begun with that code, has ended well.
bool WaitPolicy::ends_well(int code, MPI_Request request) const {
  if (code == MPI_SUCCESS)
    code = waiting::poll([&](int* flag) { return api_.Test(&request, flag, MPI_STATUS_IGNORE); });
  return code == MPI_SUCCESS;
}

/// The bits that any rank has set, in place; the first word. 0: the library failed.
std::uint64_t WaitPolicy::combined(std::uint64_t* words, int count) const {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(count));
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = api_.Iallreduce(words, all.data(), count, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD, &request);
  if (!ends_well(code, request)) return 0;
  std::ranges::copy(all, words);
  return words[0];
}

/// By asking all ranks where they are, if any of them does not know from its launcher.
void WaitPolicy::count_ranks_on_host() {
  int size = 0;
  api_.Comm_size(MPI_COMM_WORLD, &size);
  const std::uint64_t own = waiting::host_number();
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      api_.Iallgather(&own, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD, &request);
  if (!ends_well(code, request) || own == 0 || situation_.ranks_on_host > 0) return;
  situation_.ranks_on_host = static_cast<int>(std::ranges::count(all, own));
}

/// Some libraries spin in MPI_Finalize until all ranks have come (Intel MPI).
void WaitPolicy::meet() const {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = api_.Ibarrier(MPI_COMM_WORLD, &request);
  ends_well(code, request);
}

void WaitPolicy::end() {
  if (hot_.polls_together) meet();
  notices_.end();
  hot_.polls = false;
  hot_.polls_together = false;
  library_.end();
  hot_.calls_to_sample = INT_MAX;
  if (keyval_ != MPI_KEYVAL_INVALID) api_.Comm_free_keyval(&keyval_);
}

/// As an attribute: a handle may be used again.
bool WaitPolicy::is_of_world(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return false;
  static char yes, no;
  void* value = nullptr;
  int found = 0;
  if (api_.Comm_get_attr(comm, keyval_, static_cast<void*>(&value), &found) != MPI_SUCCESS) return false;
  if (found != 0) return value == &yes;
  const bool is = find_whether_of_world(comm);
  api_.Comm_set_attr(comm, keyval_, is ? &yes : &no);
  return is;
}

bool WaitPolicy::find_whether_of_world(MPI_Comm comm) const {
  int inter = 0, size = 0;
  if (api_.Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return false;
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  api_.Comm_group(comm, &group);
  api_.Comm_group(MPI_COMM_WORLD, &world);
  queries_.Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_world(ranks.size(), MPI_UNDEFINED);
  std::iota(ranks.begin(), ranks.end(), 0);
  api_.Group_translate_ranks(group, size, ranks.data(), world, in_world.data());
  api_.Group_free(&group);
  api_.Group_free(&world);
  return size > 1 && std::ranges::find(in_world, MPI_UNDEFINED) == in_world.end();
}

/// As far as all ranks know that of each other: in a grid in which no rank is on both sides of another one, or of
/// itself.
bool WaitPolicy::has_distinct_neighbors(MPI_Comm comm) const {
  int topology = MPI_UNDEFINED, dimensions = 0;
  if (api_.Topo_test(comm, &topology) != MPI_SUCCESS || topology != MPI_CART) return false;
  if (api_.Cartdim_get(comm, &dimensions) != MPI_SUCCESS) return false;
  std::vector<int> extents(static_cast<std::size_t>(dimensions)), wraps(extents), own(extents);
  if (queries_.Cart_get(comm, dimensions, extents.data(), wraps.data(), own.data()) != MPI_SUCCESS)
    return false;
  bool are_distinct = true;
  for (std::size_t d = 0; d < extents.size(); ++d)
    are_distinct = are_distinct && (wraps[d] == 0 || extents[d] > 2);
  return are_distinct;
}

void WaitPolicy::sample() {
  if (!decision_.adapts()) return hot_.calls_to_sample.store(INT_MAX, std::memory_order_relaxed);
  if (sampling_.test_and_set(std::memory_order_acquire)) return;
  waiting::Counters now;
  now.wall_ns = profile::monotonic_ns();
  const std::uint64_t passed = now.wall_ns - sampled_ns_;
  sampled_ns_ = now.wall_ns;
  calls_ += static_cast<std::uint64_t>(interval_.calls()) + 1;
  interval_.adapt(passed);
  if (decision_.is_due(now.wall_ns)) {
    now = waiting::counters_now(decision_.wants_delay());
    now.calls = calls_;
    computed([&] { decision_.observe(now); });
    hot_.polls.store(decision_.polls(), std::memory_order_relaxed);
  }
  if (decision_.is_trying()) interval_.shorten();
  hot_.calls_to_sample.store(interval_.calls(), std::memory_order_relaxed);
  sampling_.clear(std::memory_order_release);
}

}  // namespace wherry::interpose
