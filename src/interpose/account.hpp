// The vocabulary of the table of MPI functions: what a call moved, and to whom. Included by the generated wrappers.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "interpose/backend.hpp"
#include "interpose/destination.hpp"

namespace wherry::interpose {

/// One intercepted call: when, and from where.
class Call {
 public:
  Call(std::uint32_t function, const void* site) : function_(function), site_(site) {}
  /// A collective.
  Call(std::uint32_t function, const void* site, MPI_Comm comm)
      : function_(function), site_(site), comm_(comm) {}
  /// One that must be timed, and stands for so many calls.
  void time_for(std::uint32_t calls) { timed_for_ = calls; }

  template <class Run>
  int run(Run run) {
    const Inside inside;
    const bool recording = backend().recording();
    if (recording) enter();
    code_ = run();  // in one place, as it is inlined
    if (recording) leave();
    if (!recording) backend().memory.pass_by();
    backend().finish_abandoned();
    return code_;
  }

  std::uint32_t function() const { return function_; }
  const void* site() const { return site_; }
  /// Where the program called from; none: the MPI library called itself. Needs the lock the first time.
  std::uint32_t place() {
    if (!std::exchange(is_placed_, true)) place_ = backend().record.place_of(site_);
    return place_;
  }
  /// That of a collective; else MPI_COMM_NULL.
  MPI_Comm comm() const { return comm_; }
  bool succeeded() const { return code_ == MPI_SUCCESS; }
  /// Calls whose time this one's is taken for; 0: it was not timed.
  std::uint32_t stands_for() const { return stands_for_; }
  /// For how many calls of its key, itself among them, it had to be timed; 0: it did not have to.
  std::uint32_t timed_for() const { return timed_for_; }
  bool is_timed_for_others() const { return timed_for_ != 0; }
  /// Whether its time is that of the exact clock.
  bool is_exact() const { return exact_; }
  std::uint64_t enter_ns() const { return enter_ns_; }
  std::uint64_t leave_ns() const { return leave_ns_; }

 private:
  void enter();
  std::uint32_t due_collective() const;
  void leave();
  void stand_for_itself(std::int64_t others);
  void begin();

  std::uint32_t function_;
  const void* site_;
  bool is_placed_ = false;         // place_ is known
  MPI_Comm comm_ = MPI_COMM_NULL;  // of a collective
  std::uint32_t place_ = profile::none;
  std::uint32_t stands_for_ = 0;
  std::uint32_t timed_for_ = 0;  // 0: whoever samples decides
  bool exact_ = false;
  std::uint64_t enter_ns_ = 0;
  std::uint64_t leave_ns_ = 0;
  int code_ = MPI_SUCCESS;
};

/// Calls the library while the record says that the program is in this call.
template <class Native>
[[gnu::always_inline]] inline int run_under_way(const profile::CallUnderWay& call, const Native& native) {
  struct Ended {
    profile::Header& record;
    const std::uint32_t thread;
    ~Ended() { profile::end_call(record, thread); }  // an error handler may throw
  };
  const Ended ended{*backend().hot.record, calling_thread()};
  profile::begin_call(ended.record, ended.thread, call);
  return native();
}

/// Data of a call. combiner: of the first derived type in it.
struct Volume {
  std::uint64_t bytes = 0;
  Combiner combiner = 0;
};
inline Volume operator+(Volume a, Volume b) {
  return {a.bytes + b.bytes, a.combiner != 0 ? a.combiner : b.combiner};
}
inline Volume operator*(int times, Volume v) {
  return {static_cast<std::uint64_t>(times) * v.bytes, v.combiner};
}

/// No sequence number: a collective of one rank, whose arrivals say nothing.
inline constexpr std::uint64_t unshared = ~std::uint64_t{0};

/// Holds the profile's lock while a call is booked. All functions below need one. What takes many instructions is not
/// inline: some 650 wrappers would each have a copy, which takes the compiler minutes.
class Account {
 public:
  explicit Account(Call& call) {
    if (backend().recording()) open(call);
  }
  ~Account() {
    if (locked_) backend().record.lock.unlock();
  }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  /// False: nothing is recorded, or not this call.
  explicit operator bool() const { return open_; }

