// Compiled once for each set of instructions; at run time the processor says which it has.
#include "lj_fluid/pairs.hpp"

#include <algorithm>

#include "support/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lj_fluid/pairs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef LJ_FLUID_PAIRS
#define LJ_FLUID_PAIRS
namespace lj_fluid {

constexpr std::size_t most_lanes = 16;

/// Sites in the order of cells, one coordinate after the other, and a vector's length behind them.
struct Sought {
  std::vector<std::uint32_t> begins, index;
  std::vector<float> x, y, z;
};

/// Where a particle looks: a piece of Sought.
struct Piece {
  std::uint32_t begin, end;
};

struct Center {
  float x, y, z;
};

}  // namespace lj_fluid
#endif

HWY_BEFORE_NAMESPACE();
namespace lj_fluid::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Writes the indices of those in the pieces that are within reach; returns how many. There is memory for all, and a
/// vector more.
std::size_t search_pieces(const Sought& sought, std::span<const Piece> pieces, const Center& center,
                          float reach2, std::uint32_t* out) {
  const hn::CappedTag<float, most_lanes> d;
  const hn::RebindToUnsigned<decltype(d)> indices;
  const auto x = hn::Set(d, center.x), y = hn::Set(d, center.y), z = hn::Set(d, center.z);
  const auto limit = hn::Set(d, reach2);
  std::size_t found = 0;
  for (const Piece& piece : pieces)
    for (std::size_t i = piece.begin; i < piece.end; i += hn::Lanes(d)) {
      const auto dx = hn::Sub(x, hn::LoadU(d, &sought.x[i]));
      const auto dy = hn::Sub(y, hn::LoadU(d, &sought.y[i]));
      const auto dz = hn::Sub(z, hn::LoadU(d, &sought.z[i]));
      const auto r2 = hn::MulAdd(dx, dx, hn::MulAdd(dy, dy, hn::Mul(dz, dz)));
      const auto near = hn::And(hn::Le(r2, limit), hn::FirstN(d, piece.end - i));
      const auto index = hn::LoadU(indices, &sought.index[i]);
      hn::StoreU(hn::Compress(index, hn::RebindMask(indices, near)), indices, out + found);
      found += hn::CountTrue(d, near);
    }
  return found;
}

}  // namespace lj_fluid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lj_fluid {

HWY_EXPORT(search_pieces);

namespace {

Sought sought_of(const Cells& cells, std::span<const Site> sites, std::uint32_t first, Cells::Of whom) {
  Binned bins = binned(cells, sites, whom);
  const std::size_t length = sites.size() + most_lanes;
  Sought all{std::move(bins.begins), std::vector<std::uint32_t>(length), std::vector<float>(length),
             std::vector<float>(length), std::vector<float>(length)};
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const std::uint32_t member = bins.members[i];
    const Vector& at = sites[member].position;
    all.index[i] = first + member;
    all.x[i] = static_cast<float>(at[0] - cells.origin()[0]);
    all.y[i] = static_cast<float>(at[1] - cells.origin()[1]);
    all.z[i] = static_cast<float>(at[2] - cells.origin()[2]);
  }
  return all;
}

/// Makes the lists of all particles, cell by cell.
class Finder {
 public:
  Finder(const Neighborhood& from, BothLists& lists)
      : from_(from),
        lists_(lists),
        own_(sought_of(from.cells, from.sites.first(from.own_count), 0, Cells::Of::own)),
        ghosts_(sought_of(from.cells,
                          from.sites.subspan(from.own_count, from.sites.size() - 1 - from.own_count),
                          static_cast<std::uint32_t>(from.own_count), Cells::Of::ghost)) {
    for (PairLists* list : {&lists_.own, &lists_.ghosts}) {
      list->begins.assign(1, 0);
      list->begins.reserve(from.own_count + 1);
    }
    // Single precision: half a unit of the largest coordinate, in both positions and all dimensions.
    const auto counts = from.cells.counts();
    const double largest = std::max({counts[0], counts[1], counts[2]}) * from.reach;
    const double reach = from.reach + largest * 4e-7;
    reach2_ = static_cast<float>(reach * reach);
  }

  void find() {
    const auto counts = from_.cells.counts();
    const int l = from_.cells.layers();
    for (int z = l; z < counts[2] - l; ++z)
      for (int y = l; y < counts[1] - l; ++y)
        for (int x = l; x < counts[0] - l; ++x) of_cell({x, y, z});
    lists_.own.others.resize(lists_.own.begins.back());
    lists_.ghosts.others.resize(lists_.ghosts.begins.back());
  }

