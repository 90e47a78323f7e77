#include "layout/periods.hpp"

#include <cstdint>
#include <vector>

namespace wherry::layout {
namespace {

constexpr std::size_t longest_period = 4, fewest_repeats = 8;

/// Whether what follows item a is alike to what follows item b: shapes, and distances to the next item.
bool alike(std::span<const PlacedShape> items, std::size_t a, std::size_t b) {
  return items[a].shape == items[b].shape && items[a + 1].displacement - items[a].displacement ==
                                                 items[b + 1].displacement - items[b].displacement;
}

/// Knuth, Morris and Pratt's failure function of the first m items: for each prefix, its longest proper border.
std::vector<std::uint32_t> borders(std::span<const PlacedShape> items, std::size_t m) {
  std::vector<std::uint32_t> border(m + 1, 0);
  std::uint32_t k = 0;
  for (std::size_t i = 1; i < m; ++i) {
    while (k > 0 && !alike(items, i, k)) k = border[k];
    if (alike(items, i, k)) ++k;
    border[i + 1] = k;
  }
  return border;
}

}  // namespace

std::size_t smallest_period(std::span<const PlacedShape> items) {
  const std::size_t n = items.size(), m = n - 1;  // the last item has no next one
  if (n < 2) return n;
  const std::vector<std::uint32_t> border = borders(items, m);
  for (std::size_t k = border[m];; k = border[k]) {
    const std::size_t p = m - k;
    if (p > n / 2) return n;
    if (n % p == 0 && items[m].shape == items[m - p].shape) return p;
    if (k == 0) return n;
  }
}

namespace {

std::size_t repeats_with(std::span<const PlacedShape> items, std::size_t p) {
  if (items.size() < fewest_repeats * p) return 1;
  const Offset delta = items[p].displacement - items[0].displacement;
  std::size_t i = p;
  while (i < items.size() && items[i].shape == items[i - p].shape &&
         items[i].displacement - items[i - p].displacement == delta)
    ++i;
  return i / p;
}

}  // namespace

Run leading_run(std::span<const PlacedShape> items) {
  for (std::size_t p = 1; p <= longest_period; ++p)
    if (const std::size_t repeats = repeats_with(items, p); repeats >= fewest_repeats) return {p, repeats};
  return {};
}

}  // namespace wherry::layout
