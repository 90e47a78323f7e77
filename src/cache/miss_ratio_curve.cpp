#include "cache/miss_ratio_curve.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/floating_point.hpp"

namespace wherry::cache {

MissRatioCurve::MissRatioCurve(std::size_t samples)
    : samples_(samples), threshold_(samples == 0 ? 0 : ~std::uint64_t{0}), tree_(4 * samples + 1) {}

void MissRatioCurve::note(std::uint64_t hash, std::uint64_t bytes) {
  const OwnArithmetic arithmetic;
  const std::size_t now = next_time();
  counted_ += 1;
  const auto [at, first] = ranges_.try_emplace(hash, Sampled{now, bytes});
  Sampled& range = at->second;
  if (!first) {
    count(live_ - until(range.time), bytes);
    add(range.time, -range.bytes);
    live_ -= range.bytes;
    range = {now, bytes};
  }
  add(now, bytes);
  live_ += bytes;
  if (ranges_.size() > samples_) drop_last();
}

std::vector<MissRatioCurve::Point> MissRatioCurve::points(std::uint64_t references) const {
  const OwnArithmetic arithmetic;
  std::vector<Point> points;
  if (counted_ == 0) return points;
  // What the sample has too few of, or too many, are references to the most popular ranges, whose distances are
  // short (section 3.2 there).
  const double expected = static_cast<double>(references) * share();
  const auto last = std::find_if(at_.rbegin(), at_.rend(), [](double n) { return n > 0; });
  const std::size_t end = static_cast<std::size_t>(at_.rend() - last);
  double hits = expected - counted_;
  for (std::size_t step = 0; step < end; ++step) {
    hits += at_[step];
    if (at_[step] > 0 || !points.empty())
      points.push_back({bytes_at(step), std::clamp(1 - hits / expected, 0.0, 1.0)});
  }
  return points;
}

/// Steps of a quarter of an octave; a step holds what hits with bytes_at(step) and not with the one before.
std::size_t MissRatioCurve::step_of(std::uint64_t bytes) {
  const double step =
      std::ceil(per_octave * std::log2(static_cast<double>(std::max<std::uint64_t>(bytes, 1))));
  return std::min(static_cast<std::size_t>(step), std::size_t{64 * per_octave - 1});
}

std::uint64_t MissRatioCurve::bytes_at(std::size_t step) {
  return static_cast<std::uint64_t>(std::exp2(static_cast<double>(step) / per_octave));
}

/// Of all ranges, those that are followed.
double MissRatioCurve::share() const { return std::ldexp(static_cast<double>(threshold_), -64); }

std::size_t MissRatioCurve::next_time() {
  if (now_ + 1 == tree_.size()) renumber();
  return ++now_;
}

/// Times become 1, 2, ... in the same order.
void MissRatioCurve::renumber() {
  std::vector<Sampled*> by_time;
  for (auto& [hash, range] : ranges_) by_time.push_back(&range);
  std::ranges::sort(by_time, {}, &Sampled::time);
  std::ranges::fill(tree_, 0);
  now_ = 0;
  for (Sampled* const range : by_time) add(range->time = ++now_, range->bytes);
}

void MissRatioCurve::add(std::size_t time, std::uint64_t bytes) {
  for (; time < tree_.size(); time += time & -time) tree_[time] += bytes;
}

/// Bytes last referenced at `time` or before.
std::uint64_t MissRatioCurve::until(std::size_t time) const {
  std::uint64_t sum = 0;
  for (; time > 0; time &= time - 1) sum += tree_[time];
  return sum;
}

/// A reference after so many sampled bytes of others.
void MissRatioCurve::count(std::uint64_t distance, std::uint64_t bytes) {
  const double others = static_cast<double>(distance) / share();
  at_[step_of(static_cast<std::uint64_t>(others) + bytes)] += 1;
}

/// Lowers the threshold to the last range, which is followed no more, and what was counted to the new share.
void MissRatioCurve::drop_last() {
  const double before = share();
  const auto last = std::prev(ranges_.end());
  add(last->second.time, -last->second.bytes);
  live_ -= last->second.bytes;
  threshold_ = last->first;
  ranges_.erase(last);
  const double scale = share() / before;
  for (double& n : at_) n *= scale;
  counted_ *= scale;
}

}  // namespace wherry::cache
