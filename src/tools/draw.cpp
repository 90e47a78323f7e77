// wherry-plan draw: a picture of a strategy.
#include <iostream>

#include "base/error.hpp"
#include "plan/render.hpp"
#include "plan/segments/picture.hpp"
#include "plan/verify.hpp"
#include "tools/commands.hpp"
#include "tools/questions.hpp"

namespace wherry::tools {
namespace {

plan::Picture picture(const choose::Way& way, const plan::Shape& shape, int root) {
  if (way.exchange != nullptr) return plan::picture_of(plan::schedules(*way.exchange, shape));
  const plan::SegmentStrategy& s = *way.segments;
  return plan::picture_of(plan::schedules(s, shape, {.root = root, .depth = way.depth}), s.operation, root);
}

std::string title(const Operation& operation, const choose::Way& way, const plan::Shape& shape, int root) {
  const std::string prefix = way.exchange != nullptr ? "" : operation.name + " ";
  std::string text = prefix + std::string(way.name()) + " on " + plural(shape.size(), "rank");
  if (shape.nodes() < shape.size()) text += ", " + plural(shape.nodes(), "node");
  if (operation.has_root()) text += ", root " + std::to_string(root);
  if (way.is_pipelined()) text += ", depth " + std::to_string(way.depth);
  return text;
}

}  // namespace

int draw(Words words) {
  const Options options(
      words, {"-n", "--nodes", "--node-of", "--root", "--depth", "--format", "--grid", "--reach"}, 2);
  const std::string format = options.text("--format").value_or("svg");
  if (format != "svg" && format != "text")
    throw usage_error("unknown format '" + format + "' (have: svg, text); give one of them");
  const Subject asked = subject(options.positionals());
  const std::optional<Stencil> stencil = stencil_of(options, asked.operation);
  const plan::Shape shape = stencil ? stencil->shape : shape_of(options);
  const choose::Way way = stencil ? asked.way : applicable(asked, options, shape);
  const int root = root_of(options, asked.operation, shape);
  if (shape.size() > plan::most_drawn)
    throw usage_error("-n " + std::to_string(shape.size()) +
                      " is more than a picture can show; draw at most " + std::to_string(plan::most_drawn) +
                      " ranks");
  const std::string heading = title(asked.operation, way, shape, root);
  const plan::Picture drawn =
      stencil ? plan::picture_of(routed(*stencil, way).schedules()) : picture(way, shape, root);
  std::cout << (format == "svg" ? plan::render_svg : plan::render_text)({heading, way.summary()}, shape,
                                                                        drawn);
  return 0;
}

}  // namespace wherry::tools
