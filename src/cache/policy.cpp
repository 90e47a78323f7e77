#include "cache/policy.hpp"

#include <cmath>

#include "base/floating_point.hpp"

namespace wherry::cache {

Policy::Policy() {
  const OwnArithmetic arithmetic;
  for (std::size_t age = 0; age < decay_.size(); ++age)
    decay_[age] = std::exp2(-static_cast<float>(age) / static_cast<float>(ticks_per_half_life));
  next_tick(0);
  tick_ = 1;
}

void Policy::next_tick(std::size_t entries) {
  ++tick_;
  left_ += std::max(half_life_per_entry * entries, least_half_life) / ticks_per_half_life;
  references_ += left_;
}

}  // namespace wherry::cache
