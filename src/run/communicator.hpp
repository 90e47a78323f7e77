// What Wherry keeps for one communicator of the program.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "base/settings.hpp"
#include "plan/shape.hpp"
#include "run/bindings.hpp"
#include "run/cell.hpp"
#include "run/channel.hpp"
#include "run/executor.hpp"
#include "run/observer.hpp"
#include "run/size_watch.hpp"
#include "run/terms.hpp"

namespace wherry::run {

/// A schedule of this rank, ready to run.
struct Prepared {
  plan::Schedule schedule;
  CombinedLayout layout;
};

/// Calls that share what is learned.
struct CellKey {
  Operation operation;
  bool in_place;
  std::uint32_t bucket;  // size class of a block, agreed
  friend auto operator<=>(const CellKey&, const CellKey&) = default;
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

  std::map<CellKey, std::unique_ptr<Cell>> cells;
  std::map<std::pair<Operation, bool>, SizeWatch> watches;
  Requests requests;
  Blocks blocks;

 private:
  void open_channel(MPI_Comm comm, const mpi::Api& api);
  void find_nodes(MPI_Comm comm, const Settings& settings, const mpi::Api& api);

  int rank_ = 0;
  int size_ = 0;
  Terms terms_;
  std::unique_ptr<plan::Shape> shape_;
  std::unique_ptr<Channel> channel_;  // on a communicator of its own
  std::map<const plan::Strategy*, Prepared> prepared_;
};

}  // namespace wherry::run
