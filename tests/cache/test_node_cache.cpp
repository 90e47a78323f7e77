#include "cache/node_cache.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/error.hpp"

using namespace wherry::cache;
using Bytes = std::vector<std::byte>;

namespace {

/// Memory that processes made by fork() share.
class Shared {
 public:
  explicit Shared(std::size_t bytes)
      : bytes_(bytes),
        data_(static_cast<std::byte*>(
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(data_ != MAP_FAILED);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(data_, bytes_); }
  std::span<std::byte> span() const { return {data_, bytes_}; }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

/// The only right bytes of a range in a generation.
Bytes content(const TargetRange& range, std::uint64_t generation) {
  Bytes bytes;
  for (std::uint64_t i = 0; i < range.bytes; ++i)
    bytes.push_back(
        static_cast<std::byte>(31 * (range.displacement + i) + 7 * range.target + 101 * generation));
  return bytes;
}

bool keep(NodeCache& cache, const TargetRange& range, std::uint64_t generation) {
  return cache.keep(range, generation, content(range, generation).data());
}

bool finds(const NodeCache& cache, const TargetRange& range, std::uint64_t generation) {
  Bytes found(range.bytes + 1, std::byte{0xa5});
  if (!cache.find(range, generation, found.data())) return false;
  CHECK(found.back() == std::byte{0xa5});
  found.pop_back();
  CHECK(found == content(range, generation));
  return true;
}

/// Keeps and looks up at random; how many lookups brought wrong bytes, and (at least 1) whether any brought something.
int play(NodeCache& cache, unsigned seed) {
  std::mt19937 random(seed);
  int wrong = 0, found = 0;
  for (int i = 0; i < 20000; ++i) {
    const TargetRange range{static_cast<std::uint32_t>(random() % 3), random() % 40 * 512,
                            1 + random() % NodeCache::most_payload};
    const std::uint64_t generation = random() % 2;
    Bytes bytes(range.bytes);
    if (random() % 2 == 0) {
      keep(cache, range, generation);
    } else if (cache.find(range, generation, bytes.data())) {
      ++found;
      wrong += bytes != content(range, generation);
    }
  }
  return wrong + (found == 0);
}

}  // namespace

TEST_CASE("node cache: what was kept is found, and so is its beginning, in its generation") {
  const Shared memory(1 << 16);
  NodeCache cache(memory.span());
  CHECK(cache.slots() == 128);
  CHECK_FALSE(finds(cache, {1, 64, 100}, 5));
  CHECK(keep(cache, {1, 64, 100}, 5));
  CHECK(finds(cache, {1, 64, 100}, 5));
  CHECK(finds(cache, {1, 64, 13}, 5));
  CHECK_FALSE(finds(cache, {1, 64, 101}, 5));
  CHECK_FALSE(finds(cache, {2, 64, 100}, 5));
  CHECK_FALSE(finds(cache, {1, 65, 10}, 5));
  CHECK_FALSE(finds(cache, {1, 64, 100}, 6));
  CHECK(keep(cache, {1, 64, 200}, 5));
  CHECK(finds(cache, {1, 64, 200}, 5));
}

TEST_CASE("node cache: what is of another generation goes first; what is too large is not kept") {
  const Shared memory(NodeCache::slot_bytes * 4);
  NodeCache cache(memory.span());
  REQUIRE(cache.slots() == 4);
  const auto kept = [&](std::uint64_t generation) {
    long count = 0;
    for (std::uint64_t i = 0; i < 5; ++i) count += finds(cache, {0, i * 8, 8}, generation);
    return count;
  };
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(keep(cache, {0, i * 8, 8}, 1));
  CHECK(kept(1) == 4);
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(keep(cache, {0, i * 8, 8}, 2));
  CHECK(kept(1) == 0);
  CHECK(kept(2) == 4);
  REQUIRE(keep(cache, {0, 32, 8}, 2));
  CHECK(kept(2) == 4);
  CHECK_FALSE(cache.keep({0, 0, NodeCache::most_payload + 1}, 2, nullptr));
  CHECK_THROWS_AS(NodeCache(memory.span().first(2047)), wherry::usage_error);
}

TEST_CASE("node cache: processes that read and write the same slots never see a mixture") {
  const Shared memory(NodeCache::slot_bytes * 32);
  std::vector<pid_t> children;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      NodeCache cache(memory.span());
      ::_exit(play(cache, seed) == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  NodeCache cache(memory.span());
  CHECK(play(cache, 4) == 0);
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}
