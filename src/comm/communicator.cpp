#include "comm/communicator.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "comm/agreement.hpp"
#include "mpi/errors_returned.hpp"

namespace wherry::run {

namespace {

/// Stands for a rank without the communicator that Wherry needs.
constexpr long long no_channel = -1;

// Those before are of blocking collectives, and of messages that are waited for at once.
constexpr int first_free_tag = 16;

/// Half of the other tags that the library has.
int half_of_free_tags(MPI_Comm comm, const mpi::Api& api) {
  constexpr int least = 32767;  // MPI 4.1, 9.1.2
  const int* most = nullptr;
  int found = 0;
  api.Comm_get_attr(comm, MPI_TAG_UB, &most, &found);
  return ((found != 0 ? std::min(*most, INT_MAX - 1) : least) - first_free_tag + 1) / 2;
}

/// A number for this rank's node, by MPI's name of it (FNV-1a, without the sign). MPI_Comm_split_type would say as
/// much, but MPICH allocates 2 MB for its first communicator on a part of the ranks: a millisecond, and glibc, once
/// they are freed, no longer maps the program's buffers of up to that size.
long long node_number(int rank, const Settings& settings, const mpi::Api& api) {
  if (settings.ranks_per_node > 0) return rank / settings.ranks_per_node;
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  if (api.Get_processor_name(name, &length) != MPI_SUCCESS) return rank;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char character : std::string_view(name))
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  return static_cast<long long>(hash >> 1);
}

/// The nodes of ranks with these numbers.
std::vector<int> nodes_of(std::span<const long long> numbers) {
  std::unordered_map<long long, int> known;
  std::vector<int> nodes;
  for (const long long number : numbers)
    nodes.push_back(known.try_emplace(number, static_cast<int>(known.size())).first->second);
  return nodes;
}

}  // namespace

// The ranks speak of everything on the program's communicator: a rank may be without the new one.
Communicator::Communicator(MPI_Comm comm, const Settings& settings, const mpi::Api& api, Capacity capacity)
    : tags_(first_free_tag, half_of_free_tags(comm, api)),
      lasting_tags_(first_free_tag + half_of_free_tags(comm, api), half_of_free_tags(comm, api)),
      reserved_memory_(settings.features.nonblocking ? settings.staging_max : 0) {
  const ErrorsReturned returned(comm, api);
  api.Comm_rank(comm, &rank_);
  api.Comm_size(comm, &size_);
  agreement_ = agree(settings, capacity, reserved_memory_.bytes(), comm, api);
  if (!agreement_.refusal.empty()) return;
  open_channel(comm, settings.wait, api);
  find_nodes(comm, settings, api);
}

Communicator::~Communicator() {
  slots_.clear();
  if (!channel_) return;
  // Also where another rank could not make it: libraries free a communicator without asking the others.
  MPI_Comm own = channel_->comm();
  channel_->api().Comm_free(&own);
}

void Communicator::open_channel(MPI_Comm comm, WaitMode wait, const mpi::Api& api) {
  MPI_Comm own = MPI_COMM_NULL;
  // Split, not dup: a duplicate would run the program's attribute callbacks.
  if (api.Comm_split(comm, 0, rank_, &own) != MPI_SUCCESS) return;
  api.Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  channel_ = std::make_unique<Channel>(api, own, waiting_in(api, wait));
}

/// A rank that has no channel takes part, for the others to hear of it.
void Communicator::find_nodes(MPI_Comm comm, const Settings& settings, const mpi::Api& api) {
  const long long mine = channel_ ? node_number(rank_, settings, api) : no_channel;
  const std::vector<long long> numbers = ask_all(api, comm, {&mine, 1});
  if (numbers.empty() || std::ranges::find(numbers, no_channel) != numbers.end()) {
    agreement_.refusal = "the MPI library could not make another communicator";
    return;
  }
  placement_ = std::make_unique<topology::Placement>(topology::Placement::placed(nodes_of(numbers)));
}

}  // namespace wherry::run
