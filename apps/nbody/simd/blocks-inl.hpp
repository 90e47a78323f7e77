// Pairs in blocks: some rows in registers against a vector of columns.
// Included once for each set of instructions.
#include <hwy/highway.h>

#if defined(NBODY_BLOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NBODY_BLOCKS_INL
#undef NBODY_BLOCKS_INL
#else
#define NBODY_BLOCKS_INL
#endif

#include "nbody/simd/lanes-inl.hpp"
#include "nbody/simd/laws-inl.hpp"
#include "nbody/simd/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace nbody::HWY_NAMESPACE {

/// What is computed of a pair: what the column does to the row, the same and the row's potential, or what both do to
/// each other.
enum class Sides { rows, field, both };

/// What of both sides is added to sums.
/// accelerations: m_j d / r^3 and m_i d / r^3.
/// forces: m_i m_j d / r^3, to be divided by masses in the end. The strengths m_i m_j / r^3 of a vector of columns are
/// computed before those of the last one are added up, with the differences of places computed again: more
/// instructions, but shorter chains of instructions that wait for each other, and more sums in place of products.
/// Better where a processor adds on other ports than it multiplies on, and cannot look far ahead in vector
/// instructions.
enum class Adds { accelerations, forces };

/// Which columns of a vector a row meets: all, those after the row, or all but the row itself.
enum class Columns { all, after_row, but_row };

/// What a call computes with, besides the columns.
template <class Law_, Near near_, Sides sides_, Adds adds_, class T_>
struct Task {
  using Law = Law_;
  using T = T_;
  static constexpr Near near = near_;
  static constexpr Sides sides = sides_;
  static constexpr Adds adds = adds_;
  PointsOf<T> rows, columns;
  SumsOf<T> row_sums, column_sums;
  T eps2;
  T unit = 1;               // of masses in forces: a power of two
  T* potentials = nullptr;  // of the rows, in a field

  T row_mass(std::size_t i) const { return static_cast<T>(Law::scale) / unit * rows.m[i]; }
  T column_mass_factor() const {
    if (sides == Sides::field) return T(1);
    return adds == Adds::forces ? 1 / unit : static_cast<T>(Law::scale);
  }
  /// What makes an acceleration of what was added up for a body.
  T per_mass(T mass) const { return adds == Adds::forces ? unit / (mass / unit) : T(1); }
};

/// Vector instructions for one row and one vector of columns that multiply, or multiply and add, and that add or
/// subtract.
template <class Law, Sides sides, Adds adds>
struct Count {
  static constexpr int differences = 3, squares = 3, cube = 3;
  static constexpr int strength = adds == Adds::forces ? 3 : sides == Sides::both ? 3 : 2;  // with masses
  static constexpr int fused_sums = adds == Adds::forces ? 4 : sides == Sides::both ? 6 : 3;
  static constexpr int fused = squares + cube + Law::fused + strength + fused_sums;
  static constexpr int added = adds == Adds::forces ? 2 * differences + 4 : differences;
};

template <class D, int rows>
struct RowRegisters {
  using V = hn::Vec<D>;
  V x[rows], y[rows], z[rows], m[rows];
  V ax[rows], ay[rows], az[rows], potential[rows];
};

template <class D, int rows, class Task>
HWY_INLINE void load_rows(D d, const Task& t, std::size_t i, RowRegisters<D, rows>& r) {
  HWY_UNROLL(4)
  for (int k = 0; k < rows; ++k) {
    const std::size_t body = i + static_cast<std::size_t>(k);
    r.x[k] = hn::Set(d, t.rows.x[body]);
    r.y[k] = hn::Set(d, t.rows.y[body]);
    r.z[k] = hn::Set(d, t.rows.z[body]);
    r.m[k] = hn::Set(d, t.row_mass(body));
    r.ax[k] = r.ay[k] = r.az[k] = r.potential[k] = hn::Zero(d);
  }
}

/// Of one row or four. A row's sum is the same in its bits in both.
template <class D, int rows, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE FourSums<T> sums_of_rows(D d, const V (&v)[rows]) {
  static_assert(rows == 1 || rows == 4);
  return sums_of_lanes(d, v[0], v[1 % rows], v[2 % rows], v[3 % rows]);
}