 private:
  void of_cell(const std::array<int, 3>& cell) {
    const std::size_t here = from_.cells.index(cell[0], cell[1], cell[2]);
    if (own_.begins[here] == own_.begins[here + 1]) return;
    own_pieces(cell);
    ghost_pieces(cell);
    for (std::uint32_t i = own_.begins[here]; i < own_.begins[here + 1]; ++i) {
      const Center center{own_.x[i], own_.y[i], own_.z[i]};
      pieces_own_.front().begin = i + 1;
      find_own(i, center);
      find_ghosts(i, center);
    }
  }

  Piece row(const Sought& sought, const std::array<int, 3>& cell, int dy, int dz) const {
    const auto l = static_cast<std::size_t>(from_.cells.layers());
    const std::size_t at = from_.cells.index(cell[0], cell[1] + dy, cell[2] + dz);
    return {sought.begins[at - l], sought.begins[at + l + 1]};
  }
  /// The rows behind this cell; the first is its own, from the particle on.
  void own_pieces(const std::array<int, 3>& cell) {
    const int l = from_.cells.layers();
    pieces_own_.assign(1, row(own_, cell, 0, 0));
    for (int dz = 0; dz <= l; ++dz)
      for (int dy = dz == 0 ? 1 : -l; dy <= l; ++dy)
        if (const Piece piece = row(own_, cell, dy, dz); piece.begin < piece.end)
          pieces_own_.push_back(piece);
  }
  /// Whether there may be ghosts near.
  bool at_border(const std::array<int, 3>& cell) const {
    const int near = 2 * from_.cells.layers();
    bool at = false;
    for (std::size_t k = 0; k < 3; ++k) at |= cell[k] < near || cell[k] >= from_.cells.counts()[k] - near;
    return at;
  }
  void ghost_pieces(const std::array<int, 3>& cell) {
    pieces_ghosts_.clear();
    if (!at_border(cell)) return;
    const int l = from_.cells.layers();
    for (int dz = -l; dz <= l; ++dz)
      for (int dy = -l; dy <= l; ++dy)
        if (const Piece piece = row(ghosts_, cell, dy, dz); piece.begin < piece.end)
          pieces_ghosts_.push_back(piece);
  }

  /// Memory for all that the pieces may add to a list.
  static std::uint32_t* memory_for(PairLists& list, const std::vector<Piece>& pieces) {
    std::size_t most = list.begins.back() + most_lanes + PairLists::group;
    for (const Piece& piece : pieces) most += piece.end - std::min(piece.begin, piece.end);
    if (list.others.size() < most) list.others.resize(2 * most);
    return list.others.data() + list.begins.back();
  }
  void close(PairLists& list, std::size_t found) const {
    std::uint32_t* const out = list.others.data() + list.begins.back();
    while (found % PairLists::group != 0) out[found++] = static_cast<std::uint32_t>(from_.sites.size() - 1);
    list.begins.push_back(list.begins.back() + static_cast<std::uint32_t>(found));
  }

  /// How many are left.
  std::size_t without_excluded(std::uint32_t i, std::uint32_t* others, std::size_t count) const {
    const auto& excluded = from_.exclusions[i];
    const auto end = std::remove_if(others, others + count, [&](std::uint32_t other) {
      return std::ranges::find(excluded, from_.identities[other]) != excluded.end();
    });
    return static_cast<std::size_t>(end - others);
  }

  void find_own(std::uint32_t i, const Center& center) {
    std::uint32_t* const out = memory_for(lists_.own, pieces_own_);
    std::size_t found = HWY_DYNAMIC_DISPATCH(search_pieces)(own_, pieces_own_, center, reach2_, out);
    if (!from_.exclusions.empty()) found = without_excluded(i, out, found);
    close(lists_.own, found);
  }
  void find_ghosts(std::uint32_t i, const Center& center) {
    if (pieces_ghosts_.empty()) return lists_.ghosts.begins.push_back(lists_.ghosts.begins.back());
    std::uint32_t* const out = memory_for(lists_.ghosts, pieces_ghosts_);
    std::size_t found = HWY_DYNAMIC_DISPATCH(search_pieces)(ghosts_, pieces_ghosts_, center, reach2_, out);
    if (!from_.exclusions.empty()) found = without_excluded(i, out, found);
    close(lists_.ghosts, found);
  }

  const Neighborhood& from_;
  BothLists& lists_;
  Sought own_, ghosts_;
  float reach2_ = 0;
  std::vector<Piece> pieces_own_, pieces_ghosts_;
};

}  // namespace

void find_pairs(const Neighborhood& neighborhood, BothLists& lists) { Finder(neighborhood, lists).find(); }

}  // namespace lj_fluid
#endif
