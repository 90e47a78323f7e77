#include "heap/arena.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

using wherry::heap::Arena;

namespace {

struct Allocation {
  unsigned char* data = nullptr;
  std::size_t bytes = 0;
  unsigned char mark = 0;
};

bool is_whole(const Allocation& block) {
  for (std::size_t i = 0; i < block.bytes; ++i)
    if (block.data[i] != block.mark) return false;
  return true;
}

/// Sizes as programs have them: mostly small, some at the border of small_max, few large.
std::size_t any_size(std::mt19937& random) {
  switch (random() % 8) {
    case 0: return random() % 3;
    case 1: return Arena::small_max - 40 + random() % 80;
    case 2: return random() % (std::size_t{300} << 10);
    default: return random() % 600;
  }
}

Allocation make(Arena& arena, std::mt19937& random) {
  const std::size_t alignment = std::size_t{1} << random() % 13;
  Allocation block{nullptr, any_size(random), static_cast<unsigned char>(random())};
  block.data = static_cast<unsigned char*>(arena.allocate(block.bytes, alignment));
  REQUIRE(block.data != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(block.data) % alignment == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(block.data) % 16 == 0);
  std::memset(block.data, block.mark, block.bytes);
  return block;
}

/// Allocates and frees at random; how many blocks did not hold what was written to them.
int disturbed(Arena& arena, unsigned seed, int steps) {
  std::mt19937 random(seed);
  std::vector<Allocation> blocks;
  int wrong = 0;
  for (int i = 0; i < steps; ++i) {
    if (blocks.size() < 50 || (blocks.size() < 300 && random() % 2 == 0)) {
      blocks.push_back(make(arena, random));
      continue;
    }
    std::swap(blocks[random() % blocks.size()], blocks.back());
    wrong += !is_whole(blocks.back());
    arena.release(blocks.back().data);
    blocks.pop_back();
  }
  for (const Allocation& block : blocks) {
    wrong += !is_whole(block);
    arena.release(block.data);
  }
  return wrong;
}

}  // namespace

TEST_CASE("arena: blocks are aligned, apart, and keep what is written to them") {
  for (const unsigned seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    Arena arena;
    CHECK(disturbed(arena, seed, 20000) == 0);
    CHECK(arena.usage().large_bytes == 0);
    CHECK(arena.usage().kept_bytes <= Arena::kept_max);
  }
}

TEST_CASE("arena: threads share it") {
  Arena arena;
  int wrong[4] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { wrong[i] = disturbed(arena, 10 + static_cast<unsigned>(i), 5000); });
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) CHECK(count == 0);
}

TEST_CASE("arena: little lies idle, whatever the size of the blocks") {
  for (const std::size_t bytes : {8U, 24U, 100U, 113U, 700U, 1030U, 5000U, 12345U}) {
    CAPTURE(bytes);
    Arena arena;
    std::size_t used = 0;
    while (used < std::size_t{8} << 20) {
      REQUIRE(arena.allocate(bytes) != nullptr);
      used += bytes + 16;  // with the header
    }
    CHECK(arena.usage().chunk_bytes <= used * 4 / 3 + (std::size_t{1} << 20));
  }
}

TEST_CASE("arena: what was freed is taken again") {
  Arena arena;
  void* const small = arena.allocate(100);
  arena.release(small);
  CHECK(arena.allocate(105) == small);
  void* const large = arena.allocate(1000000);
  arena.release(large);
  CHECK(arena.usage().kept_bytes > 1000000);
  CHECK(arena.allocate(999000) == large);
  CHECK(arena.usage().kept_bytes == 0);
}

TEST_CASE("arena: few large blocks are kept, those that were freed last") {
  Arena arena;
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(arena.allocate((std::size_t{1} << 20) + 8192 * i));
  for (void* block : blocks) arena.release(block);
  const std::size_t kept = arena.usage().kept_bytes;
  CHECK(kept <= Arena::kept_max);
  CHECK(kept >= std::size_t{16} << 20);
  CHECK(arena.allocate((std::size_t{1} << 20) + 8192 * 39) == blocks.back());
  arena.release(arena.allocate(Arena::kept_max + 1));
  CHECK(arena.usage().kept_bytes < kept);
}

TEST_CASE("arena: what nobody has is refused") {
  Arena arena;
  CHECK(arena.allocate(std::size_t{1} << 60) == nullptr);
  CHECK(arena.allocate(~std::size_t{0}) == nullptr);
  CHECK(arena.allocate(std::size_t{1} << 45) == nullptr);
  CHECK(arena.allocate(16, std::size_t{1} << 40) == nullptr);
  CHECK(arena.usage().large_bytes == 0);
  arena.release(nullptr);
}

TEST_CASE("arena: a child made while another thread allocates finds it whole") {
  static Arena arena;
  bool stop = false;
  std::mutex stopping;
  const auto stopped = [&] {
    const std::lock_guard lock(stopping);
    return stop;
  };
  std::thread busy([&] {
    for (unsigned seed = 100; !stopped(); ++seed) disturbed(arena, seed, 200);
  });
  for (int i = 0; i < 50; ++i) {
    arena.lock();
    const pid_t child = ::fork();
    arena.unlock();
    if (child == 0) ::_exit(disturbed(arena, 7, 500));
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  {
    const std::lock_guard lock(stopping);
    stop = true;
  }
  busy.join();
}
