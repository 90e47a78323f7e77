// Where data lie in memory: a small algebra whose meaning is a list of byte offsets.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace wherry::layout {

using Offset = std::int64_t;  // bytes from the address that a call is given

class Node;
/// A layout is a list of byte offsets in the order of the type map. Immutable and shared; never null.
using Layout = std::shared_ptr<const Node>;

/// Bytes 0, 1, ..., bytes - 1.
struct Dense {
  Offset bytes;
};
/// `count` times `block`, at 0, stride, 2 * stride, ...: MPI_Type_create_hvector, and the repetition of an element,
/// whose stride is its extent.
struct Strided {
  Offset count, stride;
  Layout block;
};
/// `block` at each displacement: MPI_Type_create_hindexed_block.
struct IndexedBlock {
  std::vector<Offset> displacements;
  Layout block;
};
/// Consecutive bytes.
struct ByteBlock {
  Offset displacement, bytes;
  friend bool operator==(const ByteBlock&, const ByteBlock&) = default;
};
/// Blocks of consecutive bytes, of any lengths: MPI_Type_create_hindexed.
struct Indexed {
  std::vector<ByteBlock> blocks;
};
/// A layout at a displacement.
struct PlacedLayout {
  Offset displacement;
  Layout layout;
};
/// One part after the other: MPI_Type_create_struct.
struct Concat {
  std::vector<PlacedLayout> parts;
};

class Node {
 public:
  using Kind = std::variant<Dense, Strided, IndexedBlock, Indexed, Concat>;

  /// Throws usage_error if a count is negative or an offset does not fit into 64 bits.
  explicit Node(Kind kind);

  const Kind& kind() const { return kind_; }
  Offset size() const { return size_; }      // bytes of data
  Offset blocks() const { return blocks_; }  // consecutive bytes that the description names, at most
  Offset begin() const { return begin_; }    // MPI's true lower bound; 0 where there are no data
  Offset end() const { return end_; }        // one past the last byte

 private:
  Kind kind_;
  Offset size_ = 0, blocks_ = 0, begin_ = 0, end_ = 0;
};

Layout dense(Offset bytes);
Layout strided(Offset count, Offset stride, Layout block);
Layout indexed_block(std::vector<Offset> displacements, Layout block);
Layout indexed(std::vector<ByteBlock> blocks);
Layout concat(std::vector<PlacedLayout> parts);

/// The layout of the part.
Layout placed(const PlacedLayout& part);

/// Whether the descriptions are alike. Of two canonical forms: whether the maps are.
bool operator==(const Node& a, const Node& b);
bool operator==(const PlacedLayout& a, const PlacedLayout& b);
std::uint64_t hash_of(const PlacedLayout& part);

/// Calls f with the address of the kind that the node is of.
template <class... F>
struct Visitor : F... {
  using F::operator()...;
};
template <class... F>
Visitor(F...) -> Visitor<F...>;

template <class... F>
decltype(auto) visit(const Layout& layout, F&&... f) {
  return std::visit(Visitor{std::forward<F>(f)...}, layout->kind());
}

/// Calls use(offset, bytes) for the blocks that the description names, in order; empty ones are left out.
template <class Use>
void each_block(const Layout& layout, Offset at, Use&& use) {
  if (layout->size() == 0) return;
  visit(
      layout, [&](const Dense& x) { use(at, x.bytes); },
      [&](const Strided& x) {
        for (Offset i = 0; i < x.count; ++i) each_block(x.block, at + i * x.stride, use);
      },
      [&](const IndexedBlock& x) {
        for (const Offset d : x.displacements) each_block(x.block, at + d, use);
      },
      [&](const Indexed& x) {
        for (const ByteBlock& b : x.blocks)
          if (b.bytes > 0) use(at + b.displacement, b.bytes);
      },
      [&](const Concat& x) {
        for (const PlacedLayout& p : x.parts) each_block(p.layout, at + p.displacement, use);
      });
}

}  // namespace wherry::layout
