#include <doctest/doctest.h>

#include <cstdint>
#include <thread>

#include "p2p/native_messages.hpp"

namespace wherry::p2p {

TEST_CASE("types are native below a count, until they are forgotten") {
  NativeTypes types;
  constexpr std::uint64_t derived = 0x7f12'3456'7890, other = 0x4c00'080b;
  CHECK_FALSE(types.has(derived, 1));
  types.put(derived, 100);
  CHECK(types.has(derived, 99));
  CHECK_FALSE(types.has(derived, 100));
  CHECK_FALSE(types.has(other, 1));
  types.forget(other);
  CHECK(types.has(derived, 1));
  types.forget(derived);
  CHECK_FALSE(types.has(derived, 1));
}

TEST_CASE("of a native type of large counts only the small ones are found at once") {
  NativeTypes types;
  types.put(5, std::int64_t{1} << 40);
  CHECK(types.has(5, 65534));
  CHECK_FALSE(types.has(5, 65535));
  CHECK_FALSE(types.has(5, std::int64_t{1} << 39));
}

TEST_CASE("what no type can be is never found") {
  const NativeTypes types;
  for (std::uint64_t type = 0; type < 1000; ++type) CHECK_FALSE(types.has(type, 0));
  NativeTypes numbers;
  constexpr std::uint64_t too_large = std::uint64_t{1} << 48;
  numbers.put(too_large, 10);
  CHECK_FALSE(numbers.has(too_large, 1));
  CHECK_FALSE(numbers.has(0, 1));
}

TEST_CASE("an exchange is native for the thread that began it, until it completes something") {
  NativeMessages native;
  CHECK_FALSE(native.end());
  native.open();
  CHECK(native.is_open());
  std::thread([&] { CHECK_FALSE(native.is_open()); }).join();
  CHECK(native.end());
  CHECK_FALSE(native.is_open());
  native.open();
  std::thread([&] { CHECK_FALSE(native.end()); }).join();  // as where one thread begins, and another waits
  CHECK_FALSE(native.is_open());
}

TEST_CASE("a first message begins as many exchanges as were said, while no other is followed") {
  NativeMessages native;
  const std::uint64_t place = place_of(&native, 3, 7, 1);
  native.put(place, [] { return 2; });
  CHECK_FALSE(native.begins(place));
  native.allow(true);
  CHECK_FALSE(native.begins(place_of(&native, 4, 7, 1)));
  CHECK(native.begins(place));
  CHECK(native.end());
  native.allow(false);
  CHECK_FALSE(native.begins(place));
  native.allow(true);
  CHECK(native.begins(place));
  CHECK_FALSE(native.begins(place));
}

}  // namespace wherry::p2p
