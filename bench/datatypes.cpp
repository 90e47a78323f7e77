// What does it cost to send every other double of an array, by each mechanism that MPI has for it?
//
//   bench_datatypes --bytes 8,1000000 --schemes reference,copy,vector --trials 10
// The experiment of Eijkhout, "Performance of MPI derived types" (2018): a ping-pong between two ranks with a pong of
// zero bytes, arrays aligned to 64 bytes and zeroed before use, caches flushed before every ping-pong. The receiver
// checks every element of every message. Names in --native call the library past a preload: they are what it
// does by itself, in turns with what --schemes name. Prints one JSON line per size and scheme.
#include "datatypes.hpp"

#include <mpi.h>
#include <unistd.h>

#include <cstring>
#include <span>

#include "measure.hpp"

namespace bench {
namespace {

/// Of each size, unless a single trial takes longer than the limit of the size.
constexpr int fewest_trials = 3;

/// A scheme by one of the tables of functions.
struct Variant {
  const Scheme* scheme;
  const Calls* mpi;
  std::string name;
  std::vector<double> samples;
  bool slow = false;      // one trial of this size is enough
  double s_per_byte = 0;  // of the size before, if it took long
  std::string excluded;   // why not at this size
};

void add(std::vector<Variant>& all, const std::string& names, const Calls& mpi, const std::string& before) {
  for (const std::string& name : words(names)) {
    const auto* found = std::ranges::find(schemes, name, &Scheme::name);
    if (found == std::end(schemes))
      refuse("unknown scheme '" + name + "'; schemes are in bench/datatypes.hpp");
    all.push_back({found, &mpi, before + name, {}, false, 0, {}});
  }
}

/// Replaces what the core's own caches hold.
class Flush {
 public:
  Flush() {
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    lines_.resize(4 * static_cast<std::size_t>(std::max(bytes, 1L << 20)));
  }
  void operator()() {
    std::memset(lines_.data(), ++mark_, lines_.size());
    asm volatile("" : : "r"(lines_.data()) : "memory");
  }

 private:
  std::vector<char> lines_;
  int mark_ = 0;
};

double ping_pong(const Variant& variant, Data& d) {
  const double start = MPI_Wtime();
  (d.rank == 0 ? variant.scheme->from : variant.scheme->to)(*variant.mpi, d);
  if (variant.scheme->target != Target::window) {  // fences end on both ranks
    if (d.rank == 0) await(*variant.mpi, d);
    else signal(*variant.mpi, d);
  }
  return MPI_Wtime() - start;
}

std::span<double> target_of(const Variant& variant, Data& d) {
  switch (variant.scheme->target) {
    case Target::window: return {d.window, d.count};
    case Target::shared: return {d.shared->target(), d.count};
    default: return d.target.values();
  }
}

void check(const Variant& variant, Data& d) {
  const std::span<double> found = target_of(variant, d);
  for (std::size_t i = 0; i < d.count; ++i)
    if (found[i] != static_cast<double>(i) + 1)
      end_with(variant.name + ", " + std::to_string(8 * d.count) + " B: element " + std::to_string(i) +
               " is wrong; the library or the preload has lost data");
}

/// What rank 0 thinks of the time, on both.
bool agreed(MPI_Comm comm, bool goes_on) {
  int answer = goes_on ? 1 : 0;
  PMPI_Bcast(&answer, 1, MPI_INT, 0, comm);
  return answer != 0;
}

/// What takes longer than the limit is tried once, and that trial is kept.
void trial(Variant& variant, Data& d, Flush& flush, bool kept, double limit_s) {
  if (d.rank == 1) std::ranges::fill(target_of(variant, d), 0.0);
  flush();
  PMPI_Barrier(d.comm);
  const double seconds = ping_pong(variant, d);
  if (d.rank == 1) check(variant, d);
  variant.slow = !agreed(d.comm, seconds < limit_s);
  if (kept || variant.slow) variant.samples.push_back(seconds);
}

struct Effort {
  int warm, trials;
  double limit_s;
};

/// Names what is impossible here, or would take too long; on both ranks alike.
void exclude(std::vector<Variant>& variants, const Data& d, double limit_s) {
  for (Variant& variant : variants) {
    variant.excluded.clear();
    variant.slow = false;
    if (variant.scheme->target == Target::shared && !d.shared)
      variant.excluded = "the ranks are on different nodes";
    else if (!agreed(d.comm, variant.s_per_byte * 8 * static_cast<double>(d.count) < limit_s))
      variant.excluded = "a trial would take too long";
  }
}

void measure(std::vector<Variant>& variants, Data& d, Flush& flush, const Effort& effort) {
  exclude(variants, d, effort.limit_s);
  const auto turn = [&](bool kept) {
    for (Variant& variant : variants)
      if (variant.excluded.empty() && !variant.slow) trial(variant, d, flush, kept, effort.limit_s);
  };
  const double start = MPI_Wtime();
  const auto in_time = [&](double share) { return MPI_Wtime() - start < share * effort.limit_s; };
  for (int i = 0; i < effort.warm && (i == 0 || agreed(d.comm, in_time(0.5))); ++i) turn(false);
  for (int i = 0; i < effort.trials && (i < fewest_trials || agreed(d.comm, in_time(1))); ++i) turn(true);
}

/// Of small messages it says nothing of larger ones.
double rate_of(const std::vector<double>& samples, const Data& d, double limit_s) {
  const double best = std::ranges::min(samples);
  return best > 0.1 * limit_s ? best / (8 * static_cast<double>(d.count)) : 0;
}

void tell(std::vector<Variant>& variants, const Data& d, double limit_s) {
  const std::string name = std::to_string(8 * d.count) + " B";
  for (Variant& variant : variants) {
    if (d.rank == 0 && !variant.excluded.empty()) print_excluded(name, variant.name, variant.excluded);
    else if (d.rank == 0) print(name, variant.name, variant.samples);
    if (!variant.samples.empty()) variant.s_per_byte = rate_of(variant.samples, d, limit_s);
    variant.samples.clear();
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  MPI_Init(&argc, &argv);
  if (size_of(MPI_COMM_WORLD) != 2)
    refuse("bench_datatypes sends from one rank to another; run it on 2 ranks");
  std::vector<Variant> variants;
  add(variants, option(argc, argv, "--native", ""), of_the_library, "native ");
  add(variants, option(argc, argv, "--schemes", "reference"), of_the_program, "");
  const Effort effort{number(argc, argv, "--warm", 1), number(argc, argv, "--trials", 10),
                      std::atof(option(argc, argv, "--limit-s", "4").c_str())};
  Flush flush;
  for (const int bytes : numbers(option(argc, argv, "--bytes", "8"))) {
    Data data(MPI_COMM_WORLD, std::max(bytes / static_cast<int>(sizeof(double)), 1));
    measure(variants, data, flush, effort);
    tell(variants, data, effort.limit_s);
  }
  MPI_Finalize();
}
