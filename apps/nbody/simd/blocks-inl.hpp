// Pairs in blocks: some rows in registers against a vector of columns, and tiles of columns that stay in the cache.
//
// Vector instructions for one row and one vector of columns, in double precision, both sides, on AVX-512:
//   3 differences, 3 for r^2, 1 estimate, 7 for r^-3, 2 products with masses, 6 sums = 22 (onto: 18)
// and per vector of columns, for all rows of the block: 7 loads and 3 stores (onto: 4 loads).
// Included once for each set of instructions.
#include <hwy/highway.h>

#if defined(NBODY_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NBODY_BLOCKS_INL
#undef NBODY_BLOCKS_INL
#else
#define NBODY_BLOCKS_INL
#endif

#include "nbody/simd/laws-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace nbody::HWY_NAMESPACE {

enum class Sides { rows, both };

/// Which columns of a vector a row meets: all, or those after the row.
enum class Columns { all, after_row };

/// More rows would not fit into 32 registers with their sums; fewer load the columns more often.
constexpr int rows_in_registers = 4;
/// Columns in a tile: seven arrays of them in double precision take 35 KiB of the first-level cache.
constexpr std::size_t tile_columns = 640;

template <class D, int rows>
struct RowRegisters {
  using V = hn::Vec<D>;
  V x[rows], y[rows], z[rows], m[rows];
  V ax[rows], ay[rows], az[rows];
};

template <class D, int rows, class T>
HWY_INLINE void load_rows(D d, const PointsOf<T>& p, std::size_t i, RowRegisters<D, rows>& r) {
  HWY_UNROLL(4)
  for (int k = 0; k < rows; ++k) {
    const std::size_t body = i + static_cast<std::size_t>(k);
    r.x[k] = hn::Set(d, p.x[body]);
    r.y[k] = hn::Set(d, p.y[body]);
    r.z[k] = hn::Set(d, p.z[body]);
    r.m[k] = hn::Set(d, p.m[body]);
    r.ax[k] = r.ay[k] = r.az[k] = hn::Zero(d);
  }
}

template <class D, int rows, class T>
HWY_INLINE void add_rows(D d, const RowRegisters<D, rows>& r, std::size_t i, const SumsOf<T>& sums) {
  for (int k = 0; k < rows; ++k) {
    const std::size_t body = i + static_cast<std::size_t>(k);
    sums.x[body] += hn::GetLane(hn::SumOfLanes(d, r.ax[k]));
    sums.y[body] += hn::GetLane(hn::SumOfLanes(d, r.ay[k]));
    sums.z[body] += hn::GetLane(hn::SumOfLanes(d, r.az[k]));
  }
}

/// Leaves out the first lanes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V without_first(D d, std::ptrdiff_t count, V value) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(d));
  const std::ptrdiff_t first = count < 0 ? 0 : count < lanes ? count : lanes;
  return hn::IfThenZeroElse(hn::FirstN(d, static_cast<std::size_t>(first)), value);
}

/// Some rows and the vector of columns that begins at j. skipped: columns that are not after the first row.
template <class Law, Near near, Sides sides, Columns which, int rows, class D, class T, class V = hn::Vec<D>>
HWY_INLINE void meet(D d, RowRegisters<D, rows>& r, const PointsOf<T>& q, std::size_t j, V eps2,
                     const SumsOf<T>& q_sums, std::ptrdiff_t skipped) {
  const V xj = hn::LoadU(d, q.x + j), yj = hn::LoadU(d, q.y + j), zj = hn::LoadU(d, q.z + j);
  const V mj = hn::LoadU(d, q.m + j);
  V bx = hn::Zero(d), by = bx, bz = bx;
  if constexpr (sides == Sides::both) {
    bx = hn::LoadU(d, q_sums.x + j);
    by = hn::LoadU(d, q_sums.y + j);
    bz = hn::LoadU(d, q_sums.z + j);
  }
  HWY_UNROLL(4)
  for (int k = 0; k < rows; ++k) {
    const V dx = hn::Sub(xj, r.x[k]), dy = hn::Sub(yj, r.y[k]), dz = hn::Sub(zj, r.z[k]);
    const V r2 = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::MulAdd(dx, dx, eps2)));
    V pull = inverse_cube<Law, near>(d, r2);
    if constexpr (which == Columns::after_row) pull = without_first(d, skipped + k, pull);
    const V by_column = hn::Mul(pull, mj);
    r.ax[k] = hn::MulAdd(by_column, dx, r.ax[k]);
    r.ay[k] = hn::MulAdd(by_column, dy, r.ay[k]);
    r.az[k] = hn::MulAdd(by_column, dz, r.az[k]);
    if constexpr (sides == Sides::both) {
      const V by_row = hn::Mul(pull, r.m[k]);
      bx = hn::NegMulAdd(by_row, dx, bx);
      by = hn::NegMulAdd(by_row, dy, by);
      bz = hn::NegMulAdd(by_row, dz, bz);
    }
  }
  if constexpr (sides == Sides::both) {
    hn::StoreU(bx, d, q_sums.x + j);
    hn::StoreU(by, d, q_sums.y + j);
    hn::StoreU(bz, d, q_sums.z + j);
  }
}

