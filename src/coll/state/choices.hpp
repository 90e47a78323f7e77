// What the ranks of a communicator have learned of its collectives, and choose by.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coll/state/call_signature.hpp"
#include "coll/state/cell.hpp"
#include "coll/state/cell_key.hpp"
#include "coll/state/size_watch.hpp"
#include "comm/communicator.hpp"
#include "model/cost.hpp"
#include "schedule/registry/algorithm.hpp"

namespace wherry::run {

using schedule::Algorithm;

/// What is learned about some calls. algorithms[i] is candidate i, but for native, the first.
struct Choice {
  Cell cell;
  std::vector<std::optional<Algorithm>> algorithms;
};

struct RecentChoice {
  CellKey key{};
  Choice* choice = nullptr;
};

/// The algorithm that such calls were last told to run, or why there is none.
struct NamedAlgorithm {
  std::string name;
  std::optional<Algorithm> algorithm;
  std::string_view problem;
};

struct Choices {
  static constexpr StateSlot slot = StateSlot::choices;

  explicit Choices(const Communicator& c) : c(c) {}
  Choices(const Choices&) = delete;
  Choices& operator=(const Choices&) = delete;
  ~Choices() {
    for (auto& [key, watch] : watches) watch.finish(c.channel());
  }

  const Communicator& c;
  std::optional<model::Machine> machine;  // what calls are estimated by, once the ranks have settled it
  tuning::ControlledTrial trial;          // of all choices, against native
  std::map<CellKey, std::unique_ptr<Choice>> learned;
  std::array<RecentChoice, collectives> recent;  // by collective: most calls are like the last
  std::array<FastPaths, ComparableCalls::size> fast_paths;
  std::map<CellKey, NamedAlgorithm> named;
  std::map<std::pair<Collective, bool>, SizeWatch> watches;
  // What the cost model would choose for calls of a size class, with so much staging.
  std::map<std::pair<CellKey, std::size_t>, std::optional<Algorithm>> modelled;
};

/// What the calls of c are estimated by.
inline model::Machine machine_of(const Communicator& c) {
  const Choices* const choices = c.find<Choices>();
  return choices != nullptr ? choices->machine.value_or(model::Machine{}) : model::Machine{};
}

}  // namespace wherry::run
