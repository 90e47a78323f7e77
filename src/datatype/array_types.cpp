#include "datatype/array_types.hpp"

#include <algorithm>
#include <span>
#include <variant>

#include "base/error.hpp"

namespace wherry::datatype {
namespace {

using layout::Layout;
using layout::Offset;
using layout::PlacedLayout;
using Numbers = std::span<const MPI_Count>;

/// The dimensions from the one that is contiguous in memory.
std::vector<std::size_t> fastest_first(std::size_t dimensions, MPI_Count order) {
  require(order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN, odd_contents);
  std::vector<std::size_t> found(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) found[d] = order == MPI_ORDER_C ? dimensions - 1 - d : d;
  return found;
}

/// The indices of one dimension: `count` blocks of `length`, `stride` apart, of which the last may be shorter.
struct Indices {
  Offset first, count, length, stride, last_length;
};

Indices one_block(Offset first, Offset length) { return {first, length > 0 ? 1 : 0, length, 0, length}; }

/// `x` at the indices, `step` bytes apart.
PlacedLayout along(const Indices& indices, Offset step, const PlacedLayout& x) {
  if (indices.count == 0) return {0, layout::dense(0)};
  const Offset stride = scaled(indices.stride, step);
  const Layout whole = layout::strided(indices.length, step, x.layout);
  const Offset at = x.displacement + scaled(indices.first, step);
  if (indices.last_length == indices.length) return {at, layout::strided(indices.count, stride, whole)};
  return {at, layout::concat({{0, layout::strided(indices.count - 1, stride, whole)},
                              {scaled(indices.count - 1, stride),
                               layout::strided(indices.last_length, step, x.layout)}})};
}

Offset ceiling(Offset a, Offset b) { return (a + b - 1) / b; }

/// The indices [0, size) that process `coordinate` of `processes` has, `length` at a time in turn.
Indices cyclic(Offset size, Offset length, Offset coordinate, Offset processes) {
  require(length > 0, odd_contents);
  const Offset first = coordinate * length, stride = length * processes;
  if (first >= size) return one_block(0, 0);
  const Offset count = ceiling(size - first, stride);
  const Offset last = first + (count - 1) * stride;
  const Offset last_length = std::min(length, size - last);
  if (count == 1) return one_block(first, last_length);
  return {first, count, length, stride, last_length};
}

Indices distributed(Offset size, MPI_Count distribution, MPI_Count argument, Offset coordinate,
                    Offset processes) {
  if (distribution == MPI_DISTRIBUTE_NONE) return one_block(0, size);
  const bool by_default = argument == MPI_DISTRIBUTE_DFLT_DARG;
  if (distribution == MPI_DISTRIBUTE_CYCLIC)
    return cyclic(size, by_default ? 1 : argument, coordinate, processes);
  require(distribution == MPI_DISTRIBUTE_BLOCK, odd_contents);
  return cyclic(size, by_default ? std::max<Offset>(ceiling(size, processes), 1) : argument, coordinate,
                processes);
}

}  // namespace

bool ArrayElement::is_dense() const {
  const auto* block = std::get_if<layout::Dense>(&layout->kind());
  return block != nullptr && block->bytes == extent;
}

Layout ArrayElement::times(Offset count) const {
  if (is_dense()) return layout::dense(scaled(count, extent));
  return layout::strided(count, extent, layout);
}

Offset scaled(Offset a, Offset b) {
  Offset product = 0;
  require(!__builtin_mul_overflow(a, b, &product), "a datatype has offsets beyond 64 bits; it stays native");
  return product;
}

Layout subarray_of(const ArrayElement& inner, const Contents& contents) {
  const Numbers all = contents.numbers();
  require(all.size() >= 2 && all[0] >= 0, odd_contents);
  const auto dimensions = static_cast<std::size_t>(all[0]);
  const bool large = contents.integers() == 2;  // number of dimensions and order; the rest are large counts
  require(all.size() == 3 * dimensions + 2, odd_contents);
  const MPI_Count order = large ? all[1] : all.back();
  const Numbers sizes = all.subspan(large ? 2 : 1), subsizes = sizes.subspan(dimensions),
                starts = subsizes.subspan(dimensions);
  PlacedLayout part{0, inner.layout};
  Offset step = inner.extent;
  for (const std::size_t d : fastest_first(dimensions, order)) {
    part = along(one_block(starts[d], subsizes[d]), step, part);
    step = scaled(step, sizes[d]);
  }
  return layout::placed(part);
}

Layout darray_of(const ArrayElement& inner, const Contents& contents) {
  const Numbers all = contents.numbers();
  require(all.size() >= 4 && all[2] >= 0, odd_contents);
  const auto dimensions = static_cast<std::size_t>(all[2]);
  require(all.size() == 4 * dimensions + 4, odd_contents);
  const bool large = contents.integers() == 3 * dimensions + 4;  // the sizes come last
  const Numbers sizes = all.subspan(large ? 3 * dimensions + 4 : 3, dimensions);
  const Numbers distributions = all.subspan(large ? 3 : 3 + dimensions, dimensions);
  const Numbers arguments = all.subspan(large ? 3 + dimensions : 3 + 2 * dimensions, dimensions);
  const Numbers processes = all.subspan(large ? 3 + 2 * dimensions : 3 + 3 * dimensions, dimensions);
  const MPI_Count order = all[large ? 3 * dimensions + 3 : 4 * dimensions + 3];
  // Ranks are in row-major order, whatever the order of the array.
  std::vector<Offset> coordinates(dimensions);
  Offset rank = all[1];
  for (std::size_t d = dimensions; d > 0; --d) {
    require(processes[d - 1] > 0, odd_contents);
    coordinates[d - 1] = rank % processes[d - 1];
    rank /= processes[d - 1];
  }
  PlacedLayout part{0, inner.layout};
  Offset step = inner.extent;
  for (const std::size_t d : fastest_first(dimensions, order)) {
    part = along(distributed(sizes[d], distributions[d], arguments[d], coordinates[d], processes[d]), step,
                 part);
    step = scaled(step, sizes[d]);
  }
  return layout::placed(part);
}

}  // namespace wherry::datatype
