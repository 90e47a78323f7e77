// Any bytes as a schedule of gets, writes and epochs on a cache: never a crash, never a wrong byte.
//
// Made with WHERRY_LIBFUZZER this is an entry for libFuzzer; CONTRIBUTING.md says how to run it.
// Otherwise it is a unit test over random bytes from a fixed seed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "../cache/schedules.hpp"

namespace {

/// The first byte chooses the kind of cache, the others whatever happens. Returns what went wrong.
std::string run(std::span<const std::uint8_t> bytes) {
  using namespace wherry::cache;
  if (bytes.empty()) return "";
  std::size_t at = 1;
  const auto choose = [&](std::uint64_t below) {
    std::uint64_t number = 0;
    for (std::uint64_t most = 1; most < below && at < bytes.size(); most <<= 8)
      number = number << 8 | bytes[at++];
    return number % below;
  };
  const CacheOptions options{.mode = static_cast<Mode>(bytes[0] % 3),
                             .ceiling_bytes = std::size_t{1} << (16 + bytes[0] / 3 % 3),
                             .storage_bytes = 1 << 14,
                             .index_entries = bytes[0] % 2 == 0 ? 16u : 300u,
                             .adaptive = bytes[0] % 5 != 0};
  cache_test::Schedule schedule(options, bytes[0] % 7 == 0 ? 500 : 20000, choose);
  while (at < bytes.size() && schedule.problem().empty()) schedule.step();
  schedule.flush();
  return schedule.problem();
}

}  // namespace

#ifdef WHERRY_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!run({data, size}).empty()) std::abort();
  return 0;
}

#else

#include <doctest/doctest.h>

#include <random>
#include <vector>

TEST_CASE("fuzz: any bytes are a schedule that the cache survives") {
  constexpr unsigned seed = 7;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint8_t> bytes(random() % 2000);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    CAPTURE(round);
    REQUIRE(run(bytes) == "");
  }
}

#endif
