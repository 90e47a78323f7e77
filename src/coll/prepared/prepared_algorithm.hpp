// An algorithm with its schedules on a communicator: what a call takes of memory, and how it is performed. The families
// of schedules differ in the types below, and their callers need not know of which one an algorithm is.
#pragma once

#include <cstddef>
#include <variant>

#include "coll/state/cell_key.hpp"
#include "coll/state/schedules.hpp"
#include "coll/state/task.hpp"
#include "comm/staging.hpp"
#include "exec/coroutine.hpp"
#include "schedule/registry/algorithm.hpp"

namespace wherry::run {

/// Transfers of a buffer's segments.
struct OnSegments {
  const PreparedSegments* schedule;

  int perform_now(Communicator& c, Arguments& call, const CellKey& key, Staging& staging) const;
  std::size_t staging_bytes(const Arguments& call, const CellKey& key) const;
  Work perform(const Task& task, Arguments& call, const CellKey& key, std::byte* staging) const;
};

/// Messages of blocks, by rank.
struct OnBlocks {
  schedule::Hops hops;
  const Prepared* schedule;
  const Prepared* large;  // of blocks too large to be combined; where none are, the same

  int perform_now(Communicator& c, Arguments& call, const CellKey& key, Staging& staging) const;
  std::size_t staging_bytes(const Arguments& call, const CellKey& key) const;
  Work perform(const Task& task, Arguments& call, const CellKey& key, std::byte* staging) const;
};

/// The same along the edges of a graph.
struct OnEdges : OnBlocks {
  int perform_now(Communicator& c, Arguments& call, const CellKey& key, Staging& staging) const;
};

/// What it refers to is the communicator's.
class PreparedAlgorithm {
 public:
  /// Derives the schedules, or finds them. key: of the cell of the calls, here and below. root: of a collective on
  /// segments that has one.
  PreparedAlgorithm(Communicator& c, const schedule::Algorithm& algorithm, const CellKey& key, int root);

  /// Performs a blocking call, whose arguments may change. Collective; returns an MPI code.
  int perform_now(Communicator& c, Arguments& call, const CellKey& key, Staging& staging) const {
    return std::visit([&](const auto& family) { return family.perform_now(c, call, key, staging); }, family_);
  }

  // For calls that are left and taken up again:

  std::size_t staging_bytes(const Arguments& call, const CellKey& key) const {
    return std::visit([&](const auto& family) { return family.staging_bytes(call, key); }, family_);
  }
  /// staging: so many bytes as staging_bytes() says. Collective. What it is given must outlive the work.
  Work perform(const Task& task, Arguments& call, const CellKey& key, std::byte* staging) const {
    return std::visit([&](const auto& family) { return family.perform(task, call, key, staging); }, family_);
  }

 private:
  std::variant<OnSegments, OnBlocks, OnEdges> family_;
};

}  // namespace wherry::run
