// Wherry for C++20: objects of any type that pack.hpp packs, each as one message with nothing around it.
//
//   wherry::send_object(particle, 1, tag, comm);  // and on rank 1: wherry::recv_object(particle, 0, tag, comm)
//   using Particles = std::vector<Particle>;      // of any length
//   std::vector<Particles> of_all = wherry::allgather_objects(mine, comm);
//   std::vector<Particles> arrived = wherry::alltoall_objects(leaving, comm);  // leaving[d] goes to rank d
//   for (auto& [source, particles] : wherry::exchange_objects(leaving_few, comm)) take(particles);
//   std::vector<Particles> of_neighbors = wherry::neighbor_exchange_objects<Particles>(leaving, neighbors, comm);
//
// What holds for all:
// - T is the same type on all ranks, and has a default constructor where objects are returned. An object may be a
//   container: what MPI has as gatherv, allgatherv and alltoallv are the same functions here, of objects that are
//   ranges.
// - Where every T has the same size, it is not communicated. Else the collectives exchange sizes first.
// - The collectives are those of wherry.h, but for MPI_Gatherv and MPI_Allgatherv. All ranks call in the same order.
// - Throws usage_error (local, before any message) if what this rank sends has more bytes than an int counts;
//   mpi_error; unpack_error (local, after the messages) if what arrived was packed from other types. Other ranks may
//   wait after a local error.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wherry/pack.hpp"
#include "wherry/sparse_exchange.hpp"

namespace wherry {

/// Where a received object came from.
struct Envelope {
  int source;
  int tag;
};

namespace detail {

inline int message_bytes(std::size_t bytes) {
  if (bytes > INT_MAX)
    throw usage_error("the objects are packed to " + std::to_string(bytes) +
                      " bytes, more than an int counts; send them in several calls");
  return static_cast<int>(bytes);
}

/// The bytes of an object: its own memory if that is what pack() would make of it.
template <class T>
class Outbound {
 public:
  explicit Outbound(const T& object) {
    if constexpr (is_dense<T>) bytes_ = std::as_bytes(std::span(&object, 1));
    else {
      packed_ = pack(object);
      bytes_ = packed_;
    }
    count_ = message_bytes(bytes_.size());
  }
  const std::byte* data() const { return bytes_.data(); }
  int count() const { return count_; }
  /// So that the bytes outlive the object.
  PackedBytes release() && {
    if constexpr (is_dense<T>) {
      PackedBytes copy(bytes_.size());
      std::copy(bytes_.begin(), bytes_.end(), copy.begin());
      return copy;
    } else return std::move(packed_);
  }

 private:
  PackedBytes packed_;
  std::span<const std::byte> bytes_;
  int count_;
};

/// Where the block of each rank begins, and at last where all end.
using Begins = std::vector<int>;

inline Begins begins_of(std::span<const std::uint64_t> sizes) {
  Begins begins{0};
  std::size_t at = 0;
  for (const std::uint64_t size : sizes) begins.push_back(message_bytes(at += size));
  return begins;
}

/// The lengths of the blocks, from where they begin.
inline std::vector<int> counts_of(const Begins& begins) {
  std::vector<int> counts;
  for (std::size_t r = 0; r + 1 < begins.size(); ++r) counts.push_back(begins[r + 1] - begins[r]);
  return counts;
}

template <class T>
std::vector<T> unpack_each(const PackedBytes& bytes, const Begins& begins) {
  std::vector<T> objects(begins.size() - 1);
  for (std::size_t r = 0; r < objects.size(); ++r)
    unpack({bytes.data() + begins[r], bytes.data() + begins[r + 1]}, objects[r]);
  return objects;
}

/// Blocks of fixed_bytes<T> from every rank.
template <class T>
Begins equal_begins(std::size_t ranks) {
  return begins_of(std::vector<std::uint64_t>(ranks, fixed_bytes<T>));
}

/// Every rank's number of bytes, on all ranks.
inline Begins share_sizes(int mine, MPI_Comm comm) {
  std::vector<std::uint64_t> all(ranks(comm));
  const auto size = static_cast<std::uint64_t>(mine);
  check("wherry_allgather", wherry_allgather(&size, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, comm));
  return begins_of(all);
}

/// A message of unknown length: what it begins with goes along with the length.
struct Head {
  static constexpr std::size_t room = 1016;
  std::uint64_t size = 0;
  std::byte bytes[room] = {};
};

}  // namespace detail

/// Sends the object, in standard mode: the call returns when it may be changed.
template <class T>
void send_object(const T& object, int destination, int tag, MPI_Comm comm) {
  const detail::Outbound<T> bytes(object);
  detail::check("MPI_Send", MPI_Send(bytes.data(), bytes.count(), MPI_BYTE, destination, tag, comm));
}

/// Receives to `object` what send_object or isend_object sent. source and tag: as MPI has them, MPI_ANY_SOURCE and
/// MPI_ANY_TAG too. Containers that have the capacity allocate nothing. Throws unpack_error if the message is no T.
template <class T>
Envelope recv_object(T& object, int source, int tag, MPI_Comm comm) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};
  int bytes = 0;
  detail::check("MPI_Mprobe", MPI_Mprobe(source, tag, comm, &message, &status));
  detail::check("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &bytes));
  if (status.MPI_SOURCE == MPI_PROC_NULL) return {status.MPI_SOURCE, status.MPI_TAG};
  const auto receive = [&](void* to) {
    detail::check("MPI_Mrecv", MPI_Mrecv(to, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE));
  };
  if (detail::is_dense<T> && static_cast<std::size_t>(bytes) == sizeof(T)) receive(&object);
  else {
    PackedBytes packed(static_cast<std::size_t>(bytes));
    receive(packed.data());
    unpack(packed, object);
  }
  return {status.MPI_SOURCE, status.MPI_TAG};
}

