// An MPI_Alltoall under the preload, with the strategy chosen from inside the process.
#pragma once

#include <string>
#include <vector>

#include "interpose/control.h"
#include "measure.hpp"

namespace bench {

/// "wherry" stands for what Wherry does by itself.
inline const char* strategy_of(const std::string& variant) {
  return variant == "wherry" ? "auto" : variant.c_str();
}

/// Buffers of an all-to-all with blocks of so many bytes.
class Exchange {
 public:
  Exchange(MPI_Comm comm, int block)
      : comm_(comm),
        block_(block),
        send_(bytes(comm, block), static_cast<char>(rank_of(comm))),
        receive_(bytes(comm, block)) {}

  void operator()() {
    MPI_Alltoall(send_.data(), block_, MPI_BYTE, receive_.data(), block_, MPI_BYTE, comm_);
  }

 private:
  static std::size_t bytes(MPI_Comm comm, int block) {
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(size_of(comm));
  }

  MPI_Comm comm_;
  int block_;
  std::vector<char> send_, receive_;
};

/// All ranks must call it alike. Without the preload MPI_Pcontrol does nothing.
inline void force(const std::string& variant) { MPI_Pcontrol(WHERRY_FORCE, strategy_of(variant)); }

/// How calls follow each other. `together`: the ranks enter each call at the same time, from a barrier, as the OSU
/// benchmarks do; a sample is one call. `back_to_back`: without a pause, as in the Intel MPI Benchmarks; a sample is
/// the mean of a burst, in which calls overlap.
enum class Calls { together, back_to_back };

constexpr int samples_together = 10;  // in a turn

/// Samples of all variants, in turns: whatever disturbs the machine disturbs them alike.
inline std::vector<std::vector<double>> compare(MPI_Comm comm, Exchange& exchange,
                                                const std::vector<std::string>& variants, int turns,
                                                Calls how = Calls::back_to_back) {
  std::vector<std::vector<double>> samples(variants.size());
  const int calls = how == Calls::together ? 1 : calls_per_burst(comm, exchange);
  const int times = how == Calls::together ? samples_together : 1;
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < variants.size(); ++i) {
      force(variants[i]);
      exchange();  // not timed: the first call after a change pays for the change
      for (int k = 0; k < times; ++k) samples[i].push_back(time_calls(comm, calls, exchange));
    }
  return samples;
}

inline std::string case_name(int block) { return std::to_string(block) + " B"; }

}  // namespace bench
