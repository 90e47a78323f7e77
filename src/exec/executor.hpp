// The executor: runs any schedule over a channel, with the addresses and sizes of a binding.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "comm/channel.hpp"
#include "exec/coroutine.hpp"
#include "schedule/schedule.hpp"

namespace wherry::run {

/// Requests of one execution, kept between calls so that no call allocates.
struct Requests {
  std::vector<MPI_Request> pending;
  std::vector<const void*> receiving;  // the messages of the first of them; nullptr: nothing to unpack
  Spare spare;
};

/// A schedule has phases, sends_of(phase), receives_of(phase), and messages with a peer (schedule/schedule.hpp,
/// schedule/segment_schedule.hpp). A binding turns its messages into memory:
///   std::optional<Piece> outgoing(const Message&)   gathers the message if need be; nothing: it is not sent
///   std::optional<Piece> incoming(const Message&)   where it may land; nothing: it does not come
///   int arrived(const Message&)                     unpacks what landed; an MPI code
///   int phase_over()                                optional: all messages of a phase are complete; an MPI code
/// Both ends of a message must agree whether it is sent.
///
/// An error does not end it: the other ranks count on all messages of this one. As every rank does its part to the end,
/// every request completes, and no message still moves in the caller's memory or in staging after the execution.
template <class Schedule, class Binding>
class Execution final : public Step {
  using Message = typename decltype(Schedule::sends)::value_type;

 public:
  Execution(const Schedule& schedule, Binding& binding, const Lane& lane, Requests& requests)
      : schedule_(schedule), binding_(binding), lane_(lane), channel_(*lane.channel), requests_(requests) {}

  /// Posts what can be posted and takes what has come. A patient execution is over after that, collectively over the
  /// channel; another one when nothing remains to be waited for.
  bool advance() override {
    for (; phase_ < schedule_.phases.size(); ++phase_) {
      if (!advance(schedule_.phases[phase_])) return false;
      if constexpr (requires { binding_.phase_over(); }) note(binding_.phase_over());
    }
    requests_.spare.clear();
    return true;
  }

  int code() const override { return code_; }

 private:
  bool advance(const schedule::Phase& phase) {
    if (is_patient() && phase.sends == 1 && phase.receives == 1) return exchange(phase);
    if (!std::exchange(posted_, true)) post(phase);
    const bool over = sliding_ ? slide() : drain();
    posted_ = !over;
    return over;
  }

  bool is_patient() const { return lane_.patience == Patience::wait; }

  /// One message out and one in: the native exchange is the fastest way.
  bool exchange(const schedule::Phase& phase) {
    const Message& out = schedule_.sends_of(phase).front();
    const Message& in = schedule_.receives_of(phase).front();
    const std::optional<Piece> sent = binding_.outgoing(out);
    const std::optional<Piece> received = binding_.incoming(in);
    if (!sent && !received) return true;
    const int to = sent ? out.peer : MPI_PROC_NULL;
    const int from = received ? in.peer : MPI_PROC_NULL;
    const int code = note(channel_.exchange(sent.value_or(Piece{}), {to, lane_.tag},
                                            received.value_or(Piece{}), {from, lane_.tag}));
    if (code == MPI_SUCCESS && received) note(binding_.arrived(in));
    return true;
  }

  /// A place for each message that may be under way. A bounded phase moves on through its places: position k of either
  /// side meets position k of its peer, so the lowest unfinished position is always posted at both ends.
  void post(const schedule::Phase& phase) {
    sliding_ = phase.window > 0 && (phase.sends > phase.window || phase.receives > phase.window);
    const auto receives = static_cast<std::size_t>(sliding_ ? phase.window : phase.receives);
    const auto sends = static_cast<std::size_t>(sliding_ ? phase.window : phase.sends);
    requests_.pending.assign(receives + sends, MPI_REQUEST_NULL);
    requests_.receiving.assign(receives, nullptr);
    to_receive_ = schedule_.receives_of(phase);
    to_send_ = schedule_.sends_of(phase);
    drained_ = 0;
    // Receives first: an unexpected message would cost one extra copy.
    for (std::size_t place = 0; place < receives + sends; ++place) next(place);
  }

