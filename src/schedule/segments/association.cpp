#include "schedule/segments/association.hpp"

#include <bit>

namespace wherry::schedule {
namespace {

constexpr int bits = 64;

}  // namespace

Associations::Associations(int ranks)
    : ranks_(ranks), words_(static_cast<std::size_t>((ranks + bits - 1) / bits)) {
  bits_.resize(static_cast<std::size_t>(ranks) * words_);
  for (int rank = 0; rank < ranks; ++rank) {
    nodes_.push_back({.first = rank, .last = rank, .leaves = 1, .in_order = true});
    bits_[static_cast<std::size_t>(rank) * words_ + static_cast<std::size_t>(rank / bits)] |= std::uint64_t{1}
                                                                                              << rank % bits;
  }
}

Associations::Tree Associations::combined(Tree left, Tree right) {
  const std::uint64_t key =
      std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  const auto [place, is_new] = numbers_.try_emplace(key, static_cast<Tree>(nodes_.size()));
  if (!is_new) return place->second;
  const Node a = at(left), b = at(right);
  nodes_.push_back({.first = a.first,
                    .last = b.last,
                    .leaves = a.leaves + b.leaves,
                    .in_order = a.in_order && b.in_order && a.last + 1 == b.first});
  bits_.resize(bits_.size() + words_);
  std::uint64_t* const both = bits_.data() + bits_.size() - words_;
  for (std::size_t i = 0; i < words_; ++i) both[i] = members(left)[i] | members(right)[i];
  return place->second;
}

int Associations::common_rank(Tree left, Tree right) const {
  for (std::size_t i = 0; i < words_; ++i)
    if (const std::uint64_t common = members(left)[i] & members(right)[i]; common != 0)
      return static_cast<int>(i) * bits + std::countr_zero(common);
  return -1;
}

}  // namespace wherry::schedule