  /// comm: index in the record. sequence: number of the collective on it, if its arrival matters; `unshared`: the
  /// call is timed like any other.
  /// The row of the record.
  std::uint32_t book(const Call& call, std::uint32_t comm, const Volume& volume) const;
  std::uint32_t book(const Call& call, std::uint32_t comm, const Volume& volume,
                     std::uint64_t sequence) const;

 private:
  void open(Call& call);
  std::uint32_t write(const Call& call, std::uint32_t comm, const Volume& volume) const;
  void book_use(const Call& call, std::uint32_t row, const Volume& volume) const;

  std::uint32_t place_ = profile::none;
  bool locked_ = false;
  bool open_ = false;
};

/// Some calls that ended then came about like the one that is under way, if its call path is to be known. Needs the
/// lock.
void book_path(const profile::PathEvent& calls, std::uint64_t leave_ns);

// --- handles

inline CommFacts& facts(MPI_Comm comm) { return backend().record.handles.comm(comm); }
inline std::uint32_t comm_index(MPI_Comm comm) { return facts(comm).index; }
inline std::uint32_t window_comm(MPI_Win win) {
  const WinFacts* window = backend().record.handles.window(win);
  return window == nullptr ? profile::none : window->comm;
}
/// Whether anybody else takes part in its collectives.
inline bool is_shared(const CommFacts& comm) { return comm.local_size > 1 || comm.inter; }
/// Number of the collective on this communicator; `unshared` if nobody else takes part.
inline std::uint64_t sequence_of(MPI_Comm comm) {
  CommFacts& c = facts(comm);
  return is_shared(c) ? c.sequence++ : unshared;
}

// --- how many: ranks that blocks go to (the remote group of an intercommunicator)

int ranks(MPI_Comm comm);
int local_ranks(MPI_Comm comm);
bool is_root(MPI_Comm comm, int root);
/// Arguments that only the root has to give.
inline int ranks_at_root(MPI_Comm comm, int root) { return is_root(comm, root) ? ranks(comm) : 0; }
/// Arguments about sending, which mean nothing with MPI_IN_PLACE.
inline int sent_ranks(MPI_Comm comm, const void* sendbuf) {
  return sendbuf == MPI_IN_PLACE ? 0 : ranks(comm);
}
int sources(MPI_Comm comm);
int targets(MPI_Comm comm);
/// Whether this rank is on the side of an intercommunicator that sends to a root; always, within one group.
inline bool has_root(int root) { return root >= 0; }

// --- how much

Volume block(MPI_Count count, MPI_Datatype type);
template <class Count>
Volume sum(int n, const Count counts[], MPI_Datatype type) {
  MPI_Count total = 0;
  for (int i = 0; i < n; ++i) total += counts[i];
  return block(total, type);
}
template <class Count>
Volume sum(int n, const Count counts[], const MPI_Datatype types[]) {
  Volume total;
  for (int i = 0; i < n; ++i) total = total + block(counts[i], types[i]);
  return total;
}
/// This rank's block of an array with one count per rank.
template <class Count>
Volume mine(MPI_Comm comm, const Count counts[], MPI_Datatype type) {
  return block(counts[facts(comm).rank], type);
}
/// One rank's part of what goes alike to every rank.
inline Volume share(MPI_Comm comm, Volume volume) {
  const int n = facts(comm).size;
  return {n > 0 ? volume.bytes / static_cast<std::uint64_t>(n) : 0, volume.combiner};
}

/// What a call that fetches data and sends data there moves, as elements of one type; MPI_DATATYPE_NULL: of two.
inline MPI_Datatype type_of_both(MPI_Op op, MPI_Datatype sent, MPI_Datatype fetched) {
  return op == MPI_NO_OP || sent == fetched ? fetched : MPI_DATATYPE_NULL;
}
inline MPI_Datatype type_of_both(MPI_Datatype sent, MPI_Datatype received) {
  return sent == received ? sent : MPI_DATATYPE_NULL;
}
inline MPI_Count count_of_both(MPI_Op op, MPI_Count sent, MPI_Count fetched) {
  return op == MPI_NO_OP ? fetched : sent + fetched;
}

/// What a receive really got. Looks into the status, and provides one where the program wants none.
class Arrived {
 public:
  explicit Arrived(MPI_Status*& status) {
    if (status == MPI_STATUS_IGNORE) status = &own_;
    status_ = status;
  }
  Volume block(MPI_Count count, MPI_Datatype type) const;
  /// Nothing: the library cannot say.
  std::optional<std::uint64_t> bytes() const;

