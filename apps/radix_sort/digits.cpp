#include "radix_sort/digits.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace radix_sort {

std::vector<Digit> digits(int least_bits) {
  const int passes = key_bits / least_bits;
  std::vector<Digit> all;
  for (int pass = 0; pass < passes; ++pass) {
    const int begin = key_bits * pass / passes, end = key_bits * (pass + 1) / passes;
    all.push_back({.shift = begin, .bits = end - begin});
  }
  return all;
}

int default_digit_bits(int ranks) {
  const int for_ranks = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
  return std::clamp(for_ranks, 8, most_digit_bits);
}

Counts histogram(std::span<const Key> keys, Digit digit) {
  Counts counts(digit.values());
  for (const Key key : keys) ++counts[digit.of(key)];
  return counts;
}

void sort_by(Digit digit, std::span<const Key> keys, std::span<Key> sorted) {
  const Counts counts = histogram(keys, digit);
  Counts next(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::int64_t{0});
  for (const Key key : keys) sorted[static_cast<std::size_t>(next[digit.of(key)]++)] = key;
}

std::vector<int> leaving(const Counts& mine, const Counts& lower, const Counts& all,
                         std::int64_t keys_per_rank, int ranks) {
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  std::int64_t smaller = 0;
  for (std::size_t value = 0; value < all.size(); ++value) {
    std::int64_t place = smaller + lower[value];
    for (std::int64_t left = mine[value]; left > 0;) {
      const std::int64_t rank = place / keys_per_rank;
      const std::int64_t here = std::min(left, (rank + 1) * keys_per_rank - place);
      counts[static_cast<std::size_t>(rank)] += static_cast<int>(here);
      place += here;
      left -= here;
    }
    smaller += all[value];
  }
  return counts;
}

std::vector<int> begins(std::span<const int> counts) {
  std::vector<int> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  return places;
}

}  // namespace radix_sort
