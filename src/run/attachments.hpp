// Wherry's state beside the communicators of the program, kept as an attribute of each.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "run/communicator.hpp"

namespace wherry::run {

/// One communicator of the program.
struct Attached {
  std::atomic<MPI_Comm> comm = MPI_COMM_NULL;  // null: of none, until another comes
  unsigned weight = 0;                         // of the calls so far
  std::string_view refusal;                    // why Wherry stays away; empty: it does not
  std::shared_ptr<Communicator> communicator;  // once the ranks have joined; calls under way hold it too
};

/// How much a call says for joining its communicator.
enum class Weight : unsigned { light = 1, full = 16 };

/// Finds and makes the state of communicators. Thread-safe as far as MPI lets threads share a communicator.
class Attachments {
 public:
  /// Called with each joined communicator before it goes.
  using Farewell = std::function<void(Communicator&)>;

  Attachments(const Settings& settings, const mpi::Api& api, Farewell farewell)
      : settings_(settings), api_(api), farewell_(std::move(farewell)) {}

  /// Whether this rank's arguments of a collective are right as far as it can tell; asked until the ranks have joined.
  using Sound = std::function<bool()>;

  /// Counts a replaceable collective on comm; once there was one of full weight, or 16 light ones, the ranks join at the
  /// next (collective). nullptr: leave the call to the library; *refusal then says why, and is empty if there is no reason but
  /// that it is too early.
  Communicator* joined(MPI_Comm comm, Weight weight, const Sound& is_sound, std::string_view* refusal);

  /// What joined() said of comm, if it was asked lately and the ranks have joined; else nullptr.
  Communicator* joined_lately(MPI_Comm comm) const {
    const Attached* const last = recent_[slot_of(comm)].load(std::memory_order_acquire);
    return last != nullptr && last->comm.load(std::memory_order_relaxed) == comm ? last->communicator.get()
                                                                                 : nullptr;
  }

  /// The same for a call that must not wait for other ranks: it does not count, and the ranks join at another.
  std::shared_ptr<Communicator> known(MPI_Comm comm, std::string_view* refusal);

  /// Joins at once (collective), for a call that may wait for other ranks and says that many will follow.
  std::shared_ptr<Communicator> joined_now(MPI_Comm comm, const Sound& is_sound, std::string_view* refusal);

  /// Takes the state off all communicators. Collective over each; before MPI_Finalize.
  void detach_all();

 private:
  static constexpr int slot_bits = 4;

  int keyval();
  Attached* find(MPI_Comm comm);
  Attached* look_up(MPI_Comm comm);
  Attached* open(MPI_Comm comm, std::string_view* refusal);
  /// Handles are small numbers in some libraries and addresses in others.
  static std::size_t slot_of(MPI_Comm comm) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    return std::hash<MPI_Comm>{}(comm)*golden >> (64 - slot_bits);
  }
  static unsigned count(Attached& attached, Weight weight, const Sound& is_sound);
  Attached* attach(MPI_Comm comm);
  Attached* vacant();
  void join(Attached& attached);
  void detach(Attached* attached);
  std::string_view refusal_of(MPI_Comm comm) const;

  const Settings& settings_;
  const mpi::Api& api_;
  Farewell farewell_;
  std::atomic<int> keyval_ = MPI_KEYVAL_INVALID;
  std::atomic<int> joined_ = 0;  // of all_, those with a communicator
  // Found lately, by handle: asking the library takes longer than all else that a quiet call costs.
  std::array<std::atomic<Attached*>, 1 << slot_bits> recent_ = {};
  std::mutex mutex_;  // guards what follows, and the making of keyval_
  // Never shrinks: a thread may look at what another detaches, to see that it is not its own.
  std::list<Attached> all_;
  std::vector<Attached*> vacant_;  // of all_
};

}  // namespace wherry::run
