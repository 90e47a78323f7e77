// The executor: runs any schedule over a channel, with the addresses and sizes of a binding.
#pragma once

#include <vector>

#include "plan/schedule.hpp"
#include "run/channel.hpp"

namespace wherry::run {

/// Requests of one execution, kept between calls so that no call allocates.
struct Requests {
  std::vector<MPI_Request> pending;
  std::vector<const plan::Message*> receiving;
};

/// A binding turns messages into memory:
///   Piece outgoing(const plan::Message&)   gathers the message if need be; a piece of count 0 is not sent
///   Piece incoming(const plan::Message&)   where it may land; count 0: nothing comes
///   int   arrived(const plan::Message&)    unpacks what landed; an MPI code
/// Both ends of a message must agree whether it is empty.
template <class Binding>
class Execution {
 public:
  Execution(const plan::Schedule& schedule, Binding& binding, const Channel& channel, int tag,
            Requests& requests)
      : schedule_(schedule), binding_(binding), channel_(channel), tag_(tag), requests_(requests) {}

  /// Returns MPI_SUCCESS or the first error. Collective over the channel.
  int run() {
    for (const plan::Phase& phase : schedule_.phases)
      if (const int code = run(phase); code != MPI_SUCCESS) return code;
    return MPI_SUCCESS;
  }

 private:
  int run(const plan::Phase& phase) {
    if (phase.sends == 1 && phase.receives == 1) return exchange(phase);
    const bool bounded = phase.window > 0 && (phase.sends > phase.window || phase.receives > phase.window);
    return bounded ? slide(phase) : post_all(phase);
  }

  /// One message out and one in: the library's own exchange is the fastest way.
  int exchange(const plan::Phase& phase) {
    const plan::Message& out = schedule_.sends_of(phase).front();
    const plan::Message& in = schedule_.receives_of(phase).front();
    const Piece sent = binding_.outgoing(out);
    const Piece received = binding_.incoming(in);
    if (sent.count == 0 && received.count == 0) return MPI_SUCCESS;
    const int to = sent.count > 0 ? out.peer : MPI_PROC_NULL;
    const int from = received.count > 0 ? in.peer : MPI_PROC_NULL;
    const int code = channel_.exchange(sent, to, received, from, tag_);
    return code == MPI_SUCCESS && received.count > 0 ? binding_.arrived(in) : code;
  }

  int post_all(const plan::Phase& phase) {
    requests_.pending.clear();
    requests_.receiving.clear();
    // Receives first: an unexpected message would cost one extra copy.
    for (const plan::Message& m : schedule_.receives_of(phase)) {
      MPI_Request& request = append();
      if (const int code = post_receive(m, request); code != MPI_SUCCESS) return code;
      if (request != MPI_REQUEST_NULL) requests_.receiving.push_back(&m);
    }
    for (const plan::Message& m : schedule_.sends_of(phase))
      if (const int code = post_send(m, append()); code != MPI_SUCCESS) return code;
    if (const int code = channel_.wait_all(requests_.pending); code != MPI_SUCCESS) return code;
    for (const plan::Message* m : requests_.receiving)
      if (const int code = binding_.arrived(*m); code != MPI_SUCCESS) return code;
    return MPI_SUCCESS;
  }

  /// At most `window` receives and as many sends under way; position k of either side meets position k of its peer,
  /// so the lowest unfinished position is always posted at both ends.
  int slide(const plan::Phase& phase) {
    const auto window = static_cast<std::size_t>(phase.window);
    requests_.pending.assign(2 * window, MPI_REQUEST_NULL);
    requests_.receiving.assign(window, nullptr);
    std::span<const plan::Message> receives = schedule_.receives_of(phase);
    std::span<const plan::Message> sends = schedule_.sends_of(phase);
    for (std::size_t i = 0; i < window; ++i)
      if (const int code = next_receive(receives, i); code != MPI_SUCCESS) return code;
    for (std::size_t i = 0; i < window; ++i)
      if (const int code = next_send(sends, window + i); code != MPI_SUCCESS) return code;
    for (;;) {
      int index = MPI_UNDEFINED;
      if (const int code = channel_.wait_any(requests_.pending, &index); code != MPI_SUCCESS) return code;
      if (index == MPI_UNDEFINED) return MPI_SUCCESS;
      const auto place = static_cast<std::size_t>(index);
      const int code = place < window ? replace_receive(receives, place) : next_send(sends, place);
      if (code != MPI_SUCCESS) return code;
    }
  }

  int replace_receive(std::span<const plan::Message>& waiting, std::size_t place) {
    const int code = binding_.arrived(*requests_.receiving[place]);
    return code == MPI_SUCCESS ? next_receive(waiting, place) : code;
  }

  int next_receive(std::span<const plan::Message>& waiting, std::size_t place) {
    MPI_Request& request = requests_.pending[place];
    for (request = MPI_REQUEST_NULL; request == MPI_REQUEST_NULL && !waiting.empty();
         waiting = waiting.subspan(1)) {
      requests_.receiving[place] = &waiting.front();
      if (const int code = post_receive(waiting.front(), request); code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }

  int next_send(std::span<const plan::Message>& waiting, std::size_t place) {
    MPI_Request& request = requests_.pending[place];
    for (request = MPI_REQUEST_NULL; request == MPI_REQUEST_NULL && !waiting.empty();
         waiting = waiting.subspan(1))
      if (const int code = post_send(waiting.front(), request); code != MPI_SUCCESS) return code;
    return MPI_SUCCESS;
  }

  MPI_Request& append() { return requests_.pending.emplace_back(MPI_REQUEST_NULL); }

  int post_receive(const plan::Message& message, MPI_Request& request) {
    const Piece piece = binding_.incoming(message);
    return piece.count == 0 ? MPI_SUCCESS : channel_.receive(piece, message.peer, tag_, &request);
  }

  int post_send(const plan::Message& message, MPI_Request& request) {
    const Piece piece = binding_.outgoing(message);
    return piece.count == 0 ? MPI_SUCCESS : channel_.send(piece, message.peer, tag_, &request);
  }

  const plan::Schedule& schedule_;
  Binding& binding_;
  const Channel& channel_;
  int tag_;
  Requests& requests_;
};

template <class Binding>
int execute(const plan::Schedule& schedule, Binding& binding, const Channel& channel, int tag,
            Requests& requests) {
  return Execution<Binding>(schedule, binding, channel, tag, requests).run();
}

}  // namespace wherry::run
