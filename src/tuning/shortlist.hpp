// The few candidates that are worth trying, by the cost model. Pure: the same on all ranks.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/collective.hpp"
#include "tuning/learner.hpp"

namespace wherry::tuning {

/// What strategies have in common up to a parameter: "bruck" of "bruck4", "pairwise" of "pairwise_xor" and
/// "node_pairwise".
std::string_view family_of(std::string_view strategy);

/// Native, and at most `most` of the candidates, which have predictions; in the order of these, equal ones in the order
/// given.
///
/// Two of one family at most as long as there are others: where the model is wrong, it is wrong about a whole family.
/// Those expected to take more than twice the best time are left out. Native has no prediction: the
/// model does not know what the library does.
std::vector<Candidate> shortlist(std::vector<Candidate> estimates,
                                 std::size_t most = LearnerOptions{}.most_tried);

/// The shortlist for calls of a collective.
///
/// The model estimates full exchanges. In an irregular one most blocks may be empty: then what sends each block
/// straight to its destination takes next to no time, and what combines them as long as ever. So the cheapest such
/// strategy is always on its list: if the model would not have it, at the end and with the prediction of the one
/// before.
std::vector<Candidate> shortlist_for(Collective collective, std::vector<Candidate> estimates);

}  // namespace wherry::tuning
