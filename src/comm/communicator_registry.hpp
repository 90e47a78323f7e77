// Wherry's state beside the communicators of the program, kept as an attribute of each.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/settings.hpp"
#include "comm/communicator.hpp"
#include "comm/recent_communicators.hpp"

namespace wherry::run {

/// One communicator of the program.
struct RegisteredCommunicator {
  MPI_Comm comm = MPI_COMM_NULL;
  unsigned weight = 0;                         // of the calls so far
  std::string_view refusal;                    // why Wherry stays away; empty: it does not
  std::shared_ptr<Communicator> communicator;  // once the ranks have enabled it; calls under way hold it too
};

/// How much a call says for enabling its communicator.
enum class Weight : unsigned { light = 1, full = 16 };

/// Finds and makes the state of communicators. Thread-safe as far as MPI lets threads share a communicator.
class CommunicatorRegistry {
 public:
  /// Called with each communicator when the ranks have enabled it (collective over comm), and before it goes.
  using Welcome = std::function<void(Communicator&, MPI_Comm comm)>;
  using Farewell = std::function<void(Communicator&)>;

  CommunicatorRegistry(const Settings& settings, const mpi::Api& api, CallsWhileFreed calls, Welcome welcome,
                       Farewell farewell)
      : settings_(settings),
        api_(api),
        welcome_(std::move(welcome)),
        farewell_(std::move(farewell)),
        recent_(calls) {}

  /// Whether this rank's arguments of a collective are right as far as it can tell; asked until the ranks have enabled
  /// it.
  using Sound = std::function<bool()>;

  /// Counts a replaceable collective on comm; once there was one of full weight, or 16 light ones, the ranks enable it
  /// at the next (collective). nullptr: the call stays native; *refusal then says why, and is empty if there is
  /// no reason but that it is too early.
  Communicator* enabled(MPI_Comm comm, Weight weight, const Sound& is_sound, std::string_view* refusal);

  /// That of a communicator that was enabled before and called on lately; nullptr: ask enabled().
  [[gnu::always_inline]] Communicator* recent(MPI_Comm comm) const {
    const RegisteredCommunicator* const a = recent_.find(comm);
    return a == nullptr ? nullptr : a->communicator.get();
  }

  /// The same for a call that must not wait for other ranks: it does not count, and the ranks enable it at another.
  std::shared_ptr<Communicator> known(MPI_Comm comm, std::string_view* refusal);

  /// Enables it at once (collective), for a call that may wait for other ranks and says that many will follow.
  std::shared_ptr<Communicator> enabled_now(MPI_Comm comm, const Sound& is_sound, std::string_view* refusal);

  /// Forgets all communicators. Collective over each; before MPI_Finalize. Does not call MPI on them: a communicator
  /// that the program uses in a callback of its own attributes, while it is freed, may be known here and gone.
  void detach_all();

 private:
  int keyval();
  RegisteredCommunicator* find(MPI_Comm comm);
  RegisteredCommunicator* ask(MPI_Comm comm);
  RegisteredCommunicator* open(MPI_Comm comm, std::string_view* refusal);
  static unsigned count(RegisteredCommunicator& registered, Weight weight, const Sound& is_sound);
  RegisteredCommunicator* attach(MPI_Comm comm);
  static int forget(MPI_Comm comm, int keyval, void* value, void* self);
  void enable(RegisteredCommunicator& registered);
  void detach(RegisteredCommunicator* registered);
  std::string_view refusal_of(MPI_Comm comm) const;

  const Settings& settings_;
  const mpi::Api& api_;
  Welcome welcome_;
  Farewell farewell_;
  std::atomic<int> keyval_ = MPI_KEYVAL_INVALID;
  std::atomic<int> enabled_ = 0;  // of all_, those with a communicator
  std::mutex mutex_;              // guards all_ and the making of keyval_
  std::list<std::shared_ptr<RegisteredCommunicator>> all_;
  RecentCommunicators<RegisteredCommunicator> recent_;
};

}  // namespace wherry::run
