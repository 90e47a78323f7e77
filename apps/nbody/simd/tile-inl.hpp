// Columns that stay in the first-level cache while many rows meet them: copied, aligned, and filled up to whole
// vectors. Included once for each set of instructions.
#include <hwy/highway.h>

#include "nbody/bodies.hpp"
#include "nbody/tiles.hpp"

#if defined(NBODY_TILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NBODY_TILE_INL
#undef NBODY_TILE_INL
#else
#define NBODY_TILE_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace nbody::HWY_NAMESPACE {

template <class T>
struct Tile {
  alignas(64) T x[tile_columns], y[tile_columns], z[tile_columns], m[tile_columns];
  alignas(64) T ax[tile_columns], ay[tile_columns], az[tile_columns];
  Range columns;       // where they come from
  std::size_t filled;  // with bodies of no mass behind the columns, to a whole number of vectors
};

template <class T>
HWY_INLINE void copy_filled(T* to, const T* from, std::size_t count, std::size_t filled, T filling) {
  for (std::size_t k = 0; k < count; ++k) to[k] = from[k];
  for (std::size_t k = count; k < filled; ++k) to[k] = filling;
}

/// mass_factor: of the copied masses. Sums begin at zero.
template <class T>
HWY_INLINE void fill(Tile<T>& tile, const PointsOf<T>& q, Range columns, std::size_t lanes, T mass_factor) {
  const std::size_t begin = columns.begin, count = columns.size();
  tile.columns = columns;
  tile.filled = (count + lanes - 1) / lanes * lanes;
  copy_filled(tile.x, q.x + begin, count, tile.filled, q.x[begin]);
  copy_filled(tile.y, q.y + begin, count, tile.filled, q.y[begin]);
  copy_filled(tile.z, q.z + begin, count, tile.filled, q.z[begin]);
  copy_filled(tile.m, q.m + begin, count, tile.filled, T(0));
  for (std::size_t k = 0; k < count; ++k) tile.m[k] *= mass_factor;
  for (T* sums : {tile.ax, tile.ay, tile.az})
    for (std::size_t k = 0; k < tile.filled; ++k) sums[k] = T(0);
}

}  // namespace nbody::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
