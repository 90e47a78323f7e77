#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "nbody/kernels.hpp"
#include "nbody/models.hpp"
#include "nbody/simd/forces.hpp"
#include "nbody/team.hpp"
#include "nbody_oracle.hpp"

using namespace nbody;
using namespace nbody_oracle;

namespace {

constexpr std::uint64_t seed = 20261122;

template <class Check>
void for_kernels(const Check& check) {
  for (const InstructionSet& set : instruction_sets())
    for (const Kernel& kernel : set.kernels) {
      CAPTURE(set.name);
      CAPTURE(kernel.name);
      check(kernel);
    }
}

template <class Check>
void for_fields(const Check& check) {
  for (const InstructionSet& set : instruction_sets()) {
    CAPTURE(set.name);
    check(set.field, 2.2e-16);
    check(set.single_field, 1.4e-7);
  }
}

const Kernel& named(const std::string& name) {
  return *std::ranges::find(instruction_sets().front().kernels, name, &Kernel::name);
}

void kernel_within(const Kernel& kernel, const Bodies& bodies, Vectors& sums) {
  kernel.within(bodies.points(), {0, bodies.size()}, 0, sums.sums());
}

/// Of a single pull, root mean square: little more than the few roundings that it takes, or than what `reduced` leaves
/// out.
double rounding_of(const Kernel& kernel) {
  if (kernel.name == "single") return 1.4e-7;
  return kernel.name == "reduced" ? 5e-9 : 2.2e-16;
}

/// Sum of m a, relative to the sum of m |a|.
double momentum_error(const Bodies& bodies, const Vectors& a) {
  Real x = 0, y = 0, z = 0, scale = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    x += Real(bodies.m[i]) * a[0][i];
    y += Real(bodies.m[i]) * a[1][i];
    z += Real(bodies.m[i]) * a[2][i];
    scale += bodies.m[i] * std::sqrt(squared_length(a[0][i], a[1][i], a[2][i]));
  }
  return static_cast<double>(std::sqrt(squared_length(x, y, z)) / scale);
}

}  // namespace

TEST_CASE("every kernel's pulls are those in long double, within the error on its label") {
  CAPTURE(seed);
  for (const std::size_t count : {2U, 3U, 5U, 8U, 9U, 31U, 100U, 643U, 1301U})
    for (const double eps : {0.0, 0.01}) {
      const Bodies bodies = scattered(count, seed + count);
      const Range all{0, count};
      const std::vector<Pull> right = pulls(bodies, all, all, Real(eps * eps));
      CAPTURE(count);
      CAPTURE(eps);
      for_kernels([&](const Kernel& kernel) {
        Vectors within(count), onto(count);
        kernel.within(bodies.points(), all, eps * eps, within.sums());
        kernel.onto(bodies.points(), all, bodies.points(), all, eps * eps, onto.sums());
        CHECK(relative_error(within, right, all) <= kernel.error);
        CHECK(relative_error(onto, right, all) <= kernel.error);
      });
    }
}

TEST_CASE("in double precision the pulls of all bodies on each other cancel to 1e-15") {
  const Bodies bodies = scattered(1000, seed);
  for_kernels([&](const Kernel& kernel) {
    if (kernel.error > 1e-14) return;
    Vectors sums(bodies.size());
    kernel.within(bodies.points(), {0, bodies.size()}, 0, sums.sums());
    CHECK(momentum_error(bodies, sums) <= 1e-15);
  });
}

TEST_CASE("rectangles of pairs, wherever they begin and end, add to what there is") {
  CAPTURE(seed);
  const std::size_t count = 777;
  const Bodies bodies = scattered(count, seed);
  for (const auto& [rows, columns] : {std::pair<Range, Range>{{0, 1}, {1, 2}},
                                      {{3, 10}, {11, 40}},
                                      {{5, 6}, {6, 777}},
                                      {{700, 777}, {0, 699}},
                                      {{1, 3}, {3, 3}},
                                      {{4, 4}, {5, 9}}}) {
    CAPTURE(rows.begin);
    CAPTURE(columns.begin);
    const std::vector<Pull> on_rows = pulls(bodies, rows, columns, 0),
                            on_columns = pulls(bodies, columns, rows, 0);
    for_kernels([&](const Kernel& kernel) {
      Vectors both(count), onto(count);
      kernel.between(bodies.points(), rows, bodies.points(), columns, 0, both.sums(), both.sums());
      kernel.onto(bodies.points(), rows, bodies.points(), columns, 0, onto.sums());
      if (!rows.empty()) CHECK(relative_error(both, on_rows, rows) <= kernel.error);
      if (!rows.empty()) CHECK(relative_error(onto, on_rows, rows) <= kernel.error);
      if (!columns.empty()) CHECK(relative_error(both, on_columns, columns) <= kernel.error);
      for (std::size_t i = 0; i < count; ++i)
        if ((i < rows.begin || i >= rows.end) && (i < columns.begin || i >= columns.end))
          REQUIRE(both.at(i) == std::array<double, 3>{});
      const Vectors once = both;
      kernel.between(bodies.points(), rows, bodies.points(), columns, 0, both.sums(), both.sums());
      for (const std::size_t body : {rows.begin, columns.begin})
        CHECK(both[0][body] == doctest::Approx(2 * once[0][body]).epsilon(1e-12));
    });
  }
}

