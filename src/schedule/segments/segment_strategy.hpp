// The registry of strategies for all collectives but the personalized all-to-all: a table that can be read.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "schedule/segment_schedule.hpp"
#include "schedule/segments/segment_builder.hpp"
#include "topology/placement.hpp"

namespace wherry::schedule {

enum class Operation { allgather, bcast, gather, scatter, reduce, allreduce, reduce_scatter, barrier };

/// "allgather", ...
std::string_view name(Operation operation);

/// Whether one rank is different from the others.
bool has_root(Operation operation);

/// Whether data is combined.
bool reduces(Operation operation);

/// What a strategy is told besides the placement.
struct Parameters {
  int root = 0;   // of a bcast, gather, scatter or reduce; others do not look at it
  int depth = 1;  // segments that a pipelined strategy cuts its data into, >= 1; others do not look at it
};

/// Whether some ranks may stand for the others in counting what a strategy costs on many ranks.
enum class Ranks {
  alike,   // all do the same but for the placement
  differ,  // there are leaders, roots or leaves; most of these strategies have few messages
};

/// One algorithm of a collective.
struct SegmentStrategy {
  Operation operation;
  std::string_view name;     // as users write it; unique within the operation
  std::string_view summary;  // one line for `wherry explain`, with the source
  bool (*applies)(const topology::Placement&);
  std::string_view needs;  // what applies() asks for: "at least 4 ranks"
  int (*segments)(const topology::Placement&, const Parameters&);
  void (*add)(SegmentBuilder&, const topology::Placement&,
              const Parameters&);  // adds the transfers of the builder's rank
  bool (*keeps_order)(
      const topology::
          Placement&);  // reduces in the order of ranks, as operations that do not commute need it
  Ranks ranks;
};

/// All strategies, those of an operation next to each other. Indices are stable within one build only.
std::span<const SegmentStrategy> segment_strategies();

/// Those of one operation.
std::span<const SegmentStrategy> segment_strategies(Operation operation);

/// The strategy of that name, or nullptr.
const SegmentStrategy* find_strategy(Operation operation, std::string_view name);

/// Whether Parameters::depth matters to it.
bool is_pipelined(const SegmentStrategy& strategy);

/// What one rank does; in time proportional to that, but for logarithms and, where nodes matter, their number.
/// Throws usage_error if the root is no rank, the depth not positive, or the strategy does not apply.
SegmentSchedule schedule(const SegmentStrategy& strategy, const topology::Placement& placement, int rank,
                         const Parameters& parameters);

/// The schedules of all ranks.
std::vector<SegmentSchedule> schedules(const SegmentStrategy& strategy, const topology::Placement& placement,
                                       const Parameters& parameters);

}  // namespace wherry::schedule
