#include "pme/boxes.hpp"

#include <cstdint>

namespace pme {

Box whole(const Grid& grid) { return {{Range{0, grid[0]}, Range{0, grid[1]}, Range{0, grid[2]}}}; }

Range part(int extent, int parts, int index) {
  const auto begin = [&](std::int64_t i) { return static_cast<int>(extent * i / parts); };
  return {begin(index), begin(index + 1)};
}

Box shared(const Box& a, const Box& b) {
  Box both;
  for (std::size_t axis = 0; axis < axes; ++axis)
    both.range[axis] = {std::max(a.range[axis].begin, b.range[axis].begin),
                        std::min(a.range[axis].end, b.range[axis].end)};
  const bool empty = std::ranges::any_of(both.range, [](Range r) { return r.size() <= 0; });
  return empty ? Box{} : both;
}

}  // namespace pme
