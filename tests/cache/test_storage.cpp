#include "cache/storage.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

using wherry::cache::Storage;
using Random = std::mt19937_64;

namespace {

/// An allocation filled with bytes that only it has.
struct Held {
  Storage::Ref first;
  std::size_t bytes;
  unsigned char mark;
};

void fill(const Storage& storage, const Held& held) {
  storage.each_part(held.first, 0, held.bytes,
                    [&](std::byte* part, std::size_t bytes) { std::memset(part, held.mark, bytes); });
}

/// Whether nobody else has written into it, and its parts are as long as they should be.
bool intact(const Storage& storage, const Held& held) {
  std::size_t seen = 0;
  bool same = true;
  storage.each_part(held.first, 0, held.bytes, [&](const std::byte* part, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) same &= part[i] == std::byte{held.mark};
    seen += bytes;
  });
  return same && seen == held.bytes;
}

/// Sizes as programs have them: mostly small, some large, and the mix changes with the phase.
std::size_t some_size(Random& random, int phase) {
  constexpr std::size_t mixes[][2] = {{8, 64}, {16, 4096}, {1000, 1100}, {1, 300}, {8192, 60000}};
  const auto& [least, most] = mixes[phase % 5];
  return least + random() % (most - least + 1);
}

Held take_away(std::vector<Held>& held, std::size_t at) {
  const Held gone = held[at];
  held[at] = held.back();
  held.pop_back();
  return gone;
}

}  // namespace

TEST_CASE("storage: what is held stays as it was written, whatever else comes and goes") {
  constexpr unsigned seed = 41;
  INFO("seed " << seed);
  Random random(seed);
  Storage storage(1 << 16, 1 << 18);
  std::vector<Held> held;
  for (int step = 0; step < 30000; ++step) {
    const std::size_t bytes = some_size(random, step / 5000);
    if (random() % 2 == 0) {
      if (const Storage::Ref first = storage.allocate(bytes))
        fill(storage, held.emplace_back(first, bytes, static_cast<unsigned char>(random())));
    } else if (!held.empty()) {
      const Held gone = take_away(held, random() % held.size());
      REQUIRE(intact(storage, gone));
      storage.free(gone.first);
    }
    if (step % 1000 == 0) storage.grow(storage.bytes() + 5000);
  }
  for (const Held& each : held) {
    CHECK(intact(storage, each));
    storage.free(each.first);
  }
  CHECK(storage.used() == 0);
  CHECK(storage.allocate(storage.bytes() - 128) != 0);  // one piece again
}

TEST_CASE("storage: changing size mixes leave it full of payload") {
  constexpr unsigned seed = 42;
  INFO("seed " << seed);
  Random random(seed);
  constexpr std::size_t capacity = 1 << 20;
  Storage storage(capacity, capacity);
  std::vector<Held> held;
  std::size_t payload = 0;
  for (int phase = 0; phase < 10; ++phase)
    for (int step = 0; step < 20000; ++step) {
      const std::size_t bytes = some_size(random, phase);
      Storage::Ref first = 0;
      while ((first = storage.allocate(bytes)) == 0) {
        // It fails only when it must: payload, heads of 16 bytes, on average half a cell at the end of each
        // allocation, and what was asked for make up four fifths of the memory. The rest is heads of further
        // pieces, and what is scattered.
        const double heads = static_cast<double>(held.size()) * 1.5 * Storage::cell;
        REQUIRE(static_cast<double>(payload + bytes) + heads > 0.8 * capacity);
        const Held gone = take_away(held, random() % held.size());
        payload -= gone.bytes;
        storage.free(gone.first);
      }
      held.push_back({first, bytes, 0});
      payload += bytes;
    }
}

TEST_CASE("storage: shrinking asks for what is in the way, and keeps the rest") {
  Storage storage(1 << 16, 1 << 16);
  std::vector<Held> held;
  while (const Storage::Ref first = storage.allocate(1000))
    fill(storage, held.emplace_back(first, 1000, static_cast<unsigned char>(held.size())));
  // Every second one goes; there is room for the others in the lower half.
  for (std::size_t i = 0; i < held.size(); ++i) storage.free(take_away(held, i).first);
  std::size_t moved = 0;
  storage.shrink(1 << 15, [&](Storage::Ref first) {
    const auto old =
        std::find_if(held.begin(), held.end(), [&](const Held& each) { return each.first == first; });
    REQUIRE(old != held.end());
    const Storage::Ref copy = storage.allocate(old->bytes);
    storage.free(first);
    if (copy == 0) return held.erase(old), true;
    ++moved;
    old->first = copy;
    fill(storage, *old);
    return true;
  });
  CHECK(storage.bytes() == 1 << 15);
  CHECK(moved > 0);
  CHECK(held.size() * 1000 > (1 << 15) * 8 / 10);
  for (const Held& each : held) CHECK(intact(storage, each));
}

TEST_CASE("storage: what cannot be moved stops the shrinking") {
  Storage storage(1 << 16, 1 << 16);
  while (storage.allocate(1000) != 0) continue;
  storage.shrink(1 << 15, [](Storage::Ref) { return false; });
  CHECK(storage.bytes() > (1 << 16) - 1100);
}

TEST_CASE("storage: clearing gives all of it back") {
  Storage storage(1 << 14, 1 << 14);
  while (storage.allocate(40) != 0) continue;
  storage.clear();
  CHECK(storage.used() == 0);
  CHECK(storage.allocate((1 << 14) - 128) != 0);
  CHECK(storage.allocate(1 << 14) == 0);
}
