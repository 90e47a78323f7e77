// How the library waits in calls that no other call can stand for, such as fences: it gives the core away by itself, by
// two settings of its own.
//
// MPICH (since 4.3) and Open MPI call functions that are registered with them wherever they wait: ours yields, and
// sleeps after a while, as polling does. Where MPICH waits for one target of a window it calls none, but follows its
// control variable MPIR_CVAR_ENABLE_HEAVY_YIELD, which can be written at run time: then it sleeps at each turn. That is
// worse than spinning unless ranks share cores for good. MPICH 5, 4 ranks on 2 cores, one element put in each step, to
// a created window: fence 15 to 24 ms natively and 0.1 to 0.2 with both; lock and unlock up to 19 ms, and 0.2 to 0.8.
#pragma once

#include <mpi.h>

#include <atomic>
#include <optional>

#include "mpi/api.hpp"
#include "waiting/poll.hpp"

namespace wherry::interpose {

/// Not for MPI_THREAD_MULTIPLE: the library's lock would be held meanwhile.
class LibraryWaits {
 public:
  /// Both are what the library calls: MPICH's until it gets 1, Open MPI's until it is unregistered.
  struct Callbacks {
    int (*mpich)(void* thing);
    int (*open_mpi)();
  };
  /// wanted: where it says is_wanted().
  LibraryWaits(const mpi::Api& api, const Callbacks& callbacks, std::atomic<bool>& wanted)
      : api_(api), callbacks_(callbacks), wanted_(wanted) {}

  /// MPI has begun. find: a symbol of the library, or nullptr.
  void begin(void* (*find)(const char* name));
  /// From now on the library waits as it does.
  void end();

  /// A call of this thread begins, in which the library is to give the core away. for_good: ranks share cores all
  /// along. False: the library has no such setting.
  bool enter(bool for_good);
  void leave();
  /// Whether something is, or was, to be registered.
  bool is_wanted() const { return wanted_.load(std::memory_order_relaxed); }
  /// It spins again: what is registered may go.
  void rest() {
    if (usable_ && is_wanted()) unregister_callback();
  }

  /// What the library calls. Whether it should go on doing so.
  bool wait();

 private:
  /// MPI's tool interface has no place in mpi::Api: nothing else needs it, and a library may lack it.
  struct Variables {
    decltype(&::MPI_T_init_thread) init_thread = nullptr;
    decltype(&::MPI_T_finalize) finalize = nullptr;
    decltype(&::MPI_T_cvar_get_index) get_index = nullptr;
    decltype(&::MPI_T_cvar_handle_alloc) handle_alloc = nullptr;
    decltype(&::MPI_T_cvar_read) read = nullptr;
    decltype(&::MPI_T_cvar_write) write = nullptr;

    bool load(void* (*find)(const char* name));
  };

  void find_variable(void* (*find)(const char* name));
  void register_callback();
  void unregister_callback();
  bool has_variable() const { return yield_ != MPI_T_CVAR_HANDLE_NULL; }

  const mpi::Api& api_;
  const Callbacks callbacks_;
  int (*unregister_)(int (*callback)()) = nullptr;  // Open MPI's
  bool usable_ = false;
  bool registered_ = false;
  std::atomic<bool>& wanted_;
  bool inside_ = false;  // a call that waits in the library
  int calls_ = 0;        // since then
  std::optional<waiting::Pauses> pauses_;
  bool sleeps_ = false;  // within this call, by the control variable
  int yielding_before_ = 0;

  Variables variables_;
  MPI_T_cvar_handle yield_ = MPI_T_CVAR_HANDLE_NULL;
};

}  // namespace wherry::interpose
