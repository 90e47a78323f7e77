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

namespace wherry::run {

/// What the ranks of a communicator settled among themselves when Wherry joined it: equal on all of them.
struct Terms {
  bool usable = false;  // all ranks were given the same instructions
  bool learning = false;
  bool tuning = false;
  bool host_memory = false;     // no rank has an accelerator's runtime loaded
  std::size_t staging_max = 0;  // the smallest that any rank allows
};

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

/// Follows the block sizes of an irregular collective, which each rank knows only in part.
///
/// The ranks agree on the largest average block now and then, out of the way of the calls; the size class in use changes
/// only when an agreement arrives, at the same call everywhere.
class SizeWatch {
 public:
  /// Collective: the size class to start with.
  void start(double average_bytes, const Channel& channel);
  bool started() const { return started_; }
  /// Collective, before each call.
  std::uint32_t bucket(const Channel& channel);
  /// Collective, with each call.
  void saw(double average_bytes, const Channel& channel);
  void finish(const Channel& channel);

 private:
  static constexpr std::uint64_t period = 64;  // calls between agreements
  static constexpr std::uint64_t lag = 2;      // calls that an agreement may take

  bool started_ = false;
  std::uint32_t bucket_ = 0;
  std::uint64_t calls_ = 0;
  double largest_ = 0, mine_ = 0, agreed_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// State beside a communicator, made at one of its collectives and freed with it.
class Communicator {
 public:
  /// Collective over `comm`, an intracommunicator.
  Communicator(MPI_Comm comm, const Settings& settings, const mpi::Api& api);
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
  void join(MPI_Comm comm, const mpi::Api& api);
  void find_nodes(const Settings& settings, const mpi::Api& api);
  void settle_terms(const Settings& settings, const mpi::Api& api);

  MPI_Comm own_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  Terms terms_;
  std::unique_ptr<plan::Shape> shape_;
  std::unique_ptr<Channel> channel_;
  std::map<const plan::Strategy*, Prepared> prepared_;
};

/// Whether a library is loaded that may hand device memory to MPI.
bool accelerator_loaded();

}  // namespace wherry::run
