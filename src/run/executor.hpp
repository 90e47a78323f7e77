// The executor: runs any schedule over a channel, with the addresses and sizes of a binding.
#pragma once

#include <optional>
#include <vector>

#include "plan/schedule.hpp"
#include "run/channel.hpp"

namespace wherry::run {

/// Requests of one execution, kept between calls so that no call allocates.
struct Requests {
  std::vector<MPI_Request> pending;
  std::vector<const void*> receiving;  // the messages of the first of them; nullptr: nothing to unpack
  Spare spare;
};

/// A schedule has phases, sends_of(phase), receives_of(phase), and messages with a peer (plan/schedule.hpp,
/// plan/segments/schedule.hpp). A binding turns its messages into memory:
///   std::optional<Piece> outgoing(const Message&)   gathers the message if need be; nothing: it is not sent
///   std::optional<Piece> incoming(const Message&)   where it may land; nothing: it does not come
///   int arrived(const Message&)                     unpacks what landed; an MPI code
///   int phase_over()                                optional: all messages of a phase are complete; an MPI code
/// Both ends of a message must agree whether it is sent.
template <class Schedule, class Binding>
class Execution {
  using Message = typename decltype(Schedule::sends)::value_type;

 public:
  Execution(const Schedule& schedule, Binding& binding, const Channel& channel, int tag, Requests& requests)
      : schedule_(schedule), binding_(binding), channel_(channel), tag_(tag), requests_(requests) {}

  /// Returns MPI_SUCCESS or the first error. Collective over the channel.
  ///
  /// An error does not end it: the other ranks count on all messages of this one. As every rank does its part to the end,
  /// every request completes, and no message still moves in the caller's memory or in staging after the call.
  int run() {
    for (const plan::Phase& phase : schedule_.phases) {
      run(phase);
      if constexpr (requires { binding_.phase_over(); }) note(binding_.phase_over());
    }
    requests_.spare.clear();
    return code_;
  }

 private:
  void run(const plan::Phase& phase) {
    if (phase.sends == 1 && phase.receives == 1) return exchange(phase);
    const bool bounded = phase.window > 0 && (phase.sends > phase.window || phase.receives > phase.window);
    return bounded ? slide(phase) : post_all(phase);
  }

  /// One message out and one in: the library's own exchange is the fastest way.
  void exchange(const plan::Phase& phase) {
    const Message& out = schedule_.sends_of(phase).front();
    const Message& in = schedule_.receives_of(phase).front();
    const std::optional<Piece> sent = binding_.outgoing(out);
    const std::optional<Piece> received = binding_.incoming(in);
    if (!sent && !received) return;
    const int to = sent ? out.peer : MPI_PROC_NULL;
    const int from = received ? in.peer : MPI_PROC_NULL;
    const int code =
        note(channel_.exchange(sent.value_or(Piece{}), to, received.value_or(Piece{}), from, tag_));
    if (code == MPI_SUCCESS && received) note(binding_.arrived(in));
  }

  void post_all(const plan::Phase& phase) {
    requests_.pending.clear();
    requests_.receiving.clear();
    // Receives first: an unexpected message would cost one extra copy.
    for (const Message& m : schedule_.receives_of(phase))
      requests_.receiving.push_back(post_receive(m, append()));
    for (const Message& m : schedule_.sends_of(phase)) post_send(m, append());
    for (std::size_t i = 0; i < requests_.pending.size(); ++i) ended(i, channel_.wait(requests_.pending[i]));
  }

  /// At most `window` receives and as many sends under way; position k of either side meets position k of its peer,
  /// so the lowest unfinished position is always posted at both ends.
  void slide(const plan::Phase& phase) {
    const auto window = static_cast<std::size_t>(phase.window);
    requests_.pending.assign(2 * window, MPI_REQUEST_NULL);
    requests_.receiving.assign(window, nullptr);
    std::span<const Message> receives = schedule_.receives_of(phase);
    std::span<const Message> sends = schedule_.sends_of(phase);
    for (std::size_t i = 0; i < window; ++i) next_receive(receives, i);
    for (std::size_t i = 0; i < window; ++i) next_send(sends, window + i);
    for (;;) {
      int index = MPI_UNDEFINED;
      const int code = channel_.wait_any(requests_.pending, &index);
      if (index == MPI_UNDEFINED) return finish(code);
      const auto place = static_cast<std::size_t>(index);
      ended(place, code);
      if (place < window) next_receive(receives, place);
      else next_send(sends, place);
    }
  }

  /// All have completed, unless the library failed in a way that it blames on none of them.
  void finish(int code) {
    if (note(code) != MPI_SUCCESS) channel_.wait_all(requests_.pending);
  }

  void ended(std::size_t place, int code) {
    note(code);
    const bool receive = place < requests_.receiving.size() && requests_.receiving[place] != nullptr;
    if (receive && code == MPI_SUCCESS)
      note(binding_.arrived(*static_cast<const Message*>(requests_.receiving[place])));
  }

  void next_receive(std::span<const Message>& waiting, std::size_t place) {
    MPI_Request& request = requests_.pending[place];
    for (request = MPI_REQUEST_NULL; request == MPI_REQUEST_NULL && !waiting.empty();
         waiting = waiting.subspan(1))
      requests_.receiving[place] = post_receive(waiting.front(), request);
  }

  void next_send(std::span<const Message>& waiting, std::size_t place) {
    MPI_Request& request = requests_.pending[place];
    for (request = MPI_REQUEST_NULL; request == MPI_REQUEST_NULL && !waiting.empty();
         waiting = waiting.subspan(1))
      post_send(waiting.front(), request);
  }

  MPI_Request& append() { return requests_.pending.emplace_back(MPI_REQUEST_NULL); }

  /// Returns what there will be to unpack, if anything.
  const Message* post_receive(const Message& message, MPI_Request& request) {
    const std::optional<Piece> piece = binding_.incoming(message);
    if (!piece) return nullptr;
    const int code = note(channel_.receive(*piece, message.peer, tag_, &request, requests_.spare));
    return code == MPI_SUCCESS ? &message : nullptr;
  }

  void post_send(const Message& message, MPI_Request& request) {
    const std::optional<Piece> piece = binding_.outgoing(message);
    if (piece) note(channel_.send(*piece, message.peer, tag_, &request));
  }

  int note(int code) {
    code_ = first_error(code_, code);
    return code;
  }

  const Schedule& schedule_;
  Binding& binding_;
  const Channel& channel_;
  int tag_;
  Requests& requests_;
  int code_ = MPI_SUCCESS;
};

template <class Schedule, class Binding>
int execute(const Schedule& schedule, Binding& binding, const Channel& channel, int tag, Requests& requests) {
  return Execution(schedule, binding, channel, tag, requests).run();
}

}  // namespace wherry::run
