// Packing and unpacking: what comes back, which bytes are on the wire, and that padding is never among them.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <new>

#include "particle.hpp"
#include "types/samples.hpp"

namespace {

using namespace types_test;
using sample::drawn_particle;
using sample::Particle;
using sample::Position;
using sample::Properties;
using wherry::pack;
using wherry::unpack;
using wherry::Wire;

constexpr std::uint64_t seed = 20261126;

TEST_CASE("random objects of every kind come back") {
  Random random(seed);
  Sample kept;  // unpacked into again and again
  for (int i = 0; i < 500; ++i) {
    CAPTURE(seed);
    CAPTURE(i);
    const Sample sample = drawn_sample(random);
    const auto bytes = pack(sample);
    REQUIRE(bytes.size() == wherry::packed_size(sample));
    unpack(bytes, kept);
    REQUIRE(kept == sample);
    Sample fresh;
    unpack<Wire::checked>(pack<Wire::checked>(sample), fresh);
    REQUIRE(fresh == sample);
  }
}

TEST_CASE("several objects are packed one after the other") {
  const std::string text = "text";
  const auto bytes = pack(7, text, Padded{1, 'c'});
  CHECK(as_text(bytes) == ByHand().value(7).text(text).padded({1, 'c'}).bytes());
  int seven = 0;
  std::string read;
  Padded padded;
  unpack(bytes, seven, read, padded);
  CHECK(seven == 7);
  CHECK(read == text);
  CHECK(padded == Padded{1, 'c'});
}

struct Vector3i {
  std::array<int, 3> values;
};

TEST_CASE("wire bytes: nothing around the values") {
  CHECK(wherry::packed_size(Vector3i{{4, 5, 6}}) == 12);
  CHECK(as_text(pack(Vector3i{{4, 5, 6}})) == ByHand().value(4).value(5).value(6).bytes());
  CHECK(wherry::packed_size(std::array<double, 3>{}) == 24);
  CHECK(wherry::packed_size(wherry::compact_vector<int>{4, 5, 6}) == 2 + 12);
  CHECK(wherry::packed_size(wherry::compact_vector<int, std::uint8_t>{4, 5, 6}) == 1 + 12);
  CHECK(wherry::packed_size(std::vector<int>{4, 5, 6}) == 1 + 12);
  CHECK(wherry::packed_size(std::vector<int>(300)) == 3 + 1200);
  CHECK(wherry::packed_size(std::vector<char>(70000)) == 5 + 70000);
  CHECK(wherry::packed_size(std::optional<int>{}) == 1);
  CHECK(wherry::packed_size<Wire::checked>(1) == 12);
}

TEST_CASE("wire bytes: a particle of 616 bytes with six ints in two lists takes 571") {
  using List = wherry::compact_vector<int>;
  Random random(seed);
  const auto particle = drawn_particle<List>(random, 4, 2);
  CHECK(sizeof(sample::Particle<std::vector<int>>) == 616);
  CHECK(sizeof particle == 600);
  CHECK(pack(particle).size() == 571);
  CHECK(pack(std::vector(10, particle)).size() == 1 + 10 * 571);
  Particle<List> read;
  unpack(pack(particle), read);
  CHECK(read == particle);
}

struct Composed {
  Padded first;
  std::string name;
  char letter;
  std::vector<Padded> rest;
  int number;
};

TEST_CASE("fixed parts come first, in the order of memory; then the others, in the order of members") {
  const Composed c{{1.5, 'a'}, "name", 'l', {{2, 'b'}, {3, 'c'}}, 9};
  ByHand expected;
  expected.padded(c.first).value(c.letter).value(c.number).text("name").length(2);
  expected.padded(c.rest[0]).padded(c.rest[1]);
  CHECK(as_text(pack(c)) == expected.bytes());
}

/// The same object in memory that was filled with something before: its padding differs.
template <class T>
std::string packed_over(unsigned char poison, Random random) {
  alignas(T) unsigned char memory[sizeof(T)];
  std::memset(memory, poison, sizeof memory);
  T* const object = new (memory) T;
  std::memset(memory, poison, sizeof memory);  // to padding that the constructor has zeroed
  object->first = drawn_padded(random);
  object->second = {drawn_padded(random), drawn_padded(random)};
  object->flag = true;
  object->extended = 1.25L;
  object->word = 77;
  return as_text(pack(*object)) + as_text(pack(*object, *object)) + as_text(pack(std::array<T, 1>{*object}));
}

struct Holes {
  char word;
  Padded first;
  std::array<Padded, 2> second;
  bool flag;
  long double extended;
};

TEST_CASE("padding is never on the wire, whatever it holds") {
  const Random random(seed);
  CHECK(packed_over<Holes>(0x00, random) == packed_over<Holes>(0xcd, random));
  CHECK(packed_over<Holes>(0xcd, random) == packed_over<Holes>(0xff, random));
  CHECK(wherry::fixed_bytes<Holes> == 1 + 9 + 18 + 1 + wherry::detail::value_bytes<long double>);
}

TEST_CASE("unpacking writes no padding and nothing around the object") {
  alignas(Holes) std::byte memory[sizeof(Holes) + 32];
  std::memset(memory, 0xab, sizeof memory);
  auto* const object = new (memory + 16) Holes;
  std::memset(memory, 0xab, sizeof memory);
  unpack(pack(Holes{1, {2, 3}, {}, true, 4}), *object);
  std::size_t changed = 0;
  for (const std::byte b : memory) changed += b != std::byte{0xab};
  CHECK(changed <= wherry::fixed_bytes<Holes>);
  CHECK(memory[15] == std::byte{0xab});
  CHECK(memory[16 + sizeof(Holes)] == std::byte{0xab});
  CHECK(object->first == Padded{2, 3});
}

TEST_CASE("a subset takes its members alone, and leaves the others") {
  Random random(seed);
  using P = Particle<wherry::compact_vector<int>>;
  const P particle = drawn_particle<wherry::compact_vector<int>>(random, 1, 2);
  const auto ghost = []<class T>(T& p) {
    return wherry::subset<wherry::within(&P::position, &Position::position),
                          wherry::within(&P::properties, &Properties::identity), &P::bonds>(p);
  };
  const auto bytes = pack(ghost(particle));
  CHECK(bytes.size() == 24 + 4 + 2 + 4);
  P other, expected;
  expected.position.position = particle.position.position;
  expected.properties.identity = particle.properties.identity;
  expected.bonds = particle.bonds;
  unpack(bytes, ghost(other));
  CHECK(other == expected);
}

TEST_CASE("unpacking into what has the capacity allocates nothing") {
  std::vector<std::vector<double>> values(3, std::vector<double>(10, 1.0));
  const auto bytes = pack(values);
  const double* const first = values[0].data();
  for (auto& each : values) each.clear();
  unpack(bytes, values);
  CHECK(values[0].data() == first);
  CHECK(values == std::vector<std::vector<double>>(3, std::vector<double>(10, 1.0)));
}

TEST_CASE("memory that is too small is refused before anything is written") {
  std::byte memory[11];
  std::memset(memory, 0x11, sizeof memory);
  CHECK_THROWS_AS(wherry::pack_into(memory, Vector3i{}), std::length_error);
  for (const std::byte b : memory) CHECK(b == std::byte{0x11});
  std::byte enough[13] = {};
  CHECK(wherry::pack_into(enough, Vector3i{{1, 2, 3}}) == 12);
}

}  // namespace
