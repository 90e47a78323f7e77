// What Wherry keeps for one communicator of the program.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/settings.hpp"
#include "comm/agreement.hpp"
#include "comm/channel.hpp"
#include "comm/reserved_memory.hpp"
#include "comm/state_slots.hpp"
#include "comm/tags.hpp"
#include "topology/placement.hpp"

namespace wherry::run {

/// Made at one of its collectives and freed with it. The ranks' places, what they agreed on, Wherry's channel between
/// them, and what calls share: tags and memory. All else is the features' own state.
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

  /// State of a feature, made of this communicator, or of nothing, when it is first asked for. Freed before the channel
  /// is.
  template <class State>
  State& state() {
    if constexpr (std::is_constructible_v<State, const Communicator&>)
      return slots_.get<State>(std::as_const(*this));
    else return slots_.get<State>();
  }
  /// The same if there is any; else nullptr.
  template <class State>
  [[gnu::always_inline]] State* find() const {
    return slots_.find<State>();
  }

  /// Bytes that every rank has, for blocking calls.
  std::size_t reserved_staging() const { return reserved_staging_; }
  void reserve_staging(std::size_t bytes) { reserved_staging_ = bytes; }
  /// From now on no algorithm may need more staging than is reserved.
  void limit_staging() { agreement_.staging_max = reserved_staging_; }

  // Of collectives that are left and taken up again:
  Tags& tags() { return tags_; }
  LastingTags& lasting_tags() { return lasting_tags_; }
  ReservedMemory& reserved_memory() { return reserved_memory_; }

 private:
  void open_channel(MPI_Comm comm, WaitMode wait, const mpi::Api& api);
  void find_nodes(MPI_Comm comm, const Settings& settings, const mpi::Api& api);

  int rank_ = 0;
  int size_ = 0;
  Tags tags_;
  LastingTags lasting_tags_;
  ReservedMemory reserved_memory_;
  std::size_t reserved_staging_ = 0;
  Agreement agreement_;
  std::unique_ptr<topology::Placement> placement_;
  std::unique_ptr<Channel> channel_;  // on a communicator of its own
  StateSlots slots_;
};

}  // namespace wherry::run
