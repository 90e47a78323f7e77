#include "base/nearest.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace wherry {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(char a, char b) { return lower(a) == lower(b); }

bool swapped(std::string_view a, std::size_t i, std::string_view b, std::size_t j) {
  return i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
}

/// How many letters all of them begin with.
std::size_t shared_beginning(std::string_view word, std::span<const std::string_view> known) {
  std::size_t shared = word.size();
  for (const std::string_view k : known)
    shared = std::min<std::size_t>(shared, std::ranges::mismatch(word, k, same).in1 - word.begin());
  return shared;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of distances between prefixes: a swap looks two rows back.
  std::array<std::vector<std::size_t>, 3> rows;
  rows.fill(std::vector<std::size_t>(b.size() + 1));
  auto& [before, last, row] = rows;
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (swapped(a, i, b, j)) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, (word.size() - shared_beginning(word, known)) / 3) + 1;
  for (const std::string_view k : known) {
    const std::size_t distance = edit_distance(word, k);
    if (distance < best_distance) {
      best = k;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? std::string{} : "; did you mean '" + std::string(near) + "'?";
}

}  // namespace wherry
