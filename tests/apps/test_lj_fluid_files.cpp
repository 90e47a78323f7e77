#include <doctest/doctest.h>

#include "lj_fluid/configuration.hpp"
#include "lj_fluid/outputs.hpp"

using namespace lj_fluid;

namespace {

template <class Parse>
std::string problem(Parse parse, const std::string& text) {
  try {
    parse("f", text);
  } catch (const apps::input_error& error) {
    return error.what();
  }
  return "";
}

const std::string header =
    "made by hand\n\n2 atoms\n1 atom types\n0 4 xlo xhi\n0 4.5 ylo yhi\n-1 5 zlo zhi\n\n";
const std::string atoms = "Atoms # atomic\n\n1 1 0.5 1 2 0 0 0\n7 1 3 4 -1 # a comment\n";

struct Damaged {
  std::string text, message;
};

}  // namespace

TEST_CASE("lj_fluid: LAMMPS's data files") {
  const Configuration all =
      parse_lammps("f", header + "Masses\n\n1 1.0\n\n" + atoms + "\nVelocities\n\n7 1 2 3\n1 -1 0 0\n");
  CHECK(all.lower == Vector{0, 0, -1});
  CHECK(all.upper == Vector{4, 4.5, 5});
  CHECK(all.atoms == std::vector<Atom>{{1, {0.5, 1, 2}, {-1, 0, 0}, {}}, {7, {3, 4, -1}, {1, 2, 3}, {}}});
  CHECK(all.has_velocities);
  CHECK(!parse_lammps("f", header + "Pair Coeffs # lj/cut\n\n1 1 1\n\n" + atoms).has_velocities);
  CHECK(parse_lammps("f", header + "Atoms # full\n\n1 1 1 0.5 1 2 3\n2 1 1 0.5 1 3 3\n").atoms[1].position ==
        Vector{1, 3, 3});
  CHECK(parse_lammps("f", header + "Atoms\n\n1 1 1 2 3\n2 1 1 3 3\n").atoms.size() == 2);
}

TEST_CASE("lj_fluid: what is wrong with a data file is said with its line") {
  const Damaged all[] = {
      {"", "f, line 1: the file is empty"},
      {"title\n", "f, line 1: no line says how many atoms"},
      {header + "Atoms # atomic\n\n1 1 0.5 1\n", "f, line 11: the coordinate is missing"},
      {header + "Atoms # atomic\n\n1 1 0.5 1 nan\n",
       "f, line 11: the coordinate 'nan' is not a finite number"},
      {header + "Atoms # atomic\n\n1 1 0.5 1 6\n",
       "f, line 11: particle 1 is at 6.000000, outside the box from -1.000000 to 5.000000"},
      {header + "Atoms\n\n1 1 1 1 1\n1 1 2 2 2\n", "f, line 12: particle 1 is in the file twice"},
      {header + "Atoms\n\n1 1 1 1 1\n", "f, line 11: the section Atoms ends too early"},
      {header + "Atoms # ellipsoid\n\n1 1 1 1 1\n", "f, line 9: the style of atoms 'ellipsoid' is not known"},
      {header + "Bonds\n\n1 1 1 2\n", "f, line 9: the section 'Bonds' is not supported"},
      {header + atoms + "Velocities\n\n2 0 0 0\n", "f, line 15: there is no particle 2"},
      {header + "Masses\n\n1 2\n", "f, line 11: the mass is not 1"},
      {"title\n2 atoms\n" + atoms, "f, line 3: a section comes before"},
      {"title\n0 0 xlo xhi\n0 1 ylo yhi\n0 1 zlo zhi\n2 atoms\n" + atoms, "f, line 6: the box is empty"},
      {"title\n0 0 0 xy xz yz\n", "f, line 2: the box is not rectangular"},
      {"title\n3 bonds\n", "f, line 2: 'bonds' are not supported"},
      {"title\nwhat is this\n", "f, line 2: 'what' begins neither"},
  };
  for (const Damaged& damaged : all) {
    CAPTURE(damaged.text);
    CHECK(problem(parse_lammps, damaged.text).find(damaged.message) == 0);
  }
}

TEST_CASE("lj_fluid: extended XYZ with and without identities and velocities") {
  const Configuration plain = parse_xyz("f", "2\nLattice=\"4 0 0 0 5 0 0 0 6\"\nAr 1 2 3\nHe 0 0 6\n");
  CHECK(plain.upper == Vector{4, 5, 6});
  CHECK(plain.atoms == std::vector<Atom>{{1, {1, 2, 3}, {}, {}}, {2, {0, 0, 6}, {}, {}}});
  CHECK(!plain.has_velocities);
  const Configuration more = parse_xyz("f",
                                       "1\nLattice=\"4 0 0 0 4 0 0 0 4\" Origin=\"-2 -2 -2\" Time=3 "
                                       "Properties=species:S:1:charge:R:1:vel:R:3:pos:R:3:id:I:1\n"
                                       "Ar -1 7 8 9 0 1 -2 42\n");
  CHECK(more.lower == Vector{-2, -2, -2});
  CHECK(more.upper == Vector{2, 2, 2});
  CHECK(more.atoms == std::vector<Atom>{{42, {0, 1, -2}, {7, 8, 9}, {}}});
  CHECK(!more.state);
}

