// Every strategy of neighborhood collectives does what MPI says, blocking and nonblocking, on topologies of all kinds:
// the oracle computes from the edges what each rank must get, for types with gaps, blocks of no bytes, repeated
// neighbors, neighbors that are the rank itself and none at all.
//
// A library whose own order of repeated neighbors is not MPI 4.1's is followed in that. WHERRY_TEST_SEED changes the
// graphs.
#include <malloc.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../seed.hpp"
#include "coll/neighborhood/neighborhood_collectives.hpp"
#include "edge_bench.hpp"
#include "library_progress.hpp"
#include "neighbor_topologies.hpp"
#include "progress/nonblocking.hpp"
#include "progress/progress.hpp"
#include "schedule/graph/routed.hpp"
#include "typed_buffer.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

const unsigned seed = seed_from_environment();

/// Elements of each block: of all, or of number i of a rank, which both ends can compute.
struct Sizes {
  const char* name;
  bool differ;
  int most;

  long of(int rank, int number) const {
    if (!differ) return most;
    const unsigned mixed = static_cast<unsigned>(value(rank, number, 7, 1)) >> 8;
    if (mixed % 3 == 0) return 0;
    return mixed % 7 == 1 ? most : 1 + static_cast<long>(mixed % 4);  // some much larger than the average
  }
};

constexpr Sizes all_sizes[] = {{"empty", false, 0},    {"one", false, 1},  {"five", false, 5},
                               {"large", false, 4000}, {"small", true, 4}, {"uneven", true, 3000}};

/// Where each block lies in its buffer, and how long it is.
struct Layout {
  std::vector<int> counts, places;  // in elements
  long elements = 0;

  void add(long count, int gap) {
    counts.push_back(static_cast<int>(count));
    places.push_back(static_cast<int>(elements));
    elements += count + gap;
  }
};

struct Check {
  run::Communicator& c;
  MPI_Comm comm;
  Collective collective;
  const Neighbors& neighbors;
  const std::vector<Origin>& origins;  // of the blocks that this rank receives
  const TestType &send, &receive;
  const Sizes& sizes;
  long failures = 0;
};

/// The call's arguments and memory, made anew for every strategy.
class Exchange {
 public:
  Exchange(const Check& k, unsigned round)
      : send_(layout_of_sends(k)),
        receive_(layout_of_receives(k)),
        from_(send_.elements * k.send.extent),
        to_(receive_.elements * k.receive.extent),
        send_types_(send_.counts.size() + 1, k.send.type),
        receive_types_(receive_.counts.size() + 1, k.receive.type) {
    for (const int place : send_.places) send_bytes_.push_back(place * k.send.extent);
    for (const int place : receive_.places) receive_bytes_.push_back(place * k.receive.extent);
    for (std::size_t i = 0; i < send_.counts.size(); ++i)
      from_.write(k.send, send_.places[i] * k.send.extent, send_.counts[i], k.c.rank(), static_cast<int>(i),
                  round);
    for (std::size_t i = 0; i < k.origins.size(); ++i)
      if (k.origins[i].rank != schedule::nobody)
        to_.expect(k.receive, receive_.places[i] * k.receive.extent, receive_.counts[i], k.origins[i].rank,
                   k.origins[i].number, round);
  }

  /// What `use` makes of the call's arguments.
  template <class Use>
  bool with_call(const Check& k, const Use& use) {
    switch (k.collective) {
      case Collective::neighbor_alltoall:
        return use(run::NeighborAlltoall{from_.data(), k.sizes.most, k.send.type, to_.data(), k.sizes.most,
                                         k.receive.type, k.comm});
      case Collective::neighbor_alltoallv:
        return use(run::NeighborAlltoallv{from_.data(), send_.counts.data(), send_.places.data(), k.send.type,
                                          to_.data(), receive_.counts.data(), receive_.places.data(),
                                          k.receive.type, k.comm});
      default:
        return use(run::NeighborAlltoallw{from_.data(), send_.counts.data(), send_bytes_.data(),
                                          send_types_.data(), to_.data(), receive_.counts.data(),
                                          receive_bytes_.data(), receive_types_.data(), k.comm});
    }
  }

  bool is_right() const { return from_.first_wrong() < 0 && to_.first_wrong() < 0; }

 private:
  /// Uneven blocks lie apart, for other bytes must stay as they are.
  static int gap(const Check& k) { return k.sizes.differ ? 1 : 0; }

