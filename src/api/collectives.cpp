// The C API. Each function names the runtime's collective and the native one; the rest is the same for all.
#pragma GCC visibility push(default)
#include "wherry/wherry.h"
#pragma GCC visibility pop

#include "api/process.hpp"

namespace wherry::api {
namespace {

/// Runs a collective with its arguments in MPI's order, which is also that of the runtime's struct.
template <class Call, class... Values>
int perform(int (run::Runtime::*operation)(const Call&, const run::Native&), int (*native)(Values...),
            std::type_identity_t<Values>... values) {
  LastStrategy::set("native");
  const auto run_native = [&] { return native(values...); };
  run::Runtime* const wherry = runtime();
  return wherry == nullptr ? run_native() : (wherry->*operation)(Call{values...}, run_native);
}

}  // namespace
}  // namespace wherry::api

using namespace wherry::api;
using wherry::run::Runtime;

// int wherry_alltoall(const void* sendbuf, ...), and so on.
#include "c_collectives.inc"

const char* wherry_last_strategy(void) { return LastStrategy::get(); }

const char* wherry_version(void) { return WHERRY_VERSION; }
