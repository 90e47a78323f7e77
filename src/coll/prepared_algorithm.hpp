// An algorithm with its schedules on a communicator: what a call takes of memory, and how it is performed. The families
// of schedules differ in the types below, and their callers need not know of which one an algorithm is.
#pragma once

#include <cstddef>
#include <variant>

#include "coll/state/task.hpp"
#include "exec/coroutine.hpp"

namespace wherry::run {

/// Transfers of a buffer's segments.
struct OnSegments {
  const PreparedSegments* schedule;

  std::size_t staging_bytes(const Arguments& call, const CellKey& key) const;
  Work perform(const Task& task, Arguments& call, const CellKey& key, std::byte* staging) const;
};

/// Messages of blocks, by rank or along the edges of a graph.
struct OnBlocks {
  schedule::Hops hops;
  const Prepared* schedule;
  const Prepared* large;  // of blocks too large to be combined

  std::size_t staging_bytes(const Arguments& call, const CellKey& key) const;
  Work perform(const Task& task, Arguments& call, const CellKey& key, std::byte* staging) const;
};

/// What it refers to is the communicator's.
class PreparedAlgorithm {
 public:
  /// Derives the schedules, or finds them. root: of a collective on segments that has one.
  PreparedAlgorithm(Communicator& c, const Algorithm& algorithm, int root);

  /// key: of the call's cell, here and below.
  std::size_t staging_bytes(const Arguments& call, const CellKey& key) const {
    return std::visit([&](const auto& family) { return family.staging_bytes(call, key); }, family_);
  }
  /// staging: so many bytes as staging_bytes() says. Collective. What it is given must outlive the work.
  Work perform(const Task& task, Arguments& call, const CellKey& key, std::byte* staging) const {
    return std::visit([&](const auto& family) { return family.perform(task, call, key, staging); }, family_);
  }

 private:
  std::variant<OnSegments, OnBlocks> family_;
};

}  // namespace wherry::run
