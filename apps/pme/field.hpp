// What is transformed: charges on a grid, and the factor that turns their transform into that of their potential.
#pragma once

#include "pme/boxes.hpp"

namespace pme {

/// Between -1/2 and 1/2, without a pattern. Mesh charges of particles would cost the exchanges as much.
double charge(const Grid& grid, int x, int y, int z);

/// The smooth part of the Coulomb potential, scaled so that transforming back gives the potential: FFTW multiplies by
/// the number of points on the way. x, y, z: the place in the transform. (Essmann et al.: A smooth particle mesh Ewald
/// method, J. Chem. Phys. 103, 1995, without the factor of the splines.)
double influence(const Grid& grid, int x, int y, int z);

}  // namespace pme
