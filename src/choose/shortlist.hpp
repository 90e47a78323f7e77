// The few candidates that are worth trying, by the cost model. Pure: the same on all ranks.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "choose/learner.hpp"
#include "plan/cost.hpp"
#include "plan/shape.hpp"
#include "plan/strategy.hpp"

namespace wherry::choose {

/// Whether a strategy may be used at all for the calls in question. Must answer alike on all ranks.
using Allowed = std::function<bool(const plan::Strategy&)>;

/// Allows every strategy whose staging of blocks of `block_bytes` stays within `staging_max` bytes on every
/// rank.
Allowed within_staging(const plan::Shape& shape, long long block_bytes, long long staging_max);

/// What strategies have in common up to a parameter: "bruck" of "bruck4", "pairwise" of "pairwise_xor".
std::string_view family_of(std::string_view strategy);

/// Native, then at most `most` strategies that apply to the shape and are allowed, cheapest first.
///
/// Two of one family at most as long as there are others: where the model is wrong, it is wrong about a whole
/// family. Strategies that a learner would call hopeless are left out. Native has no prediction: the model
/// does not know what the library does.
std::vector<Candidate> shortlist(const plan::Shape& shape, long long block_bytes,
                                 const plan::Machine& machine, const Allowed& allowed, std::size_t most = 5);

}  // namespace wherry::choose
