// Sparse exchanges by every strategy: what arrives is what was sent, in order, however late ranks are and whatever came
// before.
//
// Two oracles: patterns that every rank computes for all, and the native MPI_Alltoallv. WHERRY_TEST_SEED changes the
// patterns.
#include <malloc.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "edge_bench.hpp"
#include "host/runtime.hpp"
#include "host/sparse_call.hpp"
#include "sparse/exchange.hpp"
#include "sparse_patterns.hpp"
#include "watched_library.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

const unsigned seed = seed_from_environment();

int handled_calls = 0, handled_class = MPI_SUCCESS;

void handle(MPI_Comm*, int* code, ...) {
  ++handled_calls;
  handled_class = class_of(*code);
}

/// What native collectives bring: counts, then sizes, then bytes.
class Dense {
 public:
  explicit Dense(MPI_Comm comm) : comm_(comm), ranks_(size_of(comm)) {}

  Parcels exchange(const Parcels& sent) const {
    std::vector<int> numbers(ranks(), 0), lengths;
    std::vector<unsigned char> bytes;
    std::vector<int> totals(ranks(), 0);
    for (int to = 0; to < ranks_; ++to)
      for (const Parcel& p : sent) {
        if (p.peer != to) continue;
        ++numbers[index(to)];
        totals[index(to)] += static_cast<int>(p.data.size());
        lengths.push_back(static_cast<int>(p.data.size()));
        bytes.insert(bytes.end(), p.data.begin(), p.data.end());
      }
    const std::vector<int> ones(ranks(), 1);
    const auto coming = move(numbers, ones, ones, MPI_INT);
    const auto coming_lengths = move(lengths, numbers, coming, MPI_INT);
    const auto coming_bytes = move(bytes, totals, move(totals, ones, ones, MPI_INT), MPI_UNSIGNED_CHAR);
    return split(coming, coming_lengths, coming_bytes);
  }

 private:
  std::size_t ranks() const { return static_cast<std::size_t>(ranks_); }
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  template <class T>
  std::vector<T> move(const std::vector<T>& from, const std::vector<int>& out, const std::vector<int>& in,
                      MPI_Datatype type) const {
    std::vector<int> out_begins(ranks(), 0), in_begins(ranks(), 0);
    std::exclusive_scan(out.begin(), out.end(), out_begins.begin(), 0);
    std::exclusive_scan(in.begin(), in.end(), in_begins.begin(), 0);
    std::vector<T> to(static_cast<std::size_t>(in_begins.back() + in.back()));
    MPI_Alltoallv(from.data(), out.data(), out_begins.data(), type, to.data(), in.data(), in_begins.data(),
                  type, comm_);
    return to;
  }

  Parcels split(const std::vector<int>& numbers, const std::vector<int>& lengths,
                const std::vector<unsigned char>& bytes) const {
    Parcels parcels;
    auto length = lengths.begin();
    auto byte = bytes.begin();
    for (int source = 0; source < ranks_; ++source)
      for (int i = 0; i < numbers[index(source)]; ++i, ++length) {
        parcels.push_back({source, {byte, byte + *length}});
        byte += *length;
      }
    return parcels;
  }

  MPI_Comm comm_;
  int ranks_;
};

/// One strategy on a communicator of its own, enabled.
class Bench {
 public:
  Bench(const char* strategy, const mpi::Api& api) : name_(strategy), runtime_(settings(), api, nullptr) {
    comm_ = duplicate(MPI_COMM_WORLD);
    rank = rank_of(comm_), ranks = size_of(comm_);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm_, handler);
    MPI_Errhandler_free(&handler);
    open_requests = 0;  // what the learner of the one before had under way
    for (int i = 0; i < 2; ++i) expect(exchange({}).empty(), "something came from nowhere");
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    MPI_Comm_free(&comm_);
    runtime_.finalize();
  }

  void expect(bool holds, const char* what) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "rank %d of %d, %s, %s: %s\n", rank, ranks, name_, label, what);
  }

  Parcels exchange(const Parcels& sent, int expected_class = MPI_SUCCESS) {
    return exchange(messages_of(sent), expected_class);
  }
  Parcels exchange(const std::vector<run::SparseMessage>& sends, int expected_class) {
    handled_calls = 0;
    run::Inbox inbox;
    const int code = try_exchange(sends, inbox);
    expect(class_of(code) == expected_class, "another error than expected");
    expect(handled_calls == (expected_class != MPI_SUCCESS), "the error handler was not called once");
    expect(handled_calls == 0 || handled_class == expected_class, "the handler saw another error");
    expect(open_requests == 0, "requests left behind");
    open_requests = 0;
    return parcels_of(inbox.messages());
  }

  int try_exchange(const std::vector<run::SparseMessage>& sends, run::Inbox& inbox) {
    return runtime_.sparse_exchange({sends, comm_, inbox}, &ran);
  }

  void talk() {
    std::vector<int> out(static_cast<std::size_t>(ranks), rank), in(out.size(), -1);
    runtime_.alltoall({out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm_},
                      [&] { return PMPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm_); });
    for (int r = 0; r < ranks; ++r) expect(in[static_cast<std::size_t>(r)] == r, "an alltoall went wrong");
    open_requests = 0;  // the learner's agreements are its own
  }

  MPI_Comm comm() const { return comm_; }
  const char* name() const { return name_; }

  int rank = 0, ranks = 0;
  long failures = 0;
  const char* label = "first exchanges";
  std::string_view ran;

 private:
  const Settings& settings() {
    settings_ = untuned();
    settings_.sparse_exchange = name_;
    return settings_;
  }

  const char* name_;
  Settings settings_;
  run::Runtime runtime_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Whether the strategy asked for applies, `ran` says so.
