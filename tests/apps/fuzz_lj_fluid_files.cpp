// Any bytes as a file of particles: particles in their box, or an error with a line; never a crash.
//
// Made with WHERRY_LIBFUZZER this is an entry for libFuzzer; CONTRIBUTING.md says how to run it. It needs -Iapps
// -Isrc, of apps/lj_fluid/ lammps_file.cpp and xyz_file.cpp, of apps/support/ lines.cpp and options.cpp, and
// src/base/nearest.cpp.
// Otherwise it is a unit test over garbage and damaged files from a fixed seed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lj_fluid/configuration.hpp"

namespace {

bool in_box(const lj_fluid::Configuration& all) {
  return std::ranges::all_of(all.atoms, [&](const lj_fluid::Atom& atom) {
    for (std::size_t k = 0; k < 3; ++k)
      if (!(atom.position[k] >= all.lower[k] && atom.position[k] <= all.upper[k])) return false;
    return atom.identity > 0;
  });
}

bool reads_safely(std::string_view bytes) {
  using namespace lj_fluid;
  return std::ranges::all_of(std::initializer_list{parse_lammps, parse_xyz}, [&](const auto parse) {
    try {
      const Configuration all = parse("f", bytes);
      return !all.atoms.empty() && in_box(all);
    } catch (const apps::input_error& error) {
      return std::string_view(error.what()).starts_with("f, line ");
    }
  });
}

}  // namespace

#ifdef WHERRY_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!reads_safely({reinterpret_cast<const char*>(data), size})) std::abort();
  return 0;
}

#else

#include "damaged_files.hpp"

namespace {

const std::string_view whole_files[] = {
    "t\n2 atoms\n0 4 xlo xhi\n0 4 ylo yhi\n0 4 zlo zhi\nMasses\n\n1 1\n\nAtoms # atomic\n\n1 1 0.5 1 2 0 0 "
    "0\n7 1 3 4 1\n\n"
    "Velocities\n\n1 0 0 1\n7 1 2 3\n",
    "2\nLattice=\"4 0 0 0 4 0 0 0 4\" Origin=\"0 0 0\" Properties=species:S:1:id:I:1:pos:R:3:velo:R:3\n"
    "Ar 1 1 1 1 0 0 0\nAr 2 3 3 3 1e3 0 -1\n",
    "1\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=pos:R:3:velo:R:3:forces:R:3 lj_fluid_step=7 "
    "lj_fluid_cutoff=1.1 "
    "lj_fluid_shifted=1 lj_fluid_dt=0.01 lj_fluid_langevin=1 lj_fluid_temperature=1 lj_fluid_gamma=1 "
    "lj_fluid_skin=0.4 "
    "lj_fluid_seed=1 lj_fluid_bonds=0 lj_fluid_exclusions=1\n1 1 1 0 0 0 0 0 0\n",
};

}  // namespace

TEST_CASE("fuzz: damaged files of particles are read safely") {
  fuzz::check_damaged(31, whole_files, "0123456789 \n#=\":-.e", reads_safely);
}

#endif