 private:
  MPI_Status own_;
  MPI_Status* status_;
};

// --- to whom

/// Of messages to a rank of comm, and of one-sided operations at a rank of win.
Destination destination_in_comm(MPI_Comm comm, int rank);
Destination destination_in_window(MPI_Win win, int rank);
void to(MPI_Comm comm, int dest, const Volume& volume);
/// The same to every other rank.
void to_others(MPI_Comm comm, const Volume& each);
void to_root(MPI_Comm comm, int root, const Volume& volume);
void to_peer(const CommFacts& comm, int rank, std::uint64_t bytes, profile::PeerClass kind);
void to_window(MPI_Win win, int target, const Volume& volume);

inline MPI_Datatype type_at(MPI_Datatype type, int) { return type; }
inline MPI_Datatype type_at(const MPI_Datatype types[], int i) { return types[i]; }

/// Block i to rank i. Empty blocks are no messages.
template <class Count, class Types>
void to_each(MPI_Comm comm, const Count counts[], Types types) {
  const CommFacts& c = facts(comm);
  for (int i = 0; i < c.size; ++i)
    if (counts[i] > 0 && (c.inter || i != c.rank))
      to_peer(c, i, block(counts[i], type_at(types, i)).bytes, profile::PeerClass::collective);
}
void to_targets(MPI_Comm comm, const Volume& each);
template <class Count, class Types>
void to_each_target(MPI_Comm comm, const Count counts[], Types types) {
  CommFacts& c = facts(comm);
  const std::vector<int>& targets = backend().record.handles.neighbors(c).targets;
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (counts[i] > 0)
      to_peer(c, targets[i], block(counts[i], type_at(types, static_cast<int>(i))).bytes,
              profile::PeerClass::collective);
}

// --- what comes into being and goes

void remember(MPI_Request request, MPI_Comm comm, int dest, const Volume& volume);
/// Books the messages of persistent requests that start; their volume.
Volume started(int count, const MPI_Request requests[]);
void forget_request(MPI_Request request);
inline void window_made(MPI_Win win, MPI_Comm comm) { backend().record.handles.add_window(win, comm); }
void forget_window(MPI_Win win);
void forget_type(MPI_Datatype type);
inline void comm_made(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL) facts(comm);
}
/// The same with what to call it while the program gives it no name: "copy of" that one.
void comm_made(MPI_Comm comm, MPI_Comm from, const char* what);
inline void comm_named(MPI_Comm comm, const char* name) {
  backend().record.recorder.name_comm(comm_index(comm), name);
}
inline void initialized() { backend().initialized(); }
inline void session_opened(MPI_Session session) { backend().session_opened(session); }
inline void session_closes() { backend().session_closes(); }
inline void session_closed() { backend().session_closed(); }
inline void shut_down() { backend().shut_down(); }
inline void ended() { backend().ended(); }
/// Before MPI_Abort. A signal handler may call it while its thread holds the lock: then nothing more is booked on it.
void keep_record();

/// is_the_programs(), by what is known of the place that called. Takes the lock.
bool is_the_programs_by_place(Call& call);

/// Whether the program makes the call at hand; else the MPI library does, or Wherry's own.
inline bool is_the_programs(Call& call) {
  return backend().record.is_program(call.site()) || is_the_programs_by_place(call);
}

// --- collectives that Wherry may replace

/// Whether the call at hand is to be replaced: the library's collectives on its own communicators stay native.
inline bool is_replaceable(Call& call) { return backend().replacing() && is_the_programs(call); }

}  // namespace wherry::interpose
