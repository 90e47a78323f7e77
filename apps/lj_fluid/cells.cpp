#include "lj_fluid/cells.hpp"

#include <algorithm>
#include <cmath>

namespace lj_fluid {

Cells::Cells(const Vector& lower, const Vector& upper, double reach)
    : layers_(reach < 2 ? 1 : 2),  // at densities about 1 there are then one to eight in a cell
      origin_{},
      per_length_{},
      counts_{} {
  constexpr double most = 1 << 9;                           // more would be empty, and would not fit indices
  const double least_width = reach / layers_ * (1 + 1e-9);  // however the quotients below are rounded
  for (std::size_t i = 0; i < 3; ++i) {
    const double extent = upper[i] - lower[i];
    const int inner = static_cast<int>(std::clamp(extent / least_width, 1.0, most));
    const double width = std::max(extent / inner, least_width);
    origin_[i] = lower[i] - layers_ * width;
    per_length_[i] = 1 / width;
    counts_[i] = inner + 2 * layers_;
  }
}

std::size_t Cells::cell_of(const Vector& position, Of whom) const {
  const int margin = whom == Of::own ? layers_ : 0;
  std::array<int, 3> at;
  for (std::size_t i = 0; i < 3; ++i)
    at[i] = static_cast<int>(std::clamp((position[i] - origin_[i]) * per_length_[i], double(margin),
                                        double(counts_[i] - 1 - margin)));
  return index(at[0], at[1], at[2]);
}

Binned binned(const Cells& cells, std::span<const Site> sites, Cells::Of whom) {
  Binned bins;
  bins.begins.resize(cells.size() + 1);
  bins.members.resize(sites.size());
  std::vector<std::uint32_t> cell(sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    cell[i] = static_cast<std::uint32_t>(cells.cell_of(sites[i].position, whom));
    ++bins.begins[cell[i] + 1];
  }
  for (std::size_t c = 0; c < cells.size(); ++c) bins.begins[c + 1] += bins.begins[c];
  std::vector<std::uint32_t> next(bins.begins.begin(), bins.begins.end() - 1);
  for (std::size_t i = 0; i < sites.size(); ++i)
    bins.members[next[cell[i]]++] = static_cast<std::uint32_t>(i);
  return bins;
}

}  // namespace lj_fluid
