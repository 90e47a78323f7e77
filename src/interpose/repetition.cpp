#include "interpose/repetition.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>

namespace wherry::interpose {

std::uint32_t Repetition::stands_for() const {
  if (entry_ == nullptr || entry_->left > 0 || !backend().hot.leaves_waiting_alone()) return 0;
  return entry_->since_timed() + 1;
}

/// One that was timed for others of its key did not ask Wherry.
std::string_view Repetition::fallback_of(const Call& call) const {
  if (!call.is_timed_for_others()) return Listener::fallback;
  Recording& record = backend().record;
  const std::string_view fallback = record.repeated.booked(*entry_).fallback;
  if (!fallback.empty()) record.recorder.fell_back(key_.function, fallback);
  return fallback;
}

/// After one that was timed for others of its key.
void Repetition::book_time_of_others(const Call& call) const {
  if (!call.is_timed_for_others()) return;
  // A long wait stands for itself alone.
  if (call.timed_for() > call.stands_for())
    backend().record.repeated.add_time(*entry_, call.timed_for() - call.stands_for());
  entry_->gap = 0;
}

/// Nothing: none may be counted by this one.
std::optional<std::uint32_t> Repetition::calls_to_count(const Call& call, const Volume& volume) const {
  Recording& record = backend().record;
  const bool is_collective = call.comm() != MPI_COMM_NULL;
  // An untimed call evicts no live entry: with many keys every call would.
  if (!call.is_exact() && (is_collective || !record.repeated.has_free_entry(key_))) return std::nullopt;
  // A collective of several ranks must be timed by all alike.
  if (is_collective && is_shared(facts(call.comm()))) return std::nullopt;
  // Where the program's calls have one return address, in bindings that are not known, the place of each must be asked
  // for.
  if (!record.is_program(key_.site)) return std::nullopt;
  // Elements of two types, whose count does not tell the bytes; or an error that the program's own handler has seen.
  const bool has_elements = key_.count > 0 || moves_ == Moves::both;
  if (key_.count < 0 || (key_.type == MPI_DATATYPE_NULL && has_elements)) return std::nullopt;
  if (volume.combiner != 0 && !is_native_for_good() && !is_short_lived_type()) return std::nullopt;
  // Nothing to send: the type of what comes is not looked at then.
  if (key_.count == 0 && moves_ == Moves::both) return std::nullopt;
  if (element() > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  if (moves_ == Moves::elements && volume.bytes != static_cast<std::uint64_t>(key_.count) * element())
    return std::nullopt;
  if (!call.is_exact()) return record.sampling.calls_to_count(key_.function);
  const std::uint32_t calls =
      is_collective ? record.sampling.collectives_to_count(key_.function)
                    : record.sampling.calls_to_count(key_.function, call.leave_ns() - call.enter_ns(),
                                                     call.is_timed_for_others());
  return calls != 0 ? std::optional(calls) : std::nullopt;
}

/// Whether the library moves all messages of this key's derived type for good, as a message that is counted is native:
/// those of the largest count of its power of two, and what an exchange has room for. Of types that only one-sided calls
/// use nothing is known.
bool Repetition::is_native_for_good() const {
  const auto largest = static_cast<MPI_Count>(std::bit_ceil(static_cast<std::uint64_t>(key_.count)));
  return !backend().packing() || backend().converter.is_native(key_.type, std::max(largest, room_));
}

/// Whether the derived type may be short-lived: handles of its number, or of one with the same hash, were freed before,
/// and nobody has found it worth to know anything of it. An exchange may have two types, of which the key has one.
bool Repetition::is_short_lived_type() const {
  Backend& b = backend();
  return moves_ != Moves::both && b.hot.freed_types.count(number_of(key_.type)) > 0 &&
         !(b.packing() && b.converter.is_known(key_.type));
}

/// Of a type that the library has just taken, and that has the handle of the one before: whether what it is called is
/// the same. No second call is counted until one of such a handle is freed, as this one may turn out to last.
bool Repetition::is_type_alike() {
  Backend& b = backend();
  entry_->freed_types = b.hot.freed_types.count(number_of(key_.type));
  type_ = b.record.handles.ask(key_.type);
  return type_.combiner == b.record.repeated.booked(*entry_).combiner;
}

/// What calls that are counted after this one take, as far as is known.
std::uint64_t Repetition::time_of_next(const Call& call) const {
  return call.is_timed_for_others() ? call.leave_ns() - call.enter_ns()
                                    : backend().record.sampling.repeated_ns(key_.function);
}

/// Where the count is 0 the type need not be valid.
std::uint64_t Repetition::element() const { return key_.count > 0 ? block(1, key_.type).bytes : 0; }

void Repetition::store(const Call& call, const Volume& volume, const BookedAt& booked,
                       std::uint32_t calls) const {
  Recording& record = backend().record;
  const bool may_wait = call.comm() == MPI_COMM_NULL && record.sampling.is_watched(key_.function);
  record.repeated.keep({.key = key_,
                        .booked = booked,
                        .bytes = volume.bytes,
                        .element = static_cast<std::uint32_t>(element()),
                        .calls = calls,
                        .may_wait = may_wait,
                        .time_ns = time_of_next(call),
                        .exchanges = moves_ == Moves::both,
                        .is_short_lived = booked.combiner != 0 && !is_native_for_good()});
}

void Repetition::book(std::uint64_t bytes, std::uint64_t enter_ns, std::uint64_t leave_ns,
                      bool succeeded) const {
  Recording& record = backend().record;
  const std::lock_guard lock(record.lock);
  if (!record.is_ready()) return;
  const BookedAt& booked = record.repeated.booked(*entry_);
  const Combiner combiner = entry_->is_short_lived ? type_.combiner : booked.combiner;
  record.repeated.book(*entry_, {bytes, sent(bytes), enter_ns, leave_ns, combiner, succeeded});
  if (leave_ns == 0) return;
  const std::uint64_t time_ns = leave_ns - enter_ns;
  record.sampling.timed(key_.function, time_ns);
  book_path({key_.function, booked.place, 1, time_ns}, leave_ns);
}

}  // namespace wherry::interpose