  /// One after the other, as all must end.
  bool drain() {
    for (; drained_ < requests_.pending.size(); ++drained_) {
      bool over = true;
      MPI_Request& request = requests_.pending[drained_];
      const int code = is_patient() ? channel_.wait(request) : channel_.test(request, &over);
      if (!over) return false;
      ended(drained_, code);
    }
    return true;
  }

  /// Whichever ends first makes room for the next.
  bool slide() {
    for (;;) {
      bool any = true;
      int index = MPI_UNDEFINED;
      const int code = is_patient() ? channel_.wait_any(requests_.pending, &index)
                                    : channel_.test_any(requests_.pending, &index, &any);
      if (!any) return false;
      if (index == MPI_UNDEFINED) return finish(code);
      const auto place = static_cast<std::size_t>(index);
      ended(place, code);
      next(place);
    }
  }

  /// All have completed, unless the library failed in a way that it blames on none of them: then they must still end.
  bool finish(int code) {
    if (note(code) == MPI_SUCCESS) return true;
    std::ranges::fill(requests_.receiving, nullptr);
    sliding_ = false;
    return drain();
  }

  bool is_receive(std::size_t place) const { return place < requests_.receiving.size(); }

  void ended(std::size_t place, int code) {
    note(code);
    const bool landed = is_receive(place) && requests_.receiving[place] != nullptr;
    if (landed && code == MPI_SUCCESS)
      note(binding_.arrived(*static_cast<const Message*>(requests_.receiving[place])));
  }

  /// Posts the next message that there is for this place.
  void next(std::size_t place) {
    MPI_Request& request = requests_.pending[place];
    std::span<const Message>& waiting = is_receive(place) ? to_receive_ : to_send_;
    for (request = MPI_REQUEST_NULL; request == MPI_REQUEST_NULL && !waiting.empty();
         waiting = waiting.subspan(1)) {
      if (is_receive(place)) requests_.receiving[place] = post_receive(waiting.front(), request);
      else post_send(waiting.front(), request);
    }
  }

  /// Returns what there will be to unpack, if anything.
  const Message* post_receive(const Message& message, MPI_Request& request) {
    const std::optional<Piece> piece = binding_.incoming(message);
    if (!piece) return nullptr;
    const int code = note(channel_.receive(*piece, message.peer, lane_.tag, &request, requests_.spare));
    return code == MPI_SUCCESS ? &message : nullptr;
  }

  void post_send(const Message& message, MPI_Request& request) {
    const std::optional<Piece> piece = binding_.outgoing(message);
    if (piece) note(channel_.send(*piece, message.peer, lane_.tag, &request));
  }

  int note(int code) {
    code_ = first_error(code_, code);
    return code;
  }

  const Schedule& schedule_;
  Binding& binding_;
  const Lane lane_;
  const Channel& channel_;
  Requests& requests_;
  int code_ = MPI_SUCCESS;
  std::size_t phase_ = 0;
  // Of the phase under way:
  bool posted_ = false;
  bool sliding_ = false;     // bounded: more messages than places
  std::size_t drained_ = 0;  // so many places are done for good
  std::span<const Message> to_receive_;
  std::span<const Message> to_send_;
};

/// Runs it all. Returns MPI_SUCCESS or the first error. Collective over the channel.
template <class Schedule, class Binding>
int execute(const Schedule& schedule, Binding& binding, const Channel& channel, int tag, Requests& requests) {
  Execution execution(schedule, binding, Lane{&channel, tag, Patience::wait}, requests);
  execution.advance();
  return execution.code();
}

}  // namespace wherry::run
