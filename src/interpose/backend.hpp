// The state of a backend: one per process, made when the first MPI function is called and never destroyed, because
// other threads and exit handlers may call MPI until the very end.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/settings.hpp"
#include "heap/arena.hpp"
#include "host/runtime.hpp"
#include "interpose/core.hpp"
#include "interpose/handles.hpp"
#include "interpose/patience.hpp"
#include "interpose/program_memory.hpp"
#include "interpose/repeated_calls.hpp"
#include "layout/parallel_pack.hpp"
#include "mpi/api.hpp"
#include "p2p/found_messages.hpp"
#include "p2p/messages.hpp"
#include "p2p/packer.hpp"
#include "p2p/pending_messages.hpp"
#include "profile/call_paths.hpp"
#include "profile/recorder.hpp"
#include "profile/sampling.hpp"
#include "profile/sites.hpp"
#include "progress/progress_engine.hpp"
#include "waiting/free_cores.hpp"
#include "window/windows.hpp"

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
using MPI_Session = void*;  // so that older headers do; such a library has no function that takes one
#endif

namespace wherry::run {
class FastPathCalls;  // coll/fast_path.hpp
}  // namespace wherry::run

namespace wherry::interpose {

/// A row of the generated table of functions.
struct FunctionRow {
  const char* name;
  std::uint32_t kind;  // see profile::FunctionRecord
};

/// When a function's wrapper is needed.
enum class Wrapped {
  recording,    // while a record is written
  nonblocking,  // `completing`, or where non-blocking and persistent collectives may be Wherry's
  caching,      // also where windows may be cached
  packing,      // also where Wherry may pack
  sending,      // the same, or where blocking calls may poll
  completing,   // also once Wherry follows messages until they are complete
  waiting,      // `completing`, or where blocking calls may poll
  always,
};

/// A row of the generated table of symbols, in the order of the core's slots.
struct SymbolRow {
  const char* name;
  void* wrapper;
  void* stand_in;  // for a library that lacks the symbol
  Wrapped wrapped;
};

/// A short critical section. Waiting threads yield soon: with more threads than cores the holder may not be running.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; taken_.exchange(true, std::memory_order_acquire); ++spins)
      if (spins > 64) yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  static void yield();
  std::atomic<bool> taken_ = false;
};

/// Keeps the depth of MPI calls on this thread above zero: what the library or a tool calls inside counts as its own.
class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  [[gnu::tls_model("initial-exec")]] static constinit thread_local int depth;
};

inline bool inside_mpi() { return Inside::depth != 0; }

/// Tells the profile what the run layer did.
class Listener : public run::Observer {
 public:
  void used(MPI_Comm comm, const run::CellKey& kind, std::string_view strategy, std::uint64_t bytes,
            std::uint64_t time_ns) override;
  std::uint32_t use_of(MPI_Comm comm, const run::CellKey& kind, std::string_view strategy) override;
  bool takes_times() const override { return true; }
  void begins(std::uint32_t use, std::uint64_t bytes) override { current = {use, bytes, true}; }
  void ran(std::uint32_t use, std::uint64_t bytes) override { current = {use, bytes, false}; }
  void decided(MPI_Comm comm, const run::CellKey& kind, std::uint32_t call, std::string_view strategy,
               profile::Reason reason, std::uint64_t time_ns, std::uint64_t native_ns) override;
  void compared(MPI_Comm comm, const tuning::Claim& claim) override;
  void fell_back(Collective collective, std::string_view reason) override;
  void started(MPI_Comm comm, const run::CellKey& kind, run::Form form, std::string_view strategy,
               std::uint64_t bytes) override;
  void not_started(Collective collective, run::Form form, std::string_view reason) override;

  /// What this thread's call turned out to be, for whoever books it.
  struct Use {
    std::uint32_t number = no_use;
    std::uint64_t bytes = 0;
    bool passes = false;  // a native call of which nothing was read
  };
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Use current;
  /// Why this thread's call was left to the library; empty: nobody said.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local std::string_view refusal;
};

class Backend {
 public:
  Backend(const Core& core, const Settings& settings);

  /// Puts wrappers into the slots, or the library's own functions where there is nothing to do.
  const char* install();

  run::ProgressEngine& progress_engine() { return progress_engine_; }

