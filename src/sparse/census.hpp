// Census: a reduction tells every rank how many messages it will get; then it receives so many, from anybody.
// The personalized census of Hoefler, Siebert and Lumsdaine, PPoPP 2010. The reduction carries a number per rank.
#pragma once

#include "sparse/sparse_strategies.hpp"

namespace wherry::run {

int census(const SparseCall& call);

}  // namespace wherry::run
