#include "datatype/decode.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "datatype/array_types.hpp"
#include "datatype/contents.hpp"

namespace wherry::datatype {
namespace {

using layout::ByteBlock;
using layout::Layout;
using layout::Offset;
using layout::PlacedLayout;
using Numbers = std::span<const MPI_Count>;

/// A constructor's arguments, beginning with the number of blocks, if there are as many as it takes: `per_block` for
/// each block and `others` besides.
struct ConstructorBlocks {
  bool valid;
  std::size_t count;
  Numbers rest;  // without the number of blocks
};

ConstructorBlocks blocks_of(const Contents& contents, std::size_t per_block, std::size_t others) {
  const Numbers all = contents.numbers();
  if (all.empty() || all[0] < 0) return {false, 0, {}};
  const auto count = static_cast<std::size_t>(all[0]);
  return {all.size() == 1 + count * per_block + others, count, all.subspan(1)};
}

ArrayElement element_of(const mpi::Api& api, MPI_Datatype type);

/// The type of a constructor that has one.
ArrayElement inner_of(const mpi::Api& api, const Contents& contents) {
  require(contents.types().size() == 1, odd_contents);
  return element_of(api, contents.types()[0]);
}

/// Blocks of `length` elements, at displacements in units of `unit` bytes.
Layout equal_blocks(const ArrayElement& inner, MPI_Count length, Numbers displacements, Offset unit) {
  std::vector<Offset> places;
  places.reserve(displacements.size());
  for (const MPI_Count d : displacements) places.push_back(scaled(d, unit));
  return layout::indexed_block(std::move(places), inner.times(length));
}

Layout unequal_blocks(const ArrayElement& inner, Numbers lengths, Numbers displacements, Offset unit) {
  if (!inner.is_dense()) {
    std::vector<PlacedLayout> parts;
    parts.reserve(lengths.size());
    for (std::size_t i = 0; i < lengths.size(); ++i)
      parts.push_back({scaled(displacements[i], unit), inner.times(lengths[i])});
    return layout::concat(std::move(parts));
  }
  std::vector<ByteBlock> blocks;
  blocks.reserve(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i)
    blocks.push_back({scaled(displacements[i], unit), scaled(lengths[i], inner.layout->size())});
  return layout::indexed(std::move(blocks));
}

Layout contiguous(const mpi::Api& api, const Contents& contents) {
  require(contents.numbers().size() == 1, odd_contents);
  return inner_of(api, contents).times(contents.numbers()[0]);
}

Layout unchanged(const mpi::Api& api, const Contents& contents) { return inner_of(api, contents).layout; }

/// What displacements and strides are counted in.
enum class Unit { extents, bytes };

Offset unit_of(const ArrayElement& inner, Unit unit) { return unit == Unit::bytes ? 1 : inner.extent; }

template <Unit unit>
Layout vector(const mpi::Api& api, const Contents& contents) {
  const std::vector<MPI_Count>& n = contents.numbers();
  require(n.size() == 3, odd_contents);
  const ArrayElement inner = inner_of(api, contents);
  return layout::strided(n[0], scaled(n[2], unit_of(inner, unit)), inner.times(n[1]));
}

template <Unit unit>
Layout indexed(const mpi::Api& api, const Contents& contents) {
  const ConstructorBlocks blocks = blocks_of(contents, 2, 0);
  require(blocks.valid, odd_contents);
  const ArrayElement inner = inner_of(api, contents);
  return unequal_blocks(inner, blocks.rest.first(blocks.count), blocks.rest.subspan(blocks.count),
                        unit_of(inner, unit));
}

template <Unit unit>
Layout indexed_block(const mpi::Api& api, const Contents& contents) {
  const ConstructorBlocks blocks = blocks_of(contents, 1, 1);
  require(blocks.valid, odd_contents);
  const ArrayElement inner = inner_of(api, contents);
  return equal_blocks(inner, blocks.rest[0], blocks.rest.subspan(1), unit_of(inner, unit));
}

Layout structure(const mpi::Api& api, const Contents& contents) {
  const ConstructorBlocks blocks = blocks_of(contents, 2, 0);
  require(blocks.valid && contents.types().size() == blocks.count, odd_contents);
  std::vector<PlacedLayout> parts;
  for (std::size_t i = 0; i < blocks.count; ++i)
    if (const ArrayElement inner = element_of(api, contents.types()[i]); inner.layout->size() > 0)
      parts.push_back({blocks.rest[blocks.count + i], inner.times(blocks.rest[i])});
  return layout::concat(std::move(parts));
}

Layout subarray(const mpi::Api& api, const Contents& contents) {
  return subarray_of(inner_of(api, contents), contents);
}

Layout darray(const mpi::Api& api, const Contents& contents) {
  return darray_of(inner_of(api, contents), contents);
}

struct Constructor {
  int combiner;
  Layout (*layout)(const mpi::Api& api, const Contents& contents);
};

constexpr Constructor constructors[] = {
    {MPI_COMBINER_DUP, unchanged},
    {MPI_COMBINER_RESIZED, unchanged},
    {MPI_COMBINER_CONTIGUOUS, contiguous},
    {MPI_COMBINER_VECTOR, vector<Unit::extents>},
    {MPI_COMBINER_HVECTOR, vector<Unit::bytes>},
    {MPI_COMBINER_INDEXED, indexed<Unit::extents>},
    {MPI_COMBINER_HINDEXED, indexed<Unit::bytes>},
    {MPI_COMBINER_INDEXED_BLOCK, indexed_block<Unit::extents>},
    {MPI_COMBINER_HINDEXED_BLOCK, indexed_block<Unit::bytes>},
    {MPI_COMBINER_STRUCT, structure},
    {MPI_COMBINER_SUBARRAY, subarray},
    {MPI_COMBINER_DARRAY, darray},
};

/// What the library says of a type.
struct Told {
  MPI_Count size;
  Offset extent, true_begin, true_extent;
};

Told ask(const mpi::Api& api, MPI_Datatype type) {
  MPI_Count size = 0;
  MPI_Aint lower = 0, extent = 0, true_begin = 0, true_extent = 0;
  require(api.Type_size_x(type, &size) == MPI_SUCCESS && size != MPI_UNDEFINED &&
              api.Type_get_extent(type, &lower, &extent) == MPI_SUCCESS &&
              api.Type_get_true_extent(type, &true_begin, &true_extent) == MPI_SUCCESS,
          "the library does not tell a datatype's size; it stays native");
  return {size, extent, true_begin, true_extent};
}

/// Of pairs for MPI_MINLOC only this one has a gap between its members on x86-64.
struct ShortInt {
  short value;
  int index;
};
static_assert(offsetof(ShortInt, index) == 4 && sizeof(long double) == 16 && sizeof(long) == 8);

Layout named(MPI_Datatype type, MPI_Count size) {
  if (type == MPI_SHORT_INT)
    return layout::indexed({{0, sizeof(short)}, {offsetof(ShortInt, index), sizeof(int)}});
  return layout::dense(size);
}

Layout derived(const mpi::Api& api, MPI_Datatype type, const TypeEnvelope& envelope) {
  const auto* const row = std::ranges::find_if(
      constructors, [&](const Constructor& x) { return x.combiner == envelope.combiner; });
  require(row != std::end(constructors), "a datatype was made by an unknown constructor; it stays native");
  const Contents contents(api, type, envelope);
  require(contents.readable(), "the library does not tell a datatype's contents; it stays native");
  return row->layout(api, contents);
}

ArrayElement element_of(const mpi::Api& api, MPI_Datatype type) {
  const TypeEnvelope envelope = envelope_of(api, type);
  require(envelope.readable, "the library does not tell how a datatype was made; it stays native");
  const Told told = ask(api, type);
  Layout layout = is_predefined(envelope.combiner) ? named(type, told.size) : derived(api, type, envelope);
  const bool agrees = layout->size() == told.size &&
                      (told.size == 0 || (layout->begin() == told.true_begin &&
                                          layout->end() == told.true_begin + told.true_extent));
  require(agrees, "the library has another type map than a datatype's constructor means; it stays native");
  return {std::move(layout), told.extent};
}

}  // namespace

std::optional<Layout> decode(const mpi::Api& api, MPI_Datatype type) {
  try {
    return element_of(api, type).layout;
  } catch (const usage_error&) {
    return std::nullopt;
  }
}

}  // namespace wherry::datatype
