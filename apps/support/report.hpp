// What was measured, as a table for people and as JSON for programs. Plain MPI is the baseline.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/stats.hpp"

namespace apps {

/// One exchange or whole run, timed with plain MPI and with Wherry in turns.
struct Measurement {
  std::string name;          // "messages of 2048 B"
  std::string metric;        // "keys": what was timed
  double message_bytes = 0;  // mean over the pairs of ranks that exchange anything; 0: no message
  std::vector<double> plain_s, wherry_s;  // the slowest rank's times; either may be missing
  std::vector<std::string> strategies;    // what Wherry ran in the timed calls, each once
  std::vector<std::pair<std::string, double>> figures = {};  // what else the record says
};

/// Where it was measured.
struct Machine {
  std::string application;
  std::string mpi;  // as the library names itself
  std::string host;
  std::string wherry;  // version
  int ranks = 0;
};

/// The statistic of all values: single disturbed calls do not move it, as they would a mean.
using wherry::median;
constexpr const char* statistic = "median of the slowest rank's times";

/// Plain / Wherry: above 1, Wherry is faster. No number if one side's times are missing.
double ratio(const Measurement& measurement);

/// side: what is compared with plain MPI.
std::string table(std::span<const Measurement> measurements, const std::string& side = "Wherry");

/// A list of records with the members of `wherry bench`, and message_bytes and strategies.
std::string json(const Machine& machine, std::span<const Measurement> measurements);

/// "12.3 us"
std::string seconds_text(double seconds);

}  // namespace apps
