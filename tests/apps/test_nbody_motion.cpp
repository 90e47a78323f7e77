#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "nbody/conserved.hpp"
#include "nbody/integrators.hpp"
#include "nbody/models.hpp"
#include "nbody/snapshot.hpp"
#include "nbody/team.hpp"

using namespace nbody;

namespace {

const Integrator& integrator_named(const std::string& name) {
  return *std::ranges::find(integrators(), name, &Integrator::name);
}

/// A run in this process.
class Motion {
 public:
  Motion(Bodies start, const Integrator& integrator, double dt, double eps = 0)
      : bodies(std::move(start)),
        integrator_(integrator),
        dt_(dt),
        team_(set().kernels.front(), set(), eps * eps),
        accelerations_(bodies.size()) {
    accelerate();
  }

  void steps(int count) {
    for (int i = 0; i < count; ++i)
      step(integrator_, bodies, accelerations_, all(), dt_, [&] { accelerate(); });
  }
  Conserved measured() {
    std::vector<double> potentials(bodies.size());
    team_.potential(bodies.points(), all(), bodies.size(), potentials.data());
    return conserved(bodies, potentials);
  }

  Bodies bodies;

 private:
  static const InstructionSet& set() { return instruction_sets().front(); }
  Range all() const { return {0, bodies.size()}; }
  void accelerate() {
    std::ranges::fill(accelerations_.all(), 0.0);
    team_.both(bodies.points(), {Piece{all(), all()}}, accelerations_.sums());
  }

  const Integrator& integrator_;
  double dt_;
  Team team_;
  Vectors accelerations_;
};

double farthest_apart(const Vectors& a, const Vectors& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.all().size(); ++i) most = std::max(most, std::abs(a.all()[i] - b.all()[i]));
  return most;
}

/// How far two bodies on their ellipse are from where they were one period before.
double error_after_period(const Integrator& integrator, int steps) {
  Motion motion(kepler(), integrator, kepler_period / steps);
  motion.steps(steps);
  return farthest_apart(motion.bodies.place, kepler().place);
}

/// Where two bodies on their ellipse are some way on; not at a whole period, where errors of Euler's way cancel.
Vectors place_on_the_way(const Integrator& integrator, int steps) {
  Motion motion(kepler(), integrator, 0.3 * kepler_period / steps);
  motion.steps(steps);
  return motion.bodies.place;
}

/// The largest change in energy on the way.
double energy_error(const Integrator& integrator, int steps) {
  Motion motion(kepler(), integrator, kepler_period / steps);
  const double before = motion.measured().energy();
  double most = 0;
  for (int i = 0; i < steps; ++i) {
    motion.steps(1);
    most = std::max(most, std::abs(motion.measured().energy() - before));
  }
  return most;
}

}  // namespace

TEST_CASE("halving the time step divides the error by two to the integrator's order") {
  const Vectors right = place_on_the_way(integrator_named("yoshida6"), 3000);
  for (const Integrator& integrator : integrators()) {
    CAPTURE(integrator.name);
    // With more steps rounding would be seen at high orders.
    const int steps = integrator.order > 4 ? 25 : 300;
    const double fewer = farthest_apart(place_on_the_way(integrator, steps), right);
    const double more = farthest_apart(place_on_the_way(integrator, 2 * steps), right);
    CHECK(std::log2(fewer / more) == doctest::Approx(integrator.order).epsilon(0.02));
  }
}

TEST_CASE("the energy error of leapfrog falls by four when dt halves") {
  CHECK(energy_error(integrator_named("leapfrog"), 1000) / energy_error(integrator_named("leapfrog"), 2000) ==
        doctest::Approx(4).epsilon(0.02));
}

TEST_CASE("two bodies come back after their period") {
  CHECK(error_after_period(integrator_named("yoshida4"), 4000) < 1e-7);
  CHECK(error_after_period(integrator_named("leapfrog"), 4000) < 1e-3);
  CHECK(error_after_period(integrator_named("yoshida6"), 1000) < 1e-7);
  Motion half(kepler(), integrator_named("yoshida4"), kepler_period / 4000);
  half.steps(2000);
  // Then they are nearest to each other: 1 - e.
  CHECK(half.bodies.place[0][0] - half.bodies.place[0][1] == doctest::Approx(0.5).epsilon(1e-7));
}

