#include "pme/step.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "support/mpi/comm.hpp"

namespace pme {
namespace {

/// A function of the place at every point of a box.
template <class Function>
std::vector<double> sample(const Grid& grid, const Box& box, Function function) {
  std::vector<double> values;
  values.reserve(box.points());
  for_rows(box, [&](int x, int y) {
    for (int z = box.range[2].begin; z < box.range[2].end; ++z) values.push_back(function(grid, x, y, z));
  });
  return values;
}

Box spectrum_box(const Grid& grid) { return whole({grid[0], grid[1], spectrum_length(grid[2])}); }

std::vector<Box> real_boxes(const Decomposition& decomposition) {
  std::vector<Box> boxes;
  for (int rank = 0; rank < decomposition.ranks(); ++rank) boxes.push_back(decomposition.real_box(rank));
  return boxes;
}

/// All boxes in one array on rank 0; empty elsewhere. Collective.
template <class T>
std::vector<T> gather(const std::vector<T>& mine, const std::vector<Box>& boxes, const Box& all,
                      MPI_Datatype type, MPI_Comm comm) {
  const bool root = apps::rank_of(comm) == 0;
  std::vector<int> counts, begins;
  int total = 0;
  for (const Box& box : boxes) {
    begins.push_back(total);
    counts.push_back(static_cast<int>(box.points()));
    total += counts.back();
  }
  std::vector<T> packed(root ? all.points() : 0), values(packed.size());
  MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), type, packed.data(), counts.data(), begins.data(),
              type, 0, comm);
  std::span<const T> rest = packed;
  if (root)
    for (const Box& box : boxes) rest = rest.subspan(unpack(rest, box, all, std::span<T>(values)));
  return values;
}

/// The largest difference, relative to the largest value.
template <class T>
double difference(const std::vector<T>& values, const std::vector<T>& right) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double d = std::abs(values[i] - right[i]);
    apart = std::isnan(d) ? HUGE_VAL : std::max(apart, d);
    largest = std::max(largest, std::abs(right[i]));
  }
  return largest == 0 ? apart : apart / largest;
}

}  // namespace

Step::Step(MPI_Comm comm, const Decomposition& decomposition)
    : comm_(comm),
      rank_(apps::rank_of(comm)),
      decomposition_(decomposition),
      fft_(comm, decomposition),
      charges_(sample(decomposition.grid, decomposition.real_box(rank_), charge)),
      influence_(sample(decomposition.grid,
                        decomposition.layouts.back().boxes[static_cast<std::size_t>(rank_)], influence)) {}

Result Step::run(const apps::Collectives& with, MoveTimings& moves, apps::Timings& total) {
  Result result;
  fft_.real() = charges_;
  total.time([&] {
    fft_.forward(with, moves);
    result.spectrum = fft_.spectrum();
    for (std::size_t i = 0; i < influence_.size(); ++i) fft_.spectrum()[i] *= influence_[i];
    fft_.backward(with, moves);
  });
  result.potential = fft_.real();
  return result;
}

std::string Step::problem_of(const Result& result) const {
  constexpr double tolerance = 1e-12;
  const Grid& grid = decomposition_.grid;
  const std::vector<Complex> spectrum = gather(result.spectrum, decomposition_.layouts.back().boxes,
                                               spectrum_box(grid), MPI_C_DOUBLE_COMPLEX, comm_);
  const std::vector<double> potential =
      gather(result.potential, real_boxes(decomposition_), whole(grid), MPI_DOUBLE, comm_);
  double apart[2] = {};
  if (rank_ == 0) {
    std::vector<Complex> right = serial_forward(grid, sample(grid, whole(grid), charge));
    apart[0] = difference(spectrum, right);
    const std::vector<double> factors = sample(grid, spectrum_box(grid), influence);
    for (std::size_t i = 0; i < right.size(); ++i) right[i] *= factors[i];
    apart[1] = difference(potential, serial_backward(grid, std::move(right)));
  }
  MPI_Bcast(apart, 2, MPI_DOUBLE, 0, comm_);
  if (apart[0] <= tolerance && apart[1] <= tolerance) return "";
  char text[200];
  std::snprintf(
      text, sizeof text,
      "relative to a serial FFT, the spectrum is off by %.2g and the potential by %.2g (at most %.2g)",
      apart[0], apart[1], tolerance);
  return text;
}

}  // namespace pme