template <class D, int rows, class Task>
HWY_INLINE void add_rows(D d, const RowRegisters<D, rows>& r, std::size_t i, const Task& t) {
  const auto x = sums_of_rows<D, rows>(d, r.ax), y = sums_of_rows<D, rows>(d, r.ay),
             z = sums_of_rows<D, rows>(d, r.az);
  for (int k = 0; k < rows; ++k) {
    const std::size_t body = i + static_cast<std::size_t>(k);
    const auto factor = t.per_mass(t.rows.m[body]);
    t.row_sums.x[body] += factor * x.of[k];
    t.row_sums.y[body] += factor * y.of[k];
    t.row_sums.z[body] += factor * z.of[k];
  }
  if constexpr (Task::sides == Sides::field) {
    const auto potentials = sums_of_rows<D, rows>(d, r.potential);
    for (int k = 0; k < rows; ++k) t.potentials[i + static_cast<std::size_t>(k)] -= potentials.of[k];
  }
}

template <class Task, class T = typename Task::T>
HWY_INLINE void subtract_columns(const Tile<T>& tile, const Task& t) {
  for (std::size_t k = 0; k < tile.columns.size(); ++k) {
    const std::size_t body = tile.columns.begin + k;
    const T factor = t.per_mass(t.columns.m[body]);
    t.column_sums.x[body] -= factor * tile.ax[k];
    t.column_sums.y[body] -= factor * tile.ay[k];
    t.column_sums.z[body] -= factor * tile.az[k];
  }
}

/// Zero in the lanes that a row does not meet. own: the lane in which the row itself would be.
template <Columns which, class D, class V = hn::Vec<D>>
HWY_INLINE V met(D d, std::ptrdiff_t own, V value) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(d));
  if constexpr (which == Columns::after_row) {
    const std::ptrdiff_t first = own < 0 ? 0 : own < lanes ? own + 1 : lanes;
    return hn::IfThenZeroElse(hn::FirstN(d, static_cast<std::size_t>(first)), value);
  } else if constexpr (which == Columns::but_row) {
    const auto lane = hn::Set(d, static_cast<hn::TFromD<D>>(own));
    return hn::IfThenZeroElse(hn::Eq(hn::Iota(d, hn::TFromD<D>(0)), lane), value);
  } else {
    return value;
  }
}

template <class V>
struct ColumnRegisters {
  V x, y, z, m;
  V ax, ay, az;
};

/// How far the bodies of a vector of columns are from a row.
template <class D, class V = hn::Vec<D>>
struct Pairs {
  V dx, dy, dz, r2;

  HWY_INLINE void add_to(V& x, V& y, V& z, V strength) const {
    x = hn::MulAdd(strength, dx, x);
    y = hn::MulAdd(strength, dy, y);
    z = hn::MulAdd(strength, dz, z);
  }
};

/// Strengths that are not added up yet, of some rows and the vector of columns that begins at j.
template <class D, int rows>
struct Pending {
  hn::Vec<D> strength[rows];
  std::ptrdiff_t j;
};

template <class D, class T, class V = hn::Vec<D>>
HWY_INLINE ColumnRegisters<V> load_columns(D d, const Tile<T>& tile, std::ptrdiff_t j) {
  return {hn::Load(d, tile.x + j), hn::Load(d, tile.y + j),  hn::Load(d, tile.z + j),
          hn::Load(d, tile.m + j), hn::Load(d, tile.ax + j), hn::Load(d, tile.ay + j),
          hn::Load(d, tile.az + j)};
}

template <class D, class T, class V = hn::Vec<D>>
HWY_INLINE void store_columns(D d, const ColumnRegisters<V>& c, Tile<T>& tile, std::ptrdiff_t j) {
  hn::Store(c.ax, d, tile.ax + j);
  hn::Store(c.ay, d, tile.ay + j);
  hn::Store(c.az, d, tile.az + j);
}

template <int rows, class D, class V = hn::Vec<D>>
HWY_INLINE Pairs<D> pairs_of(D, const RowRegisters<D, rows>& r, int k, const ColumnRegisters<V>& c, V eps2) {
  const V dx = hn::Sub(c.x, r.x[k]), dy = hn::Sub(c.y, r.y[k]), dz = hn::Sub(c.z, r.z[k]);
  return {dx, dy, dz, hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::MulAdd(dx, dx, eps2)))};
}

template <class Task, Columns which, int rows, class D, class V = hn::Vec<D>>
HWY_INLINE void add_field(D d, RowRegisters<D, rows>& r, const ColumnRegisters<V>& c, V eps2,
                          std::ptrdiff_t own) {
  HWY_UNROLL(4)
  for (int k = 0; k < rows; ++k) {
    const Pairs<D> pairs = pairs_of(d, r, k, c, eps2);
    const V one_over_r = inverse<Task::near>(d, pairs.r2);
    const V depth = met<which>(d, own + k, hn::Mul(c.m, one_over_r));
    r.potential[k] = hn::Add(r.potential[k], depth);
    pairs.add_to(r.ax[k], r.ay[k], r.az[k], hn::Mul(depth, hn::Mul(one_over_r, one_over_r)));
  }
}

