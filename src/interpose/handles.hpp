// What is known of MPI handles: sizes of types, ranks of communicators and windows, contents of requests.
//
// Looking these up in the MPI library would cost more than the rest of recording a call. Entries go when the program
// frees the handle, since the library uses the value again.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "arguments/neighbors.hpp"
#include "base/numbers.hpp"
#include "comm/recent_communicators.hpp"
#include "interpose/freed_handles.hpp"
#include "interpose/tally.hpp"
#include "mpi/api.hpp"
#include "profile/flat_map.hpp"
#include "profile/recorder.hpp"
#include "profile/sampling.hpp"

namespace wherry::interpose {

/// Functions that the library may lack stay nullptr; callers check those of MPI-4.
struct Queries {
#define FUNCTION(name) decltype(&::PMPI_##name) name = nullptr;
#include "interpose/queries.inc"
#undef FUNCTION
};

/// Index into the list of combiners in docs/reference/record.md. 0 is a predefined type.
using Combiner = std::uint32_t;
std::string_view name_of_combiner(Combiner combiner);

struct RecordedType {
  std::uint64_t bytes;  // of data in one element
  Combiner combiner;
};

using Neighbors = run::Topology;

struct CommFacts {
  MPI_Comm handle;
  std::uint32_t index = profile::none;  // in the record
  int size = 0;  // of the group that communication goes to: the remote one, if there is one
  int local_size = 0;
  int rank = 0;
  bool inter = false;
  bool is_named = false;                 // by the program, when it was first seen
  std::vector<int> world;                // rank in MPI_COMM_WORLD of each rank of that group; -1 outside
  std::unique_ptr<Neighbors> neighbors;  // found when first needed
  std::uint64_t sequence = 0;            // collectives so far
  std::uint64_t to_each_messages = 0;    // not yet booked: sent alike to every other rank
  std::uint64_t to_each_bytes = 0;
  profile::Untimed untimed;
  std::unique_ptr<Tallies> tallies;  // once there was a call that they may count
  CommFacts* next_freed = nullptr;
};

struct RequestFacts {
  CommFacts* comm;
  int peer;
  std::uint64_t bytes;
  Combiner combiner;
};

struct WinFacts {
  std::uint32_t comm;
  std::vector<int> world;
};

/// Not thread-safe, except that communicators may be freed at any time.
class Handles {
 public:
  /// freed: where it counts how often communicators and windows were freed.
  Handles(const mpi::Api& api, const Queries& queries, profile::Recorder& recorder, FreedHandles& freed)
      : api_(api), queries_(queries), recorder_(recorder), freed_handles_(freed) {}

  RecordedType type(MPI_Datatype type) {
    if (stale_.load(std::memory_order_relaxed)) forget_all();
    if (last_type_.key == number_of(type)) return last_type_.facts;
    const RecordedType* const known = types_.find(number_of(type));
    const RecordedType facts = known != nullptr ? *known : types_.insert(number_of(type), ask(type));
    last_type_ = {number_of(type), facts};
    return facts;
  }
  /// The same of a type that the library has just taken: asks it, and remembers nothing. Needs no lock.
  RecordedType ask(MPI_Datatype type) const;
  void forget(MPI_Datatype type) {
    last_type_ = {};
    types_.erase(number_of(type));
  }
  /// For a type or window that is freed in a callback, inside the library: needs no lock.
  void forget_soon() { stale_.store(true, std::memory_order_relaxed); }

  /// comm must be valid. The result lives as long as the communicator.
  CommFacts& comm(MPI_Comm comm) {
    if (freed_.load(std::memory_order_relaxed) != nullptr) sweep();
    CommFacts* const recent = recent_.find(comm);
    return recent != nullptr ? *recent : look_up(comm);
  }
  /// What is known of a communicator that calls were made on lately, or nullptr. Needs no lock.
  [[gnu::always_inline]] CommFacts* recent(MPI_Comm comm) const { return recent_.find(comm); }
  /// The same, and does not make it known: ranks must get to know communicators in the same order.
  const CommFacts* known(MPI_Comm comm) {
    const std::unique_ptr<CommFacts>* const found = comms_.find(number_of(comm));
    return found == nullptr ? nullptr : found->get();
  }
  Neighbors& neighbors(CommFacts& comm);
  /// Books what was counted and what was sent alike to every other rank, of every communicator.
  void settle();
  /// From now on calls of this kind may be counted by comm's tallies.
  void keep(CommFacts& comm, const CallKind& kind);
  /// Books what so many calls send.
  void send(CommFacts& comm, const Sent& sent, std::uint64_t calls);
  /// What the call that is booked sends.
  Sent sent;

  void set_request(MPI_Request request, const RequestFacts& facts);
  RequestFacts* request(MPI_Request request) { return requests_.find(number_of(request)); }
  void forget_request(MPI_Request request) { requests_.erase(number_of(request)); }

  void add_window(MPI_Win win, MPI_Comm comm);
  WinFacts* window(MPI_Win win);
  void forget_window(MPI_Win win) {
    freed_handles_.note(number_of(win));
    windows_.erase(number_of(win));
  }
  void forget_window_soon(MPI_Win win) {
    freed_handles_.note(number_of(win));
    forget_soon();
  }

  /// The ranks of this group number the peers, where there is no MPI_COMM_WORLD. Takes the group over.
  void set_base(MPI_Group group) { base_ = group; }
  MPI_Group base() const { return base_; }

 private:
  CommFacts& look_up(MPI_Comm comm);
  CommFacts* add(MPI_Comm comm);
  void attach(CommFacts& facts);
  std::vector<int> world_ranks(MPI_Group group);
  std::vector<int> take_world_ranks(MPI_Group group);
  std::uint64_t next_key(const CommFacts& facts, MPI_Comm comm);
  void book_tallies(CommFacts& comm);
  void settle(CommFacts& comm);
  void sweep();
  void forget_all();
  static int on_free(MPI_Comm comm, int keyval, void* value, void* self);

  const mpi::Api& api_;
  const Queries& queries_;
  profile::Recorder& recorder_;
  MPI_Group base_ = MPI_GROUP_NULL;
  int keyval_ = MPI_KEYVAL_INVALID;
  run::RecentCommunicators<CommFacts> recent_{run::CallsWhileFreed::stay_away};
  // Freeing happens inside the MPI library, which may hold its own lock: it must not wait for ours. So the
  // delete callback only pushes onto this list.
  std::atomic<CommFacts*> freed_ = nullptr;
  FreedHandles& freed_handles_;
  std::atomic<bool> stale_ = false;
  struct {
    std::uint64_t key = ~std::uint64_t{0};
    RecordedType facts{};
  } last_type_;  // most calls are of the type of the one before
  profile::FlatMap<std::uint64_t, RecordedType> types_;
  profile::FlatMap<std::uint64_t, std::unique_ptr<CommFacts>> comms_;
  profile::FlatMap<std::uint64_t, RequestFacts> requests_;
  profile::FlatMap<std::uint64_t, WinFacts> windows_;
  profile::FlatMap<std::uint64_t, std::uint32_t> generations_;  // communicators so far with the same ranks
};

}  // namespace wherry::interpose
