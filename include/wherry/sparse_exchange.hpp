// Wherry for C++20: sparse exchanges, in which no rank has to know who sends to it.
//
//   std::vector<wherry::Outgoing<Particle>> leaving = ...;  // to whom, and a span of values
//   for (const auto& [source, particles] : wherry::sparse_exchange<Particle>(leaving, comm)) use(particles);
//
// What wherry.h says of wherry_sparse_exchange holds here too.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "wherry/wherry.hpp"

namespace wherry {

/// Values for rank `destination`. They are the caller's.
template <class T>
struct Outgoing {
  int destination;
  std::span<const T> values;
};

/// Values from rank `source`. They are the inbox's.
template <class T>
struct Arrival {
  int source;
  std::span<const T> values;
};

/// What arrived in one exchange: a range of Arrival<T>, in ascending order of sources, and from each source in the
/// order in which it sent. It owns the values, which stay where they are when it is moved.
template <class T>
class Inbox {
 public:
  using iterator = typename std::vector<Arrival<T>>::const_iterator;

  Inbox() = default;
  Inbox(Inbox&& other) noexcept
      : inbox_(std::exchange(other.inbox_, nullptr)), arrivals_(std::exchange(other.arrivals_, {})) {}
  Inbox& operator=(Inbox&& other) noexcept {
    std::swap(inbox_, other.inbox_);
    std::swap(arrivals_, other.arrivals_);
    return *this;
  }
  ~Inbox() { wherry_inbox_free(&inbox_); }

  std::size_t size() const { return arrivals_.size(); }
  bool empty() const { return arrivals_.empty(); }
  const Arrival<T>& operator[](std::size_t i) const { return arrivals_[i]; }
  iterator begin() const { return arrivals_.begin(); }
  iterator end() const { return arrivals_.end(); }

 private:
  explicit Inbox(wherry_inbox* inbox) : inbox_(inbox) {
    const std::span all(wherry_inbox_messages(inbox_), static_cast<std::size_t>(wherry_inbox_count(inbox_)));
    arrivals_.reserve(all.size());
    for (const wherry_message& m : all)
      arrivals_.push_back({m.peer, {static_cast<const T*>(m.data), m.bytes / sizeof(T)}});
  }
  template <class U>
  friend Inbox<U> sparse_exchange(std::span<const Outgoing<U>> messages, MPI_Comm comm);

  wherry_inbox* inbox_ = nullptr;
  std::vector<Arrival<T>> arrivals_;
};

/// Sends each message to its destination, and gets those that other ranks send here.
///
/// messages: any number, in any order; several may have one destination, which may be this rank; values may be none. T
///   is the same on all ranks, is copied as bytes, and needs no more alignment than any C type.
/// Collective over comm. Returns when all that is sent here has arrived, and `messages` may be changed.
/// Throws usage_error (local, before any message) for more messages than an int counts; mpi_error when the exchange is
///   over, of which a message to no rank of comm (MPI_ERR_RANK) is this rank's alone: no other rank waits.
template <class T>
Inbox<T> sparse_exchange(std::span<const Outgoing<T>> messages, MPI_Comm comm) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));
  if (messages.size() > INT_MAX)
    throw usage_error(std::to_string(messages.size()) +
                      " messages are more than an int counts; exchange them in several calls");
  std::vector<wherry_message> sends;
  sends.reserve(messages.size());
  for (const Outgoing<T>& m : messages)
    sends.push_back({m.destination, m.values.data(), m.values.size_bytes()});
  wherry_inbox* inbox = nullptr;
  detail::check("wherry_sparse_exchange",
                wherry_sparse_exchange(sends.data(), static_cast<int>(sends.size()), comm, &inbox));
  return Inbox<T>(inbox);
}

/// The same of a vector, with T deduced.
template <class T>
Inbox<T> sparse_exchange(const std::vector<Outgoing<T>>& messages, MPI_Comm comm) {
  return sparse_exchange(std::span<const Outgoing<T>>(messages), comm);
}

}  // namespace wherry