TEST_CASE("the coefficients of every integrator add up to one step") {
  for (const Integrator& integrator : integrators()) {
    CAPTURE(integrator.name);
    double kicks = 0, drifts = 0;
    for (const double k : integrator.kicks) kicks += k;
    for (const double d : integrator.drifts) drifts += d;
    CHECK(kicks == doctest::Approx(1).epsilon(1e-15));
    CHECK(drifts == doctest::Approx(1).epsilon(1e-15));
    CHECK(integrator.kicks.size() == integrator.drifts.size() + 1);
  }
}

TEST_CASE("with the velocities turned round, a cluster goes back the way that it came") {
  const Bodies start = models()[0].make(60, 5);
  for (const char* name : {"leapfrog", "yoshida4", "yoshida6"}) {
    CAPTURE(name);
    Motion there(start, integrator_named(name), 1e-3, 0.05);
    there.steps(100);
    CHECK(farthest_apart(there.bodies.place, start.place) > 1e-2);
    for (double& v : there.bodies.velocity.all()) v = -v;
    Motion back(there.bodies, integrator_named(name), 1e-3, 0.05);
    back.steps(100);
    CHECK(farthest_apart(back.bodies.place, start.place) < 1e-12);
  }
}

TEST_CASE("a cluster keeps its energy, momentum and angular momentum") {
  Motion motion(models()[0].make(200, 7), integrator_named("leapfrog"), 1e-3, 0.05);
  const Conserved before = motion.measured();
  motion.steps(100);
  const Drift drift = drift_between(before, motion.measured());
  CHECK(drift.energy < 1e-6);
  CHECK(drift.momentum < 1e-14);
  CHECK(drift.angular_momentum < 1e-14);
  CHECK(energy_warning(drift).empty());
}

TEST_CASE("an absurd time step is told by the energy") {
  Motion motion(models()[0].make(100, 7), integrator_named("leapfrog"), 5);
  const Conserved before = motion.measured();
  motion.steps(20);
  const std::string warning = energy_warning(drift_between(before, motion.measured()));
  CHECK(warning.find("write a smaller --dt") != std::string::npos);
}

TEST_CASE("a run that goes on from its snapshot is at the same bits as one that never stopped") {
  const RunState state{.step = 0, .dt = 1e-3, .eps = 0.01, .integrator = "leapfrog"};
  Motion whole(models()[0].make(101, 3), integrator_named("leapfrog"), state.dt, state.eps);
  Motion first = whole;
  whole.steps(20);
  first.steps(10);
  const Snapshot stored = parse_snapshot(snapshot_text(first.bodies, state), "stored");
  Motion second(stored.bodies, integrator_named(stored.state->integrator), stored.state->dt,
                stored.state->eps);
  second.steps(10);
  CHECK(second.bodies == whole.bodies);
}

TEST_CASE("Plummer's model has mass 1, energy -1/4, is in equilibrium and at rest as a whole") {
  Motion motion(models()[0].make(4000, 1), integrator_named("leapfrog"), 1);
  const Conserved c = motion.measured();
  CHECK(c.energy() == doctest::Approx(-0.25).epsilon(0.05));
  CHECK(-2 * c.kinetic / c.potential == doctest::Approx(1).epsilon(0.05));
  CHECK(std::abs(c.momentum[0]) < 1e-14);
}

TEST_CASE("a homogeneous sphere has the potential energy -3/5") {
  Motion motion(models()[1].make(4000, 1), integrator_named("leapfrog"), 1);
  CHECK(motion.measured().energy() == doctest::Approx(-0.6).epsilon(0.02));
  CHECK(motion.measured().kinetic == 0);
}

TEST_CASE("a seed draws the same bodies again, another one others") {
  for (const Model& model : models()) {
    if (model.most == 2) continue;
    CAPTURE(model.name);
    CHECK(model.make(10, 3) == model.make(10, 3));
    CHECK_FALSE(model.make(10, 3) == model.make(10, 4));
  }
}
