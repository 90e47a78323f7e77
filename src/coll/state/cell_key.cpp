#include "coll/state/cell_key.hpp"

namespace wherry::run {

long long largest(const CellKey& key) { return key.bucket == 0 ? 1 : 1LL << (key.bucket - 1); }

}  // namespace wherry::run
