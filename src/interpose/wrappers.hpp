// The generated wrappers, as the tables that the backend installs them from.
#pragma once

#include <cstdint>
#include <span>

#include "interpose/backend.hpp"

namespace wherry::interpose {

std::span<const FunctionRow> function_table();
std::span<const SymbolRow> symbol_table();

}  // namespace wherry::interpose
