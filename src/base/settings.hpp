// What the user asked for in the environment. Read once; the only place that knows the variables' names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective.hpp"

namespace wherry {

/// What the user asks for, by Collective: a strategy's name, "native" or "auto".
using Strategies = std::array<std::string, collectives>;
inline Strategies all_automatic() {
  Strategies strategies;
  strategies.fill("auto");
  return strategies;
}

/// Which parts are on. Each but one is switched off by WHERRY_NO_<NAME>=1; WHERRY_DISABLE=1 switches off all.
struct Features {
  bool profile = true;      // WHERRY_NO_PROFILE
  bool collectives = true;  // WHERRY_NO_COLLECTIVES: never replace a collective
  bool learning = true;     // WHERRY_NO_LEARNING: follow the cost model and the tuning file without trials
  bool trial = true;        // WHERRY_NO_TRIAL: no native stretches to compare choices with
  bool nonblocking =
      false;  // WHERRY_NONBLOCKING=1, which switches it on: nonblocking and persistent collectives too
  bool tuning = true;  // WHERRY_NO_TUNING: neither read nor write the tuning file
};

/// What progresses nonblocking collectives.
enum class ProgressBy {
  calls,   // the MPI library, while the program is inside it
  thread,  // a thread of Wherry's too
};

/// How blocking calls wait.
enum class WaitMode {
  automatic,  // as the cores are shared
  spin,       // in the library
  yield,      // by polling; between polls the core is given away
};

/// What malloc does with memory that the program frees.
enum class MemoryLever {
  automatic,  // keeps it where that pays
  keep,
  leave,  // malloc's own affair
};

/// Who moves the data of derived datatypes.
enum class LayoutLever {
  automatic,  // whoever does it faster
  native,     // the library
  wherry,     // Wherry, where it can
};

struct Settings {
  bool enabled = true;  // false: WHERRY_DISABLE=1, or a set-user-id program
  Features features;
  std::string output;       // WHERRY_OUTPUT: directory for records; empty: nothing is recorded
  std::string tuning_file;  // WHERRY_TUNING_FILE, or <user's cache directory>/wherry/tuning; empty: none
  std::size_t staging_max = std::size_t{256} << 20;  // WHERRY_STAGING_MAX, bytes, with K, M or G; >= 4 KiB
  MemoryLever memory = MemoryLever::automatic;       // WHERRY_MEMORY: auto, keep or leave
  bool reproducible =
      false;  // WHERRY_REPRODUCIBLE: reductions whose result depends on their order stay native
  Strategies strategies = all_automatic();  // WHERRY_ALLTOALL, WHERRY_BCAST, ...
  std::string sparse_exchange = "auto";     // WHERRY_SPARSE_EXCHANGE: the same for sparse exchanges
  ProgressBy progress = ProgressBy::calls;  // WHERRY_PROGRESS: calls or thread
  std::string cache =
      "transparent";  // WHERRY_CACHE: how windows are cached; transparent, always, user or off
  std::size_t cache_ceiling = std::size_t{64} << 20;  // WHERRY_CACHE_CEILING: most bytes for each; >= 64 KiB
  std::size_t cache_node = 0;  // WHERRY_CACHE_NODE: bytes that the ranks of a node share for each; 0: none
  int cache_curve =
      0;  // WHERRY_CACHE_CURVE: ranges followed for a window's miss-ratio curve; 0: none is made
  LayoutLever layout = LayoutLever::automatic;  // WHERRY_LAYOUT: auto, native or wherry
  WaitMode wait = WaitMode::automatic;          // WHERRY_WAIT: auto, spin or yield
  int ranks_per_node = 0;  // WHERRY_RANKS_PER_NODE: assume nodes of so many consecutive ranks; 0: ask MPI
  int verbose = 0;         // WHERRY_VERBOSE: 0 silent, 1 what was found, 2 every decision

  std::vector<std::string>
      problems;  // settings that were not understood: what, why, and what was used instead
};

/// The value of a variable of the environment; nullptr: it is not set.
using VariableReader = std::function<const char*(const char* name)>;
/// The reader of this process's own.
inline const char* read_variable(const char* name) { return std::getenv(name); }

/// Reads the settings. `secure`: the process runs with privileges its caller lacks (set-user-id): everything
/// is off and the environment is not looked at. Never throws; absurd values keep the default and are listed
/// in `problems`.
Settings read_settings(const VariableReader& variable, bool secure);

/// A variable that Wherry or its tool understands.
struct Variable {
  std::string_view name;
  std::string_view help;  // one line: values, default, what it does
};

/// Every variable there is, for `wherry info` and docs/reference/settings.md.
std::span<const Variable> variables();

/// One sentence for each WHERRY_* entry of an environment block (NULL-terminated "NAME=value" strings; may be
/// nullptr) that no variable has the name of, with the nearest name: a setting of an unknown name would go unnoticed.
std::vector<std::string> unknown_variables(const char* const* environment);

}  // namespace wherry
