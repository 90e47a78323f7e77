// Which wrapper stands in which slot: the generated tables, and how the backend installs them.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "interpose/core.hpp"
#include "interpose/process_state.hpp"

namespace wherry::interpose {

/// A row of the generated table of functions.
struct FunctionRow {
  const char* name;
  std::uint32_t kind;  // see profile::FunctionRecord
};

/// When a function's wrapper is needed.
enum class Wrapped {
  recording,    // while a record is written
  nonblocking,  // `completing`, or where nonblocking and persistent collectives may be Wherry's
  caching,      // also where windows may be cached
  packing,      // also where Wherry may pack
  sending,      // the same, or where blocking calls may poll
  completing,   // also once Wherry follows messages until they are complete
  waiting,      // `completing`, or where blocking calls may poll
  always,
};

/// A row of the generated table of symbols, in the order of the core's slots.
struct SymbolRow {
  const char* name;
  void* wrapper;
  void* stand_in;  // for a library that lacks the symbol
  Wrapped wrapped;
};

/// The generated wrappers, as the tables that the backend installs them from.
std::span<const FunctionRow> function_table();
std::span<const SymbolRow> symbol_table();

class SymbolSlots {
 public:
  SymbolSlots(const Core& core, const Activity& activity) : core_(core), activity_(activity) {}

  /// Puts wrappers into the slots, or the library's own functions where there is nothing to do. Returns why it cannot.
  const char* install();
  /// From now on Wherry sees what completes, starts and frees requests: most programs never need it to.
  void wrap_completion();

  /// The next definition of a symbol: the library's or another tool's.
  void* next(std::string_view name) const;

 private:
  bool is_wrapped(Wrapped when) const;

  const Core& core_;
  const Activity& activity_;
  std::atomic<bool> completing_ = false;
};

}  // namespace wherry::interpose
