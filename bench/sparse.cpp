// What does it cost to exchange little: when nobody knows who sends to whom, and in an MPI_Alltoallv with few blocks?
//
//   bench_sparse --algorithms auto,nbx,census --degrees 0,1,4 --sizes 64,16384 --turns 20 --train 300
// "degree D, N B": every rank sends N bytes to each of D ranks, whose number is known to the sender only. "library" is
// an MPI_Alltoall of the counts and an MPI_Alltoallv; the others are Wherry's sparse exchanges.
// "one neighbor, N B": an MPI_Alltoallv in which every rank sends to the next; "sendrecv" is MPI_Sendrecv. "hot
// receiver, N B": all send to rank 0. "wherry" is Wherry's choice after --train calls. Run it under the preload.
#include <cstring>
#include <numeric>

#include "comm/communicator.hpp"
#include "exchange.hpp"
#include "sparse/exchange.hpp"
#include "turns.hpp"

namespace {

using namespace wherry;
using bench::compare;
using bench::Variant;

/// The arguments of an MPI_Alltoallv of bytes.
struct Irregular {
  explicit Irregular(MPI_Comm comm)
      : comm(comm),
        send_counts(static_cast<std::size_t>(bench::size_of(comm)), 0),
        receive_counts(send_counts) {}

  /// Blocks one after the other.
  void lay_out() {
    const auto begins = [](const std::vector<int>& counts) {
      std::vector<int> at(counts.size());
      std::exclusive_scan(counts.begin(), counts.end(), at.begin(), 0);
      return at;
    };
    send_begins = begins(send_counts);
    receive_begins = begins(receive_counts);
    send.resize(static_cast<std::size_t>(send_begins.back() + send_counts.back()));
    receive.resize(static_cast<std::size_t>(receive_begins.back() + receive_counts.back()));
  }
  using Function = decltype(&MPI_Alltoallv);
  void operator()(Function alltoallv) {
    alltoallv(send.data(), send_counts.data(), send_begins.data(), MPI_BYTE, receive.data(),
              receive_counts.data(), receive_begins.data(), MPI_BYTE, comm);
  }

  MPI_Comm comm;
  std::vector<int> send_counts, receive_counts, send_begins, receive_begins;
  std::vector<char> send, receive;
};

/// Under the preload, with the strategy that was forced before.
Variant forced(const std::string& name, Irregular& irregular) {
  return {name, [&irregular] { irregular(MPI_Alltoallv); }, [name] { bench::force(name); }};
}

void train(Irregular& irregular, int calls) {
  bench::force("wherry");
  for (int i = 0; i < calls; ++i)
    bench::time_calls(MPI_COMM_WORLD, 1, [&irregular] { irregular(MPI_Alltoallv); });
}

std::string label(const std::string& what, int bytes) { return what + ", " + bench::case_name(bytes); }

void one_neighbor(int bytes, int turns, int calls) {
  const int rank = bench::rank_of(MPI_COMM_WORLD), size = bench::size_of(MPI_COMM_WORLD);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  Irregular irregular(MPI_COMM_WORLD);
  irregular.send_counts[static_cast<std::size_t>(next)] = bytes;
  irregular.receive_counts[static_cast<std::size_t>(before)] = bytes;
  irregular.lay_out();
  train(irregular, calls);
  const auto sendrecv = [&] {
    MPI_Sendrecv(irregular.send.data(), bytes, MPI_BYTE, next, 1, irregular.receive.data(), bytes, MPI_BYTE,
                 before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  compare(label("one neighbor", bytes),
          {{"sendrecv", sendrecv}, forced("native", irregular), forced("wherry", irregular)}, turns);
}

void hot_receiver(int bytes, int turns, int calls) {
  Irregular irregular(MPI_COMM_WORLD);
  irregular.send_counts[0] = bytes;
  if (bench::rank_of(MPI_COMM_WORLD) == 0) std::ranges::fill(irregular.receive_counts, bytes);
  irregular.lay_out();
  train(irregular, calls);
  compare(label("hot receiver", bytes), {forced("native", irregular), forced("wherry", irregular)}, turns);
}

/// What programs do today where only senders know.
void dense(Irregular& irregular) {
  PMPI_Alltoall(irregular.send_counts.data(), 1, MPI_INT, irregular.receive_counts.data(), 1, MPI_INT,
                irregular.comm);
  irregular.lay_out();
  irregular(PMPI_Alltoallv);
}

void unknown_senders(int degree, int bytes, const std::vector<std::string>& algorithms, int turns) {
  const Settings settings;
  run::Communicator c(MPI_COMM_WORLD, settings, mpi::linked_api());
  const std::vector<char> data(static_cast<std::size_t>(bytes), 1);
  std::vector<run::SparseMessage> sends;
  Irregular irregular(MPI_COMM_WORLD);
  for (int k = 1; k <= degree; ++k) {
    sends.push_back({(c.rank() + k) % c.size(), data.data(), data.size()});
    irregular.send_counts[static_cast<std::size_t>(sends.back().peer)] += bytes;
  }
  std::vector<Variant> variants = {{"library", [&irregular] { dense(irregular); }}};
  for (const std::string& name : algorithms) {
    const run::SparseAlgorithm algorithm = run::sparse_algorithm(name, c.placement());
    if (algorithm.is_native()) continue;
    variants.push_back({name, [&c, &sends, algorithm] {
                          run::Inbox inbox;
                          run::exchange_sparsely(run::sparse_context(c), algorithm, sends, inbox);
                        }});
  }
  compare(label("degree " + std::to_string(degree), degree > 0 ? bytes : 0), variants, turns);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto algorithms = bench::words(bench::option(argc, argv, "--algorithms", "auto,nbx,census"));
  const auto degrees = bench::numbers(bench::option(argc, argv, "--degrees", "0,1,4"));
  const auto sizes = bench::numbers(bench::option(argc, argv, "--sizes", "64,16384"));
  const int turns = bench::number(argc, argv, "--turns", 20),
            calls = bench::number(argc, argv, "--train", 300);
  for (const int degree : degrees)
    for (const int bytes : sizes)
      if (degree > 0 || bytes == sizes.front()) unknown_senders(degree, bytes, algorithms, turns);
  for (const int bytes : sizes) one_neighbor(bytes, turns, calls);
  for (const int bytes : sizes) hot_receiver(bytes, turns, calls);
  MPI_Finalize();
}
