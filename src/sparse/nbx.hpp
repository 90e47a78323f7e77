// NBX: messages are sent synchronously; when all of a rank's have been taken it enters a non-blocking barrier, and when that ends
// nothing is under way any more. No rank ever looks at all others.
// After Hoefler, Siebert and Lumsdaine, Scalable communication protocols for dynamic sparse data exchange, PPoPP 2010.
#pragma once

#include "sparse/sparse_strategies.hpp"

namespace wherry::run {

int nbx(const SparseCall& call);

}  // namespace wherry::run
