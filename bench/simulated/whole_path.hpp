// A collective as a program has it that runs under Wherry: enabled, learned and chosen by the runtime.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "coll/choice/algorithm_candidates.hpp"
#include "host/runtime.hpp"
#include "mpi/simulated.hpp"

namespace simulated {

namespace run = wherry::run;

/// Remembers what ran last, and how many calls it took to decide that.
class Chosen final : public run::Observer {
 public:
  void used(MPI_Comm, const run::CellKey&, std::string_view strategy, std::uint64_t, std::uint64_t) override {
    last_ = strategy;
  }
  void decided(MPI_Comm, const run::CellKey&, std::uint32_t call, std::string_view,
               wherry::profile::Reason reason, std::uint64_t, std::uint64_t) override {
    if (reason == wherry::profile::Reason::kept) trained_after_ = call;
  }
  void fell_back(wherry::Collective, std::string_view reason) override { last_ = reason; }

  const std::string& last() const { return last_; }
  long long trained_after() const { return trained_after_; }

 private:
  std::string last_;
  long long trained_after_ = 0;
};

inline wherry::Settings settings_for(std::string_view strategy) {
  wherry::Settings settings;
  settings.features.tuning = false;
  settings.strategies.fill(std::string(strategy));
  return settings;
}

/// The runtime of one rank. The ranks of a simulation are one process: they share what a process needs once.
class WholePath {
 public:
  /// strategy: "auto" to learn.
  WholePath(std::string_view strategy, std::shared_ptr<run::AlgorithmCandidates> candidates,
            const wherry::model::Machine& machine)
      : strategy_(strategy),
        settings_(settings_for(strategy)),
        api_(wherry::mpi::simulated_api()),
        runtime_(
            settings_, api_, &chosen_,
            {.now = [] { return MPI_Wtime(); }, .candidates = std::move(candidates), .simulated = machine}) {}

  run::Runtime& runtime() { return runtime_; }
  const Chosen& chosen() const { return chosen_; }
  /// Whether the last call ran what was learned, or asked for.
  bool ready() const {
    return strategy_ == "auto" ? chosen_.trained_after() > 0 : chosen_.last() == strategy_;
  }

 private:
  std::string strategy_;
  wherry::Settings settings_;
  wherry::mpi::Api api_;
  Chosen chosen_;
  run::Runtime runtime_;
};

}  // namespace simulated
