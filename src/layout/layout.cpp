#include "layout/layout.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace wherry::layout {
namespace {

constexpr const char* too_large =
    "a layout has more bytes or larger offsets than 64 bits can hold; describe fewer data";

Offset times(Offset a, Offset b) {
  Offset product = 0;
  require(!__builtin_mul_overflow(a, b, &product), too_large);
  return product;
}

Offset plus(Offset a, Offset b) {
  Offset sum = 0;
  require(!__builtin_add_overflow(a, b, &sum), too_large);
  return sum;
}

/// What a node says about itself, added up part by part.
struct Totals {
  Offset size = 0, blocks = 0, begin = 0, end = 0;

  void add(Offset displacement, Offset bytes, Offset named, Offset from, Offset to) {
    if (bytes == 0) return;
    const Offset first = plus(displacement, from), last = plus(displacement, to);
    begin = size == 0 ? first : std::min(begin, first);
    end = size == 0 ? last : std::max(end, last);
    size = plus(size, bytes);
    blocks = plus(blocks, named);
  }
  void add(Offset displacement, const Node& x) {
    add(displacement, x.size(), x.blocks(), x.begin(), x.end());
  }
};

Totals totals_of(const Dense& x) {
  require(x.bytes >= 0, "a layout has a negative number of bytes; give zero or more");
  Totals totals;
  totals.add(0, x.bytes, 1, 0, x.bytes);
  return totals;
}

Totals totals_of(const Strided& x) {
  require(x.count >= 0, "a layout has a negative count; give zero or more");
  Totals totals;
  if (x.count == 0 || x.block->size() == 0) return totals;
  totals.add(0, *x.block);
  totals.add(times(x.count - 1, x.stride), *x.block);
  totals.size = times(x.count, x.block->size());
  totals.blocks = times(x.count, x.block->blocks());
  return totals;
}

Totals totals_of(const IndexedBlock& x) {
  Totals totals;
  for (const Offset d : x.displacements) totals.add(d, *x.block);
  return totals;
}

Totals totals_of(const Indexed& x) {
  Totals totals;
  for (const ByteBlock& b : x.blocks) {
    require(b.bytes >= 0, "a layout has a negative block length; give zero or more");
    totals.add(b.displacement, b.bytes, 1, 0, b.bytes);
  }
  return totals;
}

Totals totals_of(const Concat& x) {
  Totals totals;
  for (const PlacedLayout& p : x.parts) totals.add(p.displacement, *p.layout);
  return totals;
}

bool same(const Dense& a, const Dense& b) { return a.bytes == b.bytes; }
bool same(const Strided& a, const Strided& b) {
  return a.count == b.count && a.stride == b.stride && *a.block == *b.block;
}
bool same(const IndexedBlock& a, const IndexedBlock& b) {
  return a.displacements == b.displacements && *a.block == *b.block;
}
bool same(const Indexed& a, const Indexed& b) { return a.blocks == b.blocks; }
bool same(const Concat& a, const Concat& b) { return a.parts == b.parts; }

std::uint64_t mixed(std::uint64_t h, Offset x) {
  h ^= static_cast<std::uint64_t>(x) + 0x9E3779B97F4A7C15u + (h << 6) + (h >> 2);
  return h * 0xD6E8FEB86659FD93u;
}

}  // namespace

Node::Node(Kind kind) : kind_(std::move(kind)) {
  const Totals totals = std::visit([](const auto& x) { return totals_of(x); }, kind_);
  size_ = totals.size;
  blocks_ = totals.blocks;
  begin_ = totals.begin;
  end_ = totals.end;
}

Layout dense(Offset bytes) { return std::make_shared<const Node>(Dense{bytes}); }
Layout strided(Offset count, Offset stride, Layout block) {
  return std::make_shared<const Node>(Strided{count, stride, std::move(block)});
}
Layout indexed_block(std::vector<Offset> displacements, Layout block) {
  return std::make_shared<const Node>(IndexedBlock{std::move(displacements), std::move(block)});
}
Layout indexed(std::vector<ByteBlock> blocks) {
  std::erase_if(blocks, [](const ByteBlock& block) { return block.bytes == 0; });
  return std::make_shared<const Node>(Indexed{std::move(blocks)});
}
Layout concat(std::vector<PlacedLayout> parts) {
  return std::make_shared<const Node>(Concat{std::move(parts)});
}

Layout placed(const PlacedLayout& part) { return part.displacement == 0 ? part.layout : concat({part}); }

bool operator==(const Node& a, const Node& b) {
  if (&a == &b) return true;
  if (a.kind().index() != b.kind().index() || a.size() != b.size()) return false;
  return std::visit([&](const auto& x) { return same(x, std::get<std::decay_t<decltype(x)>>(b.kind())); },
                    a.kind());
}

bool operator==(const PlacedLayout& a, const PlacedLayout& b) {
  return a.displacement == b.displacement && *a.layout == *b.layout;
}

std::uint64_t hash_of(const PlacedLayout& part) {
  const Node& node = *part.layout;
  std::uint64_t h = mixed(mixed(node.kind().index(), part.displacement), node.size());
  visit(
      part.layout, [](const Dense&) {},
      [&](const Strided& x) {
        h = mixed(mixed(h, x.stride), static_cast<Offset>(hash_of({x.count, x.block})));
      },
      [&](const IndexedBlock& x) {
        for (const Offset d : x.displacements) h = mixed(h, d);
        h = mixed(h, static_cast<Offset>(hash_of({0, x.block})));
      },
      [&](const Indexed& x) {
        for (const ByteBlock& b : x.blocks) h = mixed(mixed(h, b.displacement), b.bytes);
      },
      [&](const Concat& x) {
        for (const PlacedLayout& p : x.parts) h = mixed(h, static_cast<Offset>(hash_of(p)));
      });
  return h;
}

}  // namespace wherry::layout
