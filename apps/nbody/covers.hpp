// Which blocks of bodies meet on which rank.
//
// The ranks stand in a ring, and each has a block of bodies. Rank r is host to the blocks of the ranks r + c, for every
// c of a cover: numbers whose differences are all distances around the ring. So every two blocks have a host, although
// a rank meets few others: hosts with their own blocks are a half ring, and a cover of about sqrt(p) numbers will do
// (Colbourn and Ling, Quorums from difference covers, Information Processing Letters 75, 2000; Kleinheksel and Somani,
// Scaling distributed all-pairs algorithms, ICISA 2016).
#pragma once

#include <cstddef>
#include <vector>

namespace nbody {

/// Numbers below `ranks`, 0 first, whose differences are all distances up to ranks / 2: few of them, the same on every
/// rank.
std::vector<int> difference_cover(int ranks);

/// 0, 1, ..., ranks / 2.
std::vector<int> half_ring_cover(int ranks);

/// Two blocks of a host, by their places in its cover; 0 is its own. shared: the host half round the ring has the same
/// two, and each does half of their pairs.
struct Meeting {
  std::size_t first, second;  // first < second
  bool shared;
  bool operator==(const Meeting&) const = default;
};

/// What every host does: a meeting for each distance, in an order in which guests come one after the other, as they
/// stand in the cover, and are done with soon.
std::vector<Meeting> meetings(const std::vector<int>& cover, int ranks);

}  // namespace nbody