/// One step after the other for all rows, so that they do not wait.
template <class Task, Columns which, int rows, class D, class V = hn::Vec<D>>
HWY_INLINE void add_accelerations(D d, RowRegisters<D, rows>& r, ColumnRegisters<V>& c, V eps2,
                                  std::ptrdiff_t own) {
  Pairs<D> pairs[rows];
  V y[rows], pull[rows];
  HWY_UNROLL(4)
  for (int k = 0; k < rows; ++k) {
    pairs[k] = pairs_of(d, r, k, c, eps2);
    y[k] = estimate<Task::near>(d, pairs[k].r2);
  }
  HWY_UNROLL(4)
  for (int k = 0; k < rows; ++k) {
    const auto [cube, series] = inverse_cube<typename Task::Law>(d, pairs[k].r2, y[k]);
    pull[k] = met<which>(d, own + k, hn::Mul(cube, series));
  }
  HWY_UNROLL(4)
  for (int k = 0; k < rows; ++k) {
    pairs[k].add_to(r.ax[k], r.ay[k], r.az[k], hn::Mul(pull[k], c.m));
    // The columns' sums are of what the rows do in the other direction: subtracted in the end.
    if constexpr (Task::sides == Sides::both) pairs[k].add_to(c.ax, c.ay, c.az, hn::Mul(pull[k], r.m[k]));
  }
}

/// Some rows and the vector of columns that begins at j of the tile. own: the lane of the first row.
template <class Task, Columns which, int rows, class D, class T = typename Task::T, class V = hn::Vec<D>>
HWY_INLINE void meet(D d, RowRegisters<D, rows>& r, Tile<T>& tile, std::ptrdiff_t j, V eps2,
                     std::ptrdiff_t own) {
  ColumnRegisters<V> c = load_columns(d, tile, j);
  if constexpr (Task::sides == Sides::field) add_field<Task, which>(d, r, c, eps2, own);
  else add_accelerations<Task, which>(d, r, c, eps2, own);
  if constexpr (Task::sides == Sides::both) store_columns(d, c, tile, j);
}

/// The strengths of the same; one step after the other for all rows, so that they do not wait.
template <class Task, Columns which, int rows, class D, class T = typename Task::T, class V = hn::Vec<D>>
HWY_INLINE Pending<D, rows> strengths(D d, const RowRegisters<D, rows>& r, const Tile<T>& tile,
                                      std::ptrdiff_t j, V eps2, std::ptrdiff_t own) {
  const ColumnRegisters<V> c = load_columns(d, tile, j);
  V r2[rows], y[rows];
  Pending<D, rows> found;
  found.j = j;
  HWY_UNROLL(4)
  for (int k = 0; k < rows; ++k) {
    r2[k] = pairs_of(d, r, k, c, eps2).r2;
    y[k] = estimate<Task::near>(d, r2[k]);
  }
  HWY_UNROLL(4)
  for (int k = 0; k < rows; ++k) {
    const auto [cube, series] = inverse_cube<typename Task::Law>(d, r2[k], y[k]);
    const V strength = hn::Mul(hn::Mul(cube, hn::Mul(r.m[k], c.m)), series);
    found.strength[k] = met<which>(d, own + k, strength);
  }
  return found;
}

/// Adds the forces of these strengths. Products and sums for two axes, fused ones for the third, so that all ports have
/// work.
template <int rows, class D, class T, class V = hn::Vec<D>>
HWY_INLINE void add_forces(D d, RowRegisters<D, rows>& r, Tile<T>& tile, const Pending<D, rows>& pending) {
  ColumnRegisters<V> c = load_columns(d, tile, pending.j);
  HWY_UNROLL(4)
  for (int k = 0; k < rows; ++k) {
    const V strength = pending.strength[k], dz = hn::Sub(c.z, r.z[k]);
    const V fx = hn::Mul(strength, hn::Sub(c.x, r.x[k])), fy = hn::Mul(strength, hn::Sub(c.y, r.y[k]));
    r.ax[k] = hn::Add(r.ax[k], fx);
    r.ay[k] = hn::Add(r.ay[k], fy);
    r.az[k] = hn::MulAdd(strength, dz, r.az[k]);
    c.ax = hn::Add(c.ax, fx);
    c.ay = hn::Add(c.ay, fy);
    c.az = hn::MulAdd(strength, dz, c.az);
  }
  store_columns(d, c, tile, pending.j);
}

