// Blocks that lie side by side on one side where they are far apart on the other: a matrix, transposed in tiles.
#if defined(WHERRY_LAYOUT_TRANSPOSE) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_LAYOUT_TRANSPOSE
#undef WHERRY_LAYOUT_TRANSPOSE
#else
#define WHERRY_LAYOUT_TRANSPOSE
#endif

#include "layout/fixed_copy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace wherry::layout::HWY_NAMESPACE {

/// Block (i, j) from i * bytes + j * column to i * row + j * bytes.
struct Matrix {
  std::int64_t rows, columns, row, column;
};

/// A tile that is copied block by block.
template <class Copy>
struct PlainTile {
  static constexpr std::int64_t side = 4;
  HWY_INLINE void operator()(Bytes to, ConstBytes from, const Matrix& m, const Copy& copy) const {
    for (std::int64_t i = 0; i < side; ++i)
      for (std::int64_t j = 0; j < side; ++j)
        copy(to + i * m.row + j * copy.bytes(), from + i * copy.bytes() + j * m.column);
  }
};

#if defined(WHERRY_HIGHWAY) && HWY_TARGET <= HWY_SSE4
namespace hn = hwy::HWY_NAMESPACE;

/// 4 x 4 elements of 4 bytes.
struct TileOf4 {
  static constexpr std::int64_t side = 4;
  template <class Copy>
  HWY_INLINE void operator()(Bytes to, ConstBytes from, const Matrix& m, const Copy&) const {
    const hn::FixedTag<std::uint32_t, 4> d;
    const hn::FixedTag<std::uint64_t, 2> pairs;
    const auto load = [&](std::int64_t j) HWY_ATTR {
      return hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(from + j * m.column));
    };
    const auto store = [&](std::int64_t i, auto row) HWY_ATTR {
      hn::StoreU(hn::BitCast(d, row), d, reinterpret_cast<std::uint32_t*>(to + i * m.row));
    };
    const auto c0 = load(0), c1 = load(1), c2 = load(2), c3 = load(3);
    const auto low_a = hn::BitCast(pairs, hn::InterleaveLower(d, c0, c1));
    const auto low_b = hn::BitCast(pairs, hn::InterleaveLower(d, c2, c3));
    const auto high_a = hn::BitCast(pairs, hn::InterleaveUpper(d, c0, c1));
    const auto high_b = hn::BitCast(pairs, hn::InterleaveUpper(d, c2, c3));
    store(0, hn::InterleaveLower(pairs, low_a, low_b));
    store(1, hn::InterleaveUpper(pairs, low_a, low_b));
    store(2, hn::InterleaveLower(pairs, high_a, high_b));
    store(3, hn::InterleaveUpper(pairs, high_a, high_b));
  }
};

#if HWY_TARGET <= HWY_AVX2
/// 4 x 4 elements of 8 bytes.
struct TileOf8 {
  static constexpr std::int64_t side = 4;
  template <class Copy>
  HWY_INLINE void operator()(Bytes to, ConstBytes from, const Matrix& m, const Copy&) const {
    const hn::FixedTag<std::uint64_t, 4> d;
    const auto load = [&](std::int64_t j) HWY_ATTR {
      return hn::LoadU(d, reinterpret_cast<const std::uint64_t*>(from + j * m.column));
    };
    const auto store = [&](std::int64_t i, auto row)
                           HWY_ATTR { hn::StoreU(row, d, reinterpret_cast<std::uint64_t*>(to + i * m.row)); };
    const auto c0 = load(0), c1 = load(1), c2 = load(2), c3 = load(3);
    const auto even_a = hn::InterleaveLower(d, c0, c1), odd_a = hn::InterleaveUpper(d, c0, c1);
    const auto even_b = hn::InterleaveLower(d, c2, c3), odd_b = hn::InterleaveUpper(d, c2, c3);
    store(0, hn::ConcatLowerLower(d, even_b, even_a));
    store(1, hn::ConcatLowerLower(d, odd_b, odd_a));
    store(2, hn::ConcatUpperUpper(d, even_b, even_a));
    store(3, hn::ConcatUpperUpper(d, odd_b, odd_a));
  }
};
#else
using TileOf8 = PlainTile<FixedCopy<8>>;
#endif

template <class Copy>
struct TileFor {
  using Type = PlainTile<Copy>;
};
template <>
struct TileFor<FixedCopy<4>> {
  using Type = TileOf4;
};
template <>
struct TileFor<FixedCopy<8>> {
  using Type = TileOf8;
};
#else
template <class Copy>
struct TileFor {
  using Type = PlainTile<Copy>;
};
#endif

/// The part of the matrix from row `i` to `end_i` and from column `j` to `end_j`.
template <class Copy>
HWY_NOINLINE void transpose_plainly(Bytes to, ConstBytes from, const Matrix& m, const Copy& copy,
                                    std::int64_t i, std::int64_t end_i, std::int64_t j, std::int64_t end_j) {
  for (; i < end_i; ++i)
    for (std::int64_t k = j; k < end_j; ++k)
      copy(to + i * m.row + k * copy.bytes(), from + i * copy.bytes() + k * m.column);
}

/// In squares of one cache line a side, so that each line is read and written once even where the rows' distance maps
/// them to one set of the cache; in bands of a few lines, so that their pages stay known.
template <class Copy>
HWY_NOINLINE void transpose(Bytes to, ConstBytes from, const Matrix m, const Copy copy) {
  using Tile = typename TileFor<Copy>::Type;
  constexpr std::int64_t side = Tile::side, band_lines = 8;
  const std::int64_t line = copy.bytes() >= 16 ? side : 64 / copy.bytes() / side * side;
  const std::int64_t rows = m.rows / side * side, columns = m.columns / side * side;
  const Tile tile;
  for (std::int64_t band = 0; band < rows; band += band_lines * line) {
    const std::int64_t band_end = band + band_lines * line < rows ? band + band_lines * line : rows;
    for (std::int64_t j0 = 0; j0 < columns; j0 += line) {
      const std::int64_t end = j0 + line < columns ? j0 + line : columns;
      for (std::int64_t i = band; i < band_end; i += side)
        for (std::int64_t j = j0; j < end; j += side)
          tile(to + i * m.row + j * copy.bytes(), from + i * copy.bytes() + j * m.column, m, copy);
    }
  }
  transpose_plainly(to, from, m, copy, 0, rows, columns, m.columns);
  transpose_plainly(to, from, m, copy, rows, m.rows, 0, m.columns);
}

}  // namespace wherry::layout::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
