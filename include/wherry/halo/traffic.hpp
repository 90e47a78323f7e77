// The messages of a step of ghost exchange, as bytes to and from several ranks; halo.hpp has what programs call.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "wherry/objects.hpp"

namespace wherry::detail {

/// to += from, in all values.
template <class V>
void add_values(V& to, const V& from) {
  if constexpr (Scalar<V>) to += from;
  else if constexpr (FixedArray<V>)
    for (std::size_t i = 0; i < std::size(to); ++i) add_values(to[i], from[i]);
  else
    with_members(to, [&](auto&... sum) {
      with_members(from, [&](const auto&... value) { (add_values(sum, value), ...); });
    });
}

/// Its address stands for a list of members.
template <auto... member>
inline constexpr char members_tag = 0;

/// Messages of one direction to and from all peers, under way or not.
class Traffic {
 public:
  explicit Traffic(int tag) : tag_(tag) {}
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;
  ~Traffic() { MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE); }

  /// members: what travels. Throws usage_error if something is under way.
  void start(const void* members) {
    if (under_way()) throw usage_error("ghosts are exchanged already; finish that before you start another");
    members_ = members;
    under_way_ = true;
  }
  /// Room for what is sent and received, whose bytes are lost if there was less; memory of earlier steps is used again.
  void reserve(std::size_t out, std::size_t in) {
    if (out_.size() < out) out_ = PackedBytes(out);
    if (in_.size() < in) in_ = PackedBytes(in);
  }
  std::byte* out() { return out_.data(); }
  std::byte* in() { return in_.data(); }

  void receive(std::size_t at, std::size_t bytes, int rank, MPI_Comm comm) {
    if (bytes == 0) return;
    check("MPI_Irecv", MPI_Irecv(in_.data() + at, message_bytes(bytes), MPI_BYTE, rank, tag_, comm, add()));
  }
  void send(std::size_t at, std::size_t bytes, int rank, MPI_Comm comm) {
    if (bytes == 0) return;
    sent_bytes_ += bytes;
    check("MPI_Isend", MPI_Isend(out_.data() + at, message_bytes(bytes), MPI_BYTE, rank, tag_, comm, add()));
  }
  bool under_way() const { return under_way_; }
  std::uint64_t sent_bytes() const { return sent_bytes_; }

  /// Lets the MPI library move what is under way; libraries without a thread of their own do so in calls only.
  void progress() {
    if (requests_.empty()) return;
    int done = 0;
    check("MPI_Testall", MPI_Testall(count(), requests_.data(), &done, MPI_STATUSES_IGNORE));
    if (done != 0) requests_.clear();
  }

  /// What was started is waited for next; then another exchange may start. Throws usage_error if nothing is under way,
  /// or something else.
  void finish(const void* members) {
    if (!under_way()) throw usage_error("no ghosts are under way; start before you finish");
    if (members != members_)
      throw usage_error(
          "ghosts were started with other members; finish with the members that you started with");
    under_way_ = false;
  }

  /// Returns when all that was begun is there.
  void wait() {
    const int code = MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    check("MPI_Waitall", code);
  }

 private:
  int count() const { return static_cast<int>(requests_.size()); }
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  int tag_;
  bool under_way_ = false;
  std::uint64_t sent_bytes_ = 0;
  const void* members_ = nullptr;
  PackedBytes out_, in_;
  std::vector<MPI_Request> requests_;
};

}  // namespace wherry::detail
