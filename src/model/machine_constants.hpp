// The constants of a Machine as a table, for everything that reads, writes or sends them one by one.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "model/cost.hpp"

namespace wherry::model {

/// least, most: what a machine may have; a value beyond is a mistake of whoever measured or wrote it.
struct Constant {
  std::string_view name, unit;
  double Machine::* member;
  double least, most;
};

inline constexpr std::array<Constant, 10> constants = {{
    {"alpha_within", "s", &Machine::alpha_within_s, 1e-9, 0.1},
    {"alpha_between", "s", &Machine::alpha_between_s, 1e-9, 0.1},
    {"beta_within", "s/B", &Machine::beta_within_s, 1e-13, 1e-4},
    {"beta_between", "s/B", &Machine::beta_between_s, 1e-13, 1e-3},
    {"gamma", "s/B", &Machine::gamma_s, 1e-13, 1e-6},
    {"latency_within", "s", &Machine::latency_within_s, 1e-9, 1},
    {"latency_between", "s", &Machine::latency_between_s, 1e-9, 10},
    {"eager_between", "B", &Machine::eager_between_bytes, 1, 1e12},
    {"rendezvous", "", &Machine::rendezvous, 1, 10},
    {"congestion", "", &Machine::congestion, 0, 2},
}};

/// One value for each row of `constants`; -1, which none of them can have: not known. A NaN would trap where it is
/// compared in a program that asks for that.
using Constants = std::array<double, constants.size()>;

inline constexpr double not_known = -1;
inline constexpr Constants nothing_known = [] {
  Constants none{};
  none.fill(not_known);
  return none;
}();

constexpr bool is_known(double value) { return value != not_known; }

inline bool is_plausible(const Constant& constant, double value) {
  return value >= constant.least && value <= constant.most;
}

/// From "alpha_between=8e-6,latency_between=4e-5"; no text: nothing known. Throws usage_error for what is no such list.
Constants constants_in(std::string_view text);

/// The row of that member.
constexpr std::size_t index_of(double Machine::* member) {
  std::size_t i = 0;
  while (constants[i].member != member) ++i;
  return i;
}

inline Constants constants_of(const Machine& machine) {
  Constants values{};
  for (std::size_t i = 0; i < constants.size(); ++i) values[i] = machine.*constants[i].member;
  return values;
}

/// What is known, and the defaults for the rest.
inline Machine machine_with(const Constants& known) {
  Machine machine;
  for (std::size_t i = 0; i < constants.size(); ++i)
    if (is_known(known[i])) machine.*constants[i].member = known[i];
  return machine;
}

}  // namespace wherry::model