void runs_as_asked(Bench& b) {
  b.label = "what ran";
  const std::string_view asked = b.name();
  b.exchange({});
  if (b.ranks == 1) return b.expect(b.ran == "native", "not native on one rank");
  if (asked == "auto") return b.expect(b.ran != "native", "native by itself");
  const schedule::Strategy* const s = schedule::find_strategy(asked);
  const bool fits = s == nullptr || s->applies(topology::Placement::blocked(b.ranks, b.ranks));
  b.expect(b.ran == (fits ? asked : "native"), "not what was asked for");
}

void random_patterns(Bench& b) {
  b.label = "random patterns";
  const Dense dense(b.comm());
  for (int i = 0; i < 20; ++i) {
    const Parcels sent = draw(seed, i, b.rank, b.ranks);
    const Parcels got = b.exchange(sent);
    b.expect(got == due(draw, seed, i, b.rank, b.ranks), "not what was sent");
    if (i % 4 == 0) b.expect(got == dense.exchange(sent), "not what MPI_Alltoallv brings");
  }
}

Parcels to_one(std::uint64_t, int, int, int) { return {{0, std::vector<unsigned char>(100, 1)}}; }
Parcels to_all(std::uint64_t, int, int rank, int ranks) {
  Parcels parcels;
  for (int to = 0; to < ranks && rank == 0; ++to) parcels.push_back({to, {static_cast<unsigned char>(to)}});
  return parcels;
}
Parcels to_self(std::uint64_t, int, int rank, int) { return {{rank, {1}}, {rank, {}}, {rank, {2, 3}}}; }
Parcels large(std::uint64_t, int, int rank, int ranks) {
  return {{(rank + 1) % ranks, std::vector<unsigned char>(3 << 20, static_cast<unsigned char>(rank))}};
}
Parcels crowded(std::uint64_t, int, int rank, int ranks) {
  return Parcels(200, {(rank + 1) % ranks, std::vector<unsigned char>(40, static_cast<unsigned char>(rank))});
}

void extremes(Bench& b) {
  b.label = "extremes";
  for (const Draw drawn : {to_one, to_all, to_self, large, crowded})
    b.expect(b.exchange(drawn(0, 0, b.rank, b.ranks)) == due(drawn, 0, 0, b.rank, b.ranks),
             "not what was sent");
}

void late_ranks(Bench& b) {
  b.label = "late ranks";
  for (int i = 0; i < 2 * b.ranks; ++i) {
    if (i % b.ranks == b.rank) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    b.expect(b.exchange(draw(seed + 1, i, b.rank, b.ranks)) == due(draw, seed + 1, i, b.rank, b.ranks),
             "not what was sent");
  }
}

/// Nothing between the exchanges: a rank that is done is in the next one while others are in this.
void back_to_back(Bench& b, int times) {
  b.label = "back to back";
  for (int i = 0; i < times; ++i)
    b.expect(b.exchange(draw_few(seed, i, b.rank, b.ranks)) == due(draw_few, seed, i, b.rank, b.ranks),
             "not what was sent");
}

void among_collectives(Bench& b) {
  b.label = "among other collectives";
  for (int i = 0; i < 40; ++i) {
    b.talk();
    b.expect(b.exchange(draw_few(seed, i, b.rank, b.ranks)) == due(draw_few, seed, i, b.rank, b.ranks),
             "not what was sent");
  }
}

