#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "nbody/gadget.hpp"
#include "nbody/models.hpp"
#include "nbody/snapshot.hpp"

using namespace nbody;

namespace {

/// A file byte by byte, as the format says.
class File {
 public:
  template <class T>
  File& record(const std::vector<T>& values) {
    const auto bytes = static_cast<std::uint32_t>(values.size() * sizeof(T));
    put(&bytes, sizeof bytes);
    put(values.data(), bytes);
    put(&bytes, sizeof bytes);
    return *this;
  }
  /// counts and masses of the six kinds.
  File& header(std::array<std::int32_t, 6> counts, std::array<double, 6> masses, std::int32_t files = 1) {
    std::vector<char> bytes(256);
    std::memcpy(bytes.data(), counts.data(), sizeof counts);
    std::memcpy(bytes.data() + 24, masses.data(), sizeof masses);
    std::memcpy(bytes.data() + 124, &files, sizeof files);
    return record(bytes);
  }
  std::string text;

 private:
  void put(const void* from, std::size_t bytes) { text.append(static_cast<const char*>(from), bytes); }
};

/// Two kinds: one body of mass 5 of the header's, two with masses of their own.
File three() {
  File file;
  file.header({0, 1, 0, 0, 2, 0}, {0, 5, 0, 0, 0, 0})
      .record(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9})
      .record(std::vector<double>{.1, .2, .3, .4, .5, .6, .7, .8, .9})
      .record(std::vector<std::uint32_t>{3, 1, 2})
      .record(std::vector<float>{0.5F, 0.25F});
  return file;
}

std::string problem_of(const std::string& text) {
  try {
    parse_gadget(text, "stars");
  } catch (const input_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a snapshot in GADGET's format reads back to the same bits") {
  const Bodies bodies = scattered(100, 9);
  const std::string text = gadget_text(bodies, 2.5);
  CHECK(looks_like_gadget(text));
  CHECK(parse_gadget(text, "it") == bodies);
  double time = 0;
  std::memcpy(&time, text.data() + 4 + 72, sizeof time);
  CHECK(time == 2.5);
}

TEST_CASE(
    "particles of all kinds are read, in single or double precision, with the header's masses or their own") {
  const Bodies bodies = parse_gadget(three().text, "it");
  CHECK(bodies.m == std::vector<double>{5, 0.5, 0.25});
  CHECK(bodies.place.at(2) == std::array<double, 3>{7, 8, 9});
  CHECK(bodies.velocity.at(1) == std::array<double, 3>{.4, .5, .6});
}

TEST_CASE("what is wrong with a snapshot in GADGET's format is told") {
  const std::string whole = three().text;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const std::string problem = problem_of(whole.substr(0, size));
    REQUIRE(problem.starts_with("stars: ends "));
  }
  CHECK(problem_of(whole.substr(0, 300)) ==
        "stars: ends within the positions; it was not copied or written whole");
  std::string other = whole;
  other[4 + 256] = 1;
  CHECK(problem_of(other) ==
        "stars: the record of the header does not end where it should; it is no snapshot of format 1");
  CHECK(problem_of(File().record(std::vector<char>(8)).text) ==
        "stars: the header has 8 bytes, which are not 256; it is no snapshot of format 1");
  CHECK(problem_of(File().header({}, {}).text) == "stars: no bodies");
  CHECK(problem_of(File().header({0, -1, 0, 0, 0, 0}, {}).text) == "stars: has -1 particles of a kind");
  CHECK(problem_of(File().header({0, 1, 0, 0, 0, 0}, {}, 8).text) ==
        "stars: is one of 8 files of a snapshot; join them before");
  CHECK(problem_of(File().header({0, 1, 0, 0, 0, 0}, {}).record(std::vector<float>{1, 2}).text) ==
        "stars: the positions have 8 bytes, which are not 3 numbers");
  Bodies bodies = scattered(3, 1);
  bodies.m[1] = -2;
  CHECK(problem_of(gadget_text(bodies, 0)) == "stars: body 2: m is -2; a mass must not be negative");
  bodies = scattered(3, 1);
  bodies.velocity[2][2] = std::nan("");
  CHECK(problem_of(gadget_text(bodies, 0)) == "stars: body 3: vz is nan; it must be finite");
}
