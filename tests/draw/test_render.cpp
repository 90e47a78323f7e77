#include <doctest/doctest.h>

#include <string>

#include "base/error.hpp"
#include "draw/render.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "schedule/blocks/block_verify.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;
using namespace wherry::draw;

namespace {

constexpr Caption caption{"a <title> & \"more\"", "second line"};

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// Opened and closed elements balance: enough to catch a forgotten end tag, given that all text is escaped.
bool balanced(const std::string& svg) {
  const std::size_t self_closed = count(svg, "/>");
  const std::size_t closed = count(svg, "</");
  return count(svg, "<") - closed == closed + self_closed;
}

}  // namespace

TEST_CASE("render: text names every message once") {
  const Placement placement = Placement::spread(4, 2);
  const std::string text = render_text({"mesh on 4 ranks", "two hops"}, placement,
                                       picture_of(schedules(*find_strategy("mesh"), placement)));
  CHECK(text ==
        "mesh on 4 ranks\n"
        "two hops\n"
        "node 0: 0 1\n"
        "node 1: 2 3\n"
        "\n"
        "phase 1: 1 message per rank, 2 blocks each\n"
        "  0 ->  1 x2\n"
        "  1 ->  0 x2\n"
        "  2 ->  3 x2\n"
        "  3 ->  2 x2\n"
        "\n"
        "phase 2: 1 message per rank, 2 blocks each\n"
        "  0 ->  2 x2\n"
        "  1 ->  3 x2\n"
        "  2 ->  0 x2\n"
        "  3 ->  1 x2\n");
}

TEST_CASE(
    "render: SVG has an arrow per message and is well formed, for every strategy and number of phases") {
  for (const Strategy& s : strategies()) {
    const Placement placement = Placement::spread(18, s.applies(Placement::flat(18)) ? 18 : 5);
    if (!s.applies(placement)) continue;
    CAPTURE(s.name);
    const auto all = schedules(s, placement);
    std::size_t messages = 0;
    for (const Schedule& schedule : all) messages += schedule.sends.size();
    const std::string svg = render_svg(caption, placement, picture_of(all));
    CHECK(count(svg, "<title>phase ") == messages);
    CHECK(balanced(svg));
    CHECK(svg.find("nan") == std::string::npos);
  }
}

TEST_CASE("render: captions are escaped") {
  const Placement placement = Placement::flat(2);
  const std::string svg =
      render_svg(caption, placement, picture_of(schedules(*find_strategy("direct"), placement)));
  CHECK(svg.find("a &lt;title&gt; &amp; &quot;more&quot;") != std::string::npos);
  CHECK(svg.find("<title> &") == std::string::npos);
}

TEST_CASE("render: one rank, and more ranks than can be drawn") {
  const Strategy& direct = *find_strategy("direct");
  const Placement one = Placement::flat(1);
  CHECK(balanced(render_svg(caption, one, picture_of(schedules(direct, one)))));
  CHECK(render_text({"t", "s"}, one, picture_of(schedules(direct, one))) == "t\ns\n");
  const Placement many = Placement::flat(most_drawn + 1);
  CHECK_THROWS_AS(render_svg(caption, many, picture_of(schedules(direct, many))), wherry::usage_error);
  CHECK_THROWS_AS(render_text(caption, many, picture_of(schedules(direct, many))), wherry::usage_error);
}

TEST_CASE("render: ranks without work in a phase do not shift the phases of others") {
  // Leaders have three phases, other ranks two: all hand-outs belong to the third column.
  const Placement placement = Placement::blocked(6, 3);
  const std::string text =
      render_text({"t", "s"}, placement, picture_of(schedules(*find_strategy("leader"), placement)));
  CHECK(count(text, "\nphase ") == 3);
  CHECK(text.find("phase 2: 1 message per rank, 9 blocks each\n  0 ->  3 x9\n  3 ->  0 x9\n") !=
        std::string::npos);
}
