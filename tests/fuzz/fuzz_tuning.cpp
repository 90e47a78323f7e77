// Any bytes as a tuning file: never a crash, and never rows that were not written.
//
// Made with WHERRY_LIBFUZZER this is an entry for libFuzzer; CONTRIBUTING.md says how to run it.
// Otherwise it is a unit test over garbage and damaged files from a fixed seed.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tuning/tuning_store.hpp"

namespace {

/// Accepted bytes must mean what they say: written again, they give the same rows. Anything else gives none.
bool reads_safely(std::string_view bytes) {
  using namespace wherry::tuning;
  const TuningRead read = parse(bytes);
  if (read.state != TuningState::good) return read.table.rows().empty() && !read.problem.empty();
  const std::string again = format(read.table);
  const TuningRead twice = parse(again);
  return twice.state == TuningState::good && format(twice.table) == again;
}

/// The bytes between the first line and the last one that fits them, by docs/reference/tuning-file.md: without
/// that the checksum would keep most bytes from ever being read as rows.
std::string sealed(std::string_view rows) {
  std::string text = "wherry-tuning 2\n" + std::string(rows);
  std::uint64_t checksum = 0xcbf29ce484222325u;
  for (const char c : text) checksum = (checksum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char end[32];
  std::snprintf(end, sizeof end, "end %llx\n", static_cast<unsigned long long>(checksum));
  return text + end;
}

}  // namespace

#ifdef WHERRY_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  if (!reads_safely(bytes) || !reads_safely(sealed(bytes))) std::abort();
  return 0;
}

#else

#include <doctest/doctest.h>

#include <random>

namespace {

using Random = std::mt19937_64;

std::string written(Random& random) {
  wherry::tuning::TuningTable table;
  for (std::size_t n = random() % 6; n > 0; --n)
    table.put({.key = {"machine " + std::to_string(random() % 9), "mpi\n\"", static_cast<int>(random() % 99),
                       random(), "MPI_Alltoall", static_cast<unsigned>(random() % 40)},
               .strategy = "mesh",
               .seconds = static_cast<double>(random() % 1000) / 7,
               .native_seconds = 1,
               .trials = 4});
  for (std::size_t n = random() % 3; n > 0; --n)
    table.put(wherry::tuning::MachineRow{{"machine " + std::to_string(random() % 9), "mpi"},
                                         wherry::model::constants_of({})});
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
    if (changed != text) REQUIRE(wherry::tuning::parse(changed).state != wherry::tuning::TuningState::good);
  }
}

TEST_CASE("garbage is read safely") {
  Random random(6);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = random() % 2 == 0 ? "wherry-tuning 2\n" : "";
    for (std::size_t n = random() % 200; n > 0; --n) bytes += static_cast<char>(random());
    CAPTURE(i);
    REQUIRE(reads_safely(bytes));
  }
}

TEST_CASE("damaged rows with the right checksum are read safely") {
  Random random(7);
  int good = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = written(random);
    std::string rows = text.substr(0, text.rfind("end ")).substr(text.find('\n') + 1);
    CAPTURE(i);
    REQUIRE(sealed(rows) == text);
    damage(rows, random);
    REQUIRE(reads_safely(sealed(rows)));
    good += wherry::tuning::parse(sealed(rows)).state == wherry::tuning::TuningState::good;
  }
  CHECK(good > 0);
  CHECK(good < 20000);
}

#endif
