// What the programs of this folder that compare with MPI share: a communicator, random data, and what ran.
#pragma once

#include <mpi.h>
#include <wherry/wherry.h>

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../seed.hpp"
#include "check.hpp"

namespace test {

/// No MPI type fits: it travels as bytes.
struct Particle {
  double position[3];
  std::int16_t charge;
  explicit Particle(unsigned long n = 0) : position{double(n), 2.0 * double(n), 0}, charge(std::int16_t(n)) {}
  bool operator==(const Particle&) const = default;
};

struct World {
  MPI_Comm comm;
  int rank, ranks;
  std::minstd_rand random;  // of this rank
  std::set<std::string> ran;
  Checks checks;

  template <class T>
  std::vector<T> data(std::size_t values) {
    std::vector<T> made(values);
    for (T& value : made) value = static_cast<T>(random() % 100);
    return made;
  }
  template <class T>
  void same(const std::vector<T>& ours, const std::vector<T>& expected, const char* what) {
    ran.insert(wherry_last_strategy());
    checks.that(ours == expected, what);
  }
  /// The same for programs of several collectives: what ran is told of each.
  template <class T>
  void same(const char* collective, const std::vector<T>& ours, const std::vector<T>& expected,
            const char* form) {
    note(collective);
    checks.that(ours == expected, (std::string(collective) + ", " + form + ": differs from MPI's").c_str());
  }
  void note(const char* collective) { ran.insert(std::string(collective) + " " + wherry_last_strategy()); }
  std::size_t size() const { return static_cast<std::size_t>(ranks); }
};

/// Runs `check` on a duplicate of MPI_COMM_WORLD, from MPI_Init to MPI_Finalize; returns the program's exit code. Rank
/// 0 prints what ran, "ran NAME", once per name, and the seed if something was wrong.
template <std::invocable<World&> Check>
int run(int argc, char** argv, Check check) {
  MPI_Init(&argc, &argv);
  const unsigned seed = wherry::test::seed_from_environment();
  World w{MPI_COMM_NULL, 0, 0, {}, {}, {}};
  MPI_Comm_dup(MPI_COMM_WORLD, &w.comm);
  MPI_Comm_rank(w.comm, &w.rank);
  MPI_Comm_size(w.comm, &w.ranks);
  w.random.seed(seed + static_cast<unsigned>(w.rank));
  w.checks.that(*wherry_last_strategy() == '\0', "a strategy ran before the first call");
  check(w);
  MPI_Comm_free(&w.comm);
  const int code = w.checks.exit_code();
  if (w.rank == 0)
    for (const std::string& name : w.ran) std::printf("ran %s\n", name.c_str());
  if (w.rank == 0 && code != 0) std::printf("seed %u\n", seed);
  MPI_Finalize();
  return code;
}

}  // namespace test
