// What bench_serialization compares: codecs that make bytes of objects and objects of bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "particle.hpp"
#include "record.hpp"
#include "wherry/compact_vector.hpp"

namespace bench {

using Triple = std::array<int, 3>;
using Particle = sample::Particle<wherry::compact_vector<int>>;
/// With the lists that a program has who knows no compact_vector.
using UsualParticle = sample::Particle<std::vector<int>>;

/// One codec, for a number of objects that it owns. Buffers are kept from call to call.
struct Codec {
  std::string name;
  std::function<std::size_t()> pack;  // returns the number of bytes
  std::function<void()> unpack;       // what was packed last, to other objects
  std::function<bool()> same;         // whether these are equal to those that were packed
};

/// Boost.MPI's packed archives in their default form, where the program is linked to them; see serialization_boost.cpp.
[[gnu::weak]] void add_boost(std::vector<Codec>& codecs, const std::vector<Triple>& objects);
[[gnu::weak]] void add_boost(std::vector<Codec>& codecs, const std::vector<UsualParticle>& objects);
[[gnu::weak]] void add_boost(std::vector<Codec>& codecs, const std::vector<sample::Record>& objects);

}  // namespace bench
