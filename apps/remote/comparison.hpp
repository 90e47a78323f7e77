// The variants of reading, run in turns: their times and what their gets came to.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "remote/variants.hpp"
#include "support/mpi/timings.hpp"
#include "support/report.hpp"

namespace remote {

/// What one variant came to.
struct Side {
  std::string name;
  apps::Timings timings;
  Statistics statistics;  // of all ranks, in the last run
};

class Comparison {
 public:
  Comparison(MPI_Comm comm, const CacheOptions& options);

  /// Every variant runs once; who begins changes from turn to turn, so that what one leaves in the processor's caches
  /// helps all alike. Collective, and so is `run`, which says what this rank's gets came to.
  void turn(int number, const std::function<Statistics(const Variant& variant, apps::Timings& timings)>& run);

  /// A measurement of each variant but plain MPI, against that if it took part; with figures of its gets. Collective.
  std::vector<apps::Measurement> measurements(const std::string& name, const std::string& metric) const;

  /// What the gets of each variant came to, as a table.
  std::string table() const;

 private:
  MPI_Comm comm_;
  std::span<const Variant> variants_;
  bool has_plain_;
  std::vector<Side> sides_;
};

/// "1.23 MB"
std::string bytes_text(double bytes);

}  // namespace remote
