// The record: what one rank saw, in one file that is mapped into memory while the program runs.
//
// A mapped file outlives any end of the program (a signal, _exit, SIGKILL): what was counted so far is there
// for `wherry report`. The file is a header and fixed-size tables. All numbers are little-endian and
// naturally aligned; text is UTF-8, cut to fit and ended by a zero byte. Readers must check `magic`, `version` and
// each table's `record_bytes`. python/wherry/analysis/record.py reads it; docs/reference/record.md describes it.
#pragma once

#include <cstdint>

#include "base/collective.hpp"

namespace wherry::profile {

inline constexpr char record_magic[8] = {'W', 'H', 'E', 'R', 'R', 'Y', 'R', 'C'};
inline constexpr std::uint32_t record_version = 9;
inline constexpr int size_buckets = 66;  // see bucket_of()

enum class Table : std::uint32_t {
  functions,
  calls,
  peers,
  comms,
  modules,
  uses,
  decisions,
  misses,
  arrivals,
  types,
  windows,
  window_points,
  window_curves,
  memory,
  gains,
  paths,
  not_cached,
  wait_trials
};
inline constexpr std::uint32_t table_count = 18;

struct TableInfo {
  std::uint64_t offset;  // of the first record, from the start of the file
  std::uint32_t record_bytes;
  std::uint32_t capacity;  // records that fit
  std::uint32_t used;      // records written, in order
  std::uint32_t dropped;   // events that found the table full
};

enum class State : std::uint32_t { running = 0, finalized = 1 };

/// A call that has not returned.
struct CallUnderWay {
  static constexpr std::uint32_t none = ~0U;
  std::uint64_t site;      // return address in that process; 0: in no loaded object
  std::uint64_t enter_ns;  // CLOCK_MONOTONIC; 0: not known
  std::uint32_t function;  // index into functions; none: there is no such call
  std::uint32_t reserved;
};

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t tables;       // table_count
  std::int32_t rank;          // in MPI_COMM_WORLD, or what the launcher's environment says; -1 unknown
  std::int32_t size;          // of MPI_COMM_WORLD; -1 unknown
  std::int32_t thread_level;  // 0 single .. 3 multiple; -1 before initialization
  State state;
  std::uint64_t pid;
  std::uint64_t start_ns;     // CLOCK_MONOTONIC when recording began
  std::uint64_t init_ns;      // when MPI was initialized; 0 if not yet
  std::uint64_t end_ns;       // last time known: updated as the program runs, and at MPI_Finalize
  std::uint64_t realtime_ns;  // CLOCK_REALTIME at start_ns
  std::uint32_t last_call;    // index into calls of the call that ended last; ~0: none
  std::uint16_t threads;      // that computed, when MPI ended; 0: not known
  std::uint16_t processors;   // that the main thread may run on, then; 0: not known
  // Of the first threads that called MPI; more_threads: others did, too.
  CallUnderWay under_way[8];
  std::uint32_t more_threads, reserved;
  char host[64];
  char boot_id[40];       // equal boot_id: same kernel, so the clocks of the ranks compare
  char abi[16];           // "openmpi", "mpich" or "abi"
  char mpi_version[128];  // first line of MPI_Get_library_version
  char program[256];      // path of the executable, or the script or module that Python runs
  TableInfo table[table_count];
};

/// A function of MPI, by the index that CallRecord::function uses.
struct FunctionRecord {
  char name[40];          // "MPI_Alltoall"
  std::uint32_t kind;     // 0 point-to-point, 1 collective, 2 one-sided, 3 wait or test, 4 other
  std::uint32_t polled;   // blocking calls that polled; written when MPI ends
  std::uint64_t counted;  // calls that were only counted, without a lock
};

/// Calls of one function from one place on one communicator with messages of one size class.
struct CallRecord {
  std::uint32_t function;  // index into functions
  std::uint32_t bucket;    // size class of the bytes per call
  std::uint32_t comm;      // index into comms; ~0: none
  std::uint32_t module;    // index into modules of the calling code; ~0: unknown
  std::uint64_t site;      // return address minus the base of that module
  std::uint64_t count;
  std::uint64_t bytes;    // sent by this rank (received, for receives; both directions of a sendrecv add up)
  std::uint64_t time_ns;  // inside the call
  std::uint64_t longest_ns;
  std::uint64_t derived;  // calls with a derived datatype
};

enum class PeerClass : std::uint32_t { point_to_point = 0, collective = 1, one_sided = 2 };

/// Data that this rank sent, put or fetched (one-sided) to or from one rank of MPI_COMM_WORLD.
struct PeerRecord {
  std::int32_t peer;  // rank in MPI_COMM_WORLD
  PeerClass kind;
  std::uint64_t messages;
  std::uint64_t bytes;
};

