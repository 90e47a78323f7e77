// What a window knows of one of its targets, and what is under way to it.
//
// Operations are numbered in the order in which they are issued. A completion covers those up to a sequence number, so
// that threads may issue others while it is under way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/entry.hpp"
#include "cache/fetches.hpp"
#include "datatype/type_map.hpp"
#include "window/cost_benefit.hpp"

namespace wherry::window {

using SequenceNumber = std::uint64_t;

/// A target's memory in the window.
struct TargetMemory {
  std::int64_t bytes = 0;
  std::int64_t unit = 1;  // bytes of one displacement
};

/// Bytes that must be fetched, and where to.
struct MissingPart {
  cache::TargetRange range;
  std::byte* to;
  cache::Ticket ticket;  // 0: nobody keeps them
};

/// Bytes that are coming, and where to.
struct Fetched {
  SequenceNumber sequence;
  cache::Ticket ticket;
  cache::TargetRange range;
  const std::byte* bytes;
  bool aliased = false;  // with others that were read to the same place; see Destinations
};

/// The same of what is to be offered to the other ranks of the node.
struct Coming {
  SequenceNumber sequence;
  std::uint64_t phase;  // when it was asked for; see Sharing
  cache::TargetRange range;
  const std::byte* bytes;
  bool aliased = false;
};

/// Of a get to an origin with gaps: its data are without gaps in between.
struct PendingUnpack {
  SequenceNumber sequence;
  std::shared_ptr<const datatype::TypeMap> map;
  std::int64_t count;
  void* origin;
  std::unique_ptr<std::byte[]> data;
  bool gathers;  // the data come to the origin; else they are unpacked there when they have come
};

/// Memory of a block that is coming.
struct BlockMemory {
  SequenceNumber sequence;
  std::unique_ptr<std::byte[]> bytes;
};

/// An own write that the target may not have yet.
struct Write {
  SequenceNumber sequence;
  cache::TargetRange range;
};

/// What follows those up to a sequence number; what is listed is in that order.
template <class Items>
auto end_of(Items& items, SequenceNumber last) {
  return std::find_if(items.begin(), items.end(), [last](const auto& item) { return item.sequence > last; });
}

struct Target {
  TargetMemory memory;
  bool is_cached = true;
  CostBenefit cost_benefit;

  SequenceNumber issued = 0;     // the last operation
  SequenceNumber written = 0;    // the last that changes the target
  SequenceNumber completed = 0;  // operations up to this one are complete here and there
  SequenceNumber local = 0;      // the same, here only
  std::uint64_t written_in = 0;  // the last phase in which a write of this rank got there; see Sharing
  bool reread = false;           // a get was issued while writes were under way
  bool listed = false;           // among the window's open targets
  std::uint64_t under_way = 0;   // operations since the last completion
  SequenceNumber timed = 0;      // the last get under way whose call was timed; 0: there is none
  double timed_s = 0;            // what its call took
  double timed_bytes = 0;        // what it brings

  std::vector<MissingPart> held;  // not asked for yet
  std::vector<Fetched> fetched;
  std::vector<Coming> coming;
  std::vector<BlockMemory> blocks;
  std::vector<PendingUnpack> unpacks;
  std::vector<Write> writes;

  bool is_clean() const { return completed >= issued; }
  /// Whether nobody here has to know when its operations are complete.
  bool awaits_nothing() const {
    return held.empty() && fetched.empty() && coming.empty() && blocks.empty() && unpacks.empty();
  }
};

}  // namespace wherry::window
