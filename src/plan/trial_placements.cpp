#include <algorithm>
#include <vector>

#include "plan/verify.hpp"

namespace wherry::plan {
namespace {

template <class NodeOf>
Shape placed_by(int size, NodeOf&& node_of) {
  std::vector<int> nodes;
  for (int rank = 0; rank < size; ++rank) nodes.push_back(node_of(rank));
  return Shape::placed(nodes);
}

}  // namespace

std::vector<Shape> trial_placements(int size) {
  const std::vector<Shape> all = {
      Shape::flat(size),
      Shape::spread(size, 1),
      Shape::blocked(size, 3),
      Shape::spread(size, std::min(size, 4)),
      placed_by(size, [](int rank) { return rank % 5; }),                       // dealt out in turn
      placed_by(size, [=](int rank) { return std::max(0, rank - size / 2); }),  // one big node among singles
      placed_by(size, [](int rank) { return static_cast<int>(rank * 2654435761U >> 29); }),  // a mixture
  };
  std::vector<Shape> different;
  for (const Shape& shape : all)
    if (std::find(different.begin(), different.end(), shape) == different.end()) different.push_back(shape);
  return different;
}

}  // namespace wherry::plan
