// Boxes of a grid, and how the points of one distribution of a grid over ranks travel to another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace pme {

constexpr int axes = 3;  // x, y, z: z is contiguous in memory
using Grid = std::array<int, axes>;

struct Range {
  int begin = 0, end = 0;  // half-open
  int size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

struct Box {
  std::array<Range, axes> range;
  bool operator==(const Box&) const = default;

  int extent(int axis) const { return range[static_cast<std::size_t>(axis)].size(); }
  std::size_t points() const {
    return static_cast<std::size_t>(extent(0)) * static_cast<std::size_t>(extent(1)) *
           static_cast<std::size_t>(extent(2));
  }
  /// The place of a point, given in the grid's coordinates, in an array that holds the box.
  std::size_t index(int x, int y, int z) const {
    const std::size_t row =
        static_cast<std::size_t>(x - range[0].begin) * static_cast<std::size_t>(extent(1)) +
        static_cast<std::size_t>(y - range[1].begin);
    return row * static_cast<std::size_t>(extent(2)) + static_cast<std::size_t>(z - range[2].begin);
  }
};

Box whole(const Grid& grid);

/// Part `index` of `parts` of an axis; lengths differ by at most one.
Range part(int extent, int parts, int index);

/// What two boxes share; no points, with all ranges empty, if nothing.
Box shared(const Box& a, const Box& b);

/// Calls row(first point's x, y) for each row of the box along z.
template <class Row>
void for_rows(const Box& box, Row row) {
  for (int x = box.range[0].begin; x < box.range[0].end; ++x)
    for (int y = box.range[1].begin; y < box.range[1].end; ++y) row(x, y);
}

/// Appends the points of `piece`, a box inside `box`, in its order.
template <class T>
void pack(std::span<const T> values, const Box& box, const Box& piece, std::vector<T>& out) {
  for_rows(piece, [&](int x, int y) {
    const auto row =
        values.subspan(box.index(x, y, piece.range[2].begin), static_cast<std::size_t>(piece.extent(2)));
    out.insert(out.end(), row.begin(), row.end());
  });
}

/// The reverse: puts packed points of `piece` into `box`. Returns how many.
template <class T>
std::size_t unpack(std::span<const T> packed, const Box& piece, const Box& box, std::span<T> values) {
  std::size_t next = 0;
  const auto length = static_cast<std::size_t>(piece.extent(2));
  for_rows(piece, [&](int x, int y) {
    std::ranges::copy(packed.subspan(next, length),
                      values.begin() + static_cast<std::ptrdiff_t>(box.index(x, y, piece.range[2].begin)));
    next += length;
  });
  return next;
}

}  // namespace pme
