#include "layout/canonical.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "layout/periods.hpp"

namespace wherry::layout {
namespace {

using PlacedShapes = std::vector<PlacedShape>;

PlacedLayout nothing() { return {0, dense(0)}; }

/// The layouts that items stand for: positive shapes are blocks of so many bytes, the others stand in the table.
class Shapes {
 public:
  std::int64_t of(const Layout& layout) {
    if (const auto* x = std::get_if<Dense>(&layout->kind())) return x->bytes;
    std::vector<std::size_t>& alike = by_hash_[hash_of({0, layout})];
    for (const std::size_t i : alike)
      if (*known_[i] == *layout) return -static_cast<std::int64_t>(i);
    alike.push_back(known_.size());
    known_.push_back(layout);
    return -static_cast<std::int64_t>(alike.back());
  }
  Layout layout(std::int64_t shape) const {
    return shape > 0 ? dense(shape) : known_[static_cast<std::size_t>(-shape)];
  }

 private:
  std::vector<Layout> known_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_hash_;
};

/// Each run of the items as one.
PlacedShapes with_runs_joined(std::span<const PlacedShape> items, Shapes& shapes);

bool all_alike(std::span<const PlacedShape> items) {
  return std::ranges::all_of(items, [&](const PlacedShape& x) { return x.shape == items[0].shape; });
}

bool all_blocks(std::span<const PlacedShape> items) {
  return std::ranges::all_of(items, [](const PlacedShape& x) { return x.shape > 0; });
}

Layout as_indexed_block(std::span<const PlacedShape> items, const Shapes& shapes) {
  std::vector<Offset> displacements;
  displacements.reserve(items.size());
  for (const PlacedShape& x : items) displacements.push_back(x.displacement - items[0].displacement);
  return indexed_block(std::move(displacements), shapes.layout(items[0].shape));
}

Layout as_indexed(std::span<const PlacedShape> items) {
  std::vector<ByteBlock> blocks;
  blocks.reserve(items.size());
  for (const PlacedShape& x : items) blocks.push_back({x.displacement - items[0].displacement, x.shape});
  return indexed(std::move(blocks));
}

/// A list of more than one item.
Layout as_list(std::span<const PlacedShape> items, const Shapes& shapes) {
  if (all_alike(items)) return as_indexed_block(items, shapes);
  if (all_blocks(items)) return as_indexed(items);
  std::vector<PlacedLayout> parts;
  for (std::size_t i = 0, end = 0; i < items.size(); i = end) {
    end = i + 1;
    if (items[i].shape > 0)
      while (end < items.size() && items[end].shape > 0) ++end;
    const auto group = items.subspan(i, end - i);
    parts.push_back({items[i].displacement - items[0].displacement,
                     group.size() == 1 ? shapes.layout(items[i].shape) : as_list(group, shapes)});
  }
  return concat(std::move(parts));
}

Layout compress(std::span<const PlacedShape> items, Shapes& shapes) {
  if (items.size() == 1) return shapes.layout(items[0].shape);
  if (const std::size_t p = smallest_period(items); p < items.size())
    return strided(static_cast<Offset>(items.size() / p), items[p].displacement - items[0].displacement,
                   compress(items.first(p), shapes));
  const PlacedShapes joined = with_runs_joined(items, shapes);
  return joined.size() < items.size() ? compress(joined, shapes) : as_list(items, shapes);
}

PlacedShapes with_runs_joined(std::span<const PlacedShape> items, Shapes& shapes) {
  PlacedShapes joined;
  joined.reserve(items.size());
  while (!items.empty()) {
    const Run run = leading_run(items);
    const std::size_t length = run.period * run.repeats;
    joined.push_back(run.repeats == 1 ? items[0]
                                      : PlacedShape{items[0].displacement,
                                                    shapes.of(compress(items.first(length), shapes))});
    items = items.subspan(length);
  }
  return joined;
}

/// Adjacent blocks as one item, in order.
PlacedShapes items_of(const Layout& layout) {
  PlacedShapes items;
  items.reserve(static_cast<std::size_t>(layout->blocks()));
  each_block(layout, 0, [&](Offset at, Offset bytes) {
    if (!items.empty() && items.back().displacement + items.back().shape == at) items.back().shape += bytes;
    else items.push_back({at, bytes});
  });
  return items;
}

PlacedLayout compressed_items(const PlacedShapes& items) {
  Shapes shapes;
  return {items[0].displacement, compress(items, shapes)};
}

/// What no law makes simpler: block by block if they are not too many.
PlacedLayout from_blocks(const Layout& layout, const PlacedLayout& otherwise) {
  return layout->blocks() <= most_blocks ? compressed_items(items_of(layout)) : otherwise;
}

PlacedLayout form(const Layout& layout, const Dense&) { return {0, layout}; }

PlacedLayout form(const Layout&, const Strided& x) {
  const PlacedLayout part = canonical(x.block);
  const bool touches =
      last_end(part.layout) == x.stride && !std::holds_alternative<Dense>(part.layout->kind());
  const PlacedLayout by_laws = repeated(x.count, x.stride, part);
  return touches && x.count > 1 ? from_blocks(placed(by_laws), by_laws) : by_laws;
}

PlacedLayout form(const Layout& layout, const IndexedBlock& x) {
  if (layout->blocks() <= most_blocks) return compressed_items(items_of(layout));
  const PlacedLayout part = canonical(x.block);
  std::vector<Offset> displacements = x.displacements;
  const Offset first = displacements.front();
  for (Offset& d : displacements) d -= first;
  return {first + part.displacement, indexed_block(std::move(displacements), part.layout)};
}

PlacedLayout form(const Layout& layout, const Indexed&) { return from_blocks(layout, {0, layout}); }

PlacedLayout form(const Layout& layout, const Concat& x) {
  std::vector<PlacedLayout> parts;
  for (const PlacedLayout& p : x.parts) {
    if (p.layout->size() == 0) continue;
    const PlacedLayout part = canonical(p.layout);
    parts.push_back({p.displacement + part.displacement, part.layout});
  }
  if (parts.size() == 1) return parts[0];
  if (layout->blocks() <= most_blocks) return compressed_items(items_of(layout));
  const Offset first = parts[0].displacement;
  for (PlacedLayout& p : parts) p.displacement -= first;
  return {first, concat(std::move(parts))};
}

}  // namespace

PlacedLayout canonical(const Layout& layout) {
  if (layout->size() == 0) return nothing();
  return std::visit([&](const auto& x) { return form(layout, x); }, layout->kind());
}

PlacedLayout repeated(Offset count, Offset stride, const PlacedLayout& x) {
  if (count == 0 || x.layout->size() == 0) return nothing();
  if (count == 1) return x;
  if (const auto* block = std::get_if<Dense>(&x.layout->kind()); block != nullptr && block->bytes == stride)
    return {x.displacement, dense(count * stride)};
  if (const auto* level = std::get_if<Strided>(&x.layout->kind());
      level != nullptr && level->count * level->stride == stride)
    return {x.displacement, strided(count * level->count, level->stride, level->block)};
  return {x.displacement, strided(count, stride, x.layout)};
}

std::vector<ByteBlock> maximal_blocks(const Layout& layout) {
  std::vector<ByteBlock> blocks;
  for (const PlacedShape& x : items_of(layout)) blocks.push_back({x.displacement, x.shape});
  return blocks;
}

PlacedLayout compressed(const std::vector<ByteBlock>& blocks) {
  if (blocks.empty()) return nothing();
  PlacedShapes items;
  items.reserve(blocks.size());
  for (const ByteBlock& b : blocks) items.push_back({b.displacement, b.bytes});
  return compressed_items(items);
}

Offset last_end(const Layout& layout) {
  return visit(
      layout, [](const Dense& x) { return x.bytes; },
      [](const Strided& x) { return (x.count - 1) * x.stride + last_end(x.block); },
      [](const IndexedBlock& x) { return x.displacements.back() + last_end(x.block); },
      [](const Indexed& x) { return x.blocks.back().displacement + x.blocks.back().bytes; },
      [](const Concat& x) { return x.parts.back().displacement + last_end(x.parts.back().layout); });
}

}  // namespace wherry::layout
