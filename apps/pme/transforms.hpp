// Transforms of the boxes of one rank by FFTW, in one dimension each, and of a whole grid for comparison.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "pme/boxes.hpp"

struct fftw_plan_s;

namespace pme {

using Complex = std::complex<double>;

enum class Direction { forward, backward };

/// A transform of certain arrays, which must outlive it. Of a box without points: does nothing.
class Transform {
 public:
  /// In place along one axis.
  Transform(const Box& box, int axis, Direction direction, Complex* values);
  /// Along z: forward from real to complex values, backward to real ones, which spoils the complex ones.
  Transform(const Box& real_box, Direction direction, double* real, Complex* complex);

  void run() const;

 private:
  struct Destroy {
    void operator()(fftw_plan_s* plan) const;
  };
  std::unique_ptr<fftw_plan_s, Destroy> plan_;
};

/// All of a grid in three dimensions by one process, with FFTW's own plan for it.
std::vector<Complex> serial_forward(const Grid& grid, std::vector<double> real);
std::vector<double> serial_backward(const Grid& grid, std::vector<Complex> spectrum);

}  // namespace pme
