// A learner on one rank, with calls that take given times.
#pragma once

#include <cstddef>
#include <vector>

#include "tuning/learner.hpp"

namespace wherry::tuning {

inline std::vector<Candidate> three() { return {{"native", 0}, {"mesh", 1.0}, {"bruck", 1.2}}; }

/// Runs calls with these times per candidate until the learner settles; returns how often each candidate ran.
inline std::vector<int> train(Learner& learner, const std::vector<double>& seconds) {
  std::vector<int> runs(seconds.size());
  while (!learner.settled()) {
    const std::size_t candidate = learner.pick();
    ++runs[candidate];
    learner.took(seconds[candidate]);
    if (learner.round_over()) learner.agreed(learner.summary());
  }
  return runs;
}

/// Runs one round's calls and ends it.
inline void run_round(Learner& learner, const std::vector<double>& seconds) {
  while (!learner.round_over()) learner.took(seconds[learner.pick()]);
  learner.agreed(learner.summary());
}

inline int count(const std::vector<Event>& events, EventReason reason) {
  int n = 0;
  for (const Event& e : events) n += e.reason == reason;
  return n;
}

}  // namespace wherry::tuning