/// The last rank has a message that cannot be sent between two that can.
void unsound(Bench& b, const run::SparseMessage& wrong, int expected_class) {
  const unsigned char mark = 7;
  const bool last = b.rank == b.ranks - 1;
  std::vector<run::SparseMessage> sends = {{0, &mark, 1}, {0, nullptr, 0}};
  if (last) sends.insert(sends.begin() + 1, wrong);
  const Parcels got = b.exchange(sends, last ? expected_class : MPI_SUCCESS);
  Parcels expected;
  for (int source = 0; source < b.ranks && b.rank == 0; ++source) {
    expected.push_back({source, {mark}});
    expected.push_back({source, {}});
  }
  b.expect(got == expected, "sound messages did not arrive");
}

void errors(Bench& b) {
  b.label = "errors";
  const unsigned char data = 1;
  unsound(b, {b.ranks, &data, 1}, MPI_ERR_RANK);
  unsound(b, {-1, &data, 1}, MPI_ERR_RANK);
  unsound(b, {0, nullptr, 5}, MPI_ERR_BUFFER);
  b.expect(b.exchange(to_one(0, 0, b.rank, b.ranks)) == due(to_one, 0, 0, b.rank, b.ranks),
           "the exchange after an error went wrong");
}

/// Rank 0's transfers are refused one after the other: every exchange ends, and the next is right. Not where messages
/// are combined:
/// the bundles are Wherry's own, and nothing in their arguments can be refused.
void refusals(Bench& b) {
  b.label = "refused transfers";
  if (b.ran != "nbx" && b.ran != "census") return;
  int more = 1;
  for (int which = 1; more != 0; ++which) {
    refused_transfer = b.rank == 0 ? which : 0;
    const Parcels sent = {{(b.rank + 1) % b.ranks, std::vector<unsigned char>(5000, 1)}};
    run::Inbox inbox;
    handled_calls = 0;
    const int code = b.try_exchange(messages_of(sent), inbox);
    more = b.rank == 0 && refused_transfer == 0;
    refused_transfer = 0;
    b.expect(b.rank != 0 || class_of(code) == (more ? MPI_ERR_TYPE : MPI_SUCCESS), "another error");
    b.expect(handled_calls == (code != MPI_SUCCESS), "the error handler was not called once");
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    b.expect(b.exchange(to_one(0, 0, b.rank, b.ranks)) == due(to_one, 0, 0, b.rank, b.ranks),
             "the exchange after a refusal went wrong");
  }
}

/// Strategies take turns on one channel: their tags must not meet.
long mixed() {
  const Settings settings = untuned();
  const mpi::Api& api = mpi::linked_api();
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  run::Communicator c(MPI_COMM_WORLD, settings, api);
  long failures = 0;
  Numbers numbers{seed};
  constexpr std::string_view names[] = {"nbx", "census", "auto", "direct"};
  for (int i = 0; i < 400; ++i) {
    const run::SparseAlgorithm algorithm =
        run::sparse_algorithm(names[numbers.below(std::size(names))], c.placement());
    const Parcels sent = draw_few(seed, i, rank, ranks);
    run::Inbox inbox;
    const int code = run::exchange_sparsely(run::sparse_context(c), algorithm, messages_of(sent), inbox);
    failures += code != MPI_SUCCESS || parcels_of(inbox.messages()) != due(draw_few, seed, i, rank, ranks);
  }
  if (failures != 0)
    std::fprintf(stderr, "rank %d of %d, mixed strategies: %ld wrong\n", rank, ranks, failures);
  return failures;
}

long failures_of(const char* strategy, const mpi::Api& api, int times) {
  Bench b(strategy, api);
  runs_as_asked(b);
  random_patterns(b);
  extremes(b);
  late_ranks(b);
  errors(b);
  refusals(b);
  among_collectives(b);
  back_to_back(b, times);
  return b.failures;
}

}  // namespace

int main(int argc, char** argv) {
  // Parcels are made anew for every exchange: else much of the time goes to page faults.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const mpi::Api api = watched_library();
  long failures = mixed();
  for (const char* strategy : {"nbx", "auto"}) failures += failures_of(strategy, api, 1000);
  for (const char* strategy : {"census", "direct", "mesh", "bruck2", "native"})
    failures += failures_of(strategy, api, 50);  // libraries that spin take long over a blocking collective
  if (failures != 0) std::printf("seed %u\n", seed);
  return concluded("sparse exchange", failures);
}
