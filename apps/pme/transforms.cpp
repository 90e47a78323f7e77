#include "pme/transforms.hpp"

#include <fftw3.h>

#include <array>

#include "pme/decomposition.hpp"

namespace pme {
namespace {

fftw_complex* raw(Complex* values) { return reinterpret_cast<fftw_complex*>(values); }

/// Distance in memory between neighbors along an axis of an array.
int stride(const Box& box, int axis) {
  int distance = 1;
  for (int inner = axis + 1; inner < axes; ++inner) distance *= box.extent(inner);
  return distance;
}

/// FFTW's description of the axes: the transformed one first, then those that are gone through.
using Dimensions = std::array<fftw_iodim, axes>;
Dimensions dimensions(const Box& in, const Box& out, int axis) {
  const auto along = [&](int a) { return fftw_iodim{in.extent(a), stride(in, a), stride(out, a)}; };
  return {along(axis), along((axis + 1) % axes), along((axis + 2) % axes)};
}

constexpr int along_z = axes - 1;

Box spectrum_of(Box real_box) {
  real_box.range[along_z] = {0, spectrum_length(real_box.extent(along_z))};
  return real_box;
}

// Estimated plans: measuring would make them, and the last bits of results, differ from run to run.
constexpr unsigned flags = FFTW_ESTIMATE;

}  // namespace

Transform::Transform(const Box& box, int axis, Direction direction, Complex* values) {
  if (box.points() == 0) return;
  const Dimensions d = dimensions(box, box, axis);
  const int sign = direction == Direction::forward ? FFTW_FORWARD : FFTW_BACKWARD;
  plan_.reset(fftw_plan_guru_dft(1, d.data(), axes - 1, d.data() + 1, raw(values), raw(values), sign, flags));
}

Transform::Transform(const Box& real_box, Direction direction, double* real, Complex* complex) {
  if (real_box.points() == 0) return;
  const Box complex_box = spectrum_of(real_box);
  if (direction == Direction::forward) {
    const Dimensions d = dimensions(real_box, complex_box, along_z);
    plan_.reset(fftw_plan_guru_dft_r2c(1, d.data(), axes - 1, d.data() + 1, real, raw(complex), flags));
  } else {
    Dimensions d = dimensions(complex_box, real_box, along_z);
    d[0].n = real_box.extent(along_z);  // FFTW counts the real values
    plan_.reset(fftw_plan_guru_dft_c2r(1, d.data(), axes - 1, d.data() + 1, raw(complex), real, flags));
  }
}

void Transform::run() const {
  if (plan_) fftw_execute(plan_.get());
}

void Transform::Destroy::operator()(fftw_plan_s* plan) const { fftw_destroy_plan(plan); }

std::vector<Complex> serial_forward(const Grid& grid, std::vector<double> real) {
  std::vector<Complex> spectrum(spectrum_of(whole(grid)).points());
  const fftw_plan plan =
      fftw_plan_dft_r2c_3d(grid[0], grid[1], grid[2], real.data(), raw(spectrum.data()), flags);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return spectrum;
}

std::vector<double> serial_backward(const Grid& grid, std::vector<Complex> spectrum) {
  std::vector<double> real(whole(grid).points());
  const fftw_plan plan =
      fftw_plan_dft_c2r_3d(grid[0], grid[1], grid[2], raw(spectrum.data()), real.data(), flags);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return real;
}

}  // namespace pme
