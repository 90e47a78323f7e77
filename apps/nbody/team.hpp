// A kernel run by the threads of a process.
#pragma once

#include <string>
#include <vector>

#include "nbody/kernels.hpp"
#include "nbody/work.hpp"

namespace nbody {

/// Whether this was built with OpenMP; without it a team has one thread.
bool has_threads();

/// How pairs are dealt to threads. fair: as many pairs to each, in one stretch. rows: eight rows at a time in turn
/// (OpenMP's schedule(static, 8)), which evens out the triangle's rows too.
enum class Deal { fair, rows };

class Team {
 public:
  Team(const Kernel& kernel, const InstructionSet& set, double eps2, int threads = 1, Deal deal = Deal::fair);

  /// Adds the pulls of these pairs, for both bodies of each.
  void both(const Points& points, const Work& work, const Sums& sums);
  /// Adds the pulls of the columns on the rows. The bits of a row's sum do not depend on the number of threads.
  void onto(const Points& points, Range rows, Range columns, const Sums& sums);
  /// Potentials of the rows in the field of all other bodies before `bodies`.
  void potential(const Points& points, Range rows, std::size_t bodies, double* potentials);

  int threads() const { return threads_; }
  double eps2() const { return eps2_; }
  const Kernel& kernel() const { return *kernel_; }

 private:
  void run(const Points& points, const Work& work, const Sums& sums) const;

  const Kernel* kernel_;
  const InstructionSet* set_;
  double eps2_;
  int threads_;
  Deal deal_;
  std::vector<Vectors> partial_;  // of each thread but the first
};

}  // namespace nbody