  bool recording() const { return recording_; }  // by settings; the file may still fail to open
  bool replacing() const { return replacing_; }
  /// Whether blocking calls may poll.
  bool waiting() const { return waiting_; }
  bool replaces_nonblocking() const { return replacing_ && settings_.features.nonblocking; }
  /// Whether windows may be cached.
  bool caching() const { return caching_; }
  /// Whether Wherry may pack derived datatypes: it asks about types on MPI_COMM_SELF, which needs MPI_Init.
  bool packing() const { return packing_ && world_.load(std::memory_order_relaxed); }
  /// From now on Wherry sees what completes, starts and frees requests: most programs never need it to.
  void wrap_completion();
  /// The windows that are known; nullptr as long as there was none.
  window::Windows* windows() const { return windows_.load(std::memory_order_acquire); }
  window::Windows& make_windows();
  /// Caches a window that was made, as its info and the settings say. Collective over comm. MPI's code.
  int cache_window(MPI_Win win, MPI_Comm comm, MPI_Info info, const window::Segment& own);
  /// Tells once that what a program has said to a window is not what it can say there.
  void note_strange_info(const std::string& value);
  /// Books what a window has done. Takes the lock.
  void book(const window::Windows::Known& known);
  /// Whether this rank speaks of what it does: rank 0, at that level of WHERRY_VERBOSE.
  bool says(int level) const { return settings_.verbose >= level && rank_ == 0; }
  run::Runtime& runtime() {
    run::Runtime* const made = runtime_.load(std::memory_order_acquire);
    return made != nullptr ? *made : make_runtime();
  }
  /// Which collectives pass with next to nothing done for them, and which need only be counted. nullptr: none; where
  /// somebody listens who writes no record, each is told of.
  [[gnu::always_inline]] const run::FastPathCalls* passing_calls() const {
    return passing_calls_.load(std::memory_order_acquire);
  }
  const run::FastPathCalls* counted_calls() const { return counted_calls_.load(std::memory_order_acquire); }
  /// Whether a thread is to progress what is started.
  bool wants_thread() const { return replaces_nonblocking() && settings_.progress == ProgressBy::thread; }
  void* next(int symbol) const { return core_.next[symbol]; }
  void* next(std::string_view name) const;
  const mpi::Api& api() const { return api_; }
  /// The next definition of MPI_Test, for requests of our own.
  int test(MPI_Request* request, int* flag, MPI_Status* status) const { return test_(request, flag, status); }
  const Queries& queries() const { return queries_; }

  /// The place that called MPI, or none if the MPI library called itself. Needs the lock.
  std::uint32_t place_of(const void* site);
  /// Whether place_of() has found lately that the program itself calls from there. Needs no lock; may forget.
  [[gnu::always_inline]] bool is_program(const void* site) const {
    return site != nullptr && program_sites_[slot_of(site)].load(std::memory_order_relaxed) == site;
  }

  /// Whether events may be booked now: the record is open, or can be opened. Needs the lock.
  bool is_ready() { return state_ == Recording::open || (state_ == Recording::not_yet && open_record()); }

  void initialized();
  void session_opened(MPI_Session session);
  void session_closes();
  void session_closed();
  /// Ends everything before MPI does. Later calls are passed on.
  void shut_down();
  void ended() { state_ = Recording::ended; }
  /// Called from time to time, and before a sudden end. Needs the lock.
  void settle(std::uint64_t now_ns);
  /// The same where nothing is recorded.
  [[gnu::always_inline]] void pass_by() {
    if (memory.is_active() && memory.may_be_due()) [[unlikely]]
      look_at_memory();
  }

  SpinLock lock;
  profile::Sites sites;
  profile::Recorder recorder;
  profile::CallPaths paths;
  profile::Sampling sampling;
  Handles handles;
  RepeatedCalls repeated;
  Listener listener;
  Patience patience;
  ProgramMemory memory;
  layout::ParallelPacker parallel_packer;
  p2p::Packer packer;
  p2p::Converter converter;
  p2p::Messages messages;
  p2p::FoundMessages found_messages;
  p2p::PendingMessages pending;

 private:
  static constexpr std::size_t remembered_sites = 64;
  static std::size_t slot_of(const void* site) {
    return reinterpret_cast<std::uintptr_t>(site) % remembered_sites;
  }

  enum class Recording { off, not_yet, open, ended };

  run::Runtime& make_runtime();
  bool is_wrapped(Wrapped when) const;
  // recording.cpp, with the lock held
  bool open_record();
  void finish_record();
  void book_polled();
  void record_memory(std::uint64_t now_ns);

  void print_problems(int rank);
  void watch_self();
  void look_at_memory();
  static void stop_in_child();

  const Core& core_;
  const Settings settings_;
  waiting::FreeCores free_cores_;
  int rank_ = -1;               // in MPI_COMM_WORLD, once that is known
  mpi::Api api_, patient_api_;  // the library's, and how Wherry itself calls it
  Queries queries_;
  const char* missing_ = nullptr;  // a function of the Api that the library lacks
  bool recording_ = false;
  bool replacing_ = false;
  bool caching_ = false;
  bool waiting_ = false;
  bool packing_ = false;
  std::atomic<bool> completing_ = false;
  decltype(&::PMPI_Test) test_ = nullptr;
  Recording state_ = Recording::off;
  bool problems_printed_ = false;
  std::atomic_flag strange_info_told_;
  std::atomic<int> sessions_ = 0;  // threads may open and close them at once
  bool ended_ = false;
  std::atomic<bool> world_ = false;  // MPI_Init was seen, so MPI_Finalize ends it, not a session
  const std::uint64_t start_ns_ = profile::monotonic_ns();
  std::uint64_t next_settle_ns_ = 0;
  std::atomic<run::Runtime*> runtime_ = nullptr;
  std::atomic<const run::FastPathCalls*> passing_calls_ = nullptr, counted_calls_ = nullptr;
  std::atomic<window::Windows*> windows_ = nullptr;
  run::ProgressEngine progress_engine_;
  std::array<std::atomic<const void*>, remembered_sites> program_sites_ = {};
  std::array<std::uint32_t, remembered_sites> program_places_ = {};  // of the same; needs the lock
};

/// Wherry's own memory.
extern heap::Arena arena;

/// The one of this process; made by wherry_backend. Others ask for backend().
extern Backend* instance;
inline Backend& backend() { return *instance; }

/// The generated wrappers, as the tables that the backend installs them from.
std::span<const FunctionRow> function_table();
std::span<const SymbolRow> symbol_table();

}  // namespace wherry::interpose
