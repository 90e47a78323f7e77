#include "barnes_hut/bodies.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "support/json.hpp"
#include "support/lines.hpp"
#include "support/mix.hpp"

namespace barnes_hut {
namespace {

/// Numbers between 0 and 1 that belong to one body.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t id) : state_(apps::mix(apps::mix(seed) ^ id)) {}

  double operator()() {
    state_ = apps::mix(state_);
    return (static_cast<double>(state_ >> 11) + 0.5) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

struct Vector {
  double x, y, z;
};

Vector in_any_direction(double length, Draw& draw) {
  const double z = (2 * draw() - 1) * length, angle = 2 * std::numbers::pi * draw();
  const double across = std::sqrt(length * length - z * z);
  return {across * std::cos(angle), across * std::sin(angle), z};
}

/// The share of the speed of escape: von Neumann's rejection from q^2 (1 - q^2)^(7/2), which is below 0.1.
double share_of_escape(Draw& draw) {
  for (;;) {
    const double q = draw();
    if (0.1 * draw() < q * q * std::pow(1 - q * q, 3.5)) return q;
  }
}

Particle particle(std::uint64_t seed, std::uint64_t id, double mass) {
  // In units of the sphere's own radius; a thousandth of the mass, far out, is left out.
  constexpr double innermost = 1e-10, outermost = 0.999;
  constexpr double scale = 3 * std::numbers::pi / 16;
  Draw draw(seed, id);
  const double within = innermost + draw() * (outermost - innermost);
  const double radius = 1 / std::sqrt(std::pow(within, -2.0 / 3) - 1);
  const Vector place = in_any_direction(radius * scale, draw);
  const double escape = std::sqrt(2.0) * std::pow(1 + radius * radius, -0.25);
  const Vector velocity = in_any_direction(share_of_escape(draw) * escape / std::sqrt(scale), draw);
  return {.body = {place.x, place.y, place.z, mass},
          .vx = velocity.x,
          .vy = velocity.y,
          .vz = velocity.z,
          .id = id};
}

constexpr double most_finite = std::numeric_limits<double>::max();
constexpr double largest = 1e100;  // products of three are numbers still, with room for sums

/// A mass, a length or a speed.
double quantity(apps::Lines& lines, const std::string& what, double least) {
  const double value = lines.number<double>(what, least, most_finite);
  if (std::abs(value) <= largest) return value;
  lines.fail("the " + what + " " + apps::json_number(value) + " is beyond " + apps::json_number(largest) +
             ", and forces would overflow; write all bodies in larger units");
}

}  // namespace

std::vector<Particle> plummer(std::uint64_t seed, std::uint64_t first, std::uint64_t count,
                              std::uint64_t all) {
  std::vector<Particle> particles;
  particles.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i)
    particles.push_back(particle(seed, first + i, 1 / static_cast<double>(all)));
  return particles;
}

std::vector<Particle> parse_bodies(const std::string& name, std::string_view text) {
  apps::Lines lines(name, text);
  std::vector<Particle> particles;
  while (lines.next_but("#")) {
    if (particles.size() == most_bodies)
      lines.fail("there are more than " + std::to_string(most_bodies) + " bodies");
    Particle p;
    p.body.mass = quantity(lines, "mass", 0);
    for (double* coordinate : {&p.body.x, &p.body.y, &p.body.z})
      *coordinate = quantity(lines, "coordinate", -most_finite);
    for (double* component : {&p.vx, &p.vy, &p.vz}) *component = quantity(lines, "velocity", -most_finite);
    lines.expect_end();
    p.id = particles.size();
    particles.push_back(p);
  }
  return particles;
}

}  // namespace barnes_hut
