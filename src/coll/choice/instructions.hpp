// How calls choose: what the settings say of each collective, or what the program says instead while it runs.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "base/collective.hpp"
#include "base/settings.hpp"

namespace wherry::run {

inline constexpr std::string_view native_name = "native";

struct Instruction {
  enum class Kind { learn, native, named };
  Kind kind;
  std::string name = {};  // of the strategy that is named
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// Thread-safe: other threads may call collectives while one forces.
class Instructions {
 public:
  explicit Instructions(const Settings& settings);

  [[gnu::always_inline]] const Instruction& of(Collective collective) const {
    const Instruction* const instead = forced_.load(std::memory_order_acquire);
    return instead != nullptr ? *instead : own_[index_of(collective)];
  }

  /// A strategy's name or "native" for all collectives instead of the settings, or "auto" for the settings again.
  /// Returns false if the name is unknown.
  bool force(std::string_view name);

 private:
  const std::vector<Instruction> own_;                // from the settings, by Collective
  const std::vector<Instruction> possible_;           // everything that all collectives can be told at once
  std::atomic<const Instruction*> forced_ = nullptr;  // one of possible_
};

}  // namespace wherry::run
