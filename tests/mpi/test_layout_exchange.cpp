// Blocks of derived types in chunks: each byte arrives where the type maps say and none between, whatever types and
// sizes meet, with memory and without, and after a block that is too large.
//
// ranks: 2 3 5
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "coll/blocks/block_collectives.hpp"
#include "exec/layout_exchange.hpp"
#include "exec/pair_exchange.hpp"
#include "exec/peer_memory.hpp"
#include "exec/shared_chunks.hpp"
#include "host/runtime.hpp"

namespace {

using namespace wherry;

constexpr std::int64_t poison = -1;

/// n numbers of 8 bytes: where in memory number i of the type map is.
struct Elements {
  enum Kind { dense, strided, reversed, rows, kinds };
  static constexpr int row = 1024;  // numbers
  Kind kind;
  int n;

  int at(int i) const {
    if (kind == strided) return 3 * i;
    if (kind == rows) return i / row * 2 * row + i % row;
    return kind == reversed ? 2 * (n - 1 - i) : i;
  }
  int reach() const { return kind == dense ? n : 3 * n; }

  MPI_Datatype type() const {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (kind == dense) MPI_Type_contiguous(n, MPI_INT64_T, &type);
    if (kind == strided) MPI_Type_vector(n, 1, 3, MPI_INT64_T, &type);
    if (kind == rows) {
      std::vector<int> lengths, places;
      for (int i = 0; i < n; i += row) {
        lengths.push_back(std::min(row, n - i));
        places.push_back(at(i));
      }
      MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_INT64_T, &type);
    }
    if (kind == reversed) {
      std::vector<int> places;
      for (int i = 0; i < n; ++i) places.push_back(at(i));
      MPI_Type_create_indexed_block(n, 1, places.data(), MPI_INT64_T, &type);
    }
    MPI_Type_commit(&type);
    return type;
  }
};

std::int64_t value(int origin, int destination, int i) {
  return (std::int64_t{origin} << 48) | (std::int64_t{destination} << 32) | i;
}

/// One side of a call on this rank.
struct Side {
  std::vector<Elements> blocks;
  std::vector<int> counts, bytes;
  std::vector<MPI_Datatype> types;
  std::vector<std::int64_t> memory;

  void add(const Elements& block) {
    blocks.push_back(block);
    counts.push_back(block.n > 0 ? 1 : 0);
    bytes.push_back(static_cast<int>(memory.size() * sizeof(std::int64_t)));
    types.push_back(block.type());
    memory.resize(memory.size() + static_cast<std::size_t>(block.reach()), poison);
  }
  std::int64_t& number(std::size_t peer, int i) {
    return memory[static_cast<std::size_t>(bytes[peer]) / sizeof(std::int64_t) +
                  static_cast<std::size_t>(blocks[peer].at(i))];
  }
  void free() {
    for (MPI_Datatype& type : types) MPI_Type_free(&type);
  }
};

/// Of such seeds every block is larger than what goes through shared memory.
constexpr unsigned readable_and_large = 31, large = 35;

