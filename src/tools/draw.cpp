// wherry-plan draw: a picture of a strategy.
#include <iostream>

#include "base/error.hpp"
#include "draw/picture.hpp"
#include "draw/render.hpp"
#include "schedule/blocks/block_verify.hpp"
#include "tools/commands.hpp"
#include "tools/questions.hpp"

namespace wherry::tools {
namespace {

draw::Picture picture(const schedule::Algorithm& algorithm, const topology::Placement& placement, int root) {
  return algorithm.visit(
      [&](const schedule::Strategy& s) { return draw::picture_of(schedule::schedules(s, placement)); },
      [&](const schedule::SegmentStrategy& s, int depth) {
        return draw::picture_of(schedule::schedules(s, placement, {.root = root, .depth = depth}),
                                s.operation, root);
      });
}

std::string title(const NamedCollective& operation, const schedule::Algorithm& algorithm,
                  const topology::Placement& placement, int root) {
  const bool is_alltoall = !operation.segments && !operation.of_neighbors();
  const std::string prefix = is_alltoall ? "" : operation.name + " ";
  std::string text = prefix + std::string(algorithm.name()) + " on " + plural(placement.size(), "rank");
  if (placement.nodes() < placement.size()) text += ", " + plural(placement.nodes(), "node");
  if (operation.has_root()) text += ", root " + std::to_string(root);
  if (algorithm.is_pipelined()) text += ", depth " + std::to_string(algorithm.depth());
  return text;
}

}  // namespace

int draw(Words words) {
  const CommandLine options(
      words, {"-n", "--nodes", "--node-of", "--root", "--depth", "--format", "--grid", "--reach"}, 2);
  const std::string format = options.text("--format").value_or("svg");
  if (format != "svg" && format != "text")
    throw usage_error("unknown format '" + format + "' (have: svg, text); give one of them");
  const NamedStrategy asked = named_strategy(options.positionals());
  const std::optional<Stencil> stencil = stencil_of(options, asked.operation);
  const topology::Placement placement = stencil ? stencil->placement : placement_of(options);
  const schedule::Algorithm algorithm = stencil ? asked.algorithm : applicable(asked, options, placement);
  const int root = root_of(options, asked.operation, placement);
  if (placement.size() > draw::most_drawn)
    throw usage_error("-n " + std::to_string(placement.size()) +
                      " is more than a picture can show; draw at most " + std::to_string(draw::most_drawn) +
                      " ranks");
  const std::string heading = title(asked.operation, algorithm, placement, root);
  const draw::Picture drawn = stencil ? draw::picture_of(routed(*stencil, algorithm).schedules())
                                      : picture(algorithm, placement, root);
  std::cout << (format == "svg" ? draw::render_svg : draw::render_text)({heading, algorithm.summary()},
                                                                        placement, drawn);
  return 0;
}

}  // namespace wherry::tools
