// The check of coefficients passes what is right and names what is wrong, on every rank. For two ranks and more.
#include "broken.hpp"
#include "lcc/distributed.hpp"
#include "lcc/lists.hpp"
#include "remote/exchange.hpp"
#include "remote/variants.hpp"

using namespace lcc;

namespace {

template <class Element>
std::unique_ptr<remote::Reader> reader(const remote::Variant& variant, const std::vector<Element>& mine) {
  return variant.make({MPI_COMM_WORLD, std::as_bytes(std::span(mine))}, {.memory_bytes = 1 << 10});
}

std::vector<std::uint64_t> links_by(const remote::Variant& variant, const Distributed& graph) {
  const auto offsets = reader(variant, graph.mine.offsets);
  const auto neighbors = reader(variant, graph.mine.neighbors);
  Lists lists(graph.partition, apps::rank_of(graph.comm), graph.mine, {*offsets, *neighbors});
  return remote::gathered(links(graph.mine, lists, 3), graph.comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  using broken::as_expected;
  const Distributed graph = drawn({.scale = 6, .edge_factor = 8, .seed = 2}, MPI_COMM_WORLD);
  bool right = true;
  for (const remote::Variant& variant : remote::variants({})) {
    std::vector<std::uint64_t> found = links_by(variant, graph);
    right &= as_expected(variant.name.c_str(), problem_of(graph, found), "");
    found[40] += 2;
    right &= as_expected("a link too many", problem_of(graph, found), "vertex 40 has another coefficient");
  }
  const int code = apps::on_all(right, MPI_COMM_WORLD) ? 0 : 1;
  MPI_Finalize();
  return code;
}