inline std::ptrdiff_t distance(std::size_t from, std::size_t to) {
  return static_cast<std::ptrdiff_t>(to) - static_cast<std::ptrdiff_t>(from);
}

/// The last columns, fewer than a vector, filled up with bodies of no mass.
template <class T, std::size_t lanes>
class Tail {
 public:
  HWY_INLINE Tail(const PointsOf<T>& q, Range columns) : columns_(columns) {
    for (std::size_t k = 0; k < lanes; ++k) {
      const bool filling = k >= columns.size();
      const std::size_t j = columns.begin + (filling ? 0 : k);
      values_[0][k] = q.x[j];
      values_[1][k] = q.y[j];
      values_[2][k] = q.z[j];
      values_[3][k] = filling ? T(0) : q.m[j];
      values_[4][k] = values_[5][k] = values_[6][k] = T(0);
    }
  }
  HWY_INLINE PointsOf<T> points() const { return {values_[0], values_[1], values_[2], values_[3]}; }
  HWY_INLINE SumsOf<T> sums() { return {values_[4], values_[5], values_[6]}; }
  HWY_INLINE void add_to(const SumsOf<T>& q_sums) const {
    for (std::size_t k = 0; k < lanes && k < columns_.size(); ++k) {
      q_sums.x[columns_.begin + k] += values_[4][k];
      q_sums.y[columns_.begin + k] += values_[5][k];
      q_sums.z[columns_.begin + k] += values_[6][k];
    }
  }

 private:
  Range columns_;
  alignas(64) T values_[7][lanes];
};

/// What a call computes with, besides the bodies.
template <class Law_, Near near_, Sides sides_, class T_>
struct Task {
  using Law = Law_;
  using T = T_;
  static constexpr Near near = near_;
  static constexpr Sides sides = sides_;
  PointsOf<T> p, q;  // rows, columns
  SumsOf<T> p_sums, q_sums;
  T eps2;
};

/// Some rows and the columns of a range. after_row: the range holds the rows too; whole vectors of columns before them are passed
/// over.
template <int rows, Columns which, class Task>
HWY_INLINE void rows_meet(const Task& t, std::size_t i, Range columns) {
  using T = typename Task::T;
  using Law = typename Task::Law;
  const hn::ScalableTag<T> d;
  using D = hn::ScalableTag<T>;
  constexpr std::size_t lanes = hn::MaxLanes(D());
  const auto eps2 = hn::Set(d, t.eps2);
  // Copies: the compiler need not fear that the sums are written over the addresses.
  const PointsOf<T> q = t.q;
  const SumsOf<T> q_sums = t.q_sums;
  RowRegisters<D, rows> r;
  load_rows(d, t.p, i, r);
  std::size_t j = columns.begin;
  if constexpr (which == Columns::after_row) {
    j += (i - columns.begin) / lanes * lanes;
    for (; j < i + rows && j + lanes <= columns.end; j += lanes)
      meet<Law, Task::near, Task::sides, which>(d, r, q, j, eps2, q_sums, distance(j, i + 1));
  }
  for (; j + lanes <= columns.end; j += lanes)
    meet<Law, Task::near, Task::sides, Columns::all>(d, r, q, j, eps2, q_sums, 0);
  if (j < columns.end) {
    Tail<T, lanes> tail(q, {j, columns.end});
    meet<Law, Task::near, Task::sides, which>(d, r, tail.points(), 0, eps2, tail.sums(), distance(j, i + 1));
    if constexpr (Task::sides == Sides::both) tail.add_to(q_sums);
  }
  add_rows(d, r, i, t.p_sums);
}

template <class Task>
void rectangle(const Task& t, Range rows, Range columns) {
  std::size_t i = rows.begin;
  for (; i + rows_in_registers <= rows.end; i += rows_in_registers)
    rows_meet<rows_in_registers, Columns::all>(t, i, columns);
  for (; i < rows.end; ++i) rows_meet<1, Columns::all>(t, i, columns);
}

/// The pairs i < j of one range of rows and columns.
template <class Task>
void triangle(const Task& t, Range range) {
  std::size_t i = range.begin;
  for (; i + rows_in_registers <= range.end; i += rows_in_registers)
    rows_meet<rows_in_registers, Columns::after_row>(t, i, range);
  for (; i < range.end; ++i) rows_meet<1, Columns::after_row>(t, i, range);
}

/// Calls work for each tile of the columns, in order.
template <class Work>
HWY_INLINE void for_tiles(Range columns, const Work& work) {
  for (std::size_t begin = columns.begin; begin < columns.end; begin += tile_columns) {
    const std::size_t end = begin + tile_columns < columns.end ? begin + tile_columns : columns.end;
    work(Range{begin, end});
  }
}

template <class Task>
void tiled_rectangle(const Task& t, Range rows, Range columns) {
  for_tiles(columns, [&](Range tile) { rectangle(t, rows, tile); });
}

template <class Task>
void tiled_triangle(const Task& t, Range range) {
  for_tiles(range, [&](Range tile) {
    rectangle(t, {range.begin, tile.begin}, tile);
    triangle(t, tile);
  });
}

}  // namespace nbody::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
