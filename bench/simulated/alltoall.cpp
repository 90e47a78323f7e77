// How long does one all-to-all take on a simulated machine, by the simulated clock?
//
//   simulate_alltoall.so --size 1024 --strategy mesh --nodes 16 --copy-rate 1e9
// A program for SimGrid's smpimain; `wherry simulate alltoall` writes the platform and starts it. "native" is the simulator's
// own MPI_Alltoall. All ranks start at one instant; the time is up when the last one has all its blocks, which are checked.
// The clock is that of the network: SMPI lets memory copies take no time, so those of a strategy are charged here.
#include <simgrid/actor.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"
#include "mpi/api.hpp"
#include "plan/cost.hpp"
#include "run/bindings.hpp"
#include "run/channel.hpp"
#include "run/executor.hpp"

namespace {

using namespace wherry;
using Buffer = std::vector<std::byte>;

/// What one rank did; in the terms of plan::Cost.
struct Tally {
  long long messages = 0, messages_between = 0, bytes = 0, bytes_between = 0, copied_bytes = 0;
};

/// A binding that counts its messages and lets copies take simulated time.
class Metered {
 public:
  Metered(run::UniformBinding& binding, const plan::Schedule& schedule, const plan::Shape& shape, int block,
          double bytes_per_s)
      : binding_(binding), schedule_(schedule), shape_(shape), block_(block), bytes_per_s_(bytes_per_s) {}

  std::optional<run::Piece> outgoing(const plan::Message& m) {
    copy(plan::copies_to_send(schedule_, m));
    const std::optional<run::Piece> piece = binding_.outgoing(m);
    if (!piece) return piece;
    const bool between = !shape_.same_node(schedule_.rank, m.peer);
    ++tally_.messages;
    tally_.bytes += piece->count;
    tally_.messages_between += between;
    tally_.bytes_between += between ? piece->count : 0;
    return piece;
  }
  std::optional<run::Piece> incoming(const plan::Message& m) { return binding_.incoming(m); }
  int arrived(const plan::Message& m) {
    copy(plan::copies_on_arrival(schedule_, m));
    return binding_.arrived(m);
  }

  const Tally& tally() const { return tally_; }

 private:
  void copy(long long blocks) {
    const long long bytes = blocks * block_;
    if (bytes == 0) return;
    tally_.copied_bytes += bytes;
    sg_actor_sleep_for(static_cast<double>(bytes) / bytes_per_s_);
  }

  run::UniformBinding& binding_;
  const plan::Schedule& schedule_;
  const plan::Shape& shape_;
  int block_;
  double bytes_per_s_;
  Tally tally_;
};

/// Byte k of the block that `origin` has for `destination`.
std::byte content(int origin, int destination, int k) {
  return static_cast<std::byte>(origin * 131 + destination * 31 + k);
}

/// The buffers of one rank.
class Exchange {
 public:
  Exchange(int rank, int size, int block) : rank_(rank), size_(size), block_(block) {
    send.resize(bytes());
    receive.resize(bytes());
    for (int d = 0; d < size; ++d)
      for (int k = 0; k < block; ++k) send[index(d, k)] = content(rank, d, k);
    keep_own();
  }

  bool complete() const {
    for (int o = 0; o < size_; ++o)
      for (int k = 0; k < block_; ++k)
        if (receive[index(o, k)] != content(o, rank_, k)) return false;
    return true;
  }

  Buffer send, receive;

 private:
  std::size_t bytes() const { return index(size_, 0); }
  std::size_t index(int peer, int k) const {
    return static_cast<std::size_t>(peer) * static_cast<std::size_t>(block_) + static_cast<std::size_t>(k);
  }
  void keep_own() {
    if (block_ > 0)
      std::memcpy(&receive[index(rank_, 0)], &send[index(rank_, 0)], static_cast<std::size_t>(block_));
  }

  int rank_, size_, block_;
};

/// Waits for an instant that is the same on all ranks, and returns it.
double start_together(MPI_Comm comm) {
  constexpr double margin_s = 1;  // simulated: far more than the reduction takes
  const double now = MPI_Wtime();
  double latest = 0;
  MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, comm);
  sg_actor_sleep_until(latest + margin_s);
  return latest + margin_s;
}

struct Outcome {
  double seconds = 0;
  Tally tally;
};

