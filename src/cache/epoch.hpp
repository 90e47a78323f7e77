// What is valid: entries of the current generation.
//
// To invalidate is to begin another generation. Index, grids and storage forget in constant time what they
// hold; fetches that are under way carry the generation in which they began, and come home to nothing.
#pragma once

#include <cstdint>

namespace wherry::cache {

class Epoch {
 public:
  std::uint32_t generation() const { return generation_; }
  bool is_current(std::uint32_t generation) const { return generation == generation_; }
  void invalidate() { ++generation_; }

 private:
  std::uint32_t generation_ = 1;
};

}  // namespace wherry::cache
