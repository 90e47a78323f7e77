#include "run/communicator.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "profile/record.hpp"

namespace wherry::run {

namespace {

double maximum(const Channel& channel, double value) {
  double worst = 0;
  channel.api().Allreduce(&value, &worst, 1, MPI_DOUBLE, MPI_MAX, channel.comm());
  return worst;
}

/// Open MPI yields in its own waits when its launcher sees too many ranks; the MPICH family spins.
Waiting waiting_for(const mpi::Api& api) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  api.Get_library_version(version, &length);
  return std::strstr(version, "Open MPI") != nullptr ? Waiting::library : Waiting::yielding;
}

int find_accelerator(dl_phdr_info* info, std::size_t, void* found) {
  static constexpr const char* runtimes[] = {"libcuda.so", "libamdhip64.so", "libze_loader.so"};
  for (const char* runtime : runtimes)
    if (std::strstr(info->dlpi_name, runtime) != nullptr) *static_cast<bool*>(found) = true;
  return 0;
}

/// What must be equal on all ranks, as one number.
std::uint64_t instructions(const Settings& s) {
  const std::string all =
      s.alltoall + '\n' + s.alltoallv + '\n' + s.alltoallw + '\n' + std::to_string(s.ranks_per_node);
  return std::hash<std::string>{}(all) >> 1;  // stays positive when negated
}

}  // namespace

bool accelerator_loaded() {
  bool found = false;
  dl_iterate_phdr(find_accelerator, &found);
  return found;
}

void SizeWatch::start(double average_bytes, const Channel& channel) {
  started_ = true;
  bucket_ = profile::bucket_of(static_cast<std::uint64_t>(maximum(channel, average_bytes)));
}

std::uint32_t SizeWatch::bucket(const Channel& channel) {
  if (request_ != MPI_REQUEST_NULL && calls_ % period == lag) {
    finish(channel);
    const std::uint32_t now = profile::bucket_of(static_cast<std::uint64_t>(agreed_));
    // Neighbouring classes behave alike: only a clear change is worth learning again.
    if (now > bucket_ + 1 || now + 1 < bucket_) bucket_ = now;
  }
  return bucket_;
}

void SizeWatch::saw(double average_bytes, const Channel& channel) {
  largest_ = std::max(largest_, average_bytes);
  if (++calls_ % period != 0) return;
  mine_ = std::exchange(largest_, 0);
  channel.api().Iallreduce(&mine_, &agreed_, 1, MPI_DOUBLE, MPI_MAX, channel.comm(), &request_);
}

void SizeWatch::finish(const Channel& channel) {
  if (request_ != MPI_REQUEST_NULL) channel.wait_all({&request_, 1});
}

Communicator::Communicator(MPI_Comm comm, const Settings& settings, const mpi::Api& api) {
  join(comm, api);
  if (own_ == MPI_COMM_NULL) return;
  channel_ = std::make_unique<Channel>(api, own_, waiting_for(api));
  settle_terms(settings, api);
  if (terms_.usable) find_nodes(settings, api);
}

Communicator::~Communicator() {
  for (auto& [key, watch] : watches) watch.finish(*channel_);
  cells.clear();
  if (own_ != MPI_COMM_NULL) channel_->api().Comm_free(&own_);
}

void Communicator::join(MPI_Comm comm, const mpi::Api& api) {
  api.Comm_rank(comm, &rank_);
  api.Comm_size(comm, &size_);
  // Split, not dup: a duplicate would run the program's attribute callbacks.
  if (api.Comm_split(comm, 0, rank_, &own_) != MPI_SUCCESS) own_ = MPI_COMM_NULL;
  if (own_ != MPI_COMM_NULL) api.Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
}

void Communicator::settle_terms(const Settings& settings, const mpi::Api& api) {
  const auto same = static_cast<long long>(instructions(settings));
  const bool host_memory = !accelerator_loaded();
  const long long mine[] = {settings.features.learning,
                            settings.features.tuning,
                            host_memory,
                            static_cast<long long>(settings.staging_max),
                            same,
                            -same};
  constexpr int count = std::size(mine);
  long long least[count] = {};
  if (api.Allreduce(mine, least, count, MPI_LONG_LONG, MPI_MIN, own_) != MPI_SUCCESS) return;
  terms_ = {.usable = least[4] == -least[5],
            .learning = least[0] != 0,
            .tuning = least[1] != 0,
            .host_memory = least[2] != 0,
            .staging_max = static_cast<std::size_t>(least[3])};
}

void Communicator::find_nodes(const Settings& settings, const mpi::Api& api) {
  if (settings.ranks_per_node > 0) {
    shape_ = std::make_unique<plan::Shape>(plan::Shape::blocked(size_, settings.ranks_per_node));
    return;
  }
  MPI_Comm node = MPI_COMM_NULL;
  int leader = rank_;
  std::vector<int> node_of(static_cast<std::size_t>(size_));
  // All ranks fail alike: the library has no room for another communicator.
  if (api.Comm_split_type(own_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node) != MPI_SUCCESS) {
    terms_.usable = false;
    return;
  }
  api.Bcast(&leader, 1, MPI_INT, 0, node);
  api.Comm_free(&node);
  api.Allgather(&leader, 1, MPI_INT, node_of.data(), 1, MPI_INT, own_);
  shape_ = std::make_unique<plan::Shape>(plan::Shape::placed(node_of));
}

const Prepared& Communicator::prepared(const plan::Strategy& strategy) {
  const auto found = prepared_.find(&strategy);
  if (found != prepared_.end()) return found->second;
  Prepared made;
  made.schedule = strategy.schedule(*shape_, rank_);
  made.layout = layout_of(made.schedule);
  return prepared_.emplace(&strategy, std::move(made)).first->second;
}

}  // namespace wherry::run