TEST_CASE("bodies at one place do not pull each other, and pull all others") {
  Bodies bodies = scattered(50, seed);
  for (const std::size_t same : {7U, 20U, 49U})
    for (std::size_t axis = 0; axis < 3; ++axis) bodies.place[axis][same] = bodies.place[axis][3];
  const Range all{0, bodies.size()};
  for (const double eps2 : {0.0, 1e-202, 1e-4}) {
    CAPTURE(eps2);
    const std::vector<Pull> right = pulls(bodies, all, all, Real(eps2));
    for_kernels([&](const Kernel& kernel) {
      Vectors within(bodies.size()), onto(bodies.size());
      kernel.within(bodies.points(), all, eps2, within.sums());
      kernel.onto(bodies.points(), all, bodies.points(), all, eps2, onto.sums());
      CHECK(relative_error(within, right, all) <= kernel.error);
      CHECK(relative_error(onto, right, all) <= kernel.error);
    });
  }
}

TEST_CASE("what counts as one place begins where the cube would overflow, and far bodies do not overflow") {
  Bodies two(2);
  two.m = {1, 1};
  for_kernels([&](const Kernel& kernel) {
    const auto pull_at = [&](double distance) {
      two.place[0][1] = distance;
      Vectors sums(2);
      kernel.within(two.points(), {0, 2}, 0, sums.sums());
      CHECK(sums[0][0] == -sums[0][1]);
      return sums[0][0];
    };
    CHECK(pull_at(0) == 0);
    if (kernel.name != "single") CHECK(pull_at(0.9 * coincident) == 0);
    CHECK(pull_at(1.1 * coincident) == doctest::Approx(1 / (1.21e-200)).epsilon(1e-5));
    CHECK(pull_at(1e-3) == doctest::Approx(1e6).epsilon(1e-5));
    CHECK(pull_at(0.99 * farthest) == doctest::Approx(1 / (0.9801e200)).epsilon(1e-5));
  });
}

TEST_CASE("bodies without mass are pulled and do not pull") {
  Bodies bodies = scattered(20, seed);
  for (std::size_t i = 0; i < 20; i += 2) bodies.m[i] = 0;
  const std::vector<Pull> right = pulls(bodies, {0, 20}, {0, 20}, 0);
  for_kernels([&](const Kernel& kernel) {
    Vectors sums(20);
    kernel.within(bodies.points(), {0, 20}, 0, sums.sums());
    CHECK(relative_error(sums, right, {0, 20}) <= kernel.error);
  });
}

TEST_CASE("the bits of a row's sum do not depend on the other rows") {
  const std::size_t count = 1400;
  const Bodies bodies = scattered(count, seed);
  for_kernels([&](const Kernel& kernel) {
    if (kernel.name == "single") return;  // its unit of length depends on the rows
    Vectors together(count), alone(count);
    kernel.onto(bodies.points(), {0, count}, bodies.points(), {0, count}, 1e-4, together.sums());
    for (std::size_t i = 0; i < count; i += 37)
      kernel.onto(bodies.points(), {i, i + 1}, bodies.points(), {0, count}, 1e-4, alone.sums());
    for (std::size_t i = 0; i < count; i += 37) CHECK(together.at(i) == alone.at(i));
  });
}

TEST_CASE("forces of masses and lengths that are too different are left to accelerations") {
  const Kernel& forces = named("forces");
  for (const auto& [mass, length] :
       {std::pair{1.0, 1.0}, {1e-40, 1.0}, {1e-320, 1.0}, {1.0, 1e70}, {0.0, 1.0}}) {
    CAPTURE(mass);
    CAPTURE(length);
    Bodies bodies = scattered(100, seed);
    bodies.m[3] = mass;
    bodies.place[1][5] = length;
    const std::vector<Pull> right = pulls(bodies, {0, 100}, {0, 100}, 0);
    Vectors within(100), between(100);
    kernel_within(forces, bodies, within);
    forces.between(bodies.points(), {0, 50}, bodies.points(), {50, 100}, 0, between.sums(), between.sums());
    CHECK(relative_error(within, right, {0, 100}) <= forces.error);
    CHECK(relative_error(between, pulls(bodies, {0, 50}, {50, 100}, 0), {0, 50}) <= forces.error);
  }
}

