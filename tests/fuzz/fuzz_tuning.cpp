// Any bytes as a tuning file: never a crash, and never rows that were not written.
//
// For libFuzzer: clang++ -std=c++20 -fsanitize=fuzzer,address,undefined -DWHERRY_LIBFUZZER -Isrc
//   tests/fuzz/fuzz_tuning.cpp src/choose/tuning.cpp
// Otherwise this is a unit test over garbage and damaged files from a fixed seed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "choose/tuning.hpp"

namespace {

/// Accepted bytes must mean what they say: written again, they give the same rows. Anything else gives none.
bool reads_safely(std::string_view bytes) {
  using namespace wherry::choose;
  const TuningRead read = parse(bytes);
  if (read.state != TuningState::good) return read.table.rows().empty() && !read.problem.empty();
  const std::string again = format(read.table);
  const TuningRead twice = parse(again);
  return twice.state == TuningState::good && format(twice.table) == again;
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

std::string written(Random& random) {
  wherry::choose::TuningTable table;
  for (std::size_t n = random() % 6; n > 0; --n)
    table.put({.key = {"machine " + std::to_string(random() % 9), "mpi\n\"", static_cast<int>(random() % 99),
                       random(), "MPI_Alltoall", static_cast<unsigned>(random() % 40)},
               .strategy = "mesh",
               .seconds = static_cast<double>(random() % 1000) / 7,
               .native_seconds = 1,
               .trials = 4});
  return format(table);
}

/// Cut, flip, insert, repeat or replace, a few times.
void damage(std::string& text, Random& random) {
  for (std::size_t n = 1 + random() % 4; n > 0; --n) {
    const std::size_t at = random() % (text.size() + 1);
    switch (random() % 5) {
      case 0: text.resize(at); break;
      case 1: text.insert(at, 1, static_cast<char>(random())); break;
      case 2: text.insert(at, text.substr(random() % (text.size() + 1), random() % 40)); break;
      case 3: text.erase(at, random() % 20); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    }
  }
}

}  // namespace

TEST_CASE("damaged tuning files are read safely, and never as something else than was written") {
  Random random(5);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = written(random);
    std::string changed = text;
    damage(changed, random);
    CAPTURE(i);
    REQUIRE(reads_safely(changed));
    if (changed != text) REQUIRE(wherry::choose::parse(changed).state != wherry::choose::TuningState::good);
  }
}

TEST_CASE("garbage is read safely") {
  Random random(6);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = random() % 2 == 0 ? "wherry-tuning 1\n" : "";
    for (std::size_t n = random() % 200; n > 0; --n) bytes += static_cast<char>(random());
    CAPTURE(i);
    REQUIRE(reads_safely(bytes));
  }
}

#endif
