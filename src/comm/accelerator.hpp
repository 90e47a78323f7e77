// Whether MPI may be given memory that only an accelerator's runtime can copy.
#pragma once

#include <atomic>

namespace wherry::run {

/// Whether a library is loaded that may hand device memory to MPI. Looks at all of them, which takes microseconds.
bool accelerator_loaded();

/// The same for every call of the program: looks again only if a library was loaded since. Thread-safe.
class AcceleratorWatch {
 public:
  bool loaded();

 private:
  std::atomic<unsigned long long> libraries_ = 0;  // that were loaded when it looked last
  std::atomic<bool> loaded_ = false;
};

}  // namespace wherry::run
