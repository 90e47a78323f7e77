// One call by one strategy: the schedule, the call's memory and what lies between them.
#pragma once

#include "coll/state/schedules.hpp"
#include "coll/state/task.hpp"
#include "comm/staging.hpp"
#include "exec/coroutine.hpp"
#include "schedule/blocks/block_strategy.hpp"

namespace wherry::run {

/// Largest block that travels combined in irregular calls of this size class.
std::size_t combined_limit(std::uint32_t bucket);

// Staging is had before an exchange begins, for once begun it must not stop: the other ranks count on its messages.

/// Exchanges `blocks`, all of the same number of bytes. staging: so many bytes as the first function says. Collective;
/// `blocks` may change.
std::size_t uniform_staging(const Blocks& blocks, schedule::Hops hops, const Prepared& prepared);
Work uniform_exchange(Task task, Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                      std::byte* staging);

/// Exchanges `blocks` of any sizes, not in place. hops: of the schedule's strategy; large: for blocks of more than
/// `limit` bytes.
/// staging: so many bytes as the first function says. Collective.
std::size_t irregular_staging(schedule::Hops hops, const Prepared& prepared, std::size_t limit);
Work irregular_exchange(Task task, const Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                        const Prepared& large, std::size_t limit, std::byte* staging);

/// The same of a blocking call. Returns an MPI code.
int exchange_irregular(const Task& task, const Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                       const Prepared& large, std::size_t limit, Staging& staging);

/// How blocks travel that are too large to be combined.
const Prepared& large_block_schedule(Communicator& c);

// Of blocking calls. hops: of the schedule's strategy. Collective; return an MPI code.

/// Exchanges blocks that are all of the same number of bytes.
int perform_uniform(Communicator& c, Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                    Staging& staging);

/// Exchanges blocks of any sizes. In place, the strategy must be tuning::in_place_strategy. large: for blocks too large
/// to be combined.
int perform_irregular(Communicator& c, Blocks& blocks, schedule::Hops hops, const Prepared& prepared,
                      const Prepared& large, std::uint32_t bucket, Staging& staging);

/// MPI_SUCCESS unless this rank's arguments are such that the library reports an error, yet no bar to its part.
int validate(const mpi::Api& api, Blocks& blocks);

}  // namespace wherry::run
