// Small exact arithmetic on rank numbers.
#pragma once

#include <bit>
#include <cstddef>

namespace wherry::schedule {

/// x modulo n for x in [-n, 2n): cheaper than a division, and never negative.
constexpr int wrap(int x, int n) { return x < 0 ? x + n : x >= n ? x - n : x; }

/// a / b rounded up; a >= 0, b >= 1.
constexpr int ceil_div(int a, int b) { return a / b + (a % b != 0 ? 1 : 0); }

/// The smallest r >= 1 with r to the power `degree` >= n; 1 <= n.
constexpr int ceil_root(int n, int degree) {
  const auto reaches = [=](long long r) {
    long long power = 1;
    for (int i = 0; i < degree && power < n; ++i) power *= r;
    return power >= n;
  };
  long long low = 1, high = 1;
  while (!reaches(high)) high *= 2;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (reaches(middle)) high = middle;
    else low = middle + 1;
  }
  return static_cast<int>(low);
}

/// The smallest k with 2 to the power k >= n; n >= 1.
/// log2(n), with straight lines between powers of two. Unlike the library's logarithm it has the same bits everywhere:
/// ranks that estimate differently choose differently.
constexpr double levels(long long n) {
  const int floor = static_cast<int>(std::bit_width(static_cast<unsigned long long>(n))) - 1;
  const long long power = 1LL << floor;
  return floor + static_cast<double>(n - power) / static_cast<double>(power);
}

constexpr int ceil_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }

/// The round, 1..n-1, in which `from` sends to `to` so that in each round everybody sends to one and receives from one:
/// by XOR where that works out (both ways with the same partner), else by rotation. 0 for from == to.
constexpr int meeting_round(int from, int to, int n) {
  const bool power_of_two = (n & (n - 1)) == 0;
  return power_of_two ? from ^ to : wrap(to - from, n);
}

// Vectors and spans by the `int`s that ranks, phases and segments are.

template <class List>
auto& at(List& list, int index) {
  return list[static_cast<std::size_t>(index)];
}

}  // namespace wherry::schedule
