// What the kernels take at once. Work that is cut elsewhere makes them begin anew.
#pragma once

#include <cstddef>

namespace nbody {

/// Columns that stay in the first-level cache: the seven arrays of a tile take 28 KiB in double precision.
inline constexpr std::size_t tile_columns = 512;

/// Rows that meet them together. More would not fit into 32 registers with their sums; fewer load the columns more
/// often.
inline constexpr int rows_in_registers = 4;

}  // namespace nbody
