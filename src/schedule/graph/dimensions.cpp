#include "schedule/graph/edge_routes.hpp"

#include <algorithm>
#include <vector>

namespace wherry::schedule {
namespace {

constexpr int most_dimensions = 3;

int radix(const Places& places, int digit) { return places[digit + 1] / places[digit]; }
int digit_of(int rank, const Places& places, int digit) {
  return rank / places[digit] % radix(places, digit);
}

/// Different steps of edges along the dimensions of a grid: as many messages does a rank send at most.
class Steps {
 public:
  explicit Steps(const Places& places) : places_(places), seen_(static_cast<std::size_t>(most_dimensions)) {
    for (int d = 0; d < places.digits; ++d) seen_[index(d)].resize(index(radix(places, d)), false);
  }

  void add(Block edge) {
    for (int d = 0; d < places_.digits; ++d) {
      const int step =
          wrap(digit_of(edge.destination, places_, d) - digit_of(edge.origin, places_, d), radix(places_, d));
      if (step == 0 || seen_[index(d)][index(step)]) continue;
      seen_[index(d)][index(step)] = true;
      ++count_;
    }
  }
  int count() const { return count_; }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  const Places& places_;
  std::vector<std::vector<bool>> seen_;
  int count_ = 0;
};

/// The messages of a grid; `limit` or more if there are too many: most grids show that after a few edges.
int messages_on(const Places& places, const Graph& graph, int limit) {
  Steps steps(places);
  for (const Block& edge : graph.edges()) {
    steps.add(edge);
    if (steps.count() >= limit) break;
  }
  return steps.count();
}

/// Calls use(places) for every way to write `left` as a product of factors above 1, in order.
template <class Use>
void for_each_grid(const Places& so_far, int left, const Use& use) {
  if (so_far.digits + 1 <= most_dimensions && so_far.digits > 0) {
    Places whole = so_far;
    whole.add_digit(left);
    use(whole);
  }
  if (so_far.digits + 2 > most_dimensions) return;
  for (int factor = 2; factor <= left / 2; ++factor) {
    if (left % factor != 0) continue;
    Places more = so_far;
    more.add_digit(factor);
    for_each_grid(more, left / factor, use);
  }
}

}  // namespace

FittedGrid fitted_grid(const Graph& graph, int limit) {
  FittedGrid best{.places = {}, .messages = limit};
  for_each_grid({}, graph.size(), [&](const Places& places) {
    if (const int messages = messages_on(places, graph, best.messages); messages < best.messages)
      best = {places, messages};
  });
  return best;
}

RouteOfEdge along_dimensions(const Graph& graph, const topology::Placement& placement) {
  if (graph.edges().empty()) return {};
  const int most = 2 * graph.most_neighbors() / 3;
  const FittedGrid grid = fitted_grid(graph, most + 1);
  if (grid.places.digits == 0) return {};
  return [places = grid.places, size = placement.size()](Block edge, int) {
    Route route;
    int at = edge.origin;
    for (int phase = 0; phase < places.digits; ++phase) {
      const int to = Grid::holder(places, size, edge, phase + 1);
      if (to != at) route.push_back({phase, to});
      at = to;
    }
    return route;
  };
}

}  // namespace wherry::schedule
