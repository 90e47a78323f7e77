#include <doctest/doctest.h>

#include <numeric>

#include "pme/decomposition.hpp"

using namespace pme;

namespace {

/// How often each point of the grid is in one of the boxes.
std::vector<int> coverage(const Grid& grid, const std::vector<Box>& boxes) {
  const Box all = whole(grid);
  std::vector<int> times(all.points());
  for (const Box& box : boxes)
    for_rows(box, [&](int x, int y) {
      for (int z = box.range[2].begin; z < box.range[2].end; ++z) ++times[all.index(x, y, z)];
    });
  return times;
}

void check_layouts(const Decomposition& d) {
  const Grid spectrum = {d.grid[0], d.grid[1], spectrum_length(d.grid[2])};
  for (const Layout& layout : d.layouts) {
    const std::vector<int> times = coverage(spectrum, layout.boxes);
    REQUIRE(std::ranges::all_of(times, [](int n) { return n == 1; }));
    for (const Box& box : layout.boxes)
      for (const int axis : layout.transformed)
        if (box.points() > 0) REQUIRE(box.extent(axis) == spectrum[static_cast<std::size_t>(axis)]);
  }
}

void check_real_boxes(const Decomposition& d) {
  std::vector<Box> boxes;
  for (int rank = 0; rank < d.ranks(); ++rank) boxes.push_back(d.real_box(rank));
  for (const int times : coverage(d.grid, boxes)) REQUIRE(times == 1);
}

/// Ranks that share points before and after a transpose are in one group.
void check_groups(const Decomposition& d) {
  REQUIRE(d.transposes.size() + 1 == d.layouts.size());
  const auto ranks = static_cast<std::size_t>(d.ranks());
  for (std::size_t t = 0; t < d.transposes.size(); ++t)
    for (std::size_t from = 0; from < ranks; ++from)
      for (std::size_t to = 0; to < ranks; ++to)
        if (shared(d.layouts[t].boxes[from], d.layouts[t + 1].boxes[to]).points() > 0)
          REQUIRE(d.transposes[t].groups[from] == d.transposes[t].groups[to]);
}

std::vector<int> transformed_axes(const Decomposition& d) {
  std::vector<int> axes_done;
  for (const Layout& layout : d.layouts)
    axes_done.insert(axes_done.end(), layout.transformed.begin(), layout.transformed.end());
  return axes_done;
}

}  // namespace

TEST_CASE("every decomposition holds every point once, and whole axes where they are transformed") {
  for (int ranks = 1; ranks <= 33; ++ranks)
    for (const Grid& grid : {Grid{1, 1, 1}, Grid{7, 2, 5}, Grid{2, 9, 4}, Grid{16, 12, 10},
                             default_slab_grid(ranks), default_pencil_grid(ranks)})
      for (const auto divide : {slabs, pencils}) {
        CAPTURE(ranks);
        CAPTURE(grid[0]);
        CAPTURE(grid[1]);
        CAPTURE(grid[2]);
        const Decomposition d = divide(grid, ranks);
        REQUIRE(d.ranks() == ranks);
        check_layouts(d);
        check_real_boxes(d);
        check_groups(d);
        CHECK(transformed_axes(d) == std::vector{1, 0});
      }
}

TEST_CASE("192 ranks send messages of 896 bytes to 144") {
  constexpr std::size_t complex_bytes = 16;
  for (const int ranks : {192, 256}) {
    const Decomposition d = slabs(default_slab_grid(ranks), ranks);
    int senders = 0, receivers = 0, messages = 0;
    for (const Box& box : d.layouts[0].boxes) senders += box.points() > 0;
    for (const Box& box : d.layouts[1].boxes) receivers += box.points() > 0;
    for (const Box& from : d.layouts[0].boxes)
      for (const Box& to : d.layouts[1].boxes) {
        const std::size_t points = shared(from, to).points();
        messages += points > 0;
        if (points > 0) REQUIRE(points * complex_bytes == 896);
      }
    CHECK(senders == 192);
    CHECK(receivers == 144);
    CHECK(messages == 192 * 144);
  }
}

TEST_CASE("fewer ranks keep the pattern: three receivers for four senders") {
  CHECK(default_slab_grid(1) == Grid{1, 1, 110});
  CHECK(default_slab_grid(4) == Grid{4, 3, 110});
  CHECK(default_slab_grid(8) == Grid{8, 6, 110});
}

TEST_CASE("pencils lie on the squarest rectangle, and send 896 bytes within a column") {
  CHECK(rectangle(12).rows == 4);
  CHECK(rectangle(12).columns == 3);
  CHECK(rectangle(13).columns == 1);
  for (const int ranks : {2, 6, 13, 16}) {
    const Decomposition d = pencils(default_pencil_grid(ranks), ranks);
    const std::vector<int>& columns = d.transposes[1].groups;
    for (std::size_t from = 0; from < columns.size(); ++from)
      for (std::size_t to = 0; to < columns.size(); ++to)
        REQUIRE(shared(d.layouts[1].boxes[from], d.layouts[2].boxes[to]).points() * 16 ==
                (columns[from] == columns[to] ? 896 : 0));
  }
}

TEST_CASE("parts of an axis follow each other and differ by at most one") {
  for (const int extent : {1, 5, 144, 4096})
    for (int parts = 1; parts <= extent && parts < 50; ++parts) {
      int next = 0;
      for (int i = 0; i < parts; ++i) {
        const Range range = part(extent, parts, i);
        REQUIRE(range.begin == next);
        REQUIRE(std::abs(range.size() * parts - extent) < parts);
        next = range.end;
      }
      REQUIRE(next == extent);
    }
}

TEST_CASE("boxes that touch share nothing") {
  const Box a{{Range{0, 4}, Range{0, 4}, Range{0, 4}}}, b{{Range{4, 6}, Range{0, 4}, Range{0, 4}}};
  CHECK(shared(a, b) == Box{});
  CHECK(shared(a, a) == a);
  CHECK(shared(a, Box{}) == Box{});
  CHECK(shared(a, Box{{Range{2, 9}, Range{1, 2}, Range{3, 5}}}) ==
        Box{{Range{2, 4}, Range{1, 2}, Range{3, 4}}});
}

TEST_CASE("what is packed from one box is unpacked into another at the same points") {
  const Grid grid{4, 5, 6};
  const Box all = whole(grid), a{{Range{1, 4}, Range{0, 3}, Range{2, 6}}},
            b{{Range{0, 3}, Range{1, 5}, Range{0, 5}}};
  std::vector<int> from(a.points()), to(b.points(), -1), packed;
  for_rows(a, [&](int x, int y) {
    for (int z = 2; z < 6; ++z) from[a.index(x, y, z)] = static_cast<int>(all.index(x, y, z));
  });
  const Box piece = shared(a, b);
  pack(std::span<const int>(from), a, piece, packed);
  REQUIRE(packed.size() == piece.points());
  CHECK(unpack(std::span<const int>(packed), piece, b, std::span(to)) == piece.points());
  for_rows(b, [&](int x, int y) {
    for (int z = 0; z < 5; ++z) {
      const bool moved = x >= 1 && y < 3 && z >= 2;
      REQUIRE(to[b.index(x, y, z)] == (moved ? static_cast<int>(all.index(x, y, z)) : -1));
    }
  });
}
