// Any bytes as a graph in any format: a graph whose edges are within it, or an error with a line; never a crash.
//
// Made with WHERRY_LIBFUZZER this is an entry for libFuzzer; CONTRIBUTING.md says how to run it. It needs -Iapps,
// apps/lcc/graph_files.cpp, and of apps/common/ lines.cpp, nearest.cpp and options.cpp.
// Otherwise it is a unit test over garbage and damaged files from a fixed seed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/lines.hpp"
#include "lcc/graph_files.hpp"

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

#include <doctest/doctest.h>

#include <random>

namespace {

using Random = std::mt19937_64;

const std::string_view whole_files[] = {
    "# edges\n0 1\n1 2 0.5\n2 0\n",
    "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 1.5\n3 1 -2e3\n",
    "% c\n3 3 011 1\n4 2 9 3 9\n4 1 9 3 9\n4 1 9 2 9\n",
};

/// Cut, flip, insert, repeat or erase, a few times.
void damage(std::string& text, Random& random) {
  for (std::size_t n = 1 + random() % 4; n > 0; --n) {
    const std::size_t at = random() % (text.size() + 1);
    switch (random() % 5) {
      case 0: text.resize(at); break;
      case 1: text.insert(at, 1, "0123456789 \n%#-.e"[random() % 17]); break;
      case 2: text.insert(at, text.substr(random() % (text.size() + 1), random() % 40)); break;
      case 3: text.erase(at, random() % 20); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    }
  }
}

}  // namespace

TEST_CASE("fuzz: damaged graphs are read safely") {
  constexpr unsigned seed = 21;
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(whole_files[random() % std::size(whole_files)]);
    damage(text, random);
    CAPTURE(text);
    REQUIRE(reads_safely(text));
  }
}

TEST_CASE("fuzz: garbage is no graph") {
  constexpr unsigned seed = 22;
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = random() % 2 == 0 ? "%%MatrixMarket matrix coordinate pattern general\n" : "";
    for (std::size_t n = random() % 100; n > 0; --n) bytes += static_cast<char>(random());
    CAPTURE(i);
    REQUIRE(reads_safely(bytes));
  }
}

#endif
