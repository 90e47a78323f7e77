#include "nbody/work.hpp"

#include <algorithm>
#include <numeric>

namespace nbody {
namespace {

/// Pairs i < j of n bodies in the rows before `row`.
std::uint64_t pairs_before(std::uint64_t row, std::uint64_t n) { return row * (n - 1) - row * (row - 1) / 2; }

std::uint64_t triangle_pairs(std::uint64_t n) { return n < 2 ? 0 : n * (n - 1) / 2; }

/// A pair of a triangle of n bodies by its number, counted row by row.
struct Place {
  std::size_t row, column;
};
Place place_of(std::uint64_t pair, std::size_t n) {
  // The last row that begins at or before the pair.
  std::size_t low = 0, high = n;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (pairs_before(middle, n) <= pair ? low : high) = middle;
  }
  return {low, low + 1 + static_cast<std::size_t>(pair - pairs_before(low, n))};
}

/// Without what has no pairs.
Work without_empty(const Work& work) {
  Work kept;
  std::ranges::copy_if(work, std::back_inserter(kept), [](const Piece& piece) { return piece.pairs() > 0; });
  return kept;
}

std::uint64_t part_begin(std::uint64_t pairs, std::size_t part, std::size_t parts) {
  // pairs * part may not fit into 64 bits.
  return pairs / parts * part + pairs % parts * part / parts;
}

Range shifted(Range range, std::size_t by) { return {range.begin + by, range.end + by}; }

/// The pairs of a row from one column to another.
Piece in_row(std::size_t row, Range columns) { return {{row, row + 1}, columns}; }

/// The pairs from number `begin` to `end` of a triangle of n bodies.
Work triangle_share(std::uint64_t begin, std::uint64_t end, std::size_t n) {
  if (begin == end) return {};
  const Place first = place_of(begin, n), last = place_of(end - 1, n);
  if (first.row == last.row) return {in_row(first.row, {first.column, last.column + 1})};
  const Range whole_rows{first.row + 1, last.row};
  return {in_row(first.row, {first.column, n}), Piece{whole_rows, whole_rows},
          Piece{whole_rows, {whole_rows.end, n}}, in_row(last.row, {last.row + 1, last.column + 1})};
}

/// Part of a piece in whole rows, of which `rows` are.
Work in_rows(const Piece& piece, Range rows) {
  if (!piece.is_triangle()) return {Piece{rows, piece.columns}};
  return {Piece{rows, rows}, Piece{rows, {rows.end, piece.columns.end}}};
}

Range rows_of_slice(Range rows, std::size_t part, std::size_t parts) {
  constexpr std::size_t together = 4;
  const Range groups = part_of({0, (rows.size() + together - 1) / together}, part, parts);
  const auto row = [&](std::size_t group) { return std::min(rows.begin + together * group, rows.end); };
  return {row(groups.begin), row(groups.end)};
}

/// The pairs from number `begin` to `end` of a rectangle with so many columns.
Work rectangle_share(std::uint64_t begin, std::uint64_t end, std::size_t columns) {
  if (begin == end) return {};
  const std::size_t first = begin / columns, last = (end - 1) / columns;
  const std::size_t from = begin % columns, to = (end - 1) % columns + 1;
  if (first == last) return {in_row(first, {from, to})};
  return {in_row(first, {from, columns}), Piece{{first + 1, last}, {0, columns}}, in_row(last, {0, to})};
}

}  // namespace

std::uint64_t Piece::pairs() const {
  return is_triangle() ? triangle_pairs(rows.size()) : std::uint64_t{rows.size()} * columns.size();
}

std::uint64_t pairs(const Work& work) {
  return std::accumulate(work.begin(), work.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Piece& piece) { return sum + piece.pairs(); });
}

Work share(const Piece& piece, std::size_t part, std::size_t parts) {
  const std::uint64_t all = piece.pairs();
  const std::uint64_t begin = part_begin(all, part, parts), end = part_begin(all, part + 1, parts);
  Work work = piece.is_triangle() ? triangle_share(begin, end, piece.rows.size())
                                  : rectangle_share(begin, end, piece.columns.size());
  for (Piece& p : work) p = {shifted(p.rows, piece.rows.begin), shifted(p.columns, piece.columns.begin)};
  return without_empty(work);
}

Work share(const Work& work, std::size_t part, std::size_t parts) {
  Work all;
  for (const Piece& piece : work) std::ranges::copy(share(piece, part, parts), std::back_inserter(all));
  return all;
}

Work slice(const Work& work, std::size_t part, std::size_t parts) {
  Work all;
  for (const Piece& piece : work)
    std::ranges::copy(in_rows(piece, rows_of_slice(piece.rows, part, parts)), std::back_inserter(all));
  return without_empty(all);
}

Work equal_rows(std::size_t bodies, std::size_t part, std::size_t parts) {
  const Range all{0, bodies};
  return without_empty(in_rows({all, all}, part_of(all, part, parts)));
}

Work column_block(Range columns) {
  return without_empty({Piece{{0, columns.begin}, columns}, Piece{columns, columns}});
}

}  // namespace nbody
