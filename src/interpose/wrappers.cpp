#include "interpose/backend.hpp"

#include <type_traits>

#include "interpose/account.hpp"
#include "interpose/fast_call.hpp"
#include "interpose/narrow.hpp"
#include "interpose/one_sided.hpp"
#include "interpose/packed_copy.hpp"
#include "interpose/repetition.hpp"
#include "interpose/requests.hpp"
#include "interpose/typed_blocks.hpp"
#include "interpose/typed_data.hpp"
#include "interpose/typed_messages.hpp"
#include "interpose/typed_requests.hpp"
#include "interpose/waiting.hpp"

namespace wherry::interpose {
namespace {

template <class Signature>
Signature* next_of(int symbol) {
  return reinterpret_cast<Signature*>(backend().next(symbol));
}

/// Which of a function's names was called, MPI_X or PMPI_X, and from where. All else is the same for both, and compiled
/// once.
struct Entry {
  int symbol;
  const void* site;
};

/// Where the program called from that has called us from there: its Fortran code, if the library's bindings have.
[[gnu::always_inline]] inline const void* called_from(const void* address) {
  const HotState& hot = backend().hot;
  if (!hot.is_binding(address)) [[likely]]
    return address;
  const void* const fortran = take_fortran_site(hot.fortran_site_offset);
  return fortran != nullptr ? fortran : address;
}

template <class Function>
void* as_address(Function* function) {
  return reinterpret_cast<void*>(function);
}

/// Stands in for a function that the library lacks and that nothing can replace.
int absent() { return MPI_ERR_UNSUPPORTED_OPERATION; }

/// The program's own call goes to the runtime, which runs `operation` or `next`; any other goes to `next`.
/// Arguments follow from the operation, so that a wrapper gives its parameters as a braced list.
template <class Arguments, class Next>
int replaceable(int (run::Runtime::*operation)(const Arguments&, const run::Native&), Call& call,
                const std::type_identity_t<Arguments>& arguments, const Next& next) {
  if (!is_replaceable(call)) return next();
  return (backend().runtime().*operation)(arguments, [&next] { return next(); });
}

/// The same for a nonblocking call, which `next` starts if the runtime does not.
template <class Arguments, class Next>
int startable(Call& call, const Arguments& arguments, MPI_Request* request, const Next& next) {
  if (!backend().replaces_nonblocking() || !is_replaceable(call)) return next();
  return backend().runtime().start(arguments, [&next] { return next(); }, request);
}

/// The same for a persistent call, which `next` makes.
template <class Arguments, class Next>
int initializable(Call& call, const Arguments& arguments, MPI_Request* request, const Next& next) {
  if (!backend().replaces_nonblocking() || !is_replaceable(call)) return next();
  return backend().runtime().init(arguments, [&next] { return next(); }, request);
}

#include "wrappers.inc"

}  // namespace

std::span<const FunctionRow> function_table() { return function_rows; }
std::span<const SymbolRow> symbol_table() { return symbol_rows; }

}  // namespace wherry::interpose
