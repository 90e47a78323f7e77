// What is counted while a program runs, and how it reaches the record.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/flat_map.hpp"
#include "profile/record.hpp"
#include "profile/record_file.hpp"
#include "profile/sites.hpp"
#include "profile/under_way.hpp"
#include "profile/watch_clock.hpp"

namespace wherry::profile {

inline constexpr std::uint32_t none = ~0U;

/// Who is recording: the fields of the header that do not change.
struct Identity {
  int rank = -1;
  int size = -1;
  int thread_level = -1;
  std::uint64_t start_ns = 0;  // when the program first called MPI
  std::string abi;
  std::string mpi_version;
};

struct CallEvent {
  std::uint32_t function;
  std::uint32_t comm;   // none: no communicator
  std::uint32_t place;  // of Sites
  std::uint64_t bytes;
  std::uint32_t stands_for;  // calls, with its time; 0: it was not timed
  std::uint64_t enter_ns;
  std::uint64_t leave_ns;
  bool derived;
};

struct PathEvent {
  std::uint32_t function;
  std::uint32_t place;  // of Sites
  std::uint64_t calls;  // that it stands for
  std::uint64_t time_ns;
};

/// Fields as narrow as an event's: to read two of those at once, just after they were written, takes the processor
/// long.
struct CallKey {
  std::uint32_t place, comm, function_and_bucket;
  bool operator==(const CallKey&) const = default;
};
inline std::uint64_t hash_of(const CallKey& key) {
  return mix((std::uint64_t{key.place} << 32 | key.comm) ^ mix(key.function_and_bucket));
}

/// Which calls of a kind the uses and decisions are about.
struct Subject {
  std::uint32_t comm;
  std::uint32_t function;
  std::uint32_t bucket;
  Limit limit = Limit::none;
};

/// Calls that are alike. Rows may be none.
struct MoreCalls {
  std::uint64_t calls;
  std::uint32_t row;        // of call()
  std::uint64_t bytes;      // of each
  std::uint32_t use;        // of use()
  std::uint64_t use_bytes;  // the same, as the use counts them
};

/// Calls that were counted in a row of call().
struct CountedCalls {
  std::uint32_t row;
  std::uint64_t calls;
  std::uint64_t bytes;        // of all
  std::uint64_t time_ns = 0;  // of calls that no other stands for
  bool derived = false;       // their type
};

/// Writes events into a record. Not thread-safe. Without an open file every member does nothing.
class Recorder {
 public:
  explicit Recorder(Sites& sites) : sites_(sites) {}

  /// Makes the file (see RecordFile::open) and its table of functions. Empty text, or what is wrong.
  std::string open(const std::string& directory, const std::string& name, const Identity& identity,
                   const std::vector<FunctionRecord>& functions);
  bool is_open() const { return file_.is_open(); }
  Header& header() { return file_.header(); }

  /// The row that the call is counted in; none if there are too many.
  std::uint32_t call(const CallEvent& event);
  /// More calls like one that call() and used_again() were told of; their time was not taken, nor a lock.
  void more(const MoreCalls& calls);
  void counted(const CountedCalls& calls);
  /// That of the call that ended last. Needs no lock, once the file is open.
  void set_last_row(std::uint32_t row) {
    if (Header* const header = fixed_header()) set_last_call(*header, row);
  }
  /// From now on the record has all modules that the sites have.
  void copy_modules();
  /// What a rank that hangs is in. Need no lock either.
  void begin_call(std::uint32_t thread, const CallUnderWay& call) {
    if (Header* const header = fixed_header()) profile::begin_call(*header, thread, call);
  }
  void end_call(std::uint32_t thread) {
    if (Header* const header = fixed_header()) profile::end_call(*header, thread);
  }
  /// That of the record, for these two and set_last_call(): it never moves. nullptr: there is none.
  Header* fixed_header() { return file_.fixed_header(); }
  /// Some calls from a place came about like one that was looked at.
  void path(const PathEvent& event, std::span<const PathFrame> frames);
  void peer(int world_rank, PeerClass kind, std::uint64_t messages, std::uint64_t bytes);
  /// A new communicator; none if there are too many.
  std::uint32_t comm(std::uint64_t key, int size, int rank, std::string_view name);
  void name_comm(std::uint32_t comm, std::string_view name);
  /// Until the next communicator comes.
  std::string_view comm_name(std::uint32_t comm);
  void arrival(std::uint32_t comm, std::uint32_t function, std::uint64_t sequence, std::uint64_t enter_ns,
               std::uint64_t leave_ns);
  /// bytes: of all these calls.
  void type(std::uint32_t combiner, std::string_view name, std::uint64_t bytes, std::uint64_t calls = 1);
  void used(const Subject& subject, std::string_view strategy, std::uint64_t bytes, std::uint64_t time_ns);
  /// The row of such a use, for used_again(); none if there is none.
  std::uint32_t use(const Subject& subject, std::string_view strategy);
  /// stands_for: calls, with its time.
  void used_again(std::uint32_t use, std::uint64_t bytes, std::uint64_t time_ns,
                  std::uint32_t stands_for = 1);
  void decided(const Subject& subject, std::uint32_t call, std::string_view strategy, Reason reason,
               std::uint64_t time_ns, std::uint64_t native_ns);
  /// The trial of a communicator's calls has come so far. Programs make communicators by the thousand: the first ones
  /// count.
  void compared(const GainRecord& gain);
  void fell_back(std::uint32_t function, std::string_view reason, std::uint64_t calls = 1);
  /// So many calls of the function have polled, in all.
  void polled(std::uint32_t function, std::uint32_t calls);
  /// Threads that compute, and processors that they may use; 0: not known.
  void threads(int threads, int processors);
  /// Notes a window that goes; its row, or none if there are too many. Only with a row: its points, and those of its
  /// curve.
  std::uint32_t window(const WindowRecord& window);
  void not_cached(const NotCachedRecord& part);
  void window_point(const WindowPointRecord& point);
  void window_curve(const WindowCurveRecord& point);
  /// Writes a span of the program's memory; the row is new, or the last.
  void memory(std::uint32_t row, const MemoryRecord& span, std::string_view why_not);
  /// Writes what trials of waiting have found so far; there is one row.
  void wait_trial(const WaitTrialRecord& trial);
  /// Nothing comes any more. finalized: the program got to its end.
  void finish(State state = State::finalized);

 private:
  std::uint32_t row_of(const CallEvent& event, std::uint32_t bucket);
  std::uint32_t add_row(const CallEvent& event, std::uint32_t bucket);
  void thin_arrivals();
  std::uint32_t add_path(const PathEvent& event, std::span<const PathFrame> frames);
  std::uint32_t add_use(const Subject& subject, std::string_view strategy);

  struct Latest {
    CallKey key{};
    std::uint32_t row = none;
  };

  Sites& sites_;
  RecordFile file_;
  FlatMap<CallKey, std::uint32_t> rows_;         // -> index into calls
  std::vector<Latest> latest_;                   // of each function: most calls repeat the one before
  std::uint32_t latest_miss_ = 0;                // row of the last reason of fell_back()
  FlatMap<std::uint64_t, std::uint32_t> peers_;  // peer and kind -> index into peers
  FlatMap<std::uint64_t, std::uint32_t> uses_;   // hash of subject and strategy -> index into uses
  FlatMap<std::uint64_t, std::uint32_t> paths_;  // hash of a place, function and frames -> index into paths
  std::uint64_t arrival_stride_ = 1;             // a power of two
};

}  // namespace wherry::profile