struct CommRecord {
  std::uint64_t key;  // equal on all its ranks: names the communicator across records
  std::int32_t size;
  std::int32_t rank;
  std::int32_t nodes;  // 0 until Wherry asked
  std::uint32_t reserved;
  char name[40];  // from MPI_Comm_set_name, or "MPI_COMM_WORLD"
};

/// A program or shared library that contains call sites, or a script.
struct ModuleRecord {
  std::uint64_t base;  // of a script ~0
  char path[248];
};

/// How often one strategy ran for one kind of call. strategy "native": none of Wherry's.
struct UseRecord {
  std::uint32_t comm;
  std::uint32_t function;
  std::uint32_t bucket;
  Limit limit;
  std::uint64_t calls;
  std::uint64_t bytes;
  std::uint64_t time_ns;
  std::uint64_t shortest_ns;
  char strategy[32];
};

enum class Reason : std::uint32_t { trial = 0, kept = 1, loaded = 2, forced = 3, dropped = 4, changed = 5 };

/// A step of the learner, agreed among the ranks of a communicator.
struct DecisionRecord {
  std::uint64_t at_ns;  // CLOCK_MONOTONIC
  std::uint32_t comm;
  std::uint32_t function;
  std::uint32_t bucket;
  std::uint32_t call;  // number of the call of this kind from which it holds
  Reason reason;
  Limit limit;
  std::uint64_t time_ns;    // agreed time of the strategy; 0 unknown
  std::uint64_t native_ns;  // agreed time of the native call; 0 unknown
  char strategy[32];
};

/// Calls that Wherry could have replaced and that stayed native, and why.
struct MissRecord {
  std::uint32_t function;
  std::uint32_t reserved;
  std::uint64_t count;
  char reason[80];
};

/// When this rank entered and left a collective; kept for every 2^k-th call, with k growing as the table fills.
struct ArrivalRecord {
  std::uint32_t comm;
  std::uint32_t function;
  std::uint64_t sequence;  // number of the collective on this communicator, from 0, same on all its ranks
  std::uint64_t enter_ns;  // CLOCK_MONOTONIC of this host
  std::uint64_t leave_ns;
};

/// Use of derived datatypes by how they were built.
struct TypeRecord {
  std::uint32_t combiner;  // index into combiner_names of docs/reference/record.md
  std::uint32_t reserved;
  std::uint64_t count;  // calls that used such a type
  std::uint64_t bytes;
  char name[40];  // "vector", "subarray", ...
};

/// From `shared_memory` on they are not cached.
enum class Caching : std::uint32_t {
  transparent = 0,
  always = 1,
  user = 2,
  shared_memory = 3,
  dynamic = 4,
  off = 5,
  one_rank = 6,
  accelerator = 7,
  info = 8,
  no_memory = 9
};

/// What a window has done on this rank. Written when the window goes, or MPI ends.
struct WindowRecord {
  std::uint32_t comm;  // index into comms; ~0: unknown
  Caching caching;
  std::uint64_t full_hits;
  std::uint64_t pending_hits;
  std::uint64_t partial_hits;
  std::uint64_t misses[4];  // compulsory, capacity, conflict, invalidated
  std::uint64_t evictions;
  std::uint64_t adjustments;
  std::uint64_t invalidations;
  std::uint64_t bytes_saved;
  std::uint64_t bytes_fetched;
  std::uint64_t passed;    // gets that cannot be cached
  std::uint64_t bypassed;  // gets that were cheaper without
  std::uint64_t flushes_saved;
  std::uint64_t saved_ns;  // estimated; 0: unknown
  std::uint64_t bytes;     // of its memory, at the end
  // What the ranks of a node read for each other: ranges found there, offered there, and of these not taken.
  std::uint64_t node_found;
  std::uint64_t node_offered;
  std::uint64_t node_refused;
};

/// What of a cached window was not cached, for one reason.
struct NotCachedRecord {
  std::uint32_t window;  // index into windows
  std::uint32_t reason;  // window::NotCached
  std::uint64_t count;   // gets that were native, or ranges that were fetched and not kept
  std::uint64_t bytes;   // of these, as far as their types were looked at
};

/// How a cached window's hits and memory have gone, oldest first.
struct WindowPointRecord {
  std::uint32_t window;  // index into windows
  std::uint32_t reserved;
  std::uint64_t lookups;        // so far
  std::uint64_t hits;           // of all kinds, so far
  std::uint64_t storage_bytes;  // then
};

/// LRU's miss-ratio curve of a cached window's lookups, by ascending memory.
struct WindowCurveRecord {
  std::uint32_t window;            // index into windows
  std::uint32_t missed_millionth;  // of the lookups, with so much memory
  std::uint64_t bytes;
};

