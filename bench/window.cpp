// What does a get from a cached window take: when the data are there, when another rank of the node has read them, and
// what does a miss add to a plain get?
//
//   bench_window --turns 30
// Rank 0 reads rank 1's memory, under lock_all. "plain" is a get and a flush of the library; "hit" a get that is
// cached, alone or with a flush, of a few entries or of 200,000 in any order; "miss" the same as plain with everything
// to be fetched and kept. "node" is a get and a flush of what is not cached, but has been read by another rank of the
// node (played by a second cached window). Bursts are 64 gets of adjacent data and one flush: of the library, of a
// cached window that asks for each, and of one that coalesces them. By blocks: of a window that fetches what is missing
// with the block of 1 KiB around it.
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <random>
#include <span>
#include <string>

#include "cache/node_cache.hpp"
#include "measure.hpp"
#include "window/windows.hpp"

namespace {

using namespace wherry;

constexpr int bytes_of_window = 1 << 24, burst = 64;

void tell(const std::string& problem) { std::fprintf(stderr, "%s\n", problem.c_str()); }

/// A window of the library, and the same cached.
struct Both {
  explicit Both(bool coalesces, std::size_t block_bytes = 0)
      : memory(bytes_of_window, std::byte{1}), windows(mpi::linked_api(), tell) {
    PMPI_Win_create(memory.data(), bytes_of_window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    window::Options options;
    options.cache = {.mode = cache::Mode::user_defined,
                     .ceiling_bytes = std::size_t{96} << 20,
                     .storage_bytes = std::size_t{48} << 20,
                     .index_entries = 300000,
                     .adaptive = false};
    options.bypass = false;
    options.coalesces = coalesces;
    options.block_bytes = block_bytes;
    windows.add(win, MPI_COMM_WORLD, {bytes_of_window, 1}, options);
    cached = windows.find(win);
    PMPI_Win_lock_all(0, win);
  }
  void end() {
    PMPI_Win_unlock_all(win);
    PMPI_Win_free(&win);
  }

  void plain(int at, int bytes) {
    PMPI_Get(into, bytes, MPI_BYTE, 1, at, bytes, MPI_BYTE, win);
    PMPI_Win_flush(1, win);
  }
  void plain_burst(int at, int bytes) {
    for (int i = 0; i < burst; ++i)
      PMPI_Get(into + i * bytes, bytes, MPI_BYTE, 1, at + i * bytes, bytes, MPI_BYTE, win);
    PMPI_Win_flush(1, win);
  }
  void get(int at, int bytes) { get(into, at, bytes); }
  void get_burst(int at, int bytes) {
    for (int i = 0; i < burst; ++i) get(into + i * bytes, at + i * bytes, bytes);
  }
  void flush() {
    windows.find(win)->flush(1, [&] { return PMPI_Win_flush(1, win); });
  }

  std::vector<std::byte> memory;
  window::Windows windows;
  MPI_Win win = MPI_WIN_NULL;
  window::Window* cached = nullptr;
  std::byte into[4096];

 private:
  void get(std::byte* to, int at, int bytes) {
    const auto native = [&] { return PMPI_Get(to, bytes, MPI_BYTE, 1, at, bytes, MPI_BYTE, win); };
    windows.find(win)->get({to, bytes, MPI_BYTE}, {1, at, bytes, MPI_BYTE}, 1, native);
  }
};

/// Seconds of one of `calls` calls; call(i) for each.
template <class Call>
double time_of(int calls, Call&& call) {
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call(i);
  return (MPI_Wtime() - start) / calls;
}

/// Memory as the ranks of a node share it.
class Node {
 public:
  explicit Node(std::size_t bytes) : lines_(bytes / sizeof(Line)) {}
  cache::NodeCache& cache() { return cache_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
  cache::NodeCache cache_{std::as_writable_bytes(std::span(lines_))};
};

/// Where the data are when a burst of calls begins.
enum class Data { cached, not_cached, on_the_node };

/// All variants in turns; variant 0 is the baseline.
struct Variant {
  std::string name;
  Both& on;
  void (*run)(Both&, int at, int bytes);
  Data data;
  Both* neighbor = nullptr;  // another rank of the node
};

constexpr auto plain = [](Both& b, int at, int bytes) { b.plain(at, bytes); };
constexpr auto hit = [](Both& b, int at, int bytes) { b.get(at, bytes); };
constexpr auto hit_and_flush = [](Both& b, int at, int bytes) { b.get(at, bytes), b.flush(); };
constexpr auto plain_burst = [](Both& b, int at, int bytes) { b.plain_burst(at, bytes); };
constexpr auto burst_and_flush = [](Both& b, int at, int bytes) { b.get_burst(at, bytes), b.flush(); };

/// burst(on): a get and a flush of all that will be read: several gets to one place before a flush would not be
/// remembered.
template <class Burst>
void prepare(const Variant& variant, Burst&& burst) {
  for (Both* const each : {&variant.on, variant.neighbor})
    if (each != nullptr && variant.data != Data::cached) each->cached->invalidate();
  if (variant.data == Data::cached) burst(variant.on);
  if (variant.neighbor != nullptr) burst(*variant.neighbor);
  variant.on.flush();
}

void compare(const std::string& name, const std::vector<Variant>& variants, const std::vector<int>& places,
             int calls, int bytes, int turns) {
  // What was read before in other sizes would answer otherwise.
  for (const Variant& variant : variants) variant.on.cached->invalidate();
  std::vector<std::vector<double>> samples(variants.size());
  const std::size_t mask = places.size() - 1;
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t v = 0; v < variants.size(); ++v) {
      const Variant& variant = variants[v];
      const auto burst = [&](Both& on, const auto& run) {
        return time_of(calls, [&](int i) { run(on, places[static_cast<std::size_t>(i) & mask], bytes); });
      };
      prepare(variant, [&](Both& on) { burst(on, hit_and_flush); });
      samples[v].push_back(burst(variant.on, variant.run));
      variant.on.flush();
    }
  for (std::size_t v = 0; v < variants.size(); ++v) bench::print(name, variants[v].name, samples[v]);
}

std::vector<int> shuffled(int count, int bytes) {
  std::vector<int> places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  for (int& place : places) place *= bytes;
  std::ranges::shuffle(places, std::mt19937(1));
  return places;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int turns = bench::number(argc, argv, "--turns", 30);
  Both b(false), joined(true), neighbor(false), sharing(false), blocks(false, 1024);
  // Memory for four times what is read: hardly anything is displaced.
  Node node(std::size_t{8} << 20);
  sharing.cached->share(node.cache());
  neighbor.cached->share(node.cache());
  if (bench::rank_of(MPI_COMM_WORLD) == 0) {
    for (const int bytes : {8, 64}) {
      const std::string size = std::to_string(bytes) + " B";
      const std::vector<Variant> variants = {{"plain", b, plain, Data::cached},
                                             {"hit", b, hit, Data::cached},
                                             {"hit and flush", b, hit_and_flush, Data::cached}};
      compare("8 entries, " + size, variants, shuffled(8, bytes), 2000, bytes, turns);
    }
    // A quarter of a million is more than what the window's tables can hold in the fastest memory.
    compare("262144 entries, 64 B", {{"plain", b, plain, Data::cached}, {"hit", b, hit, Data::cached}},
            shuffled(1 << 18, 64), 1 << 18, 64, std::max(turns / 10, 2));
    for (const int bytes : {8, 64, 1024})
      compare("miss, " + std::to_string(bytes) + " B",
              {{"plain", b, plain, Data::cached}, {"miss", b, hit_and_flush, Data::not_cached}},
              shuffled(4096, bytes), 4096, bytes, turns);
    compare("on the node, 64 B",
            {{"plain", b, plain, Data::cached},
             {"hit and flush", b, hit_and_flush, Data::cached},
             {"node", sharing, hit_and_flush, Data::on_the_node, &neighbor}},
            shuffled(4096, 64), 4096, 64, turns);
    compare("in blocks, 8 B",
            {{"plain", b, plain, Data::cached},
             {"hit and flush", blocks, hit_and_flush, Data::cached},
             {"cold", blocks, hit_and_flush, Data::not_cached}},
            shuffled(4096, 8), 4096, 8, turns);
    compare("burst of 64, 8 B",
            {{"plain", b, plain_burst, Data::cached},
             {"apart", b, burst_and_flush, Data::not_cached},
             {"joined", joined, burst_and_flush, Data::not_cached}},
            shuffled(256, burst * 8), 256, 8, turns);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  b.end();
  joined.end();
  neighbor.end();
  sharing.end();
  blocks.end();
  MPI_Finalize();
}
