#include "interpose/account.hpp"

#include <mutex>
#include <string>
#include <thread>

#include "interpose/fast_call.hpp"

namespace wherry::interpose {

using profile::PeerClass;

/// Which calls are timed; the others, if they may wait, are watched.
void Call::enter() {
  Listener::fallback = {};
  const bool is_collective = comm_ != MPI_COMM_NULL;
  stands_for_ = timed_for_ != 0 ? timed_for_
                : is_collective ? due_collective()
                                : backend().record.sampling.due(function_);
  exact_ = stands_for_ != 0;
  if (exact_) enter_ns_ = profile::monotonic_ns();
  else if (is_collective || backend().record.sampling.is_watched(function_))
    enter_ns_ = backend().hot.clock.now_ns();
  begin();
}

/// A call that the MPI library makes of itself does not begin one.
void Call::begin() {
  Recording& record = backend().record;
  const void* site = site_;
  if (!record.is_program(site)) {
    const std::lock_guard lock(record.lock);
    if (place() == profile::none) return;
    site = record.address_of(place());
  }
  record.recorder.begin_call(calling_thread(), profile::under_way(function_, site, enter_ns_));
}

/// With one rank it waits for nobody and no rank must time the same.
std::uint32_t Call::due_collective() const {
  CommFacts* const comm = backend().record.handles.recent(comm_);
  if (comm == nullptr) return 1;
  if (!is_shared(*comm))
    return comm->untimed.due(function_,
                             profile::Sampling::is_multiple(comm->sequence++, profile::Sampling::mean_gap));
  return comm->untimed.due(function_, backend().record.sampling.is_due(function_, comm->sequence));
}

void Call::leave() {
  backend().record.recorder.end_call(calling_thread());
  if (exact_) {
    leave_ns_ = profile::monotonic_ns();
    const bool failed_for_others = timed_for_ != 0 && code_ != MPI_SUCCESS;
    if (stands_for_ > 1 && (failed_for_others || backend().hot.clock.would_know(enter_ns_, leave_ns_)))
        [[unlikely]]
      stand_for_itself(stands_for_ - 1);
    return;
  }
  if (enter_ns_ == 0) return;
  leave_ns_ = backend().hot.clock.now_ns();
  if (!backend().hot.clock.knows(enter_ns_, leave_ns_)) [[likely]] {
    enter_ns_ = leave_ns_ = 0;
    return;
  }
  profile::WatchClock::to_exact(enter_ns_, leave_ns_);
  stand_for_itself(-1);
}

/// others: how many more of the communicator's calls are untimed then.
void Call::stand_for_itself(std::int64_t others) {
  stands_for_ = 1;
  if (comm_ == MPI_COMM_NULL || timed_for_ != 0) return;
  if (CommFacts* const comm = backend().record.handles.recent(comm_)) comm->untimed.add(function_, others);
}

void Account::open(Call& call) {
  backend().record.lock.lock();
  locked_ = true;
  place_ = call.place();
  open_ = place_ != profile::none && backend().record.is_ready();
  if (!open_) Listener::current = {};
  backend().record.handles.sent = {};
}

std::uint32_t Account::write(const Call& call, std::uint32_t comm, const Volume& volume) const {
  Recording& b = backend().record;
  const std::uint32_t row = b.recorder.call({call.function(), comm, place_, volume.bytes, call.stands_for(),
                                             call.enter_ns(), call.leave_ns(), volume.combiner != 0});
  if (Listener::current.number != Listener::no_use) book_use(call, row, volume);
  if (volume.combiner != 0) b.recorder.type(volume.combiner, name_of_combiner(volume.combiner), volume.bytes);
  if (call.stands_for() == 0) return row;
  // A call that stands for others is like them in who made it, too.
  book_path(
      {call.function(), place_, call.stands_for(), call.stands_for() * (call.leave_ns() - call.enter_ns())},
      call.leave_ns());
  b.settle(call.leave_ns());
  return row;
}

void book_path(const profile::PathEvent& calls, std::uint64_t leave_ns) {
  Recording& record = backend().record;
  const auto stands_for = static_cast<std::uint32_t>(calls.calls);
  const std::uint64_t due = record.paths.due(calls.place, stands_for, calls.time_ns, leave_ns);
  if (due == 0) [[likely]]
    return;
  const std::uint64_t begun_ns = profile::monotonic_ns();
  const std::uint64_t each_ns = calls.time_ns / calls.calls;
  record.recorder.path({calls.function, calls.place, due, due * each_ns}, record.paths.path(calls.place));
  record.paths.took(profile::monotonic_ns() - begun_ns);
}

/// Of a collective that Wherry has seen. After one that nothing was read of, those that follow may be counted by what
/// is known of this one.
void Account::book_use(const Call& call, std::uint32_t row, const Volume& volume) const {
  Recording& b = backend().record;
  const Listener::Use use = std::exchange(Listener::current, {});
  b.recorder.used_again(use.number, use.bytes, call.leave_ns() - call.enter_ns(), call.stands_for());
  CommFacts* const comm = use.passes && call.succeeded() ? b.handles.recent(call.comm()) : nullptr;
  if (comm == nullptr || row == profile::none || volume.combiner != 0 || !b.is_program(call.site())) return;
  b.handles.keep(
      *comm,
      {call.site(), call.function(), place_, {0, row, volume.bytes, use.number, use.bytes}, b.handles.sent});
}

void book_as_usual(const Counted& counted, int code, std::uint64_t enter_ns, std::uint64_t leave_ns) {
  Recording& b = backend().record;
  const std::lock_guard lock(b.lock);
  const CallKind& kind = counted.tally->kind;
  if (code != MPI_SUCCESS)
    return void(b.recorder.call({kind.function, profile::none, kind.place, 0, 0, 0, 0, false}));
  profile::WatchClock::to_exact(enter_ns, leave_ns);
  const std::uint64_t time_ns = leave_ns - enter_ns;
  b.recorder.call(
      {kind.function, counted.comm->index, kind.place, kind.each.bytes, 1, enter_ns, leave_ns, false});
  b.recorder.used_again(kind.each.use, kind.each.use_bytes, time_ns);
  b.handles.send(*counted.comm, kind.sent, 1);
  b.sampling.timed_collective(kind.function, time_ns);
  ++counted.comm->sequence;
  b.settle(leave_ns);
}

std::uint32_t Account::book(const Call& call, std::uint32_t comm, const Volume& volume) const {
  const std::uint32_t row = write(call, comm, volume);
  if (call.stands_for() != 0 && !call.is_timed_for_others())
    backend().record.sampling.timed(call.function(), call.leave_ns() - call.enter_ns());
  return row;
}

std::uint32_t Account::book(const Call& call, std::uint32_t comm, const Volume& volume,
                            std::uint64_t sequence) const {
  const std::uint32_t row = write(call, comm, volume);
  if (call.stands_for() == 0 || sequence == unshared) return row;
  backend().record.sampling.timed_collective(call.function(), call.leave_ns() - call.enter_ns());
  if (call.is_exact() && comm != profile::none)
    backend().record.recorder.arrival(comm, call.function(), sequence, call.enter_ns(), call.leave_ns());
  return row;
}

Volume block(MPI_Count count, MPI_Datatype type) {
  if (count <= 0) return {};  // the type need not even be valid then
  const RecordedType t = backend().record.handles.type(type);
  return {static_cast<std::uint64_t>(count) * t.bytes, t.combiner};
}

int ranks(MPI_Comm comm) { return facts(comm).size; }
int local_ranks(MPI_Comm comm) { return facts(comm).local_size; }

bool is_root(MPI_Comm comm, int root) {
  const CommFacts& c = facts(comm);
  return c.inter ? root == MPI_ROOT : root == c.rank;
}

int sources(MPI_Comm comm) {
  return static_cast<int>(backend().record.handles.neighbors(facts(comm)).sources.size());
}
int targets(MPI_Comm comm) {
  return static_cast<int>(backend().record.handles.neighbors(facts(comm)).targets.size());
}

/// Counted in bytes, whatever the type: that needs no committed type and no division.
Volume Arrived::block(MPI_Count count, MPI_Datatype type) const {
  Volume volume = interpose::block(count, type);
  volume.bytes = bytes().value_or(volume.bytes);
  return volume;
}

std::optional<std::uint64_t> Arrived::bytes() const {
  int bytes = MPI_UNDEFINED;
  backend().api().Get_count(status_, MPI_BYTE, &bytes);
  if (bytes == MPI_UNDEFINED || bytes < 0) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

namespace {

/// -1: MPI_PROC_NULL, or no rank of MPI_COMM_WORLD.
int rank_in_world(const std::vector<int>& world, int rank) {
  return rank >= 0 && rank < static_cast<int>(world.size()) ? world[static_cast<std::size_t>(rank)] : -1;
}

void book_at(const Destination& to, std::uint64_t bytes) {
  if (to.peer >= 0) backend().record.recorder.peer(to.peer, to.kind, 1, bytes);
}

}  // namespace

Destination destination_in_comm(MPI_Comm comm, int rank) {
  const CommFacts& known = facts(comm);
  return {known.index, rank_in_world(known.world, rank), PeerClass::point_to_point};
}

Destination destination_in_window(MPI_Win win, int rank) {
  const WinFacts* const known = backend().record.handles.window(win);
  if (known == nullptr) return {};
  return {known->comm, rank_in_world(known->world, rank), PeerClass::one_sided};
}

void to_peer(const CommFacts& comm, int rank, std::uint64_t bytes, PeerClass kind) {
  book_at({comm.index, rank_in_world(comm.world, rank), kind}, bytes);
}

void to(MPI_Comm comm, int dest, const Volume& volume) {
  book_at(destination_in_comm(comm, dest), volume.bytes);
}

void to_others(MPI_Comm comm, const Volume& each) {
  backend().record.handles.sent = {Sent::others, each.bytes};
  backend().record.handles.send(facts(comm), backend().record.handles.sent, 1);
}

void to_root(MPI_Comm comm, int root, const Volume& volume) {
  const CommFacts& c = facts(comm);
  if (!c.inter && root == c.rank) return;
  if (root >= 0 && root < c.size) backend().record.handles.sent = {root, volume.bytes};
  to_peer(c, root, volume.bytes, PeerClass::collective);
}

void to_window(MPI_Win win, int target, const Volume& volume) {
  book_at(destination_in_window(win, target), volume.bytes);
}

void to_targets(MPI_Comm comm, const Volume& each) {
  CommFacts& c = facts(comm);
  for (const int target : backend().record.handles.neighbors(c).targets)
    to_peer(c, target, each.bytes, PeerClass::collective);
}

void comm_made(MPI_Comm comm, MPI_Comm from, const char* what) {
  if (comm == MPI_COMM_NULL) return;
  Recording& b = backend().record;
  const CommFacts& made = facts(comm);
  if (made.is_named) return;
  const CommFacts* const source = b.handles.known(from);
  const std::string_view source_name = source == nullptr ? "" : b.recorder.comm_name(source->index);
  const std::string name =
      std::string(what) + " of " + std::string(source_name.empty() ? "a communicator" : source_name);
  b.recorder.name_comm(made.index, name);
}

void remember(MPI_Request request, MPI_Comm comm, int dest, const Volume& volume) {
  backend().record.handles.set_request(request, {&facts(comm), dest, volume.bytes, volume.combiner});
}

Volume started(int count, const MPI_Request requests[]) {
  Volume total;
  for (int i = 0; i < count; ++i) {
    const RequestFacts* known = backend().record.handles.request(requests[i]);
    if (known == nullptr) continue;
    total = total + Volume{known->bytes, known->combiner};
    if (known->comm != nullptr) to_peer(*known->comm, known->peer, known->bytes, PeerClass::point_to_point);
  }
  return total;
}

void forget_request(MPI_Request request) {
  const std::lock_guard lock(backend().record.lock);
  backend().record.handles.forget_request(request);
}

void forget_window(MPI_Win win) {
  if (inside_mpi()) return backend().record.handles.forget_window_soon(win);
  const std::lock_guard lock(backend().record.lock);
  backend().record.handles.forget_window(win);
}

void forget_type(MPI_Datatype type) {
  backend().hot.freed_types.note(number_of(type));
  if (inside_mpi()) return backend().record.handles.forget_soon();
  const std::lock_guard lock(backend().record.lock);
  backend().record.handles.forget(type);
}

void keep_record() {
  constexpr int most_tries = 1000;
  if (inside_mpi() || !backend().recording()) return;
  Recording& record = backend().record;
  std::unique_lock lock(record.lock, std::defer_lock);
  for (int tries = 0; !lock.try_lock(); ++tries) {
    if (tries == most_tries) return void(++this_thread.depth);
    std::this_thread::yield();
  }
  if (record.is_ready()) record.abort();
}

bool is_the_programs_by_place(Call& call) {
  const std::lock_guard lock(backend().record.lock);
  return call.place() != profile::none;
}

}  // namespace wherry::interpose
