// One pass of a distributed radix sort as arithmetic: which keys go to which rank.
//
// A pass puts all keys in the order of one digit and keeps the order of equal digits. Every rank holds a block of the
// same number of keys before and after it, so a key's place in the whole says where it goes:
//   keys with smaller digits + keys with this digit on lower ranks + such keys before it on this rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "radix_sort/keys.hpp"

namespace radix_sort {

/// Some bits of a key.
struct Digit {
  int shift;
  int bits;
  std::size_t values() const { return std::size_t{1} << bits; }
  std::size_t of(Key key) const { return (key >> shift) & (values() - 1); }
};

constexpr int key_bits = 64;
constexpr int most_digit_bits = 16;

/// The digits of a key, lowest first: as many as there can be of at least so many bits, as equal as they can be.
std::vector<Digit> digits(int least_bits);

/// At least 8, and enough for a value per rank: with fewer values, no rank would send to all others.
int default_digit_bits(int ranks);

using Counts = std::vector<std::int64_t>;

/// How many keys have each value of the digit.
Counts histogram(std::span<const Key> keys, Digit digit);

/// Puts keys in the order of the digit and keeps the order of equal ones. sorted: as long as keys, elsewhere.
void sort_by(Digit digit, std::span<const Key> keys, std::span<Key> sorted);

/// How many of this rank's keys go to each rank; those that go to one lie together when they are in the digit's order.
///
/// mine: this rank's histogram; lower: the sum of those of lower ranks; all: the sum of those of all ranks.
std::vector<int> leaving(const Counts& mine, const Counts& lower, const Counts& all,
                         std::int64_t keys_per_rank, int ranks);

/// Where blocks of these sizes begin, one after the other.
std::vector<int> begins(std::span<const int> counts);

}  // namespace radix_sort