/// Goes through the vectors of columns.
template <class Task, int rows, class D, class T = typename Task::T>
class Walk {
 public:
  using V = hn::Vec<D>;
  HWY_INLINE Walk(D d, RowRegisters<D, rows>& r, Tile<T>& tile, V eps2)
      : d_(d), r_(r), tile_(tile), eps2_(eps2) {
    HWY_UNROLL(4)
    for (int k = 0; k < rows; ++k) pending_.strength[k] = hn::Zero(d);
    pending_.j = 0;
  }
  template <Columns which>
  HWY_INLINE void at(std::ptrdiff_t j, std::ptrdiff_t own) {
    if constexpr (Task::adds == Adds::forces) {
      const Pending<D, rows> next = strengths<Task, which>(d_, r_, tile_, j, eps2_, own);
      add_forces(d_, r_, tile_, pending_);
      pending_ = next;
    } else {
      meet<Task, which>(d_, r_, tile_, j, eps2_, own);
    }
  }
  HWY_INLINE void finish() {
    if constexpr (Task::adds == Adds::forces) add_forces(d_, r_, tile_, pending_);
  }

 private:
  D d_;
  RowRegisters<D, rows>& r_;
  Tile<T>& tile_;
  V eps2_;
  Pending<D, rows> pending_;
};

constexpr std::ptrdiff_t clamped(std::ptrdiff_t value, std::ptrdiff_t most) {
  return value < 0 ? 0 : value < most ? value : most;
}

/// Some rows and the columns of a tile. Columns::after_row: the rows are columns of the tile, too, and meet those after
/// them.
template <int rows, Columns which, class Task, class T = typename Task::T>
HWY_INLINE void rows_meet(const Task& t, std::size_t i, Tile<T>& tile) {
  const hn::ScalableTag<T> d;
  constexpr auto lanes = static_cast<std::ptrdiff_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  RowRegisters<hn::ScalableTag<T>, rows> r;
  load_rows(d, t, i, r);
  Walk<Task, rows, hn::ScalableTag<T>> walk(d, r, tile, hn::Set(d, t.eps2));
  const auto filled = static_cast<std::ptrdiff_t>(tile.filled);
  std::ptrdiff_t j = 0;
  if constexpr (which != Columns::all) {
    // The vectors that hold the rows themselves need a second look.
    const std::ptrdiff_t own =
        static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(tile.columns.begin);
    const std::ptrdiff_t first = clamped(own / lanes * lanes, filled), end = clamped(own + rows, filled);
    if constexpr (which == Columns::but_row)
      for (; j < first; j += lanes) walk.template at<Columns::all>(j, 0);
    for (j = first; j < end; j += lanes) walk.template at<which>(j, own - j);
  }
  for (; j < filled; j += lanes) walk.template at<Columns::all>(j, 0);
  walk.finish();
  add_rows(d, r, i, t);
}

template <Columns which, class Task, class T = typename Task::T>
void all_rows_meet(const Task& t, Range rows, Tile<T>& tile) {
  std::size_t i = rows.begin;
  for (; i + rows_in_registers <= rows.end; i += rows_in_registers)
    rows_meet<rows_in_registers, which>(t, i, tile);
  for (; i < rows.end; ++i) rows_meet<1, which>(t, i, tile);
}

/// Calls work with each tile of the columns, and adds up what was found for them.
template <class Task, class Work>
HWY_INLINE void for_tiles(const Task& t, Range columns, const Work& work) {
  using T = typename Task::T;
  Tile<T> tile;
  for (std::size_t begin = columns.begin; begin < columns.end; begin += tile_columns) {
    const std::size_t end = begin + tile_columns < columns.end ? begin + tile_columns : columns.end;
    fill(tile, t.columns, {begin, end}, hn::MaxLanes(hn::ScalableTag<T>()), t.column_mass_factor());
    work(tile);
    if constexpr (Task::sides == Sides::both) subtract_columns(tile, t);
  }
}

template <class Task>
void rectangle(const Task& t, Range rows, Range columns) {
  constexpr Columns which = Task::sides == Sides::field ? Columns::but_row : Columns::all;
  for_tiles(t, columns, [&](auto& tile) { all_rows_meet<which>(t, rows, tile); });
}

/// The pairs i < j of one range of rows and columns.
template <class Task>
void triangle(const Task& t, Range range) {
  for_tiles(t, range, [&](auto& tile) {
    all_rows_meet<Columns::all>(t, {range.begin, tile.columns.begin}, tile);
    all_rows_meet<Columns::after_row>(t, tile.columns, tile);
  });
}

}  // namespace nbody::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