  static Layout layout_of_sends(const Check& k) {
    Layout layout;
    const auto& targets = k.neighbors.targets[static_cast<std::size_t>(k.c.rank())];
    for (std::size_t i = 0; i < targets.size(); ++i)
      layout.add(k.sizes.of(k.c.rank(), static_cast<int>(i)), gap(k));
    return layout;
  }
  static Layout layout_of_receives(const Check& k) {
    Layout layout;
    for (const Origin& origin : k.origins) layout.add(k.sizes.of(origin.rank, origin.number), gap(k));
    return layout;
  }

  Layout send_, receive_;
  Buffer from_, to_;
  std::vector<MPI_Datatype> send_types_, receive_types_;
  std::vector<MPI_Aint> send_bytes_ = {}, receive_bytes_ = {};
};

/// Whether the library has blocks meet as the oracle says; *found: what it has instead.
bool follows_standard(MPI_Comm comm, Collective collective, const std::vector<Origin>& oracle,
                      std::size_t targets, std::vector<Origin>* found) {
  std::vector<int> numbers(targets + 1), heard(oracle.size() + 1, -1),
      at(std::max(targets, oracle.size()) + 1);
  const std::vector<int> ones(at.size(), 1);
  const std::vector<MPI_Datatype> ints(at.size(), MPI_INT);
  std::vector<MPI_Aint> bytes;
  for (std::size_t i = 0; i < at.size(); ++i) bytes.push_back(static_cast<MPI_Aint>(i * sizeof(int)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int>(i);
  if (collective == Collective::neighbor_alltoall)
    MPI_Neighbor_alltoall(numbers.data(), 1, MPI_INT, heard.data(), 1, MPI_INT, comm);
  else if (collective == Collective::neighbor_alltoallw)
    MPI_Neighbor_alltoallw(numbers.data(), ones.data(), bytes.data(), ints.data(), heard.data(), ones.data(),
                           bytes.data(), ints.data(), comm);
  else
    MPI_Neighbor_alltoallv(numbers.data(), ones.data(), at.data(), MPI_INT, heard.data(), ones.data(),
                           at.data(), MPI_INT, comm);
  bool same = true;
  *found = oracle;
  for (std::size_t i = 0; i < oracle.size(); ++i) {
    if (oracle[i].rank == schedule::nobody) continue;
    same = same && heard[i] == oracle[i].number;
    (*found)[i].number = heard[i];
  }
  return same;
}

class Tests {
 public:
  explicit Tests(const mpi::Api& api) : api_(api), types_(make_types()) {}
  Tests(const Tests&) = delete;
  Tests& operator=(const Tests&) = delete;
  ~Tests() { free_types(types_); }

  void run(const Neighbors& neighbors) {
    MPI_Comm comm = neighbors.create(MPI_COMM_WORLD);
    const int size = size_of(comm);
    const std::vector<int> nodes = size < 4 ? std::vector{1} : std::vector{1, 3, size};
    for (const int ranks_per_node : nodes) {
      Settings settings = untuned();
      settings.ranks_per_node = ranks_per_node;
      const auto c = std::make_shared<wherry::run::Communicator>(comm, settings, api_);
      label_ = neighbors.name + ", " + std::to_string(c->placement().nodes()) + " nodes";
      check(c, comm, neighbors);
    }
    MPI_Comm_free(&comm);
  }

  long failures = 0, checks = 0, other_orders = 0;
  std::map<std::string_view, long> ran;

 private:
  void expect(bool holds, const std::string& what) {
    ++checks;
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "rank %d of %d, %s: %s\n", rank_of(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD),
                 label_.c_str(), what.c_str());
  }

  void check(const std::shared_ptr<wherry::run::Communicator>& kept, MPI_Comm comm,
             const Neighbors& neighbors) {
    wherry::run::Communicator& c = *kept;
    const auto rank = static_cast<std::size_t>(c.rank());
    wherry::run::Neighborhood& n = *wherry::run::neighborhood_of(c, comm);
    expect(n.refusal().empty(), "refused: " + std::string(n.refusal()));
    if (!n.refusal().empty()) return;
    expect(n.topology().targets == neighbors.targets[rank] && n.topology().sources == neighbors.sources[rank],
           "the neighbors are others");
    std::vector<Origin> oracle;
    for (std::size_t i = 0; i < neighbors.sources[rank].size(); ++i)
      oracle.push_back(neighbors.origin_of(c.rank(), i));
    for (const Collective collective :
         {Collective::neighbor_alltoall, Collective::neighbor_alltoallv, Collective::neighbor_alltoallw}) {
      std::vector<Origin> library;
      other_orders += !follows_standard(comm, collective, oracle, neighbors.targets[rank].size(), &library);
      for (const Sizes& sizes : all_sizes)
        if (sizes.differ == (collective != Collective::neighbor_alltoall))
          check_strategies({c, comm, collective, neighbors, library, next_type(), next_type(), sizes}, n,
                           kept);
    }
  }

  void check_strategies(const Check& k, wherry::run::Neighborhood& n,
                        const std::shared_ptr<wherry::run::Communicator>& kept) {
    for (const schedule::Strategy& s : schedule::neighborhood_strategies()) {
      if (!schedule::Routed(s, n.graph(), k.c.placement()).applies()) continue;
      Exchange exchange(k, ++round_);
      wherry::run::Arguments arguments;
      const auto read = [&](const auto& call) {
        return read_neighbors(api_, call, n.topology(), arguments.neighbors);
      };
      expect(exchange.with_call(k, read), "not read");
      const std::uint32_t bucket =
          wherry::run::describe_neighbors(k.c, k.collective, arguments.neighbors).key.bucket;
      const wherry::run::CellKey key{k.collective, wherry::Limit::none, bucket};
      const int code =
          wherry::run::PreparedAlgorithm(k.c, s, key, 0).perform_now(k.c, arguments, key, staging_);
      const std::string what =
          std::string(s.name) + ", " + k.sizes.name + " blocks, " + k.send.name + " to " + k.receive.name;
      expect(code == MPI_SUCCESS && exchange.is_right(), what);
      Exchange again(k, ++round_);
      expect(run_nonblocking(k, again, s, key, kept) == MPI_SUCCESS && again.is_right(),
             what + ", nonblocking");
      ++ran[s.name];
    }
  }

  /// The same, left and taken up again. Nothing but this program progresses it.
  int run_nonblocking(const Check& k, Exchange& exchange, const schedule::Strategy& s,
                      const wherry::run::CellKey& key,
                      const std::shared_ptr<wherry::run::Communicator>& kept) {
    MPI_Request request = MPI_REQUEST_NULL;
    auto operation = std::make_shared<wherry::run::Nonblocking>(kept, &request);
    const auto read = [&](const auto& call) { return read_joined(api_, call, k.c, operation->arguments); };
    expect(exchange.with_call(k, read), "not read as nonblocking");
    operation->prepare(s, key, staging_);
    const int code = progress_.start(std::move(operation));
    while (!progress_.is_idle()) {
      let_library_progress();
      progress_.advance();
    }
    progress_.sweep();
    const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code != MPI_SUCCESS ? code : waited;
  }

  const TestType& next_type() { return types_[next_type_++ % types_.size()]; }

  const mpi::Api& api_;
  std::vector<TestType> types_;
  std::size_t next_type_ = 0;
  unsigned round_ = 0;
  std::string label_;
  wherry::run::Staging staging_{std::size_t{1} << 24};
  wherry::run::Progress progress_;
};

}  // namespace

int main(int argc, char** argv) {
  // Buffers are made anew for every strategy: else much of the time goes to page faults.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  MPI_Init(&argc, &argv);
  const int size = size_of(MPI_COMM_WORLD), rank = rank_of(MPI_COMM_WORLD);
  const mpi::Api api = mpi::linked_api();
  long failures = 0;
  {
    Tests tests(api);
    for (const Neighbors& each : topologies(size, seed)) tests.run(each);
    failures = tests.failures;
    long most = 0;
    MPI_Allreduce(&tests.other_orders, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
      std::printf("%ld checks, seed %u", tests.checks, seed);
      for (const auto& [name, times] : tests.ran) std::printf(", %s %ld", name.data(), times);
      std::printf("\n%s",
                  most > 0 ? "this library's order of repeated neighbors is not that of MPI 4.1\n" : "");
    }
    // Three nodes of three, stencils, and eight ranks let every strategy apply somewhere.
    for (const schedule::Strategy& s : schedule::neighborhood_strategies())
      if (size >= 8 && s.name != "rounds4" && tests.ran[s.name] == 0) {
        std::fprintf(stderr, "%s never ran\n", s.name.data());
        ++failures;
      }
  }
  return concluded("neighbors", failures);
}
