#include "nbody/work.hpp"

#include <algorithm>
#include <numeric>

#include "nbody/tiles.hpp"

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

/// Where the range may be cut, about in the middle: after whole groups. Its end, if there is only one.
std::size_t cut_of(Range range, std::size_t together) {
  const std::size_t half = std::max<std::size_t>(range.size() / 2 / together, 1) * together;
  return std::min(range.begin + half, range.end);
}

/// Both halves of a piece, and what they have with each other; it alone, if it cannot be cut.
Work halves(const Piece& piece) {
  const bool tiles = piece.columns.size() > tile_columns;
  if (!tiles || piece.is_triangle()) {
    const std::size_t cut = cut_of(piece.rows, tiles ? tile_columns : std::size_t{rows_in_registers});
    Work both = in_rows(piece, {piece.rows.begin, cut});
    std::ranges::copy(in_rows(piece, {cut, piece.rows.end}), std::back_inserter(both));
    return both;
  }
  const std::size_t cut = cut_of(piece.columns, tile_columns);
  return {Piece{piece.rows, {piece.columns.begin, cut}}, Piece{piece.rows, {cut, piece.columns.end}}};
}

void cut_to(std::uint64_t most_pairs, const Piece& piece, Work& parts) {
  const Work cut = piece.pairs() > most_pairs ? without_empty(halves(piece)) : Work{piece};
  if (cut.size() == 1) parts.push_back(cut.front());
  else
    for (const Piece& part : cut) cut_to(most_pairs, part, parts);
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

std::vector<Work> steps(const Work& work, std::uint64_t most_pairs) {
  Work parts;
  for (const Piece& piece : work) cut_to(most_pairs, piece, parts);
  std::vector<Work> all;
  std::uint64_t left = 0;
  for (const Piece& part : parts) {
    if (all.empty() || part.pairs() > left) all.emplace_back(), left = most_pairs;
    left -= std::min(left, part.pairs());
    all.back().push_back(part);
  }
  return all;
}

Work equal_rows(std::size_t bodies, std::size_t part, std::size_t parts) {
  const Range all{0, bodies};
  return without_empty(in_rows({all, all}, part_of(all, part, parts)));
}

Work column_block(Range columns) {
  return without_empty({Piece{{0, columns.begin}, columns}, Piece{columns, columns}});
}

}  // namespace nbody
