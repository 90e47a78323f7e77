// From measurements to the constants of a Machine. Pure; bench/model.cpp measures.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "model/machine_constants.hpp"

namespace wherry::model {

/// What was measured, and what the value of a sample is.
enum class Probe {
  one_way,   // half of a ping-pong, seconds
  exchange,  // many messages at once between two ranks in both directions: seconds of each
  flows,  // several streams of messages in both directions between a node and others: seconds per byte that entered it
  waits,  // 1 if a send waited for its receiver, else 0
  copy    // seconds to copy so many bytes in memory
};

enum class Where { within, between };  // a node, nodes

/// By the values of Probe and Where.
inline constexpr std::string_view probe_names[] = {"one_way", "exchange", "flows", "waits", "copy"};
inline constexpr std::string_view where_names[] = {"within", "between"};

struct Sample {
  Probe probe = Probe::one_way;
  Where where = Where::within;
  double bytes = 0;  // of a message or copy
  int flows = 1;     // streams at once
  double value = 0;
};

/// Why a constant is as it is.
enum class Provenance {
  measured,
  missing,  // no samples tell it
  absurd    // the samples tell what no machine has
};
inline constexpr std::string_view provenance_names[] = {"measured", "missing", "absurd"};

/// known: what the samples tell, not_known where the default has to do.
struct Fit {
  Constants known = nothing_known;
  std::array<Provenance, constants.size()> provenance{};
};

/// Fits each constant by itself; the result has the same bits whatever the order of the samples.
///
/// Disturbances only lengthen what is measured. So samples of one kind count by their lower quartile, no size takes
/// longer than a larger one, and times per byte are the weighted median of the slopes between all pairs of sizes, which
/// minimizes the sum of absolute differences (Theil 1950, Sen 1968; weighted by distance as Jaeckel 1972, Ann. Math.
/// Statist. 43).
Fit fit(std::span<const Sample> samples);

}  // namespace wherry::model
