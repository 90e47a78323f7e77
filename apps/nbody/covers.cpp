#include "nbody/covers.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>

namespace nbody {
namespace {

/// Covers to begin with; the smallest of what they grow to is taken.
constexpr int most_beginnings = 32;

int distance(int a, int b, int ranks) {
  const int apart = std::abs(a - b);
  return std::min(apart, ranks - apart);
}

/// A cover that grows by the number that adds most distances.
class Growing {
 public:
  Growing(int ranks, int second)
      : ranks_(ranks), missing_(ranks / 2), has_(static_cast<std::size_t>(ranks / 2 + 1)) {
    has_[0] = true;
    add(second);
  }

  std::vector<int> grown() {
    while (missing_ > 0) add(best());
    return numbers_;
  }

 private:
  void add(int number) {
    for (const int other : numbers_) missing_ -= !std::exchange(entry(number, other), true);
    numbers_.push_back(number);
  }

  std::vector<char>::reference entry(int a, int b) {
    return has_[static_cast<std::size_t>(distance(a, b, ranks_))];
  }

  /// Distances that the number would add.
  int gain(int number) {
    new_.clear();
    for (const int other : numbers_)
      if (!std::exchange(entry(number, other), true)) new_.push_back(other);
    for (const int other : new_) entry(number, other) = false;
    return static_cast<int>(new_.size());
  }

  int best() {
    int best = 1, most = 0;
    for (int number = 1; number < ranks_; ++number)
      if (const int more = gain(number); more > most) std::tie(best, most) = std::pair(number, more);
    return best;
  }

  int ranks_, missing_;
  std::vector<char> has_;  // by distance
  std::vector<int> numbers_ = {0}, new_;
};

/// The two that are so far apart of which the later comes first: the own block and the guest, if they are.
Meeting first_meeting(const std::vector<int>& cover, int apart, int ranks) {
  for (std::size_t second = 1;; ++second)
    for (std::size_t first = 0; first < second; ++first)
      if (distance(cover[first], cover[second], ranks) == apart) return {first, second, 2 * apart == ranks};
}

}  // namespace

std::vector<int> difference_cover(int ranks) {
  std::vector<int> best = half_ring_cover(ranks);
  for (int second = 1; second <= std::min(ranks / 2, most_beginnings); ++second)
    if (std::vector<int> grown = Growing(ranks, second).grown(); grown.size() < best.size())
      best = std::move(grown);
  return best;
}

std::vector<int> half_ring_cover(int ranks) {
  std::vector<int> cover(static_cast<std::size_t>(ranks / 2 + 1));
  std::iota(cover.begin(), cover.end(), 0);
  return cover;
}

std::vector<Meeting> meetings(const std::vector<int>& cover, int ranks) {
  std::vector<Meeting> all;
  for (int apart = 1; apart <= ranks / 2; ++apart) all.push_back(first_meeting(cover, apart, ranks));
  // A guest's meetings with those before it end their stay; its own with the host comes last.
  std::ranges::sort(all, {}, [](const Meeting& m) { return std::tuple(m.second, m.first == 0, m.first); });
  return all;
}

}  // namespace nbody
