#include "radix_sort/keys.hpp"

#include "support/mix.hpp"

namespace radix_sort {
using apps::mix;

namespace {

Key key(Keys kind, std::uint64_t index) {
  switch (kind) {
    case Keys::few: return mix(mix(index) % 16);
    case Keys::ordered: return index;
    default: return mix(index);
  }
}

}  // namespace

std::vector<Key> draw(Keys kind, std::uint64_t first, std::size_t count) {
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = key(kind, first + i);
  return keys;
}

Contents contents(std::span<const Key> keys) {
  Contents all{.count = keys.size()};
  // Mixed first: of plain keys, two that are wrong could cancel.
  for (const Key k : keys) all.checksum += mix(k);
  return all;
}

}  // namespace radix_sort
