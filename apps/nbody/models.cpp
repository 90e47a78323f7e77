#include "nbody/models.hpp"

#include <cmath>
#include <limits>
#include <random>

namespace nbody {
namespace {

/// The standard fixes the numbers of its engine, but not those of its distributions.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  /// 0 <= u < 1.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double uniform(double least, double most) { return least + (most - least) * uniform(); }

  /// A vector of this length in any direction.
  void direction(double length, Vectors& vectors, std::size_t body) {
    const double height = uniform(-1, 1), angle = uniform(0, 2 * std::acos(-1.0));
    const double across = length * std::sqrt(1 - height * height);
    vectors[0][body] = across * std::cos(angle);
    vectors[1][body] = across * std::sin(angle);
    vectors[2][body] = length * height;
  }

 private:
  std::mt19937_64 engine_;
};

/// Moves the centre of mass, or its velocity, to zero.
void centre(Vectors& vectors, const std::vector<double>& m) {
  double mass = 0;
  for (const double one : m) mass += one;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::span<double> values = vectors[axis];
    double mean = 0;
    for (std::size_t i = 0; i < m.size(); ++i) mean += m[i] * values[i] / mass;
    for (double& value : values) value -= mean;
  }
}

/// Of a speed, in units of that of escape, in Plummer's model: the distribution q^2 (1 - q^2)^(7/2) by rejection.
double plummer_speed(Draw& draw) {
  constexpr double above_maximum = 0.1;
  for (;;) {
    const double q = draw.uniform(), height = draw.uniform(0, above_maximum);
    if (height < q * q * std::pow(1 - q * q, 3.5)) return q;
  }
}

/// Aarseth, Henon, Wielen: A comparison of numerical methods for the study of star cluster dynamics, Astronomy and
/// Astrophysics 37, 1974. In Henon's units: mass 1, energy -1/4.
Bodies plummer(std::size_t count, std::uint64_t seed) {
  const double length = 3 * std::acos(-1.0) / 16;
  Draw draw(seed);
  Bodies bodies(count);
  for (std::size_t i = 0; i < count; ++i) {
    bodies.m[i] = 1 / static_cast<double>(count);
    // Without the outermost thousandth, whose bodies are very far out.
    const double r = 1 / std::sqrt(std::pow(draw.uniform(1e-10, 0.999), -2.0 / 3) - 1);
    const double escape = std::sqrt(2.0) * std::pow(1 + r * r, -0.25);
    draw.direction(r * length, bodies.place, i);
    draw.direction(plummer_speed(draw) * escape / std::sqrt(length), bodies.velocity, i);
  }
  centre(bodies.place, bodies.m);
  centre(bodies.velocity, bodies.m);
  return bodies;
}

Bodies sphere(std::size_t count, std::uint64_t seed) {
  Draw draw(seed);
  Bodies bodies(count);
  for (std::size_t i = 0; i < count; ++i) {
    bodies.m[i] = 1 / static_cast<double>(count);
    draw.direction(std::cbrt(draw.uniform()), bodies.place, i);
  }
  centre(bodies.place, bodies.m);
  return bodies;
}

}  // namespace

const std::vector<Model>& models() {
  constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
  static const std::vector<Model> all = {
      {"plummer", "a cluster of stars in equilibrium, mass 1, energy -1/4", 1, any, plummer},
      {"sphere", "a homogeneous sphere of radius 1 and mass 1, at rest: it collapses", 1, any, sphere},
      {"kepler", "two bodies on an ellipse, period 2 pi", 2, 2,
       [](std::size_t, std::uint64_t) { return kepler(); }},
  };
  return all;
}

Bodies kepler() {
  constexpr double heavy = 0.75, light = 0.25, eccentricity = 0.5;
  Bodies bodies(2);
  bodies.m = {heavy, light};
  const double apart = 1 + eccentricity, speed = std::sqrt((1 - eccentricity) / (1 + eccentricity));
  bodies.place[0][0] = -light * apart;
  bodies.place[0][1] = heavy * apart;
  bodies.velocity[1][0] = -light * speed;
  bodies.velocity[1][1] = heavy * speed;
  return bodies;
}

Bodies scattered(std::size_t count, std::uint64_t seed) {
  Draw draw(seed);
  Bodies bodies(count);
  for (std::size_t i = 0; i < count; ++i) {
    bodies.m[i] = std::pow(10, draw.uniform(-6, 0));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      bodies.place[axis][i] = draw.uniform(-1, 1);
      bodies.velocity[axis][i] = draw.uniform(-1, 1);
    }
  }
  return bodies;
}

}  // namespace nbody
