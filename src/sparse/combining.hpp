// Combining: small messages travel together along the routes of a strategy for all-to-alls, each behind a record of its
// length; of large ones only the record does, and they go straight to their destination.
//
// Every message of the schedule is sent, if only to say that it carries nothing, so that ranks know what to wait for:
// log2 P messages per rank with bruck2, however many messages a rank has. After the crystal router of Fox, Johnson,
// Lyzenga, Otto, Salmon and Walker, Solving Problems on Concurrent Processors, volume 1, 1988.
#pragma once

#include <unordered_map>
#include <vector>

#include "exec/executor.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "sparse/sparse_strategies.hpp"
#include "topology/placement.hpp"

namespace wherry::run {

/// What one rank does for messages along the routes of a strategy; kept between exchanges.
class Forwarding {
 public:
  Forwarding(const schedule::Strategy& strategy, const topology::Placement& placement, int rank);

  const schedule::Schedule& schedule() const { return schedule_; }
  /// Index of the message to send that takes this block on.
  std::size_t departure(schedule::Block block) const { return departures_.at(key(block)); }
  /// Messages of more bytes are better sent by themselves.
  std::size_t limit() const { return limit_; }

 private:
  std::size_t key(schedule::Block b) const {
    return static_cast<std::size_t>(b.origin) * static_cast<std::size_t>(schedule_.size) +
           static_cast<std::size_t>(b.destination);
  }

  schedule::Schedule schedule_;
  std::unordered_map<std::size_t, std::size_t> departures_;
  std::size_t limit_;
};

int combine(const Forwarding& forwarding, const SparseCall& call, Requests& requests);

}  // namespace wherry::run
