#include "coll/state/neighborhood.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "schedule/graph/routed.hpp"
#include "tuning/candidates.hpp"

namespace wherry::run {

namespace {

struct NeighborhoodState {
  static constexpr StateSlot slot = StateSlot::neighborhood;
  std::unique_ptr<Neighborhood> made;
};

/// Every rank keeps the whole graph, and looks at all of it once for each strategy.
constexpr long long most_edges = 1 << 20;

constexpr std::string_view failed = "the MPI library failed when the ranks told each other their neighbors";
constexpr std::string_view untold = "the MPI library does not tell who the neighbors are";
constexpr std::string_view too_large = "more than 1048576 edges between ranks";
constexpr std::string_view contradictory = "ranks do not agree on who sends to whom";
constexpr std::string_view unclear = "the MPI library's order of repeated neighbors could not be found out";

/// The largest of a number over the ranks, or `otherwise` if the library fails.
int largest_of(const Channel& channel, int mine, int otherwise) {
  int most = 0;
  const int code = channel.api().Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, channel.comm());
  return code == MPI_SUCCESS ? most : otherwise;
}

std::vector<int> ranks_of(const std::vector<schedule::Peer>& peers) {
  std::vector<int> ranks;
  std::ranges::transform(peers, std::back_inserter(ranks), &schedule::Peer::rank);
  return ranks;
}

/// Whether this rank receives from those who send to it.
bool agrees(const schedule::Graph& graph, int rank, const std::vector<schedule::Peer>& sources) {
  const auto enters = [&](const schedule::Block& edge) { return edge.destination == rank; };
  std::vector<int> senders;
  for (const schedule::Block& edge : graph.edges())
    if (enters(edge)) senders.push_back(edge.origin);
  std::vector<int> expected = ranks_of(sources);
  std::erase(expected, rank);
  return senders == expected;  // both ascend
}

}  // namespace

Neighborhood::Neighborhood(const Communicator& c, MPI_Comm comm)
    : c_(c), topology_(topology_of(c.channel().api(), comm)), plain_(plain_ports(topology_)) {
  refusal_ = gather();
  if (refusal_.empty()) refusal_ = match(comm);
  if (!refusal_.empty()) return;
  promising_ = tuning::is_promising(*graph_, c.placement());
}

Neighborhood::~Neighborhood() = default;

/// Makes the graph.
std::string_view Neighborhood::gather() {
  const Channel& channel = c_.channel();
  const std::vector<int> mine = ranks_of(plain_.targets);
  const int count = topology_.known ? static_cast<int>(mine.size()) : -1;
  std::vector<int> counts(static_cast<std::size_t>(c_.size()));
  if (channel.api().Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, channel.comm()) != MPI_SUCCESS)
    return failed;
  if (std::ranges::min(counts) < 0) return untold;
  if (std::accumulate(counts.begin(), counts.end(), 0LL) > most_edges) return too_large;

  std::vector<int> begins(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  std::vector<int> all(static_cast<std::size_t>(begins.back() + counts.back()));
  if (channel.api().Allgatherv(mine.data(), count, MPI_INT, all.data(), counts.data(), begins.data(), MPI_INT,
                               channel.comm()) != MPI_SUCCESS)
    return failed;
  std::vector<std::vector<int>> targets;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    targets.emplace_back(all.begin() + begins[rank], all.begin() + begins[rank] + counts[rank]);
  graph_.emplace(targets);
  return "";
}

/// Finds out which blocks of repeated neighbors meet.
std::string_view Neighborhood::match(MPI_Comm comm) {
  enum Finding { nothing, repeats, contradiction };
  const bool repeated =
      schedule::has_repeated(topology_.sources) || schedule::has_repeated(topology_.targets);
  const Finding mine = !agrees(*graph_, c_.rank(), plain_.sources) ? contradiction
                       : repeated                                  ? repeats
                                                                   : nothing;
  const int found = largest_of(c_.channel(), mine, contradiction);
  if (found == contradiction) return contradictory;
  if (found == nothing) return "";
  bool clear = true;
  for (const Collective collective :
       {Collective::neighbor_alltoall, Collective::neighbor_alltoallv, Collective::neighbor_alltoallw}) {
    std::optional<Ports> ports = asked_ports(c_.channel().api(), comm, collective, topology_);
    clear = clear && ports.has_value();
    if (ports) asked_.emplace(collective, *std::move(ports));
  }
  return largest_of(c_.channel(), clear ? 0 : 1, 1) == 0 ? "" : unclear;
}

const Ports& Neighborhood::ports(Collective collective) const {
  const auto found = asked_.find(collective);
  return found == asked_.end() ? plain_ : found->second;
}

const std::vector<tuning::AlgorithmCandidate>& Neighborhood::candidates() {
  if (candidates_.empty()) candidates_ = tuning::survey(*graph_, c_.placement());
  return candidates_;
}

const Prepared& Neighborhood::prepared(const schedule::Strategy& strategy) {
  std::unique_ptr<Prepared>& made = prepared_[&strategy];
  if (made == nullptr) {
    made = std::make_unique<Prepared>();
    made->schedule = schedule::Routed(strategy, *graph_, c_.placement()).schedule(c_.rank());
    made->layout = layout_of(made->schedule);
  }
  return *made;
}

Neighborhood* neighborhood_of(Communicator& c, MPI_Comm comm) {
  std::unique_ptr<Neighborhood>& made = c.state<NeighborhoodState>().made;
  // A rank may call in error, and alone.
  if (made == nullptr && has_topology(c.channel().api(), comm))
    made = std::make_unique<Neighborhood>(c, comm);
  return made.get();
}

Neighborhood* neighborhood_of(const Communicator& c) {
  const NeighborhoodState* const state = c.find<NeighborhoodState>();
  return state == nullptr ? nullptr : state->made.get();
}

}  // namespace wherry::run
