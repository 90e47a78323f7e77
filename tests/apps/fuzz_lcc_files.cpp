// Any bytes as a graph in any format: a graph whose edges are within it, or an error with a line; never a crash.
//
// Made with WHERRY_LIBFUZZER this is an entry for libFuzzer; CONTRIBUTING.md says how to run it. It needs -Iapps
// -Isrc, apps/lcc/graph_files.cpp, of apps/support/ lines.cpp and options.cpp, and src/base/nearest.cpp.
// Otherwise it is a unit test over garbage and damaged files from a fixed seed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lcc/graph_files.hpp"
#include "support/lines.hpp"

namespace {

bool reads_safely(std::string_view bytes) {
  using namespace lcc;
  return std::ranges::all_of(graph_formats(), [&](const GraphFormat& format) {
    try {
      const EdgeList graph = format.parse("f", bytes);
      return std::ranges::all_of(graph.edges, [&](const Edge& edge) {
        return edge.from < graph.vertices && edge.to < graph.vertices;
      });
    } catch (const apps::input_error& error) {
      return std::string_view(error.what()).starts_with("f, line ");
    }
  });
}

}  // namespace

#ifdef WHERRY_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!reads_safely({reinterpret_cast<const char*>(data), size})) std::abort();
  return 0;
}

#else

#include "damaged_files.hpp"

namespace {

const std::string_view whole_files[] = {
    "# edges\n0 1\n1 2 0.5\n2 0\n",
    "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 1.5\n3 1 -2e3\n",
    "% c\n3 3 011 1\n4 2 9 3 9\n4 1 9 3 9\n4 1 9 2 9\n",
};

}  // namespace

TEST_CASE("fuzz: damaged graphs are read safely") {
  fuzz::check_damaged(21, whole_files, "0123456789 \n%#-.e", reads_safely);
}

TEST_CASE("fuzz: garbage is no graph") {
  constexpr unsigned seed = 22;
  INFO("seed " << seed);
  fuzz::Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = random() % 2 == 0 ? "%%MatrixMarket matrix coordinate pattern general\n" : "";
    for (std::size_t n = random() % 100; n > 0; --n) bytes += static_cast<char>(random());
    CAPTURE(i);
    REQUIRE(reads_safely(bytes));
  }
}

#endif