/// An object on its way. The destructor waits.
class ObjectSend {
 public:
  ObjectSend() = default;
  ObjectSend(ObjectSend&& other) noexcept
      : bytes_(std::move(other.bytes_)), request_(std::exchange(other.request_, MPI_REQUEST_NULL)) {}
  ObjectSend& operator=(ObjectSend&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(request_, other.request_);
    return *this;
  }
  ~ObjectSend() {
    if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

  /// Returns when the bytes have left. Throws mpi_error.
  void wait() { detail::check("MPI_Wait", MPI_Wait(&request_, MPI_STATUS_IGNORE)); }
  /// Whether they have.
  bool test() {
    int done = 0;
    detail::check("MPI_Test", MPI_Test(&request_, &done, MPI_STATUS_IGNORE));
    return done != 0;
  }

 private:
  template <class T>
  friend ObjectSend isend_object(const T& object, int destination, int tag, MPI_Comm comm);

  PackedBytes bytes_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Sends a copy of the object while the program goes on; the object may be changed at once.
template <class T>
[[nodiscard]] ObjectSend isend_object(const T& object, int destination, int tag, MPI_Comm comm) {
  detail::Outbound<T> bytes(object);
  const int count = bytes.count();
  ObjectSend send;
  send.bytes_ = std::move(bytes).release();
  detail::check("MPI_Isend",
                MPI_Isend(send.bytes_.data(), count, MPI_BYTE, destination, tag, comm, &send.request_));
  return send;
}

/// The root's object replaces those of all other ranks. One broadcast of up to 1016 bytes; two of more, where sizes
/// differ. On an intercommunicator as in MPI: with MPI_ROOT or MPI_PROC_NULL in the root's group.
template <class T>
void bcast_object(T& object, int root, MPI_Comm comm) {
  const detail::Part part = detail::part_of(comm, root);
  const bool is_root = part.is_root;
  if (!is_root && !part.has_block) return;
  const auto spread = [&](void* bytes, std::size_t size) {
    detail::check("wherry_bcast", wherry_bcast(bytes, detail::message_bytes(size), MPI_BYTE, root, comm));
  };
  if constexpr (detail::Fixed<T>) {
    PackedBytes packed = is_root ? pack(object) : PackedBytes(fixed_bytes<T>);
    spread(packed.data(), packed.size());
    if (!is_root) unpack(packed, object);
  } else {
    detail::Head head;
    PackedBytes packed;
    if (is_root) {
      packed = pack(object);
      head.size = static_cast<std::uint64_t>(detail::message_bytes(packed.size()));
      std::copy_n(packed.begin(), std::min(packed.size(), head.room), head.bytes);
    }
    spread(&head, sizeof head);
    if (!is_root) packed = PackedBytes(head.size);
    if (head.size > head.room) spread(packed.data(), packed.size());
    if (is_root) return;
    if (head.size > head.room) unpack(packed, object);
    else unpack({head.bytes, static_cast<std::size_t>(head.size)}, object);
  }
}

/// Every rank's object at the root, in the order of ranks; on the other ranks nothing. comm: an intracommunicator.
template <class T>
std::vector<T> gather_objects(const T& object, int root, MPI_Comm comm) {
  const bool is_root = detail::part_of(comm, root).is_root;
  const detail::Outbound<T> mine(object);
  const std::size_t ranks = detail::own_ranks(comm);
  const detail::Begins begins =
      detail::Fixed<T> ? detail::equal_begins<T>(ranks) : detail::share_sizes(mine.count(), comm);
  PackedBytes all(is_root ? static_cast<std::size_t>(begins.back()) : 0);
  if constexpr (detail::Fixed<T>)
    detail::check("wherry_gather", wherry_gather(mine.data(), mine.count(), MPI_BYTE, all.data(),
                                                 mine.count(), MPI_BYTE, root, comm));
  else
    detail::check("MPI_Gatherv",
                  MPI_Gatherv(mine.data(), mine.count(), MPI_BYTE, all.data(),
                              detail::counts_of(begins).data(), begins.data(), MPI_BYTE, root, comm));
  return is_root ? detail::unpack_each<T>(all, begins) : std::vector<T>();
}

/// Every rank's object on all ranks, in the order of ranks. comm: an intracommunicator.
template <class T>
std::vector<T> allgather_objects(const T& object, MPI_Comm comm) {
  const detail::Outbound<T> mine(object);
  const std::size_t ranks = detail::own_ranks(comm);
  const detail::Begins begins =
      detail::Fixed<T> ? detail::equal_begins<T>(ranks) : detail::share_sizes(mine.count(), comm);
  PackedBytes all(static_cast<std::size_t>(begins.back()));
  if constexpr (detail::Fixed<T>)
    detail::check("wherry_allgather", wherry_allgather(mine.data(), mine.count(), MPI_BYTE, all.data(),
                                                       mine.count(), MPI_BYTE, comm));
  else
    detail::check("MPI_Allgatherv",
                  MPI_Allgatherv(mine.data(), mine.count(), MPI_BYTE, all.data(),
                                 detail::counts_of(begins).data(), begins.data(), MPI_BYTE, comm));
  return detail::unpack_each<T>(all, begins);
}

/// objects[d] goes to rank d; the result has what each rank sent here, in the order of ranks. objects: one per rank.
/// More than 2 GiB for one rank are an error there alone, after which the others wait: exchange_objects() has no such
/// limit.
template <class T>
std::vector<T> alltoall_objects(const std::vector<T>& objects, MPI_Comm comm) {
  detail::check_lengths(detail::ranks(comm), "send", {objects.size()});
  std::vector<std::uint64_t> sizes, arriving(objects.size(), fixed_bytes<T>);
  for (const T& object : objects) sizes.push_back(packed_size(object));
  const detail::Begins from = detail::begins_of(sizes);
  PackedBytes out(static_cast<std::size_t>(from.back()));
  for (std::size_t r = 0; r < objects.size(); ++r) pack_into({out.data() + from[r], out.end()}, objects[r]);
  if constexpr (!detail::Fixed<T>)
    detail::check("wherry_alltoall",
                  wherry_alltoall(sizes.data(), 1, MPI_UINT64_T, arriving.data(), 1, MPI_UINT64_T, comm));
  const detail::Begins to = detail::begins_of(arriving);
  PackedBytes in(static_cast<std::size_t>(to.back()));
  detail::check("wherry_alltoallv",
                wherry_alltoallv(out.data(), detail::counts_of(from).data(), from.data(), MPI_BYTE, in.data(),
                                 detail::counts_of(to).data(), to.data(), MPI_BYTE, comm));
  return detail::unpack_each<T>(in, to);
}

/// Sends each object to its rank; the result has what was sent here, with its source, in the order that sparse_exchange
/// has: no rank has to know who sends to it. Any number of objects, several of them to one rank if need be.
template <class T>
std::vector<std::pair<int, T>> exchange_objects(const std::vector<std::pair<int, T>>& objects,
                                                MPI_Comm comm) {
  std::vector<PackedBytes> packed;
  std::vector<Outgoing<std::byte>> messages;
  for (const auto& [destination, object] : objects) {
    packed.push_back(pack(object));
    messages.push_back({destination, packed.back()});
  }
  std::vector<std::pair<int, T>> arrived;
  for (const auto& [source, bytes] : sparse_exchange(messages, comm)) {
    auto& [from, object] = arrived.emplace_back();
    from = source;
    unpack(bytes, object);
  }
  return arrived;
}

/// The same among neighbors, which is faster: each rank sends one object to each of its `neighbors`, an empty container
/// for example, and receives one from each, in their order. neighbors: other ranks, each once; a rank has another as
/// its neighbor if that one has it.
template <class T>
std::vector<T> neighbor_exchange_objects(std::span<const T> objects, std::span<const int> neighbors,
                                         MPI_Comm comm) {
  constexpr int tag = 104;  // those of halo.hpp are lower
  detail::check_lengths(neighbors.size(), "send", {objects.size()});
  std::vector<ObjectSend> sends;
  for (std::size_t i = 0; i < neighbors.size(); ++i)
    sends.push_back(isend_object(objects[i], neighbors[i], tag, comm));
  std::vector<T> arrived(neighbors.size());
  for (std::size_t i = 0; i < neighbors.size(); ++i) recv_object(arrived[i], neighbors[i], tag, comm);
  for (ObjectSend& send : sends) send.wait();
  return arrived;
}

}  // namespace wherry
