// Threads of one rank read through one cached window at once, and each finds its data after its own flush.
//
// ranks: 2 3
#include <mpi.h>

#include <random>
#include <thread>
#include <vector>

#include "counted_windows.hpp"
#include "edge_bench.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

constexpr int threads = 4, rounds = 200, window_bytes = 8192;

/// One thread's gets; how many brought what they should not.
long read_at_random(CountedWindow& w, int size, unsigned seed) {
  std::mt19937 draw(seed);
  long wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    struct Get {
      int target, at;
      std::vector<std::byte> into;
    };
    std::vector<Get> gets(1 + draw() % 4);
    for (Get& get : gets) {
      get.into.resize(1 + draw() % 300);
      get.target = static_cast<int>(draw() % static_cast<unsigned>(size));
      get.at = static_cast<int>(draw() % 64 * 100);
      w.get(get.into.data(), get.target, get.at, static_cast<int>(get.into.size()));
      if (draw() % 4 == 0) w.flush(get.target);
    }
    if (draw() % 2 == 0) w.flush_all();
    else
      for (const Get& get : gets) w.flush(get.target);
    if (draw() % 50 == 0) w.window()->invalidate();
    for (const Get& get : gets)
      for (std::size_t i = 0; i < get.into.size(); ++i)
        wrong += get.into[i] != CountedWindow::value(get.target, static_cast<std::size_t>(get.at) + i);
  }
  return wrong;
}

long wrong_in(cache::Mode mode) {
  window::Options options;
  options.cache.mode = mode;
  options.cache.ceiling_bytes = 65536;
  CountedWindow w(options, window_bytes);
  const int size = size_of(MPI_COMM_WORLD), rank = rank_of(MPI_COMM_WORLD);
  std::vector<long> wrong(threads);
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i)
    workers.emplace_back(
        [&, i] { wrong[i] = read_at_random(w, size, 20261122u + 100 * static_cast<unsigned>(rank) + i); });
  for (std::thread& worker : workers) worker.join();
  long sum = 0;
  for (const long each : wrong) sum += each;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) return skipped("the library has no MPI_THREAD_MULTIPLE");
  const long wrong = wrong_in(cache::Mode::transparent) + wrong_in(cache::Mode::user_defined);
  return concluded("window threads", wrong);
}