TEST_CASE("lj_fluid: of a trajectory the last frame counts") {
  const std::string frame = "1\nLattice=\"4 0 0 0 4 0 0 0 4\"\nAr ";
  CHECK(parse_xyz("f", frame + "1 1 1\n" + frame + "2 2 2\n").atoms ==
        std::vector<Atom>{{1, {2, 2, 2}, {}, {}}});
}

TEST_CASE("lj_fluid: what is written to go on is read back with the same bits") {
  Configuration all;
  all.lower = {-0.1, 0, 1e-3}, all.upper = {1.0 / 3, 10.078, 7};
  for (std::size_t i = 0; i < 3; ++i) all.upper[i] = all.lower[i] + (all.upper[i] - all.lower[i]);
  all.atoms = {{3, {0.1, 1.0 / 3, 2}, {-1e-300, 5e22, 0.7}, {1, 2, -3}}, {9, {0, 0, 6.9}, {}, {}}};
  all.has_velocities = all.has_forces = true;
  all.state = RunState{123456789012,
                       {.cutoff = 2.5,
                        .shifted = false,
                        .dt = 0.005,
                        .langevin = false,
                        .temperature = 1.44,
                        .gamma = 0.3,
                        .skin = 0.31,
                        .seed = 77}};
  const Configuration back = parse_xyz("f", xyz_text(all));
  CHECK(back.lower == all.lower);
  CHECK(back.upper == all.upper);
  CHECK(back.atoms == all.atoms);
  CHECK(back.state == all.state);
  CHECK(back.has_forces);
}

TEST_CASE("lj_fluid: what is wrong with an XYZ file is said with its line") {
  const std::string two = "2\nLattice=\"4 0 0 0 4 0 0 0 4\"";
  const Damaged all[] = {
      {"", "f, line 1: the file is empty"},
      {"x\n", "f, line 1: the number of particles 'x' is not a whole number"},
      {"2\n", "f, line 1: the line with Lattice and Properties is missing"},
      {"2\nno keys\n", "f, line 2: Lattice is missing"},
      {"2\nLattice=\"4 0\n", "f, line 2: the quotes of 'Lattice' are not closed"},
      {"2\nLattice=\"4 0 0 0 4 0 0 0\"\n", "f, line 2"},
      {"2\nLattice=\"4 1 0 0 4 0 0 0 4\"\n", "f, line 2: the box is not rectangular"},
      {"2\nLattice=\"4 0 0 0 -4 0 0 0 4\"\n", "f, line 2: the box is empty"},
      {two + " Properties=pos:R:2\n", "f, line 2: the property 'pos' has 2 columns, not 3"},
      {two + " Properties=species:S:1\n", "f, line 2: Properties has no pos:R:3"},
      {two + " Properties=pos\n", "f, line 2: Properties has not the form"},
      {two + "\nAr 1 1 1\n", "f, line 3: the file ends after 1 of 2 particles"},
      {two + "\nAr 1 1 1\nAr 1 1\n", "f, line 4: the coordinate is missing"},
      {two + "\nAr 1 1 1\nAr 1 1 1 1\n", "f, line 4: '1' stands where the line should end"},
      {two + "\nAr 1 1 1\nAr 1 1 4.5\n", "f, line 4: particle 2 is at 4.500000, outside the box"},
      {two + " lj_fluid_step=4\nAr 1 1 1\nAr 1 1 1\n", "f, line 2: a run goes on from velocities and forces"},
  };
  for (const Damaged& damaged : all) {
    CAPTURE(damaged.text);
    CHECK(problem(parse_xyz, damaged.text).find(damaged.message) == 0);
  }
}

TEST_CASE("lj_fluid: a line of energies") {
  CHECK(energies_line({.step = 200, .temperature = 1, .potential = -5.5, .kinetic = 1.5, .pressure = 0.25},
                      0.005) == "200,1,1,-5.5,1.5,-4,0.25\n");
}

TEST_CASE(
    "lj_fluid: a picture has the particles that are in front, the nearest last, the fast ones in other "
    "colours") {
  Configuration all;
  all.upper = {10, 10, 10};
  all.atoms = {{1, {9.5, 9.5, 9.5}, {0.1, 0, 0}, {}},  // the nearest
               {2, {5, 5, 5}, {1, 0, 0}, {}},          // hidden
               {3, {0.5, 0.5, 9.5}, {9, 0, 0}, {}}};
  const std::string picture = picture_svg(all);
  const std::size_t far = picture.find("<use href=\"#b5\""), near = picture.find("<use href=\"#b0\"");
  REQUIRE(far != std::string::npos);
  REQUIRE(near != std::string::npos);
  CHECK(far < near);
  CHECK(picture.find("<use", near + 1) == std::string::npos);
  CHECK(picture.starts_with("<svg "));
  CHECK(picture.ends_with("</svg>\n"));
  all.atoms[0].velocity = all.atoms[2].velocity = all.atoms[1].velocity = {};
  CHECK(picture_svg(all).find("#b5\" x") == std::string::npos);
}
