// Bytes that are not what pack() made: an error, and never a read or write outside (the sanitizers look at that).
#include <doctest/doctest.h>

#include <limits>

#include "types/samples.hpp"

namespace {

using namespace types_test;
using wherry::pack;
using wherry::unpack;
using wherry::unpack_error;
using wherry::Wire;

#ifdef __SANITIZE_ADDRESS__
constexpr int rounds = 2'000;
#else
constexpr int rounds = 20'000;
#endif

/// In memory of exactly this size, so that a byte beyond it is found.
std::vector<std::byte> exactly(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

template <Wire wire>
bool is_read(std::span<const std::byte> bytes, Sample& into) {
  const std::vector<std::byte> copy = exactly(bytes);
  try {
    unpack<wire>(copy, into);
    return true;
  } catch (const unpack_error&) {
    return false;
  }
}

TEST_CASE("truncated bytes are an error at every length") {
  Random random(11);
  for (int i = 0; i < 3; ++i) {
    const auto bytes = pack(drawn_sample(random));
    Sample into;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(i);
      CAPTURE(size);
      REQUIRE(!is_read<Wire::plain>({bytes.data(), size}, into));
    }
    CHECK(is_read<Wire::plain>(bytes, into));
  }
}

TEST_CASE("bytes that are left over are an error") {
  auto bytes = exactly(pack(1, 2));
  bytes.push_back(std::byte{0});
  int a = 0, b = 0;
  CHECK_THROWS_AS(unpack(bytes, a, b), unpack_error);
}

TEST_CASE("a length that the bytes cannot hold is an error before anything is allocated") {
  std::vector<double> values;
  for (const std::uint64_t n :
       {std::uint64_t{3}, std::uint64_t{1} << 40, std::numeric_limits<std::uint64_t>::max()}) {
    const ByHand bytes = ByHand().value(std::uint8_t{255}).value(n).value(1.0).value(2.0);
    CHECK_THROWS_AS(unpack(std::as_bytes(std::span(bytes.bytes())), values), unpack_error);
    CHECK(values.capacity() < 4);
  }
}

TEST_CASE("a type that contains itself is not followed without end") {
  // Every level is one branch of a tree that has a value and one branch.
  ByHand bytes;
  for (int i = 0; i < 100'000; ++i) bytes.value(i).length(1);
  Tree tree;
  CHECK_THROWS_AS(unpack(std::as_bytes(std::span(bytes.bytes())), tree), unpack_error);
}

TEST_CASE("other types are refused where bytes are checked") {
  int number = 0;
  unsigned positive = 0;
  std::vector<int> list;
  wherry::compact_vector<int> narrow;
  CHECK_THROWS_AS(unpack<Wire::checked>(pack<Wire::checked>(1.0f), number), unpack_error);
  CHECK_THROWS_AS(unpack<Wire::checked>(pack<Wire::checked>(1), positive), unpack_error);
  CHECK_THROWS_AS(unpack<Wire::checked>(pack<Wire::checked>(narrow), list), unpack_error);
  CHECK_THROWS_AS(unpack<Wire::checked>(pack(1, 2, 3), number), unpack_error);
  CHECK_NOTHROW(unpack<Wire::checked>(pack<Wire::checked>(list), list));
}

TEST_CASE("a bool that is neither is refused where bytes are checked") {
  const auto good = pack<Wire::checked>(true);
  auto bytes = exactly(good);
  bool flag = false;
  unpack<Wire::checked>(bytes, flag);
  CHECK(flag);
  bytes.back() = std::byte{2};
  CHECK_THROWS_AS(unpack<Wire::checked>(bytes, flag), unpack_error);
}

TEST_CASE("an unknown alternative, and a key that comes twice, are errors") {
  std::variant<int, double> either;
  CHECK_THROWS_AS(unpack(std::as_bytes(std::span("\2abcd", 5)), either), unpack_error);
  std::map<char, char> map;
  CHECK_THROWS_AS(unpack(std::as_bytes(std::span("\2kvkv", 5)), map), unpack_error);
}

/// Flip, cut, insert, repeat: a few times.
void damage(std::vector<std::byte>& bytes, Random& random) {
  for (std::size_t n = 1 + random() % 3; n > 0 && !bytes.empty(); --n) {
    const std::size_t at = random() % bytes.size();
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 5) {
      case 0: bytes[at] ^= std::byte(1 << random() % 8); break;
      case 1: bytes[at] = std::byte(random()); break;
      case 2: bytes[at] = std::byte(253 + random() % 3); break;
      case 3: bytes.erase(place); break;
      default: bytes.insert(place, std::byte(random()));
    }
  }
}

TEST_CASE("damaged bytes give an error or other values, and what is read can be packed again") {
  constexpr std::uint64_t seed = 12;
  Random random(seed);
  int errors = 0, others = 0;
  for (int i = 0; i < rounds; ++i) {
    CAPTURE(seed);
    CAPTURE(i);
    auto bytes = exactly(pack<Wire::checked>(drawn_sample(random)));
    damage(bytes, random);
    Sample into;
    if (!is_read<Wire::checked>(bytes, into)) {
      ++errors;
      continue;
    }
    ++others;
    Sample again;
    unpack(pack(into), again);
  }
  CHECK(errors > rounds / 10);
  CHECK(others > 0);
}

TEST_CASE("any bytes are read safely") {
  constexpr std::uint64_t seed = 13;
  Random random(seed);
  for (int i = 0; i < rounds; ++i) {
    CAPTURE(seed);
    CAPTURE(i);
    std::vector<std::byte> bytes(random() % 600);
    for (std::byte& b : bytes) b = std::byte(random() % 4 == 0 ? random() : random() % 3);
    std::vector<std::map<std::string, std::variant<int, std::vector<Tree>>>> nested;
    try {
      unpack(bytes, nested);
    } catch (const unpack_error&) {
    }
  }
}

}  // namespace
