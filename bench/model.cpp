// What do messages and copies cost here, in the terms of the cost model?
//
//   bench_model
// Measures between the ranks at hand and prints samples as JSON lines, from which `wherry tune --model` fits the constants of
// plan::Machine (src/plan/fit.hpp says what each probe is). Who shares a node is found as the runtime does, and messages go
// through the runtime's channel. While some ranks work the others sleep: if they spun, they would take the processors.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/json_writer.hpp"
#include "base/machine_name.hpp"
#include "base/settings.hpp"
#include "measure.hpp"
#include "plan/fit.hpp"
#include "run/communicator.hpp"
#include "run/machine.hpp"

namespace {

using namespace wherry;
using plan::Probe;
using plan::Where;

constexpr int small_bytes = 8;
constexpr int ping_pong_bytes[] = {small_bytes, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20};
constexpr int copy_bytes[] = {1 << 12, 1 << 14, 1 << 16, 1 << 18};
constexpr int flow_bytes[] = {1 << 14, 1 << 16, 1 << 18};
constexpr int first_waiting_bytes = 1 << 10;
constexpr int most_bytes = 1 << 20;       // of a message, of what one flow carries, and of a row of copies
constexpr int under_way_bytes = 1 << 18;  // of one flow
constexpr int most_flows = 8;
constexpr int messages_at_once = 256;   // so many that the latency of the last counts little
constexpr double patience_s = 0.03;     // for a send that does not wait for its receiver
constexpr int samples = 15, waits = 3;  // of slow probes a few do
// Rows of copies walk through it, since data is seldom in a cache.
constexpr int buffer_bytes = samples * most_bytes;
constexpr useconds_t nap_us = 1000;

enum Tag { data, ready, go, done };

struct Pair {
  int a, b;  // a has the clock
};

/// Streams in both directions between a rank of the first node and one of another: as all-to-alls load a link.
struct Flow {
  int home, away;
};

/// A piece of what a probe is to find out.
struct Question {
  Probe probe;
  Where where;
  int bytes;
  int flows = 1;
};

/// What a rank has seen: as many values as all others, zeros if it has no clock.
using Values = std::vector<double>;

[[noreturn]] void end_with(const std::string& problem) {
  std::fprintf(stderr, "bench_model: %s\n", problem.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void check(int code) {
  if (code != MPI_SUCCESS) end_with("the MPI library failed with code " + std::to_string(code));
}

/// Messages of this rank.
class Post {
 public:
  explicit Post(const run::Channel& channel)
      : channel_(channel), out_(buffer_bytes, 'x'), in_(buffer_bytes) {}

  MPI_Request start_send(int peer, int bytes, Tag tag = data) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(channel_.send({out_.data(), bytes, MPI_BYTE}, peer, tag, &request));
    return request;
  }
  MPI_Request start_receive(int peer, int bytes, Tag tag = data, int offset = 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(channel_.receive({in_.data() + offset, bytes, MPI_BYTE}, peer, tag, &request, spare_));
    return request;
  }
  void send(int peer, int bytes, Tag tag = data) { wait(start_send(peer, bytes, tag)); }
  void receive(int peer, int bytes, Tag tag = data) { wait(start_receive(peer, bytes, tag)); }
  void wait(MPI_Request request) { check(channel_.wait(request)); }
  void wait_all(std::vector<MPI_Request>& requests) { check(channel_.wait_all(requests)); }
  void copy(int offset, int bytes) {
    std::memcpy(in_.data() + offset, out_.data() + offset, static_cast<std::size_t>(bytes));
  }

 private:
  const run::Channel& channel_;
  std::vector<char> out_, in_;
  run::Spare spare_;
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

// ---- Probes, each on the ranks that take part in it

Values ping_pong(Post& post, int rank, Pair pair, int bytes) {
  const int row = bytes < 1 << 14 ? 8 : 1;  // short ones in rows: a clock takes as long as a short message
  Values values(samples);
  for (double& value : values) {
    const double start = MPI_Wtime();
    for (int i = 0; i < row; ++i) {
      if (rank == pair.a) post.send(pair.b, bytes);
      post.receive(rank == pair.a ? pair.b : pair.a, bytes);
      if (rank == pair.b) post.send(pair.a, bytes);
    }
    value = rank == pair.a ? (MPI_Wtime() - start) / (2 * row) : 0;
  }
  return values;
}

Values exchange(Post& post, int rank, Pair pair) {
  const int peer = rank == pair.a ? pair.b : pair.a;
  Values values(samples);
  for (double& value : values) {
    std::vector<MPI_Request> requests;
    for (int i = 0; i < messages_at_once; ++i)
      requests.push_back(post.start_receive(peer, small_bytes, data, i * small_bytes));
    MPI_Request here = post.start_send(peer, 0, ready);
    post.receive(peer, 0, ready);
    post.wait(here);
    const double start = MPI_Wtime();
    for (int i = 0; i < messages_at_once; ++i) requests.push_back(post.start_send(peer, small_bytes));
    post.wait_all(requests);
    value = rank == pair.a ? (MPI_Wtime() - start) / messages_at_once : 0;
  }
  return values;
}

/// Whether a send ends while its receiver does not receive.
Values sends_waiting(Post& post, int rank, Pair pair, int bytes) {
  Values values(waits);
  for (double& value : values) {
    if (rank == pair.b) {
      post.send(pair.a, 0, ready);
      post.receive(pair.a, 0, go);
      post.receive(pair.a, bytes);
      continue;
    }
    post.receive(pair.b, 0, ready);
    MPI_Request request = post.start_send(pair.b, bytes);
    int over = 0;
    for (const double start = MPI_Wtime(); !over && MPI_Wtime() - start < patience_s;)
      MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    value = over ? 0 : 1;
    post.send(pair.b, 0, go);
    post.wait(request);
  }
  return values;
}

/// This rank's messages of the flows, some at a time in each.
void stream(Post& post, int rank, const std::vector<Flow>& flows, int bytes) {
  std::vector<int> peers;
  for (const Flow& flow : flows) {
    if (flow.home == rank) peers.push_back(flow.away);
    if (flow.away == rank) peers.push_back(flow.home);
  }
  for (int sent = 0; sent < most_bytes; sent += under_way_bytes) {
    std::vector<MPI_Request> requests;
    for (int place = 0, posted = 0; posted < under_way_bytes; posted += bytes)
      for (const int peer : peers) requests.push_back(post.start_receive(peer, bytes, data, bytes * place++));
    for (int started = 0; started < under_way_bytes; started += bytes)
      for (const int peer : peers) requests.push_back(post.start_send(peer, bytes));
    post.wait_all(requests);
  }
}

Values streams(Post& post, int rank, const std::vector<Flow>& flows, int bytes) {
  const int clock = flows.front().home;
  std::vector<int> others;
  for (const Flow& flow : flows)
    for (const int each : {flow.home, flow.away})
      if (each != clock && std::ranges::find(others, each) == others.end()) others.push_back(each);
  Values values(samples / 3);
  for (double& value : values) {
    if (rank != clock) {
      post.send(clock, 0, ready);
      post.receive(clock, 0, go);
      stream(post, rank, flows, bytes);
      post.send(clock, 0, done);
      continue;
    }
    for (const int other : others) post.receive(other, 0, ready);
    const double start = MPI_Wtime();
    for (const int other : others) post.send(other, 0, go);
    stream(post, rank, flows, bytes);
    for (const int other : others) post.receive(other, 0, done);
    value = (MPI_Wtime() - start) / (static_cast<double>(flows.size()) * most_bytes);
  }
  return values;
}

Values copies(Post& post, int rank, int bytes) {
  Values values(samples);
  int offset = 0;
  for (double& value : values) {
    const double start = MPI_Wtime();
    for (const int end = offset + most_bytes; offset < end; offset += bytes) post.copy(offset, bytes);
    value = rank == 0 ? (MPI_Wtime() - start) * bytes / most_bytes : 0;
  }
  return values;
}

// ---- Who takes part

std::optional<Pair> pair_within(const plan::Shape& shape) {
  for (int node = 0; node < shape.nodes(); ++node)
    if (const auto members = shape.members(node); members.size() > 1) return Pair{members[0], members[1]};
  return std::nullopt;
}

std::optional<Pair> pair_between(const plan::Shape& shape) {
  if (shape.nodes() == 1) return std::nullopt;
  return Pair{shape.members(0)[0], shape.members(1)[0]};
}

/// With as many other nodes as there are.
std::vector<Flow> flows_of_first(const plan::Shape& shape) {
  std::vector<Flow> flows;
  const auto home = shape.members(0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.largest_node()); ++i)
    for (int node = 1; node < shape.nodes(); ++node)
      if (const auto members = shape.members(node); i < members.size())
        flows.push_back({home[flows.size() % home.size()], members[i]});
  if (flows.size() > most_flows) flows.resize(most_flows);
  return flows;
}

// ---- The program

class Measuring {
 public:
  explicit Measuring(run::Communicator& c) : c_(c), post_(c.channel()) {}

  void all() {
    if (const auto pair = pair_within(c_.shape())) pairwise(*pair, Where::within);
    if (const auto pair = pair_between(c_.shape())) {
      pairwise(*pair, Where::between);
      for (int bytes = first_waiting_bytes; bytes <= most_bytes; bytes *= 2)
        tell({Probe::waits, Where::between, bytes}, takes_part(*pair), waits,
             [&] { return sends_waiting(post_, c_.rank(), *pair, bytes); });
    }
    all_flows();
    for (const int bytes : copy_bytes)
      tell({Probe::copy, Where::within, bytes}, c_.shape().node_of(c_.rank()) == c_.shape().node_of(0),
           samples, [&] { return copies(post_, c_.rank(), bytes); });
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
    std::vector<Flow> flows = flows_of_first(c_.shape());
    for (std::size_t i = 1; i < std::size(flow_bytes) && !flows.empty(); ++i)
      streams_of(flows, flow_bytes[i]);
    for (; !flows.empty(); flows.resize(flows.size() / 2)) streams_of(flows, flow_bytes[0]);
  }

  void streams_of(const std::vector<Flow>& flows, int bytes) {
    const auto mine = [&](const Flow& flow) { return flow.home == c_.rank() || flow.away == c_.rank(); };
    tell({Probe::flows, Where::between, bytes, static_cast<int>(flows.size())},
         std::ranges::any_of(flows, mine), samples / 3,
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
                plan::probe_names[static_cast<std::size_t>(q.probe)].data(),
                plan::where_names[static_cast<std::size_t>(q.where)].data(), q.bytes, q.flows);
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
              json_string(machine_name()).c_str(), json_string(run::library_name(c.channel().api())).c_str(),
              c.size(), c.shape().nodes());
}

void measure() {
  const Settings settings = read_settings([](const char* name) { return std::getenv(name); }, false);
  run::Communicator c(MPI_COMM_WORLD, settings, mpi::linked_api());
  if (!c.terms().refusal.empty()) end_with(std::string(c.terms().refusal));
  introduce(c);
  Measuring(c).all();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  measure();
  MPI_Finalize();
}
