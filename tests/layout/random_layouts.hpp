// Random layouts of all kinds, and memory with guards around the data.
#pragma once

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "layout/layout.hpp"

namespace layout_test {

using namespace wherry::layout;

/// WHERRY_TEST_LAYOUTS; else 100,000, or as many as sanitizers can look at in about the same time.
inline int number_of_cases() {
#ifdef __SANITIZE_ADDRESS__
  constexpr int usual = 5'000;
#else
  constexpr int usual = 100'000;
#endif
  const char* asked = std::getenv("WHERRY_TEST_LAYOUTS");
  return asked != nullptr ? std::atoi(asked) : usual;
}

class RandomLayouts {
 public:
  explicit RandomLayouts(std::uint64_t seed) : random_(seed) {}

  Offset below(Offset n) { return static_cast<Offset>(random_() % static_cast<std::uint64_t>(n)); }
  Offset between(Offset least, Offset most) { return least + below(most - least + 1); }

  /// Of nested kinds to the given depth: zero-size blocks, negative strides and lower bounds, displacements out of
  /// order, and data that overlap.
  Layout any(int depth) {
    if (depth == 0) return dense(block());
    const Layout inner = any(depth - 1);
    if (inner->size() > most_size) return inner;
    switch (below(5)) {
      case 0: return strided(below(8) == 0 ? below(200) : below(6), stride(*inner), inner);
      case 1: return indexed_block(displacements(*inner), inner);
      case 2: return indexed(blocks());
      case 3: return concat(parts(inner, depth));
      default: return strided(between(1, 4), inner->end() - inner->begin() + between(0, 2) * 8, inner);
    }
  }

 private:
  static constexpr Offset most_size = 256;

  Offset block() {
    constexpr Offset usual[] = {0, 1, 1, 2, 3, 4, 4, 8, 8, 12, 16, 24, 33, 64, 80};
    return usual[below(std::size(usual))];
  }
  Offset stride(const Node& inner) {
    const Offset extent = inner.end() - inner.begin();
    switch (below(4)) {
      case 0: return extent;
      case 1: return -extent - below(16);
      case 2: return between(-64, 64);
      default: return extent + below(32);
    }
  }
  std::vector<Offset> displacements(const Node& inner) {
    std::vector<Offset> found(static_cast<std::size_t>(below(7)));
    const Offset extent = inner.end() - inner.begin() + 1;
    const bool apart = below(2) == 0;
    for (Offset& d : found) d = apart ? between(-8, 8) * extent : between(-200, 200);
    return found;
  }
  std::vector<ByteBlock> blocks() {
    std::vector<ByteBlock> found(static_cast<std::size_t>(below(8)));
    Offset at = between(-100, 100);
    for (ByteBlock& b : found) {
      b = {at, block()};
      at += below(5) == 0 ? between(-300, 300) : b.bytes + below(3) * 4;
    }
    return found;
  }
  std::vector<PlacedLayout> parts(const Layout& inner, int depth) {
    std::vector<PlacedLayout> found;
    Offset at = between(-50, 50);
    for (Offset n = below(4); n > 0; --n) {
      const Layout part = below(2) == 0 ? inner : any(depth - 1);
      found.push_back({at - part->begin(), part});
      at += below(6) == 0 ? between(-200, 200) : part->end() - part->begin() + below(3) * 2;
    }
    return found;
  }

  std::mt19937_64 random_;
};

inline std::string text(const Layout& layout) {
  const auto n = [](Offset x) { return std::to_string(x); };
  return wherry::layout::visit(
      layout, [&](const Dense& x) { return "dense(" + n(x.bytes) + ")"; },
      [&](const Strided& x) {
        return "strided(" + n(x.count) + ", " + n(x.stride) + ", " + text(x.block) + ")";
      },
      [&](const IndexedBlock& x) {
        std::string all;
        for (const Offset d : x.displacements) all += n(d) + ", ";
        return "indexed_block({" + all + "}, " + text(x.block) + ")";
      },
      [&](const Indexed& x) {
        std::string all;
        for (const ByteBlock& b : x.blocks) all += "{" + n(b.displacement) + ", " + n(b.bytes) + "}, ";
        return "indexed({" + all + "})";
      },
      [&](const Concat& x) {
        std::string all;
        for (const PlacedLayout& p : x.parts) all += "{" + n(p.displacement) + ", " + text(p.layout) + "}, ";
        return "concat({" + all + "})";
      });
}

inline std::string text(const PlacedLayout& part) { return text(concat({part})); }

}  // namespace layout_test
