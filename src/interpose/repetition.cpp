#include "interpose/repetition.hpp"

#include <mutex>

namespace wherry::interpose {

std::uint32_t Repetition::stands_for() const {
  if (entry_ == nullptr || entry_->left > 0 || !backend().patience.leaves_alone()) return 0;
  const std::uint32_t calls = entry_->since_timed() + 1;
  entry_->gap = 0;
  return calls;
}

GoingTo messages_to(MPI_Comm comm, int peer) {
  const CommFacts& known = facts(comm);
  const bool is_rank = peer >= 0 && peer < known.size;
  return {known.index, is_rank ? known.world[static_cast<std::size_t>(peer)] : -1,
          profile::PeerClass::point_to_point};
}

GoingTo one_sided_to(MPI_Win win, int peer) {
  const WinFacts* const known = backend().record.handles.window(win);
  if (known == nullptr) return {};
  const bool is_rank = peer >= 0 && peer < static_cast<int>(known->world.size());
  return {known->comm, is_rank ? known->world[static_cast<std::size_t>(peer)] : -1,
          profile::PeerClass::one_sided};
}

/// One that was timed for others of its key did not ask Wherry.
std::string_view Repetition::fallback_of(const Call& call) const {
  if (!call.is_timed_for_others()) return Listener::fallback;
  Recording& record = backend().record;
  const std::string_view fallback = record.repeated.booked(*entry_).fallback;
  if (!fallback.empty()) record.recorder.fell_back(key_.function, fallback);
  return fallback;
}

/// Books the time of one that was timed for others of its key. Why such calls are native.
std::string_view Repetition::take_time(const Call& call) const {
  // A long wait stands for itself alone.
  if (call.timed_for() > call.stands_for())
    backend().record.repeated.add_time(*entry_, call.timed_for() - call.stands_for());
  return fallback_of(call);
}

/// 0: none may be counted by this one.
std::uint32_t Repetition::calls_to_count(const Call& call, const Volume& volume) const {
  Recording& record = backend().record;
  const bool is_collective = call.comm() != MPI_COMM_NULL;
  // What was not timed does not take another's place: where keys are many, each call would.
  if (!call.is_exact() && (is_collective || !record.repeated.has_room(key_))) return 0;
  if (volume.combiner != 0) return 0;
  // A collective of several ranks must be timed by all alike.
  if (is_collective && is_shared(facts(call.comm()))) return 0;
  // Where the program's calls have one return address, in Fortran bindings, the place of each must be asked for.
  if (!record.is_program(key_.site)) return 0;
  if (key_.count <= 0 ? key_.type != MPI_DATATYPE_NULL : key_.type == MPI_DATATYPE_NULL)
    return 0;  // the type need not be valid; or there are two
  if (!receives_ && volume.bytes != static_cast<std::uint64_t>(key_.count) * element()) return 0;
  return is_collective
             ? record.sampling.collectives_to_count(key_.function)
             : record.sampling.calls_to_count(key_.function, time_of(call), call.is_timed_for_others());
}

/// The function's mean, where it was not timed.
std::uint64_t Repetition::time_of(const Call& call) const {
  return call.is_exact() ? call.leave_ns() - call.enter_ns()
                         : backend().record.sampling.mean_ns(key_.function);
}

std::uint64_t Repetition::element() const { return block(1, key_.type).bytes; }

void Repetition::keep(const Call& call, const Volume& volume, const BookedAt& booked,
                      std::uint32_t calls) const {
  Recording& record = backend().record;
  const bool may_wait = call.comm() == MPI_COMM_NULL && record.sampling.is_watched(key_.function);
  record.repeated.keep({.key = key_,
                        .booked = booked,
                        .bytes = volume.bytes,
                        .element = static_cast<std::uint32_t>(element()),
                        .calls = calls,
                        .may_wait = may_wait,
                        .time_ns = time_of(call)});
}

void Repetition::book(const RepeatedCalls::Uncounted& call) const {
  Recording& record = backend().record;
  const std::lock_guard lock(record.lock);
  if (!record.is_ready()) return;
  record.repeated.book(*entry_, call);
  if (call.leave_ns == 0) return;
  const std::uint64_t time_ns = call.leave_ns - call.enter_ns;
  record.sampling.timed(key_.function, time_ns);
  book_path({key_.function, record.repeated.booked(*entry_).place, 1, time_ns}, call.leave_ns);
}

}  // namespace wherry::interpose
