// The few candidates that are worth trying, by the cost model. Pure: the same on all ranks.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "choose/learner.hpp"

namespace wherry::choose {

/// What strategies have in common up to a parameter: "bruck" of "bruck4", "pairwise" of "pairwise_xor".
std::string_view family_of(std::string_view strategy);

/// Native, and at most `most` of the candidates, which have predictions; in the order of these, equal ones in the order given.
///
/// Two of one family at most as long as there are others: where the model is wrong, it is wrong about a whole family.
/// Strategies that the model expects to take more than twice the best time are left out. Native has no prediction: the
/// model does not know what the library does.
std::vector<Candidate> shortlist(std::vector<Candidate> priced, std::size_t most = 5);

}  // namespace wherry::choose
