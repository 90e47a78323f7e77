// Pictures of segment schedules: every message once, and what every rank has in the end.
#include <doctest/doctest.h>

#include <string>

#include "draw/picture.hpp"
#include "draw/render.hpp"

using namespace wherry::schedule;
using namespace wherry::topology;
using namespace wherry::draw;

namespace {

using enum Operation;

Picture picture(Operation operation, std::string_view name, const Placement& placement,
                Parameters parameters = {}) {
  const SegmentStrategy* s = find_strategy(operation, name);
  REQUIRE(s != nullptr);
  return picture_of(schedules(*s, placement, parameters), operation, parameters.root);
}

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// Whether the operation promises the segment to the rank.
bool is_promised(Operation operation, int root, int rank, int segment) {
  if (operation == gather || operation == reduce) return rank == root;
  if (operation == scatter || operation == reduce_scatter) return rank == segment;
  return true;
}

/// Calls law(strategy, placement, parameters) on a few placements with a few roots.
template <class Law>
void for_all(Law&& law) {
  for (const SegmentStrategy& s : segment_strategies())
    for (const Placement& placement :
         {Placement::flat(1), Placement::flat(8), Placement::flat(18), Placement::blocked(13, 5)}) {
      if (!s.applies(placement)) continue;
      for (const int root : {0, has_root(s.operation) ? placement.size() - 1 : 0}) {
        INFO(std::string(name(s.operation)), " ", std::string(s.name), " on ", placement.size(), " root ",
             root);
        law(s, placement, Parameters{.root = root, .depth = 3});
      }
    }
}

}  // namespace

TEST_CASE("Segments picture: in the end every rank has what the operation promises") {
  for_all([](const SegmentStrategy& s, const Placement& placement, const Parameters& p) {
    const Picture picture = picture_of(schedules(s, placement, p), s.operation, p.root);
    if (s.operation == barrier) {
      CHECK(picture.before.empty());
      return;
    }
    const std::vector<BarChart>& last =
        picture.columns.empty() ? picture.before : picture.columns.back().bar_charts;
    for (int rank = 0; rank < placement.size(); ++rank) {
      const BarChart& bar_chart = last[static_cast<std::size_t>(rank)];
      for (int segment = 0; segment < static_cast<int>(bar_chart.size()); ++segment)
        if (is_promised(s.operation, p.root, rank, segment))
          CHECK(bar_chart[static_cast<std::size_t>(segment)].share == doctest::Approx(1));
    }
  });
}

TEST_CASE("Segments picture: SVG has an arrow per message and a plus where data is combined") {
  for_all([](const SegmentStrategy& s, const Placement& placement, const Parameters& p) {
    const std::vector<SegmentSchedule> all = schedules(s, placement, p);
    std::size_t messages = 0, combined = 0;
    for (const SegmentSchedule& schedule : all) {
      messages += schedule.sends.size();
      for (const Transfer& t : schedule.receives) combined += t.action != Action::replace;
    }
    const std::string svg = render_svg({"t", "s"}, placement, picture_of(all, s.operation, p.root));
    CHECK(count(svg, "<title>step ") == messages);
    CHECK(count(svg, ", combined</title>") == combined);
    CHECK(count(svg, "a4.5,4.5 0 1 0 9,0") == combined);
    CHECK(count(svg, "<") - count(svg, "</") == count(svg, "</") + count(svg, "/>"));
    CHECK(svg.find("nan") == std::string::npos);
  });
}

TEST_CASE("Segments picture: a rank's bar chart tells what has come, and what was there") {
  const Picture all = picture(allreduce, "rabenseifner", Placement::flat(4));
  REQUIRE(all.columns.size() == 4);
  const BarChart& first = all.columns[0].bar_charts[0];
  REQUIRE(first.size() == 4);
  // Rank 1 sends the half that rank 0 keeps.
  CHECK(first[0].share == 0.5);
  CHECK(first[0].news == Bar::News::combined);
  CHECK(first[2].share == 0.25);
  CHECK(first[2].news == Bar::News::none);
  const BarChart& last = all.columns[3].bar_charts[0];
  CHECK(last[0].news == Bar::News::none);
  CHECK(last[2].news == Bar::News::replaced);
  CHECK(last[2].share == 1);
}

TEST_CASE("Segments picture: text names every message once, with its segments") {
  const Placement placement = Placement::spread(4, 2);
  CHECK(render_text({"allreduce", "by halving"}, placement, picture(allreduce, "rabenseifner", placement)) ==
        "allreduce\n"
        "by halving\n"
        "the buffer is cut into 4 segments; [0-3]: segments 0 to 3; +: combined with what the receiver has\n"
        "node 0: 0 1\n"
        "node 1: 2 3\n"
        "\n"
        "step 1: 1 message per rank, 2 segments each\n"
        "  0 ->  1 +[2-3]\n"
        "  1 ->  0 +[0-1]\n"
        "  2 ->  3 +[2-3]\n"
        "  3 ->  2 +[0-1]\n"
        "\n"
        "step 2: 1 message per rank, 1 segment each\n"
        "  0 ->  2 +[1]\n"
        "  1 ->  3 +[3]\n"
        "  2 ->  0 +[0]\n"
        "  3 ->  1 +[2]\n"
        "\n"
        "step 3: 1 message per rank, 1 segment each\n"
        "  0 ->  2 [0]\n"
        "  1 ->  3 [2]\n"
        "  2 ->  0 [1]\n"
        "  3 ->  1 [3]\n"
        "\n"
        "step 4: 1 message per rank, 2 segments each\n"
        "  0 ->  1 [0-1]\n"
        "  1 ->  0 [2-3]\n"
        "  2 ->  3 [0-1]\n"
        "  3 ->  2 [2-3]\n");
}

TEST_CASE("Segments picture: ranges that wrap, a root, and messages that carry nothing") {
  const Placement placement = Placement::flat(3);
  const std::string bruck = render_text({"t", "s"}, placement, picture(allgather, "bruck", placement));
  CHECK(bruck.find("  0 ->  2 [0]\n") != std::string::npos);
  const std::string bcast_text =
      render_text({"t", "s"}, placement, picture(bcast, "linear", placement, {.root = 1}));
  CHECK(bcast_text ==
        "t\ns\nthe buffer is cut into 1 segment\n\nstep 1: 2 messages per rank, 1 segment each\n"
        "  1 ->  2 [0]  0 [0]\n");
  CHECK(picture(bcast, "linear", placement, {.root = 1}).marked == 1);
  CHECK(render_text({"t", "s"}, Placement::flat(2), picture(barrier, "dissemination", Placement::flat(2))) ==
        "t\ns\n\nstep 1: 1 message per rank, empty\n  0 -> 1\n  1 -> 0\n");
}

TEST_CASE("Segments picture: ranges as people write them") {
  CHECK(text_of(std::vector<SegmentRange>{}) == "");
  CHECK(text_of(std::vector<SegmentRange>{{3, 1}}) == "3");
  CHECK(text_of(std::vector<SegmentRange>{{6, 2}, {0, 4}, {9, 1}}) == "6-7,0-3,9");
}
