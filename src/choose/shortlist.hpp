// The few candidates that are worth trying, by the cost model. Pure: the same on all ranks.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "choose/learner.hpp"
#include "plan/cost.hpp"
#include "plan/shape.hpp"
#include "plan/strategy.hpp"

namespace wherry::choose {

/// A strategy that applies to a shape, and what it does there: counted once, priced for every size.
struct Offer {
  const plan::Strategy* strategy;
  plan::Traffic traffic;
};

/// Everything that applies to a shape, in the registry's order.
std::vector<Offer> survey(const plan::Shape& shape);

/// Whether a strategy may be used at all for the calls in question. Must answer alike on all ranks.
using Allowed = std::function<bool(const Offer&)>;

/// What strategies have in common up to a parameter: "bruck" of "bruck4", "pairwise" of "pairwise_xor".
std::string_view family_of(std::string_view strategy);

/// Native, and at most `most` of the candidates, which have predictions; in the order of these, equal ones in the order given.
///
/// Two of one family at most as long as there are others: where the model is wrong, it is wrong about a whole family.
/// Strategies that the model expects to take more than twice the best time are left out. Native has no prediction: the
/// model does not know what the library does.
std::vector<Candidate> shortlist(std::vector<Candidate> priced, std::size_t most = 5);

/// The same of the offers that are allowed.
std::vector<Candidate> shortlist(std::span<const Offer> offers, long long block_bytes,
                                 const plan::Machine& machine, const Allowed& allowed = {},
                                 std::size_t most = 5);

}  // namespace wherry::choose
