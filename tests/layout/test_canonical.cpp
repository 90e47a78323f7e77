#include <doctest/doctest.h>

#include "base/error.hpp"
#include "layout/canonical.hpp"
#include "layout/pack_plan.hpp"
#include "layout/random_layouts.hpp"
#include "layout/reference.hpp"

using namespace layout_test;

namespace {

/// Another description of the same bytes: the blocks cut into pieces.
Layout recut(const Layout& layout, RandomLayouts& random) {
  std::vector<PlacedLayout> parts;
  each_block(layout, 0, [&](Offset at, Offset bytes) {
    while (bytes > 0) {
      const Offset piece = random.between(1, bytes);
      parts.push_back({at, dense(piece)});
      at += piece;
      bytes -= piece;
    }
  });
  return concat(std::move(parts));
}

/// An n-dimensional subarray of elements of `bytes`, the last dimension contiguous.
Layout subarray(const std::vector<Offset>& sizes, const std::vector<Offset>& subsizes, Offset bytes) {
  Layout layout = dense(bytes);
  Offset stride = bytes;
  for (std::size_t d = sizes.size(); d > 0; --d) {
    layout = strided(subsizes[d - 1], stride, layout);
    stride *= sizes[d - 1];
  }
  return layout;
}

}  // namespace

TEST_CASE("layout: the canonical form keeps the bytes and depends on nothing else") {
  constexpr std::uint64_t seed = 20261125;
  RandomLayouts random(seed);
  const int cases = number_of_cases();
  for (int i = 0; i < cases; ++i) {
    const Layout layout = random.any(static_cast<int>(random.between(0, 5)));
    const PlacedLayout form = canonical(layout);
    if (byte_offsets(placed(form)) == byte_offsets(layout) && compressed(maximal_blocks(layout)) == form &&
        canonical(placed(form)) == form && (i % 8 != 0 || canonical(recut(layout, random)) == form))
      continue;
    FAIL("seed " << seed << ", case " << i << ": " << text(layout) << "\nhas the form " << text(form)
                 << "\nbut by its blocks " << text(compressed(maximal_blocks(layout))));
  }
}

TEST_CASE("layout: repetition keeps the bytes, and is canonical where blocks do not touch") {
  constexpr std::uint64_t seed = 7;
  RandomLayouts random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const Layout layout = random.any(static_cast<int>(random.between(0, 4)));
    const Offset count = random.between(0, 5), stride = random.between(-300, 300);
    const PlacedLayout part = repeated(count, stride, canonical(layout));
    CAPTURE(seed);
    CAPTURE(i);
    REQUIRE(byte_offsets(placed(part)) == byte_offsets(strided(count, stride, layout)));
  }
}

TEST_CASE("layout: a vector, a subarray and lists of one map are one form") {
  const PlacedLayout vector = canonical(strided(100, 64, dense(24)));
  CHECK(canonical(subarray({100, 8}, {100, 3}, 8)) == vector);
  std::vector<Offset> displacements;
  std::vector<ByteBlock> blocks;
  std::vector<PlacedLayout> parts;
  for (Offset i = 0; i < 100; ++i) {
    displacements.push_back(64 * i);
    blocks.push_back({64 * i, 24});
    parts.push_back({64 * i, strided(3, 8, dense(8))});
  }
  CHECK(canonical(indexed_block(displacements, dense(24))) == vector);
  CHECK(canonical(indexed(blocks)) == vector);
  CHECK(canonical(concat(parts)) == vector);
  CHECK(hash_of(canonical(indexed(blocks))) == hash_of(vector));
}

TEST_CASE("layout: whole dimensions coalesce") {
  CHECK(canonical(subarray({4, 5, 6}, {4, 5, 6}, 8)) == PlacedLayout{0, dense(960)});
  CHECK(canonical(subarray({4, 5, 6}, {2, 5, 6}, 8)) == PlacedLayout{0, dense(480)});
  CHECK(canonical(subarray({4, 5, 6}, {4, 2, 6}, 8)) == PlacedLayout{0, strided(4, 240, dense(96))});
  CHECK(canonical(subarray({4, 5, 6}, {4, 5, 2}, 8)) == PlacedLayout{0, strided(20, 48, dense(16))});
  CHECK(canonical(subarray({4, 5, 6}, {3, 2, 2}, 8)) ==
        PlacedLayout{0, strided(3, 240, strided(2, 48, dense(16)))});
}

TEST_CASE("layout: two arrays of structs are two runs") {
  const Layout element = indexed({{0, 8}, {12, 2}});
  const PlacedLayout form =
      canonical(concat({{0, strided(50, 16, element)}, {5000, strided(30, 24, dense(4))}}));
  CHECK(form == PlacedLayout{0, concat({{0, strided(50, 16, element)}, {5000, strided(30, 24, dense(4))}})});
}

TEST_CASE("layout: what has too many blocks to look at keeps its levels") {
  const Offset many = Offset{1} << 40;
  const Layout huge = strided(many, 16, dense(8));
  CHECK(canonical(huge) == PlacedLayout{0, huge});
  CHECK(canonical(concat({{8, huge}, {4, dense(4)}})) ==
        PlacedLayout{8, concat({{0, huge}, {-4, dense(4)}})});
  CHECK(canonical(strided(3, many * 16, huge)) == PlacedLayout{0, strided(3 * many, 16, dense(8))});
}

TEST_CASE("layout: empty blocks of a list that is too long to look at") {
  std::vector<ByteBlock> with = {{4, 0}}, without;
  for (Offset i = 0; i <= most_blocks; ++i) {
    with.push_back({16 * i, 8 + i % 2});
    without.push_back(with.back());
  }
  with.push_back({-8, 0});
  CHECK(canonical(indexed(with)) == canonical(indexed(without)));
  CHECK(PackPlan(canonical(indexed(with))).size() == indexed(without)->size());
}

TEST_CASE("layout: bounds") {
  const Layout layout = strided(3, -100, indexed({{-4, 2}, {10, 6}}));
  CHECK(layout->begin() == -204);
  CHECK(layout->end() == 16);
  CHECK(layout->size() == 24);
  CHECK(strided(0, 5, dense(3))->size() == 0);
  CHECK(concat({{1000, dense(0)}, {3, dense(1)}})->end() == 4);
}

TEST_CASE("layout: what 64 bits cannot hold is refused") {
  const Offset huge = Offset{1} << 62;
  CHECK_THROWS_AS(strided(8, huge, dense(1)), wherry::usage_error);
  CHECK_THROWS_AS(strided(huge, 1, dense(8)), wherry::usage_error);
  CHECK_THROWS_AS(indexed_block({huge, huge}, dense(huge)), wherry::usage_error);
  CHECK_THROWS_AS(dense(-1), wherry::usage_error);
  CHECK_THROWS_AS(strided(-1, 8, dense(1)), wherry::usage_error);
  CHECK_THROWS_AS(indexed({{0, -1}}), wherry::usage_error);
}
