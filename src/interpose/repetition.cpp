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
bool may_repeat(const Call& call, const Likeness& like) {
  if (call.comm() == MPI_COMM_NULL) return true;
  return !is_shared(facts(like.comm));
}

/// Where a call on that communicator, or on none, is booked, but for its row.
Booked booked_in(MPI_Comm comm, int peer) {
  if (comm == MPI_COMM_NULL) return {};
  const CommFacts& known = facts(comm);
  const bool has_peer = peer >= 0 && peer < known.size;
  return {.comm = known.index, .peer = has_peer ? known.world[static_cast<std::size_t>(peer)] : -1};
}

}  // namespace

/// Why Wherry left the call to the library. One that was timed for others like it did not ask.
std::string_view Repetition::refusal_of(const Call& call) const {
  if (!call.is_timed_for_others()) return Listener::refusal;
  const std::string_view refusal = backend().record.repeated.booked(*entry_).refusal;
  if (!refusal.empty()) backend().record.recorder.fell_back(like_.function, refusal);
  return refusal;
}

void Repetition::keep(Call& call, const Volume& volume, std::uint32_t row) const {
  Recording& b = backend().record;
  const std::string_view refusal = refusal_of(call);
  // A wait as long as that of a call that stands for itself alone says nothing about those before it.
  if (call.timed_for() > call.stands_for())
    b.repeated.take_as_before(*entry_, call.timed_for() - call.stands_for());
  if (!call.is_exact() || volume.combiner != 0 || !may_repeat(call, like_)) return;
  const std::uint64_t element = block(1, like_.type).bytes;
  if (!receives_ && volume.bytes != static_cast<std::uint64_t>(like_.count) * element) return;
  const bool is_alone = call.comm() != MPI_COMM_NULL;
  const std::uint64_t time_ns = call.leave_ns() - call.enter_ns();
  const std::uint32_t calls =
      b.sampling.timed_for_alike(like_.function, time_ns, is_alone ? profile::Sampling::mean_gap : 0);
  if (calls == 0) return;
  Booked booked = booked_in(like_.comm, like_.peer);
  booked.row = row;
  booked.place = call.place();
  booked.refusal = refusal;
  b.repeated.keep({.like = like_,
                   .booked = booked,
                   .bytes = volume.bytes,
                   .element = static_cast<std::uint32_t>(element),
                   .calls = calls,
                   .may_wait = !is_alone && b.sampling.is_watched(like_.function),
                   .time_ns = time_ns});
}

void Repetition::book(const RepeatedCalls::Odd& odd) const {
  Recording& b = backend().record;
  const std::lock_guard lock(b.lock);
  if (b.is_ready()) b.repeated.book(*entry_, odd);
}

}  // namespace wherry::interpose