TEST_CASE("the force of a pair is computed as one number where all forces are representable") {
  const Bodies bodies = scattered(100, seed);
  const Range all{0, 100};
  CHECK(unit_of_forces(bodies.points(), all, bodies.points(), all) == 0.5);
  const auto unit_with = [&](std::size_t axis, double value) {
    Bodies other = bodies;
    (axis == 3 ? other.m[7] : other.place[axis][7]) = value;
    return unit_of_forces(other.points(), {0, 3}, other.points(), {3, 100});
  };
  CHECK(unit_with(3, 12.0) == 8.0);
  CHECK_FALSE(unit_with(3, 0));
  CHECK_FALSE(unit_with(3, 1e-31));
  for (const std::size_t axis : {0U, 1U, 2U}) CHECK_FALSE(unit_with(axis, -1e60));
}

TEST_CASE(
    "a pair's pull is right to rounding at every distance: no coefficient is off in a digit that matters") {
  // Over two octaves of r^2, what the estimate of 1 / r does repeats itself.
  constexpr std::size_t count = 20'000;
  Bodies bodies(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    bodies.place[0][i] = 1 + static_cast<double>(i) / count;
    bodies.m[i] = 1;
  }
  bodies.m[count] = 1;
  const Range rows{0, count}, column{count, count + 1};
  const std::vector<Pull> right = pulls(bodies, rows, column, 0);
  for_kernels([&](const Kernel& kernel) {
    Vectors onto(count + 1), between(count + 1);
    kernel.onto(bodies.points(), rows, bodies.points(), column, 0, onto.sums());
    kernel.between(bodies.points(), rows, bodies.points(), column, 0, between.sums(), between.sums());
    CHECK(relative_error(onto, right, rows) <= rounding_of(kernel));
    CHECK(relative_error(between, right, rows) <= rounding_of(kernel));
  });
  for_fields([&](const FieldKernel& kernel, double rounding) {
    Vectors sums(count + 1);
    std::vector<double> potentials(count + 1);
    kernel.onto(bodies.points(), rows, column, 0, sums.sums(), potentials.data());
    CHECK(relative_error(sums, right, rows) <= rounding);
    double squares = 0;
    for (std::size_t i = 0; i < count; ++i) squares += std::pow(potentials[i] * bodies.place[0][i] + 1, 2);
    // A potential takes fewer roundings.
    CHECK(std::sqrt(squares / count) <= rounding / 2);
  });
}

TEST_CASE("fields leave out the potential of the body itself") {
  const Bodies bodies = scattered(333, seed);
  for (const double eps : {0.0, 1e-9, 0.1}) {
    CAPTURE(eps);
    const std::vector<Pull> right = pulls(bodies, {0, 333}, {0, 333}, Real(eps * eps));
    for_fields([&](const FieldKernel& kernel, double) {
      std::vector<double> found(bodies.size());
      Vectors sums(bodies.size());
      const auto add = [&](Range rows, Range columns) {
        kernel.onto(bodies.points(), rows, columns, eps * eps, sums.sums(), found.data());
      };
      add({0, 100}, {0, 333});
      add({100, 333}, {0, 107});
      add({100, 333}, {107, 333});
      CHECK(relative_error(sums, right, {0, 333}) <= kernel.error);
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        const auto depth = static_cast<double>(potential_at(bodies, i, Real(eps * eps)));
        REQUIRE(std::abs(found[i] - depth) <= kernel.error * std::abs(depth));
      }
    });
  }
}

TEST_CASE("a team finds what one thread finds, and one-sided sums to the same bits") {
  const std::size_t count = 403;
  const Bodies bodies = scattered(count, seed);
  const InstructionSet& set = instruction_sets().front();
  const Kernel& kernel = set.kernels.front();
  const Range all{0, count};
  const std::vector<Pull> right = pulls(bodies, all, all, Real(1e-4));
  const Work work = {Piece{{0, 100}, {0, 100}}, Piece{{0, 100}, {100, count}},
                     Piece{{100, count}, {100, count}}};
  Vectors one(count);
  Team(kernel, set, 1e-4).onto(bodies.points(), all, all, one.sums());
  const int most = has_threads() ? 5 : 1;
  for (int threads = 1; threads <= most; ++threads)
    for (const Deal deal : {Deal::fair, Deal::rows}) {
      CAPTURE(threads);
      Team team(kernel, set, 1e-4, threads, deal);
      Vectors both(count), onto(count);
      team.both(bodies.points(), work, both.sums());
      team.onto(bodies.points(), all, all, onto.sums());
      CHECK(relative_error(both, right, all) <= kernel.error);
      CHECK(onto == one);
      Vectors again(count);
      team.both(bodies.points(), work, again.sums());
      CHECK(again == both);
    }
}
