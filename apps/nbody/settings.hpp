// What the command line asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nbody/snapshot.hpp"
#include "nbody/team.hpp"
#include "support/options.hpp"

namespace nbody {

/// Messages count the numbers of all bodies with an int.
constexpr int most_bodies = 1 << 24;

/// Which side makes the exchanges: plain MPI and Wherry step by step in turns, or one of them alone.
enum class With { turns, mpi, wherry };

struct Settings {
  apps::Common common;
  std::optional<std::size_t> model;
  std::optional<int> bodies;
  std::optional<std::uint64_t> seed;
  std::string input, restart;  // files
  int steps = 100;
  std::optional<double> dt, eps;
  std::optional<std::size_t> integrator;
  std::optional<std::size_t> scheme;  // none: choose
  std::size_t kernel = 0, instructions = 0;
  int threads = 1;
  Deal deal = Deal::fair;
  bool bind = false;
  With with = With::turns;
  bool reproducible = false;
  std::string output, film, trace;  // files
  int every = 0;  // steps between writing the output, and between frames; 0: at the end only
};

std::vector<apps::Option> options_of(Settings& settings);

/// Checks whether the settings agree with each other. Throws usage_error.
void check(const Settings& settings);

/// The bodies to begin with and where the run is. Reads files. Throws usage_error.
Snapshot start_of(const Settings& settings);

}  // namespace nbody
