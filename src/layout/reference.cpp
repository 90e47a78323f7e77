#include "layout/reference.hpp"

namespace wherry::layout {
namespace {

using Offsets = std::vector<Offset>;

void append(Offsets& to, const Offsets& from, Offset displacement) {
  for (const Offset offset : from) to.push_back(offset + displacement);
}

Offsets meaning(const Dense& x) {
  Offsets offsets;
  for (Offset i = 0; i < x.bytes; ++i) offsets.push_back(i);
  return offsets;
}

Offsets meaning(const Strided& x) {
  Offsets offsets;
  for (Offset i = 0; i < x.count; ++i) append(offsets, byte_offsets(x.block), i * x.stride);
  return offsets;
}

Offsets meaning(const IndexedBlock& x) {
  Offsets offsets;
  for (const Offset displacement : x.displacements) append(offsets, byte_offsets(x.block), displacement);
  return offsets;
}

Offsets meaning(const Indexed& x) {
  Offsets offsets;
  for (const ByteBlock& block : x.blocks) append(offsets, meaning(Dense{block.bytes}), block.displacement);
  return offsets;
}

Offsets meaning(const Concat& x) {
  Offsets offsets;
  for (const PlacedLayout& part : x.parts) append(offsets, byte_offsets(part.layout), part.displacement);
  return offsets;
}

}  // namespace

Offsets byte_offsets(const Layout& layout) {
  return std::visit([](const auto& x) { return meaning(x); }, layout->kind());
}

void reference_copy(const Layout& to_layout, std::byte* to, const Layout& from_layout, const std::byte* from,
                    Offset begin, Offset end) {
  const Offsets to_offsets = byte_offsets(to_layout), from_offsets = byte_offsets(from_layout);
  for (Offset i = begin; i < end; ++i)
    to[to_offsets[static_cast<std::size_t>(i)]] = from[from_offsets[static_cast<std::size_t>(i)]];
}

}  // namespace wherry::layout
