// Patterns of sparse exchanges that every rank can compute for all ranks, and so knows what must arrive without asking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sparse/inbox.hpp"

namespace wherry::test {

/// A message with its own data.
struct Parcel {
  int peer;
  std::vector<unsigned char> data;
  friend bool operator==(const Parcel&, const Parcel&) = default;
};
using Parcels = std::vector<Parcel>;

/// A stream of numbers that depends on what it is for, the same on all ranks (splitmix64).
class Numbers {
 public:
  explicit Numbers(std::initializer_list<std::uint64_t> about) {
    for (const std::uint64_t n : about) state_ = next() ^ n;
  }
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t state_ = 0;
};

inline std::vector<unsigned char> content(std::size_t bytes, Numbers& numbers) {
  std::vector<unsigned char> data(bytes);
  const auto first = static_cast<unsigned char>(numbers.next());
  std::iota(data.begin(), data.end(), first);
  return data;
}

/// What a rank sends in exchange number `exchange`: up to 2 P messages, to anybody, itself included, often several to
/// one; empty, small, too large to be combined, or too long for one message of a combining strategy together.
inline Parcels draw(std::uint64_t seed, int exchange, int rank, int ranks) {
  constexpr std::size_t sizes[] = {0, 1, 17, 64, 300, 1000, 3000, 40000};
  Numbers numbers{seed, static_cast<std::uint64_t>(exchange), static_cast<std::uint64_t>(rank)};
  const auto size = static_cast<std::uint64_t>(ranks);
  const std::uint64_t most = numbers.below(3) == 0 ? 0 : numbers.below(2 * size + 1);
  Parcels parcels;
  for (std::uint64_t i = 0; i < most; ++i) {
    const auto peer = static_cast<int>(numbers.below(size));
    const std::size_t bytes = sizes[numbers.below(std::size(sizes))];
    parcels.push_back({peer, content(bytes, numbers)});
  }
  return parcels;
}

/// A few small ones, cheap enough for a thousand exchanges.
inline Parcels draw_few(std::uint64_t seed, int exchange, int rank, int ranks) {
  Numbers numbers{seed, static_cast<std::uint64_t>(exchange), static_cast<std::uint64_t>(rank)};
  Parcels parcels;
  for (std::uint64_t i = numbers.below(4); i > 0; --i) {
    const auto peer = static_cast<int>(numbers.below(static_cast<std::uint64_t>(ranks)));
    parcels.push_back({peer, content(numbers.below(40), numbers)});
  }
  return parcels;
}

using Draw = Parcels (*)(std::uint64_t seed, int exchange, int rank, int ranks);

/// What must arrive at a rank: by sources, and from each in the order of sending.
inline Parcels due(Draw drawn, std::uint64_t seed, int exchange, int rank, int ranks) {
  Parcels all;
  for (int source = 0; source < ranks; ++source)
    for (Parcel& parcel : drawn(seed, exchange, source, ranks))
      if (parcel.peer == rank) all.push_back({source, std::move(parcel.data)});
  return all;
}

inline std::vector<run::SparseMessage> messages_of(const Parcels& parcels) {
  std::vector<run::SparseMessage> messages;
  for (const Parcel& p : parcels)
    messages.push_back({p.peer, p.data.empty() ? nullptr : p.data.data(), p.data.size()});
  return messages;
}

template <class Messages>
Parcels parcels_of(const Messages& messages) {
  Parcels parcels;
  for (const auto& m : messages) {
    const auto* const data = static_cast<const unsigned char*>(m.data);
    parcels.push_back({m.peer, {data, data + m.bytes}});
  }
  return parcels;
}

}  // namespace wherry::test
