#include "interpose/repetition.hpp"

#include <mutex>

namespace wherry::interpose {

std::uint32_t Repetition::stands_for() const {
  if (entry_ == nullptr || entry_->left > 0 || !backend().patience.leaves_alone()) return 0;
  const std::uint32_t calls = entry_->since_timed() + 1;
  entry_->gap = 0;
  return calls;
}

namespace {

/// Those whose calls may be counted: a rank's own messages, and collectives of nobody else. The others must be timed by
/// all ranks alike.
bool may_repeat(const Call& call, const RepeatKey& key) {
  if (call.comm() == MPI_COMM_NULL) return true;
  return !is_shared(facts(key.comm));
}

/// Where a call on that communicator, or on none, is booked, but for its row.
BookedAt booked_in(MPI_Comm comm, int peer) {
  if (comm == MPI_COMM_NULL) return {};
  const CommFacts& known = facts(comm);
  BookedAt booked;
  booked.comm = known.index;
  if (peer >= 0 && peer < known.size) booked.peer = known.world[static_cast<std::size_t>(peer)];
  return booked;
}

}  // namespace

/// One that was timed for others of its key did not ask Wherry.
std::string_view Repetition::fallback_of(const Call& call) const {
  if (!call.is_timed_for_others()) return Listener::fallback;
  Recording& record = backend().record;
  const std::string_view fallback = record.repeated.booked(*entry_).fallback;
  if (!fallback.empty()) record.recorder.fell_back(key_.function, fallback);
  return fallback;
}

std::uint32_t Repetition::calls_to_count(const Call& call) const {
  profile::Sampling& sampling = backend().record.sampling;
  if (call.comm() != MPI_COMM_NULL) return sampling.collectives_to_count(key_.function);
  return sampling.calls_to_count(key_.function, call.leave_ns() - call.enter_ns(),
                                 call.is_timed_for_others());
}

void Repetition::keep(Call& call, const Volume& volume, std::uint32_t row) const {
  Recording& record = backend().record;
  const std::string_view fallback = fallback_of(call);
  // A long wait stands for itself alone.
  if (call.timed_for() > call.stands_for())
    record.repeated.add_time(*entry_, call.timed_for() - call.stands_for());
  if (!call.is_exact() || volume.combiner != 0 || !may_repeat(call, key_)) return;
  // Where the program's calls have one return address, in Fortran bindings, the place of each must be asked for.
  if (!record.is_program(key_.site)) return;
  if (key_.count <= 0 && key_.type != MPI_DATATYPE_NULL) return;  // the type need not be valid
  const std::uint64_t element = block(1, key_.type).bytes;
  if (!receives_ && volume.bytes != static_cast<std::uint64_t>(key_.count) * element) return;
  const std::uint32_t calls = calls_to_count(call);
  if (calls == 0) return;
  BookedAt booked = booked_in(key_.comm, key_.peer);
  booked.row = row;
  booked.place = call.place();
  booked.fallback = fallback;
  const bool may_wait = call.comm() == MPI_COMM_NULL && record.sampling.is_watched(key_.function);
  record.repeated.keep({.key = key_,
                        .booked = booked,
                        .bytes = volume.bytes,
                        .element = static_cast<std::uint32_t>(element),
                        .calls = calls,
                        .may_wait = may_wait,
                        .time_ns = call.leave_ns() - call.enter_ns()});
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