Outcome run_native(Exchange& exchange, int block) {
  const double start = start_together(MPI_COMM_WORLD);
  MPI_Alltoall(exchange.send.data(), block, MPI_BYTE, exchange.receive.data(), block, MPI_BYTE,
               MPI_COMM_WORLD);
  return {.seconds = MPI_Wtime() - start, .tally = {}};
}

// On MPI_COMM_WORLD: a communicator of our own, as the runtime has, takes SMPI minutes at 1024 ranks.
Outcome run_strategy(const plan::Strategy& strategy, const plan::Shape& shape, Exchange& exchange, int block,
                     double bytes_per_s) {
  const plan::Schedule schedule = strategy.schedule(shape, bench::rank_of(MPI_COMM_WORLD));
  const run::Channel channel(mpi::linked_api(), MPI_COMM_WORLD, run::Waiting::library);
  const auto block_bytes = static_cast<std::size_t>(block);
  Buffer staging(static_cast<std::size_t>(schedule.slots) * block_bytes);
  run::UniformBinding binding(schedule, block_bytes, exchange.send.data(), exchange.receive.data(),
                              staging.data());
  Metered metered(binding, schedule, shape, block, bytes_per_s);
  run::Requests requests;
  const double start = start_together(MPI_COMM_WORLD);
  if (run::execute(schedule, metered, channel, 1, requests) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  return {.seconds = MPI_Wtime() - start, .tally = metered.tally()};
}

long long largest(long long mine) {
  long long most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

/// The sum over the ranks of a node, of the node that has most.
long long largest_of_nodes(long long mine, const plan::Shape& shape) {
  std::vector<long long> own(static_cast<std::size_t>(shape.nodes())), sums(own.size());
  own[static_cast<std::size_t>(shape.node_of(bench::rank_of(MPI_COMM_WORLD)))] = mine;
  MPI_Allreduce(own.data(), sums.data(), shape.nodes(), MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return *std::ranges::max_element(sums);
}

/// "SMPI Version 3.32", without what follows.
std::string library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all = text;
  return all.substr(0, all.find(". "));
}

/// One JSON line on rank 0. Collective.
void print(const Outcome& mine, const plan::Shape& shape) {
  double seconds = 0;
  MPI_Allreduce(&mine.seconds, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const Tally most = {.messages = largest(mine.tally.messages),
                      .messages_between = largest_of_nodes(mine.tally.messages_between, shape),
                      .bytes = largest(mine.tally.bytes),
                      .bytes_between = largest_of_nodes(mine.tally.bytes_between, shape),
                      .copied_bytes = largest(mine.tally.copied_bytes)};
  if (bench::rank_of(MPI_COMM_WORLD) != 0) return;
  std::printf(
      "{\"library\": \"%s\", \"seconds\": %.12g, \"nodes\": %d, \"messages\": %lld, \"messages_between\": "
      "%lld, \"bytes\": %lld, "
      "\"bytes_between\": %lld, \"copied_bytes\": %lld}\n",
      library().c_str(), seconds, shape.nodes(), most.messages, most.messages_between, most.bytes,
      most.bytes_between, most.copied_bytes);
}

[[noreturn]] void refuse(const std::string& why) {
  if (bench::rank_of(MPI_COMM_WORLD) == 0) std::fprintf(stderr, "simulate_alltoall: %s\n", why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = bench::rank_of(MPI_COMM_WORLD), size = bench::size_of(MPI_COMM_WORLD);
  const int block = bench::number(argc, argv, "--size", 64);
  const std::string name = bench::option(argc, argv, "--strategy", "native");
  const double bytes_per_s = std::atof(bench::option(argc, argv, "--copy-rate", "1e9").c_str());
  const plan::Shape shape = plan::Shape::spread(size, bench::number(argc, argv, "--nodes", size));
  const plan::Strategy* const strategy = plan::find_strategy(name);
  if (name != "native" && (strategy == nullptr || !strategy->applies(shape)))
    refuse("strategy '" + name + "' does not exist or does not apply to these ranks");
  Exchange exchange(rank, size, block);
  const Outcome outcome = strategy == nullptr ? run_native(exchange, block)
                                              : run_strategy(*strategy, shape, exchange, block, bytes_per_s);
  if (!exchange.complete()) refuse("rank " + std::to_string(rank) + " did not receive all its blocks");
  print(outcome, shape);
  MPI_Finalize();
}
