#include "interpose/account.hpp"

namespace wherry::interpose {

using profile::PeerClass;

/// Which calls are timed; the others, if they may wait, by the coarse clock.
void Call::enter() {
  const bool is_collective = comm_ != MPI_COMM_NULL;
  const CommFacts* const comm = is_collective ? backend().handles.recent(comm_) : nullptr;
  if (!is_collective) stands_for_ = backend().sampling.due(function_);
  else
    stands_for_ =
        comm == nullptr || !is_shared(*comm) ? 1 : backend().sampling.due(function_, comm->sequence);
  exact_ = stands_for_ != 0;
  if (exact_) enter_ns_ = profile::monotonic_ns();
  else if (is_collective) enter_ns_ = profile::coarse_ns();
}

void Call::leave() {
  if (exact_) return void(leave_ns_ = profile::monotonic_ns());
  if (comm_ == MPI_COMM_NULL) return;
  leave_ns_ = profile::coarse_ns();
  if (leave_ns_ - enter_ns_ >= profile::coarsely_known_ns()) [[unlikely]] {
    stands_for_ = 1;
    backend().sampling.stands_for_itself(function_);
  } else enter_ns_ = leave_ns_ = 0;
}

void Account::open(Call& call) {
  backend().lock.lock();
  locked_ = true;
  place_ = call.place();
  open_ = place_ != profile::none && backend().is_ready();
  if (!open_) Listener::current = {};
}

void Account::write(const Call& call, std::uint32_t comm, const Volume& volume) const {
  Backend& b = backend();
  b.recorder.call({call.function(), comm, place_, volume.bytes, call.stands_for(), call.enter_ns(),
                   call.leave_ns(), volume.combiner != 0});
  if (Listener::current.number != Listener::no_use) book_use(call);
  if (volume.combiner != 0) b.recorder.type(volume.combiner, name_of_combiner(volume.combiner), volume.bytes);
  if (call.stands_for() != 0) b.settle(call.leave_ns());
}

/// Of a native collective that nothing was read of.
void Account::book_use(const Call& call) {
  const Listener::Use use = std::exchange(Listener::current, {});
  backend().recorder.used_again(use.number, use.bytes, call.leave_ns() - call.enter_ns(), call.stands_for());
}

void Account::book(const Call& call, std::uint32_t comm, const Volume& volume) const {
  write(call, comm, volume);
  if (call.stands_for() != 0) backend().sampling.timed(call.function(), call.leave_ns() - call.enter_ns());
}

void Account::book(const Call& call, std::uint32_t comm, const Volume& volume, std::uint64_t sequence) const {
  write(call, comm, volume);
  if (call.stands_for() == 0 || sequence == unshared) return;
  backend().sampling.timed_collective(call.function(), call.leave_ns() - call.enter_ns());
  if (call.is_exact() && comm != profile::none)
    backend().recorder.arrival(comm, call.function(), sequence, call.enter_ns(), call.leave_ns());
}

Volume block(MPI_Count count, MPI_Datatype type) {
  if (count <= 0) return {};  // the type need not even be valid then
  const TypeFacts t = backend().handles.type(type);
  return {static_cast<std::uint64_t>(count) * t.bytes, t.combiner};
}

int ranks(MPI_Comm comm) { return facts(comm).size; }
int local_ranks(MPI_Comm comm) { return facts(comm).local_size; }

bool is_root(MPI_Comm comm, int root) {
  const CommFacts& c = facts(comm);
  return c.inter ? root == MPI_ROOT : root == c.rank;
}

int sources(MPI_Comm comm) {
  return static_cast<int>(backend().handles.neighbors(facts(comm)).sources.size());
}
int targets(MPI_Comm comm) {
  return static_cast<int>(backend().handles.neighbors(facts(comm)).targets.size());
}

/// Counted in bytes, whatever the type: that needs no committed type and no division.
Volume Arrived::block(MPI_Count count, MPI_Datatype type) const {
  Volume volume = interpose::block(count, type);
  int bytes = MPI_UNDEFINED;
  backend().api().Get_count(status_, MPI_BYTE, &bytes);
  if (bytes != MPI_UNDEFINED && bytes >= 0) volume.bytes = static_cast<std::uint64_t>(bytes);
  return volume;
}

void to_peer(const CommFacts& comm, int rank, std::uint64_t bytes, PeerClass kind) {
  if (rank < 0 || rank >= comm.size) return;  // MPI_PROC_NULL
  backend().recorder.peer(comm.world[static_cast<std::size_t>(rank)], kind, 1, bytes);
}

void to(MPI_Comm comm, int dest, const Volume& volume) {
  to_peer(facts(comm), dest, volume.bytes, PeerClass::point_to_point);
}

void to_others(MPI_Comm comm, const Volume& each) {
  CommFacts& c = facts(comm);
  ++c.to_each_messages;
  c.to_each_bytes += each.bytes;
}

void to_root(MPI_Comm comm, int root, const Volume& volume) {
  const CommFacts& c = facts(comm);
  if (c.inter || root != c.rank) to_peer(c, root, volume.bytes, PeerClass::collective);
}

void to_window(MPI_Win win, int target, const Volume& volume) {
  const WinFacts* window = backend().handles.window(win);
  if (window == nullptr || target < 0 || target >= static_cast<int>(window->world.size())) return;
  backend().recorder.peer(window->world[static_cast<std::size_t>(target)], PeerClass::one_sided, 1,
                          volume.bytes);
}

void to_targets(MPI_Comm comm, const Volume& each) {
  CommFacts& c = facts(comm);
  for (const int target : backend().handles.neighbors(c).targets)
    to_peer(c, target, each.bytes, PeerClass::collective);
}

void remember(MPI_Request request, MPI_Comm comm, int dest, const Volume& volume) {
  backend().handles.set_request(request, {&facts(comm), dest, volume.bytes, volume.combiner});
}

Volume started(int count, const MPI_Request requests[]) {
  Volume total;
  for (int i = 0; i < count; ++i) {
    const RequestFacts* known = backend().handles.request(requests[i]);
    if (known == nullptr) continue;
    total = total + Volume{known->bytes, known->combiner};
    if (known->comm != nullptr) to_peer(*known->comm, known->peer, known->bytes, PeerClass::point_to_point);
  }
  return total;
}

void forget_request(MPI_Request request) {
  const std::lock_guard lock(backend().lock);
  backend().handles.forget_request(request);
}

void forget_window(MPI_Win win) {
  if (inside_mpi()) return backend().handles.forget_soon();
  const std::lock_guard lock(backend().lock);
  backend().handles.forget_window(win);
}

void forget_type(MPI_Datatype type) {
  if (inside_mpi()) return backend().handles.forget_soon();
  const std::lock_guard lock(backend().lock);
  backend().handles.forget(type);
}

void keep_record() {
  if (!backend().recording()) return;
  const std::lock_guard lock(backend().lock);
  if (backend().is_ready()) backend().handles.settle();
}

bool is_the_programs_by_place(Call& call) {
  const std::lock_guard lock(backend().lock);
  return call.place() != profile::none;
}

}  // namespace wherry::interpose
