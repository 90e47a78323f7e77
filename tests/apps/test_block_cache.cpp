#include <doctest/doctest.h>

#include <random>

#include "remote/block_cache.hpp"
#include "remote_ranks.hpp"

using namespace remote;
using remote_test::LateTransport;

namespace {

std::vector<std::vector<std::byte>> random_memories(std::mt19937_64& random, std::size_t ranks) {
  std::vector<std::vector<std::byte>> all(ranks);
  for (auto& memory : all) {
    memory.resize(1 + random() % 3000);
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
  }
  return all;
}

}  // namespace

TEST_CASE("block cache: any gets bring the right bytes, however few the slots") {
  constexpr unsigned seed = 3;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const std::size_t memory_bytes : {1U, 64U, 300U, 100'000U})
    for (const std::size_t block_bytes : {1U, 7U, 64U, 5000U}) {
      CAPTURE(memory_bytes);
      CAPTURE(block_bytes);
      auto ranks = random_memories(random, 3);
      BlockReader reader(std::make_unique<LateTransport>(remote_test::memories(ranks)),
                         {memory_bytes, block_bytes});
      for (int round = 0; round < 30; ++round) {
        struct Get {
          std::size_t target, displacement;
          std::vector<std::byte> into;
        };
        std::vector<Get> gets(random() % 6);
        for (auto& [target, displacement, into] : gets) {
          target = random() % ranks.size();
          displacement = random() % ranks[target].size();
          into.resize(random() % (ranks[target].size() - displacement + 1));
          reader.get(into, static_cast<int>(target), displacement, 1);
        }
        reader.flush();
        for (const auto& [target, displacement, into] : gets)
          REQUIRE(std::ranges::equal(into, std::span(ranks[target]).subspan(displacement, into.size())));
        if (round % 7 != 6) continue;
        for (auto& memory : ranks)
          for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
        reader.renew();
      }
    }
}

TEST_CASE("block cache: hits, and what goes out for the others, are counted") {
  const std::vector<std::vector<std::byte>> ranks(1, std::vector<std::byte>(1000));
  BlockReader reader(std::make_unique<LateTransport>(remote_test::memories(ranks)),
                     {.memory_bytes = 400, .block_bytes = 100});
  std::vector<std::byte> into(150);
  const auto get = [&](std::size_t bytes, std::size_t displacement) {
    reader.get(std::span(into).first(bytes), 0, displacement, 1);
  };
  get(100, 50);  // blocks 0 and 1
  get(10, 190);  // on its way
  reader.flush();
  get(150, 20);  // there
  CHECK(reader.statistics().hits == 2);
  CHECK(reader.statistics().moves == 2);
  CHECK(reader.statistics().move_bytes == 200);
  get(1, 400);  // takes the slot of block 0
  reader.flush();
  get(1, 0);
  reader.flush();
  CHECK(reader.statistics().hits == 2);
  CHECK(reader.statistics().moves == 4);
  reader.renew();
  get(1, 0);
  reader.flush();
  CHECK(reader.statistics().gets == 6);
  CHECK(reader.statistics().get_bytes == 263);
  CHECK(reader.statistics().hits == 2);
  CHECK(reader.statistics().moves == 5);
}

TEST_CASE("block cache: it says what memory it takes, with the notes of its slots") {
  const std::size_t one = BlockReader::bytes({.memory_bytes = 100, .block_bytes = 100});
  CHECK(one > 100);
  CHECK(BlockReader::bytes({.memory_bytes = 1, .block_bytes = 100}) == one);
  CHECK(BlockReader::bytes({.memory_bytes = 400, .block_bytes = 100}) == 4 * one);
}
