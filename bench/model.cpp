// What do messages and copies cost here, as constants of the cost model?
//
//   bench_model
// Measures between the ranks at hand and prints samples as JSON lines, from which `wherry tune --model` fits the
// constants of model::Machine (src/model/fit.hpp says what each probe is). Who shares a node is found as the runtime
// does, and messages go through the runtime's channel. While some ranks work the others sleep: if they spun, they would
// take the processors.
#include <unistd.h>

#include <optional>

#include "base/json_writer.hpp"
#include "base/machine_name.hpp"
#include "base/settings.hpp"
#include "comm/communicator.hpp"
#include "model/copies.hpp"
#include "model/exchange.hpp"
#include "model/fit.hpp"
#include "model/ping_pong.hpp"
#include "model/streams.hpp"
#include "model/waits.hpp"

namespace {

using namespace wherry;
using namespace bench::model;
using model::Probe;
using model::Where;

constexpr useconds_t nap_us = 1000;

/// A piece of what a probe is to find out.
struct Question {
  Probe probe;
  Where where;
  int bytes;
  int flows = 1;
};

/// Until all ranks are here, mostly asleep.
void rest(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  for (int over = 0;;) {
    MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    if (over) return;
    usleep(nap_us);
  }
}

class Measuring {
 public:
  explicit Measuring(run::Communicator& c) : c_(c), post_(c.channel()) {}

  void all() {
    if (const auto pair = pair_within(c_.placement())) pairwise(*pair, Where::within);
    if (const auto pair = pair_between(c_.placement())) {
      pairwise(*pair, Where::between);
      for (int bytes = first_waiting_bytes; bytes <= most_bytes; bytes *= 2)
        tell({Probe::waits, Where::between, bytes}, takes_part(*pair), waits,
             [&] { return sends_waiting(post_, c_.rank(), *pair, bytes); });
    }
    all_flows();
    for (const int bytes : copy_bytes)
      tell({Probe::copy, Where::within, bytes},
           c_.placement().node_of(c_.rank()) == c_.placement().node_of(0), samples,
           [&] { return copies(post_, c_.rank(), bytes); });
  }

 private:
  bool takes_part(Pair pair) const { return c_.rank() == pair.a || c_.rank() == pair.b; }

  void pairwise(Pair pair, Where where) {
    for (const int bytes : ping_pong_bytes)
      tell({Probe::one_way, where, bytes}, takes_part(pair), samples,
           [&] { return ping_pong(post_, c_.rank(), pair, bytes); });
    tell({Probe::exchange, where, small_bytes}, takes_part(pair), samples,
         [&] { return exchange(post_, c_.rank(), pair); });
  }

  /// Small messages in 1, 2, 4 ... flows, and those of other sizes where the node's link is busiest.
  void all_flows() {
    std::vector<Flow> flows = flows_of_first(c_.placement());
    for (std::size_t i = 1; i < std::size(flow_bytes) && !flows.empty(); ++i)
      streams_of(flows, flow_bytes[i]);
    for (; !flows.empty(); flows.resize(flows.size() / 2)) streams_of(flows, flow_bytes[0]);
  }

  void streams_of(const std::vector<Flow>& flows, int bytes) {
    const auto mine = [&](const Flow& flow) { return flow.home == c_.rank() || flow.away == c_.rank(); };
    tell({Probe::flows, Where::between, bytes, static_cast<int>(flows.size())},
         std::ranges::any_of(flows, mine), flow_samples,
         [&] { return streams(post_, c_.rank(), flows, bytes); });
  }

  /// Asks the ranks that take part, and lets rank 0 print. Collective.
  template <class Ask>
  void tell(const Question& q, bool takes_part, int count, Ask&& ask) {
    const Values mine = takes_part ? ask() : Values(static_cast<std::size_t>(count));
    Values all(mine.size());
    rest(c_.channel().comm());
    MPI_Reduce(mine.data(), all.data(), count, MPI_DOUBLE, MPI_SUM, 0, c_.channel().comm());
    if (c_.rank() != 0) return;
    std::printf(R"({"probe": "%s", "where": "%s", "bytes": %d, "flows": %d, "samples": [)",
                model::probe_names[static_cast<std::size_t>(q.probe)].data(),
                model::where_names[static_cast<std::size_t>(q.where)].data(), q.bytes, q.flows);
    for (std::size_t i = 0; i < all.size(); ++i) std::printf("%s%.9g", i == 0 ? "" : ", ", all[i]);
    std::printf("]}\n");
  }

  run::Communicator& c_;
  Post post_;
};

void introduce(const run::Communicator& c) {
  if (c.rank() != 0) return;
  std::printf(R"({"machine": %s, "mpi": %s, "ranks": %d, "nodes": %d})"
              "\n",
              json_string(machine_name()).c_str(), json_string(mpi::library_name(c.channel().api())).c_str(),
              c.size(), c.placement().nodes());
}

void measure() {
  const Settings settings = read_settings(read_variable, false);
  run::Communicator c(MPI_COMM_WORLD, settings, mpi::linked_api());
  if (!c.agreement().refusal.empty()) end_with(std::string(c.agreement().refusal));
  introduce(c);
  Measuring(c).all();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  measure();
  MPI_Finalize();
}
