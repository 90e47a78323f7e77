#include "interpose/symbol_slots.hpp"

#include <algorithm>

namespace wherry::interpose {

const char* SymbolSlots::install() {
  const auto rows = symbol_table();
  if (core_.symbols != rows.size() + 2) return "libwherry.so and its backend are of different builds";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (core_.next[i] == nullptr) core_.next[i] = rows[i].stand_in;
    core_.slots[i] = is_wrapped(rows[i].wrapped) ? rows[i].wrapper : core_.next[i];
  }
  for (std::size_t i = rows.size(); i < core_.symbols; ++i) core_.slots[i] = core_.next[i];
  return nullptr;
}

bool SymbolSlots::is_wrapped(Wrapped when) const {
  const Activity& a = activity_;
  switch (when) {
    case Wrapped::always: return a.does_anything() || a.has_problems;
    case Wrapped::completing: return a.recording || completing_;
    case Wrapped::waiting: return a.recording || a.waiting || completing_;
    case Wrapped::nonblocking: return a.recording || a.replaces_nonblocking() || completing_;
    case Wrapped::caching: return a.recording || a.caching;
    case Wrapped::packing: return a.recording || a.packing;
    case Wrapped::sending: return a.recording || a.packing || a.waiting;
    default: return a.recording;
  }
}

/// Another thread may be jumping through a slot meanwhile, to the library's function.
void SymbolSlots::wrap_completion() {
  if (completing_.load(std::memory_order_relaxed) || completing_.exchange(true)) return;
  const auto rows = symbol_table();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Wrapped when = rows[i].wrapped;
    if (when == Wrapped::completing || when == Wrapped::waiting || when == Wrapped::nonblocking)
      std::atomic_ref(core_.slots[i]).store(rows[i].wrapper);
  }
}

void* SymbolSlots::next(std::string_view name) const {
  const auto rows = symbol_table();
  const auto row = std::ranges::find(rows, name, &SymbolRow::name);
  return core_.next[row - rows.begin()];
}

}  // namespace wherry::interpose
