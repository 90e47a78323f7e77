#include "interpose/wrappers.hpp"

#include "interpose/account.hpp"
#include "interpose/narrow.hpp"

namespace wherry::interpose {
namespace {

template <class Signature>
Signature* next_of(int symbol) {
  return reinterpret_cast<Signature*>(backend().next(symbol));
}

template <class Function>
void* as_address(Function* function) {
  return reinterpret_cast<void*>(function);
}

/// Stands in for a function that the library lacks and that nothing can replace.
int absent() { return MPI_ERR_UNSUPPORTED_OPERATION; }

template <class Next>
int replaceable_alltoall(Call& call, const run::Alltoall& arguments, const Next& next) {
  if (!is_replaceable(call)) return next();
  return backend().runtime().alltoall(arguments, [&next] { return next(); });
}

template <class Next>
int replaceable_alltoallv(Call& call, const run::Alltoallv& arguments, const Next& next) {
  if (!is_replaceable(call)) return next();
  return backend().runtime().alltoallv(arguments, [&next] { return next(); });
}

template <class Next>
int replaceable_alltoallw(Call& call, const run::Alltoallw& arguments, const Next& next) {
  if (!is_replaceable(call)) return next();
  return backend().runtime().alltoallw(arguments, [&next] { return next(); });
}

#include "wrappers.inc"

}  // namespace

std::span<const FunctionRow> function_table() { return function_rows; }
std::span<const SymbolRow> symbol_table() { return symbol_rows; }

}  // namespace wherry::interpose
