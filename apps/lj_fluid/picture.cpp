// A fluid as SVG, seen along the diagonal of its box.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "lj_fluid/outputs.hpp"
#include "support/columns.hpp"

namespace lj_fluid {
namespace {

// From slow to fast.
constexpr std::array colours = {"#2c5aa0", "#3a86c8", "#6fb7c9", "#e8c35a", "#e88b3a", "#c8402f"};
constexpr double pixels = 560;   // across the box
constexpr double visible = 2.2;  // how deep one looks between particles of diameter 1

double speed_of(const Atom& atom) { return std::hypot(atom.velocity[0], atom.velocity[1], atom.velocity[2]); }

/// Where a point is seen when one looks along (-1, -1, -1), and how near it is.
struct Seen {
  double right, down, near;
};
Seen seen(const Vector& at) {
  return {(at[1] - at[0]) / std::numbers::sqrt2, (at[0] + at[1] - 2 * at[2]) / std::sqrt(6.0),
          at[0] + at[1] + at[2]};
}

struct Ball {
  Seen place;
  std::size_t colour;
};

/// The nearest ones last, which are drawn over the others.
std::vector<Ball> balls(const Configuration& all) {
  double mean = 0;
  for (const Atom& atom : all.atoms) mean += speed_of(atom) / static_cast<double>(all.atoms.size());
  std::vector<Ball> found;
  for (const Atom& atom : all.atoms) {
    bool near_face = false;
    Vector at;
    for (std::size_t k = 0; k < 3; ++k) {
      near_face |= all.upper[k] - atom.position[k] < visible;
      at[k] = atom.position[k] - all.lower[k];
    }
    if (!near_face) continue;
    const double part = mean > 0 ? speed_of(atom) / (2 * mean) : 0;
    const auto colour = static_cast<std::size_t>(std::clamp(part, 0.0, 0.999) * colours.size());
    found.push_back({seen(at), colour});
  }
  std::ranges::sort(found, {}, [](const Ball& ball) { return ball.place.near; });
  return found;
}

/// Light comes from the upper left.
std::string shades(double radius) {
  std::string text = "<defs>\n";
  for (std::size_t c = 0; c < colours.size(); ++c) {
    const std::string name = std::to_string(c);
    text += "<radialGradient id=\"g" + name +
            "\" cx=\".35\" cy=\".3\" r=\".8\"><stop stop-color=\"#fff\"/>"
            "<stop offset=\".35\" stop-color=\"" +
            colours[c] + "\"/><stop offset=\"1\" stop-color=\"#151b26\"/></radialGradient>\n<circle id=\"b" +
            name + "\" r=\"" + apps::fixed(radius, 2) + "\" fill=\"url(#g" + name + ")\"/>\n";
  }
  return text + "</defs>\n";
}

}  // namespace

std::string picture_svg(const Configuration& all) {
  const Vector lengths{all.upper[0] - all.lower[0], all.upper[1] - all.lower[1], all.upper[2] - all.lower[2]};
  // The corners that are seen outermost, and half a particle.
  const double left = seen({lengths[0], 0, 0}).right - 0.5, right = seen({0, lengths[1], 0}).right + 0.5;
  const double top = seen({0, 0, lengths[2]}).down - 0.5,
               bottom = seen({lengths[0], lengths[1], 0}).down + 0.5;
  const double scale = pixels / (right - left);
  const std::string size =
      apps::fixed(pixels, 0) + "\" height=\"" + apps::fixed(scale * (bottom - top), 0) + "\"";
  std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + ">\n" + shades(scale / 2);
  for (const Ball& ball : balls(all))
    text += "<use href=\"#b" + std::to_string(ball.colour) + "\" x=\"" +
            apps::fixed(scale * (ball.place.right - left), 1) + "\" y=\"" +
            apps::fixed(scale * (ball.place.down - top), 1) + "\"/>\n";
  return text + "</svg>\n";
}

}  // namespace lj_fluid
