// A backend: one per process, made when the first MPI function is called and never destroyed, because other threads and
// exit handlers may call MPI until the very end.
//
// It has the objects of which each keeps its own state, begins them when MPI begins and ends them before MPI ends.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/settings.hpp"
#include "heap/arena.hpp"
#include "host/runtime.hpp"
#include "interpose/cached_windows.hpp"
#include "interpose/core.hpp"
#include "interpose/handles.hpp"
#include "interpose/hot_state.hpp"
#include "interpose/listener.hpp"
#include "interpose/process_state.hpp"
#include "interpose/program_memory.hpp"
#include "interpose/recording.hpp"
#include "interpose/shared_runtime.hpp"
#include "interpose/symbol_slots.hpp"
#include "interpose/wait_policy.hpp"
#include "layout/parallel_pack.hpp"
#include "mpi/api.hpp"
#include "p2p/found_messages.hpp"
#include "p2p/messages.hpp"
#include "p2p/packer.hpp"
#include "p2p/pending_messages.hpp"
#include "waiting/free_cores.hpp"

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
using MPI_Session = void*;  // so that older headers do; such a library has no function that takes one
#endif

namespace wherry::interpose {

class Backend {
 public:
  Backend(const Core& core, const Settings& settings);

  HotState hot;

  /// Puts wrappers into the slots. Returns why it cannot.
  const char* install();

  bool recording() const { return activity_.recording.load(std::memory_order_relaxed); }
  bool replacing() const { return activity_.replacing; }
  bool caching() const { return activity_.caching; }
  bool replaces_nonblocking() const { return activity_.replaces_nonblocking(); }
  /// Whether Wherry may pack derived datatypes: it asks about types on MPI_COMM_SELF, which needs MPI_Init.
  bool packing() const { return activity_.packing && world_.load(std::memory_order_relaxed); }

  run::Runtime& runtime() { return runtime_.get(); }
  run::ProgressEngine& progress_engine() { return runtime_.progress_engine(); }
  bool wants_thread() const { return runtime_.wants_thread(); }

  /// Before a call that may wait.
  [[gnu::always_inline]] void count_wait() {
    if (hot.count_wait()) [[unlikely]]
      wait_policy.sample();
  }
  /// After a call: messages that the program has abandoned may be over.
  [[gnu::always_inline]] void finish_abandoned() {
    if (hot.abandoned_messages.load(std::memory_order_relaxed) != 0) [[unlikely]]
      pending.finish_abandoned();
  }

  void wrap_completion() { slots_.wrap_completion(); }
  void* next(int symbol) const { return hot.next[symbol]; }
  void* next(std::string_view name) const { return slots_.next(name); }
  const mpi::Api& api() const { return api_; }
  /// The next definition of MPI_Test, for requests of our own.
  int test(MPI_Request* request, int* flag, MPI_Status* status) const { return test_(request, flag, status); }
  const Queries& queries() const { return queries_; }

  void initialized();
  void session_opened(MPI_Session session);
  void session_closes();
  void session_closed();
  /// Ends everything before MPI does. Later calls are passed on.
  void shut_down();
  void ended() { record.end(); }

 private:
  static void stop_in_child();
  void print_problems();
  void watch_self();

  const Core& core_;
  const Settings settings_;
  waiting::FreeCores free_cores_;
  mpi::Api api_;
  const char* const missing_;   // a function of the Api that the library lacks
  const mpi::Api patient_api_;  // how Wherry itself calls the library
  const Queries queries_;
  Activity activity_;
  SymbolSlots slots_;
  std::atomic<int> sessions_ = 0;    // threads may open and close them at once
  std::atomic<bool> world_ = false;  // MPI_Init was seen, so MPI_Finalize ends it, not a session
  bool problems_printed_ = false;
  bool ended_ = false;
  decltype(&::PMPI_Test) test_ = nullptr;

 public:
  // Each part guards what is its own.
  ProgramMemory memory;
  WaitPolicy wait_policy;
  Recording record;
  CachedWindows windows;
  layout::ParallelPacker parallel_packer;
  p2p::Packer packer;
  p2p::Converter converter;
  p2p::Messages messages;
  p2p::FoundMessages found_messages;
  p2p::PendingMessages pending;

 private:
  SharedRuntime runtime_;
};

/// Wherry's own memory.
extern heap::Arena arena;

/// The one of this process; made by wherry_backend. Others ask for backend().
extern Backend* instance;
inline Backend& backend() { return *instance; }

}  // namespace wherry::interpose