/// Sizes around what comes with the first message and around a chunk of 64 KiB, and several chunks.
int numbers_of(unsigned seed, int origin, int destination) {
  if (seed == readable_and_large || seed == large) return 600'000;
  constexpr int sizes[] = {0, 1, 1024, 1025, 8191, 8192, 8193, 20'000, 60'000, 120'000};
  std::seed_seq sequence{seed, static_cast<unsigned>(origin), static_cast<unsigned>(destination)};
  return sizes[std::minstd_rand(sequence)() % std::size(sizes)];
}

struct Call {
  Side send, receive;
  MPI_Comm comm;

  Call(unsigned seed, MPI_Comm on, int missing = 0) : comm(on) {
    int rank = 0, size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    std::minstd_rand random(seed + static_cast<unsigned>(rank));
    const auto kind = [&] { return static_cast<Elements::Kind>(random() % Elements::kinds); };
    for (int peer = 0; peer < size; ++peer) {
      send.add({kind(), numbers_of(seed, rank, peer)});
      const int n = numbers_of(seed, peer, rank);
      receive.add({kind(), peer != rank && n > missing ? n - missing : n});
      for (int i = 0; i < send.blocks.back().n; ++i)
        send.number(send.blocks.size() - 1, i) = value(rank, peer, i);
    }
  }
  run::Alltoallw arguments() {
    return {send.memory.data(),   send.counts.data(),    send.bytes.data(),
            send.types.data(),    receive.memory.data(), receive.counts.data(),
            receive.bytes.data(), receive.types.data(),  comm};
  }
  /// Numbers that are not as they should be.
  long wrong() {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    long wrong = 0;
    std::vector<std::int64_t> rest = receive.memory;
    for (std::size_t peer = 0; peer < receive.blocks.size(); ++peer)
      for (int i = 0; i < receive.blocks[peer].n; ++i) {
        std::int64_t& number = receive.number(peer, i);
        wrong += number != value(static_cast<int>(peer), rank, i);
        rest[static_cast<std::size_t>(&number - receive.memory.data())] = poison;
      }
    for (const std::int64_t number : rest) wrong += number != poison;
    return wrong;
  }
  void free() {
    send.free();
    receive.free();
  }
};

long failures = 0;
bool can_share = false;  // memory, all ranks of the host

void expect(bool is, const char* what, unsigned seed) {
  if (is) return;
  ++failures;
  std::fprintf(stderr, "%s (seed %u)\n", what, seed);
}

const char* pairwise(int size) { return size == 2 ? "direct" : "pairwise"; }

/// Of shared memory; the library may open others at any time.
int descriptors() {
  int open = 0;
  for (int i = 0; i < 1024; ++i) {
    char target[64] = "";
    const std::string path = "/proc/self/fd/" + std::to_string(i);
    if (::readlink(path.c_str(), target, sizeof target - 1) > 0)
      open += std::string_view(target).starts_with("/memfd:wherry-") ? 1 : 0;
  }
  return open;
}

/// Directly, where some ranks have no memory for chunks, and one may share memory with one other only.
void check_exchange(run::Communicator& c, MPI_Comm comm, datatype::TypeLayouts& layouts) {
  const run::Prepared& prepared = run::prepared(c, *schedule::find_strategy(pairwise(c.size())));
  expect(run::is_pairwise(prepared.schedule), "the schedule is not pairwise", 0);
  std::vector<std::byte> memory(run::pair_exchange_memory());
  std::atomic<int> connections_left = c.rank() == 1 ? 1 : 8;
  run::SharedConnections shared(connections_left);
  std::vector<unsigned> seeds(30);
  std::iota(seeds.begin(), seeds.end(), 1U);
  if (c.size() <= 3) seeds.insert(seeds.end(), {readable_and_large, large});
  for (const unsigned seed : seeds) {
    const int missing = seed % 5 == 0 ? 1 : 0;
    Call call(seed, comm, missing);
    run::Blocks blocks;
    run::read_blocks(mpi::linked_api(), call.arguments(), c.size(), blocks);
    const bool has_memory = (seed + static_cast<unsigned>(c.rank())) % 3 != 0;
    const auto own = static_cast<std::size_t>(c.rank());
    expect(run::copy_layouts(blocks.send[own], blocks.receive[own], layouts), "the own block was not copied",
           seed);
    bool too_large = false;
    for (std::size_t peer = 0; peer < blocks.send.size(); ++peer)
      too_large |= call.receive.blocks[peer].n < numbers_of(seed, static_cast<int>(peer), c.rank());
    // All in messages, or through what both share, or what can be read out of the other rank's memory.
    const topology::Placement placement = seed % 2 == 0 ? topology::Placement::flat(c.size())
                                                        : topology::Placement::blocked(c.size(), c.size());
    bool readable = seed % 7 != 0;
    const int code = run::exchange_layouts(prepared.schedule, blocks, run::blocking_task(c).lane, layouts,
                                           {placement, &readable, seed % 3 != 0 ? &shared : nullptr},
                                           has_memory ? memory.data() : nullptr);
    expect(code == (too_large ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "another code", seed);
    if (missing == 0) expect(call.wrong() == 0, "wrong bytes", seed);
    call.free();
  }
  expect(descriptors() == 0, "a descriptor was left open", 0);
  for (int peer = 0; peer < c.size(); ++peer) {
    if (peer == c.rank() || !can_share) continue;
    const auto* const to = c.rank() == 1 ? nullptr : shared.to(peer);
    expect(c.rank() == 1 || (to != nullptr && to->is_open), "nothing went through shared memory", 0);
    expect(peer == 1 || shared.from(peer) != nullptr, "nothing came through shared memory", 0);
  }
  if (can_share) expect(connections_left == (c.rank() == 1 ? 0 : 9 - c.size()), "other connections", 0);
}

int sends = 0;
int count_send(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request* request) {
  if (peer != MPI_PROC_NULL) ++sends;
  return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

/// Bytes to others and chunks of 64 KiB of a rank's blocks; short ones need none.
struct Sent {
  long bytes = 0, chunks = 0;
};

Sent sent_by(unsigned seed, int rank, int size) {
  constexpr long chunk = 64 << 10;
  Sent sent;
  for (int peer = 0; peer < size; ++peer) {
    const long bytes = 8L * numbers_of(seed, rank, peer);
    sent.bytes += bytes;
    if (peer != rank && bytes > run::Offer::most_data) sent.chunks += (bytes + chunk - 1) / chunk;
  }
  return sent;
}

/// Blocks that are large enough on average on every rank, so on the one that has the largest.
unsigned seed_of_large_blocks(int size) {
  const auto is_large = [size](unsigned seed) {
    for (int rank = 0; rank < size; ++rank)
      if (const Sent sent = sent_by(seed, rank, size);
          sent.bytes / size < run::least_chunked_bytes || sent.chunks < size + 4)
        return false;
    return true;
  };
  unsigned seed = large + 1;
  while (!is_large(seed)) ++seed;
  return seed;
}

/// As the preload does it: from 64 KiB a block on; not where one rank is told otherwise.
void check_runtime(bool one_is_native, int ranks_per_node) {
  int rank = 0, size = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  Settings settings;
  settings.features.tuning = false;
  settings.ranks_per_node = ranks_per_node;
  if (one_is_native && rank == 1) settings.layout = LayoutLever::native;
  mpi::Api api = mpi::linked_api();
  api.Isend = count_send;
  run::Runtime runtime(settings, api, nullptr);
  runtime.force(pairwise(size));
  const unsigned seed = seed_of_large_blocks(size);
  for (int i = 0; i < 6; ++i) {
    Call call(seed, comm);
    const auto native = [&] {
      return MPI_Alltoallw(call.send.memory.data(), call.send.counts.data(), call.send.bytes.data(),
                           call.send.types.data(), call.receive.memory.data(), call.receive.counts.data(),
                           call.receive.bytes.data(), call.receive.types.data(), comm);
    };
    sends = 0;
    expect(runtime.alltoallw(call.arguments(), native) == MPI_SUCCESS, "the call failed", seed);
    expect(call.wrong() == 0, "wrong bytes by the runtime", seed);
    call.free();
  }
  // Beside chunks: one or two messages for each other rank.
  const long chunks = sent_by(seed, rank, size).chunks;
  if (ranks_per_node == 0 && can_share) expect(sends <= 2 * size, "the blocks travelled as messages", seed);
  if (one_is_native) expect(sends < size + 3, "the blocks travelled in chunks", seed);
  else if (ranks_per_node == 1) expect(sends >= chunks, "the blocks did not travel in chunks", seed);
  runtime.finalize();
  MPI_Comm_free(&comm);
}

/// A type that is not committed is no error of Wherry's to hide.
void check_uncommitted(datatype::TypeLayouts& layouts) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(8, 1, 2, MPI_INT64_T, &type);
  expect(layouts.plan(type, 1) == nullptr, "a type that is not committed has a plan", 0);
  MPI_Type_commit(&type);
  expect(layouts.plan(type, 1) != nullptr, "a type that is committed by now has no plan", 0);
  MPI_Type_free(&type);
}

/// Memory of another process than the one that made the offer is never taken for it.
void check_offer() {
  std::vector<std::byte> from(3 << 14, std::byte{7}), to(from.size());
  const auto address = [](const std::byte* at) { return reinterpret_cast<layout::Offset>(at); };
  const std::vector<layout::ByteBlock> there{{address(from.data() + 8), 10'000},
                                             {address(from.data() + 20'000), 9'999}};
  const std::vector<layout::ByteBlock> here{{address(to.data() + 1), 4'999},
                                            {address(to.data() + 10'000), 15'000}};
  run::Offer offer(19'999);
  offer.set(there);
  const run::Offer old = offer;
  if (!offer.read(here)) return;  // the system refuses
  expect(std::ranges::count(to, std::byte{7}) == 19'999, "an offer was not read", 0);
  expect(to[0] == std::byte{0} && to[5'000] == std::byte{0} && to[25'000] == std::byte{0}, "read too much",
         0);
  offer.set(there);
  expect(!old.read(here), "memory was read whose proof is another", 0);
}

/// Chunks come in the order in which they were put, as long as there is room; other memory is never taken for it.
/// Whether the system lets processes share memory.
bool check_shared() {
  const std::unique_ptr<run::SharedChunks> to = run::SharedChunks::make();
  if (to == nullptr) return false;
  run::SharedKey other = to->key();
  ++other.proof;
  expect(run::SharedChunks::open(other) == nullptr, "memory was opened whose proof is another", 0);
  const run::SharedKey key = to->key();
  const std::unique_ptr<run::SharedChunks> from = run::SharedChunks::open(key);
  to->close();
  expect(run::SharedChunks::open(key) == nullptr, "closed memory was opened", 0);
  if (from == nullptr) return false;
  std::minstd_rand random(20261127);
  int put = 0, taken = 0;
  while (taken < 1000) {
    expect(to->has_free_chunk() == (put - taken < run::SharedChunks::places),
           "room for another number of chunks", 0);
    expect(from->has_chunk() == (taken < put), "another number of chunks", 0);
    if (to->has_free_chunk() && random() % 2 == 0) {
      std::memset(to->free_chunk(), put++ % 251, run::SharedChunks::chunk_bytes);
      to->put();
    } else if (from->has_chunk()) {
      const auto* const chunk = from->chunk();
      const auto value = static_cast<std::byte>(taken++ % 251);
      expect(
          std::count(chunk, chunk + run::SharedChunks::chunk_bytes, value) == run::SharedChunks::chunk_bytes,
          "another chunk", 0);
      from->take();
    }
  }
  return true;
}

/// There are no more connections than there may be; what the receiver refuses is not asked again, and counts no more.
void check_connections() {
  std::atomic<int> left = 1;
  {
    run::SharedConnections shared(left);
    auto* const refused = shared.to(3);
    expect(refused != nullptr && left == 0 && descriptors() == 1, "no connection", 0);
    expect(shared.to(4) == nullptr, "more connections than there may be", 0);
    shared.answered(*refused, false);
    expect(shared.to(3) == nullptr && left == 1 && descriptors() == 0, "a refused connection is kept", 0);
    auto* const open = shared.to(5);
    shared.answered(*open, true);
    expect(shared.to(5) == open && open->is_open && left == 0 && descriptors() == 0, "not open", 0);
  }
  expect(left == 1, "connections are lost", 0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  can_share = check_shared();
  MPI_Allreduce(MPI_IN_PLACE, &can_share, 1, MPI_CXX_BOOL, MPI_LAND, comm);
  if (can_share) check_connections();
  {
    const Settings settings;
    datatype::TypeLayouts layouts(mpi::linked_api());
    run::Communicator c(comm, settings, mpi::linked_api());
    check_exchange(c, comm, layouts);
    check_uncommitted(layouts);
  }
  check_offer();
  check_runtime(false, 1);
  check_runtime(false, 0);
  check_runtime(true, 1);
  MPI_Comm_free(&comm);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
