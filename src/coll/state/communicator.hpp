// What Wherry keeps for one communicator of the program.
#pragma once

#include <mpi.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arguments/segment_call.hpp"
#include "base/settings.hpp"
#include "coll/state/call_signature.hpp"
#include "coll/state/cell.hpp"
#include "coll/state/cell_key.hpp"
#include "coll/state/size_watch.hpp"
#include "comm/agreement.hpp"
#include "comm/channel.hpp"
#include "comm/reserved_memory.hpp"
#include "comm/tags.hpp"
#include "datatype/type_layouts.hpp"
#include "exec/block_bindings.hpp"
#include "exec/executor.hpp"
#include "exec/shared_chunks.hpp"
#include "model/cost.hpp"
#include "schedule/registry/algorithm.hpp"
#include "schedule/segments/packing.hpp"
#include "schedule/segments/segment_strategy.hpp"
#include "sparse/exchange.hpp"
#include "topology/placement.hpp"

namespace wherry::run {

using schedule::Algorithm;
class Neighborhood;  // coll/state/neighborhood.hpp

/// A schedule of this rank, ready to run.
struct Prepared {
  schedule::Schedule schedule;
  CombinedLayout layout;
};

/// The same of a segment schedule.
struct PreparedSegments {
  schedule::SegmentSchedule schedule;
  schedule::SegmentLayout layout;
  schedule::SegmentRange reach;     // the segments that it touches
  schedule::SegmentRange received;  // those of them that arrive
  bool sends_its_own;               // schedule::sends_its_own()
};

/// What is learned about some calls. algorithms[i] is candidate i, but for native, the first.
struct Choice {
  Cell cell;
  std::vector<std::optional<Algorithm>> algorithms;
};

struct RecentChoice {
  CellKey key{};
  Choice* choice = nullptr;
};

/// The algorithm that such calls were last told to run, or why there is none.
struct NamedAlgorithm {
  std::string name;
  std::optional<Algorithm> algorithm;
  std::string_view problem;
};

/// State beside a communicator, made at one of its collectives and freed with it.
class Communicator {
 public:
  /// Collective over `comm`, an intracommunicator. If its agreement is a refusal, on all ranks alike, it is good for
  /// nothing.
  Communicator(MPI_Comm comm, const Settings& settings, const mpi::Api& api,
               Capacity capacity = Capacity::enough);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  /// Collective where the native MPI_Comm_free is.
  ~Communicator();

  const Agreement& agreement() const { return agreement_; }
  const topology::Placement& placement() const { return *placement_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  const Channel& channel() const { return *channel_; }
  SparseContext sparse_context() { return {*channel_, *placement_, rank_, sparse, requests}; }
  const Prepared& prepared(const schedule::Strategy& strategy);
  /// root: of the collectives that have one, else 0.
  const PreparedSegments& prepared(const schedule::SegmentStrategy& strategy, int depth, int root);

  /// From now on no algorithm may need more staging than is reserved.
  void limit_staging() {
    agreement_.staging_max = reserved_staging;
    for (FastPaths& paths : fast_paths) paths.clear();  // their calls may be native now
  }

  std::size_t reserved_staging = 0;       // bytes that every rank has, for blocking calls
  std::optional<model::Machine> machine;  // what calls are estimated by, once the ranks have settled it
  tuning::ControlledTrial trial;          // of all choices, against native
  std::map<CellKey, std::unique_ptr<Choice>> choices;
  std::array<RecentChoice, collectives> recent_choices;  // by collective: most calls are like the last
  std::array<FastPaths, ComparableCalls::size> fast_paths;
  std::map<CellKey, NamedAlgorithm> named;
  std::map<std::pair<Collective, bool>, SizeWatch> watches;
  datatype::TypeLayouts* layouts = nullptr;   // nullptr: messages of derived types stay native
  bool memory_is_readable = true;             // by the ranks of this host, as far as is known
  std::unique_ptr<SharedConnections> shared;  // with them; nullptr where there are no layouts
  Requests requests;
  Blocks blocks;
  SegmentCall segments;
  SparseState sparse;
  std::unique_ptr<Neighborhood> neighborhood;  // once a neighborhood collective was called
  // Of collectives that are left and taken up again:
  Tags tags;
  LastingTags lasting_tags;
  ReservedMemory reserved_memory;
  // What the cost model would choose for calls of a size class, with so much staging.
  std::map<std::pair<CellKey, std::size_t>, std::optional<Algorithm>> modelled;

 private:
  void open_channel(MPI_Comm comm, const mpi::Api& api);
  void find_nodes(MPI_Comm comm, const Settings& settings, const mpi::Api& api);

  int rank_ = 0;
  int size_ = 0;
  Agreement agreement_;
  std::unique_ptr<topology::Placement> placement_;
  std::unique_ptr<Channel> channel_;  // on a communicator of its own
  std::map<const schedule::Strategy*, Prepared> prepared_;
  std::map<std::tuple<const schedule::SegmentStrategy*, int, int>, PreparedSegments> prepared_segments_;
};

}  // namespace wherry::run
