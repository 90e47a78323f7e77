#include "common/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace apps {
namespace {

/// One row of the table of distances between beginnings of a and of b, which goes down the table.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : a) {
    std::size_t diagonal = row[0]++;
    for (std::size_t i = 0; i < b.size(); ++i) {
      const std::size_t replaced = diagonal + (letter == b[i] ? 0 : 1);
      diagonal = row[i + 1];
      row[i + 1] = std::min({replaced, diagonal + 1, row[i] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(const std::string& word, std::span<const std::string> known) {
  std::string best;
  std::size_t best_distance = word.size() / 3 + 1;
  for (const std::string& each : known) {
    const std::size_t here = distance(word, each);
    if (here >= best_distance) continue;
    best = each;
    best_distance = here;
  }
  return best;
}

}  // namespace apps