/// Page faults and processor time of the process while malloc did the same with freed memory: a record for each change.
struct MemoryRecord {
  std::uint64_t start_ns;  // CLOCK_MONOTONIC; the first one's is when MPI had been initialized
  std::uint64_t time_ns;   // processor time of the process from then on
  std::uint64_t faults;    // without reading from a file
  std::uint64_t repeated;  // of these, on memory that the process had had before
  std::uint64_t system_ns;
  std::uint64_t user_ns;
  std::uint64_t calls;     // of MPI
  std::uint32_t state;     // of freed memory: 0 as malloc has it, 1 kept, 2 taken back
  std::uint32_t fault_ns;  // what one fault costs, measured at the start
  char why_not[64];        // why malloc may not be told to keep it; empty: it may
};

/// How many blocking calls this rank made in stretches in which it waited in the library, and in as many in which it
/// polled. One row, written when MPI ends, if there was a whole pair.
struct WaitTrialRecord {
  std::uint32_t trials;
  std::uint32_t verdict;      // 0 open, 1 spinning was kept, as polling was not clearly better, 2 polling was
  std::uint64_t pairs;        // of stretches
  std::uint64_t spun_hourly;  // calls in an hour, mean
  std::uint64_t polled_hourly;  // the same
};

/// What stretches of the program's course took natively and with Wherry's choices on one communicator, by this rank's
/// clock: a controlled trial.
struct GainRecord {
  std::uint32_t comm;     // index into comms; ~0: unknown
  std::uint32_t verdict;  // agreed: 0 open, 1 native is faster, 2 Wherry's choices are
  std::uint64_t pairs;    // of stretches
  // The share of native's time that is saved, in millionths, and its 95% interval; not known: least above most.
  std::int32_t share, least, most;
  std::uint32_t reserved;
  std::uint64_t native_ns, other_ns;  // from one call to the next, mean
};

enum class FrameKind : std::uint32_t { native = 0, script_line = 1 };

struct PathFrame {
  std::uint64_t at;      // return address minus the base of its module, as in CallRecord::site; or the line
  std::uint32_t module;  // index into modules
  FrameKind kind;
  bool operator==(const PathFrame&) const = default;
};

inline constexpr std::size_t path_frames = 4;

/// Calls of a function from a place, by who called the function that holds the place, as far as that was looked at.
struct PathRecord {
  std::uint32_t function;  // as in CallRecord, like the next two
  std::uint32_t module;
  std::uint64_t site;
  std::uint64_t calls;  // that the ones looked at stand for
  std::uint64_t time_ns;
  std::uint32_t samples;         // looked at
  std::uint32_t frames;          // used; 0: no caller is known
  PathFrame frame[path_frames];  // innermost first
};

static_assert(sizeof(TableInfo) == 24 && sizeof(CallUnderWay) == 24);
static_assert(sizeof(Header) ==
              80 + 8 * sizeof(CallUnderWay) + 8 + 64 + 40 + 16 + 128 + 256 + 24 * table_count);
static_assert(sizeof(FunctionRecord) == 56 && sizeof(CallRecord) == 64 && sizeof(PeerRecord) == 24);
static_assert(sizeof(CommRecord) == 64 && sizeof(ModuleRecord) == 256 && sizeof(UseRecord) == 80);
static_assert(sizeof(DecisionRecord) == 80 && sizeof(MissRecord) == 96 && sizeof(ArrivalRecord) == 32);
static_assert(sizeof(TypeRecord) == 64 && sizeof(WindowRecord) == 168);
static_assert(sizeof(MemoryRecord) == 128 && sizeof(GainRecord) == 48);
static_assert(sizeof(WaitTrialRecord) == 32 && sizeof(NotCachedRecord) == 24 && sizeof(PathFrame) == 16 &&
              sizeof(PathRecord) == 104);
static_assert(sizeof(WindowPointRecord) == 32 && sizeof(WindowCurveRecord) == 16);

/// Size class of a number of bytes: 0 for 0, else 1 + ceil(log2(bytes)): 1 B is 1, 2 B is 2, 3-4 B are 3, ...
constexpr std::uint32_t bucket_of(std::uint64_t bytes) {
  if (bytes == 0) return 0;
  return bytes == 1 ? 1 : 65 - static_cast<std::uint32_t>(__builtin_clzll(bytes - 1));
}
static_assert(bucket_of(0) == 0 && bucket_of(1) == 1 && bucket_of(2) == 2 && bucket_of(4) == 3 &&
              bucket_of(5) == 4);

}  // namespace wherry::profile
