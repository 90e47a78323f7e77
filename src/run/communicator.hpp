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

#include "base/settings.hpp"
#include "choose/way.hpp"
#include "plan/cost.hpp"
#include "plan/segments/layout.hpp"
#include "plan/segments/strategy.hpp"
#include "plan/shape.hpp"
#include "run/bindings.hpp"
#include "run/cell.hpp"
#include "run/cell_key.hpp"
#include "run/channel.hpp"
#include "run/executor.hpp"
#include "run/likeness.hpp"
#include "run/segments/call.hpp"
#include "run/size_watch.hpp"
#include "run/sparse/exchange.hpp"
#include "run/started/set_aside.hpp"
#include "run/started/tags.hpp"
#include "run/terms.hpp"

namespace wherry::run {

using choose::Way;
class Neighbourhood;  // run/neighbours/neighbourhood.hpp

/// A schedule of this rank, ready to run.
struct Prepared {
  plan::Schedule schedule;
  CombinedLayout layout;
};

/// The same of a segment schedule.
struct PreparedSegments {
  plan::SegmentSchedule schedule;
  plan::SegmentLayout layout;
  plan::Range reach;     // the segments that it touches
  plan::Range received;  // those of them that arrive
  bool sends_its_own;    // plan::sends_its_own()
};

/// What is learned about some calls. ways[i] is candidate i, but for native, the first.
struct Choice {
  Cell cell;
  std::vector<std::optional<Way>> ways;
};

struct RecentChoice {
  CellKey key{};
  Choice* choice = nullptr;
};

/// The way that such calls were last told to go, or why they cannot.
struct Asked {
  std::string name;
  std::optional<Way> way;
  std::string_view problem;
};

/// State beside a communicator, made at one of its collectives and freed with it.
class Communicator {
 public:
  /// Collective over `comm`, an intracommunicator. If its terms are a refusal, on all ranks alike, it is good for nothing.
  Communicator(MPI_Comm comm, const Settings& settings, const mpi::Api& api, Room room = Room::enough);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  /// Collective where the library's MPI_Comm_free is.
  ~Communicator();

  const Terms& terms() const { return terms_; }
  const plan::Shape& shape() const { return *shape_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  const Channel& channel() const { return *channel_; }
  const Prepared& prepared(const plan::Strategy& strategy);
  /// root: of the collectives that have one, else 0.
  const PreparedSegments& prepared(const plan::SegmentStrategy& strategy, int depth, int root);

  /// From now on no way may need more staging than is reserved.
  void limit_staging() { terms_.staging_max = reserved_staging; }

  std::size_t reserved_staging = 0;      // bytes that every rank has, for blocking calls
  std::optional<plan::Machine> machine;  // what calls are priced by, once the ranks have settled it
  std::map<CellKey, std::unique_ptr<Choice>> choices;
  std::array<RecentChoice, collectives> recent_choices;  // by collective: most calls are like the last
  std::array<Quiet, collectives> quiet;                  // by collective
  std::map<CellKey, Asked> asked;
  std::map<std::pair<Collective, bool>, SizeWatch> watches;
  Requests requests;
  Blocks blocks;
  SegmentCall segments;
  SparseState sparse;
  std::unique_ptr<Neighbourhood> neighbourhood;  // once a neighbourhood collective was called
  // Of collectives that are left and taken up again:
  Tags tags;
  LastingTags lasting_tags;
  SetAside set_aside;
  // What the cost model would choose for calls of a size class, with so much staging.
  std::map<std::pair<CellKey, std::size_t>, std::optional<Way>> modelled;

 private:
  void open_channel(MPI_Comm comm, const mpi::Api& api);
  void find_nodes(MPI_Comm comm, const Settings& settings, const mpi::Api& api);

  int rank_ = 0;
  int size_ = 0;
  Terms terms_;
  std::unique_ptr<plan::Shape> shape_;
  std::unique_ptr<Channel> channel_;  // on a communicator of its own
  std::map<const plan::Strategy*, Prepared> prepared_;
  std::map<std::tuple<const plan::SegmentStrategy*, int, int>, PreparedSegments> prepared_segments_;
};

}  // namespace wherry::run
