// What all transports of the study share that are not Wherry's: messages of bytes, and images of a rank's own
// particles. Which particles are ghosts where is Wherry's choice for all of them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <stdexcept>

#include "lj_fluid/transport.hpp"

namespace overhead {

using lj_fluid::Site;

class HandWritten : public lj_fluid::Transport {
 public:
  HandWritten(const wherry::Decomposition<3>& decomposition, double reach)
      : decomposition_(decomposition),
        comm_(decomposition.comm()),
        plan_(decomposition, reach, wherry::Shell::half, wherry::Route::direct) {}
  std::uint64_t sent_bytes() const override { return sent_bytes_; }

 protected:
  using Plan = wherry::detail::GhostPlan<3>;
  using Peer = Plan::Peer;
  using Sent = Plan::Sent;
  std::span<const Peer> peers() const { return plan_.stages().front().peers; }
  bool is_self(const Peer& peer) const { return peer.rank == decomposition_.rank(); }

  /// Who is whose ghost; ghosts have no values yet.
  void choose(std::span<const Site> own, std::vector<Site>& ghosts) {
    plan_.begin(own.size(), [&](std::size_t i) -> const auto& { return own[i].position; });
    plan_.make(0);
    ghosts.assign(plan_.ghosts(), Site{});
  }
  lj_fluid::Vector shifted(std::span<const Site> own, const Sent& sent) const {
    const lj_fluid::Vector& at = own[sent.item].position;
    const auto& shift = decomposition_.neighbors()[sent.neighbor].shift;
    return {at[0] + shift[0], at[1] + shift[1], at[2] + shift[2]};
  }

  template <class Buffer>
  void send(const Buffer& buffer, int rank, MPI_Request* request) {
    sent_bytes_ += buffer.size();
    MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, rank, tag, comm_, request);
  }
  /// A message of any length.
  template <class Buffer>
  Buffer received(int rank) const {
    MPI_Message message;
    MPI_Status status;
    int bytes = 0;
    MPI_Mprobe(rank, tag, comm_, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Buffer buffer(static_cast<std::size_t>(bytes));
    MPI_Mrecv(buffer.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    return buffer;
  }
  /// A buffer to each other peer for which sends(peer) holds, one from each for which receives(peer) does; others are
  /// empty.
  template <class Buffer, class Sends, class Receives>
  std::vector<Buffer> exchanged(const std::vector<Buffer>& out, Sends sends, Receives receives) {
    std::vector<MPI_Request> requests(out.size(), MPI_REQUEST_NULL);
    std::vector<Buffer> in(out.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!is_self(peers()[i]) && sends(peers()[i])) send(out[i], peers()[i].rank, &requests[i]);
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!is_self(peers()[i]) && receives(peers()[i])) in[i] = received<Buffer>(peers()[i].rank);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return in;
  }

  /// Particles that go to neighbors, as they do but for the first time. archive.pack(particles) and archive.unpack(buffer)
  /// say how.
  template <class Archive>
  Migrants migrated(const Migrants& leaving, Goal goal, const Archive& archive) {
    if (goal == Goal::any) return wherry::exchange_objects(leaving, comm_);
    std::vector<typename Archive::Buffer> out;
    for (const Peer& peer : peers()) {
      const auto found =
          std::ranges::find(leaving, peer.rank, [](const auto& message) { return message.first; });
      out.push_back(archive.pack(found == leaving.end() ? std::vector<lj_fluid::Particle>() : found->second));
    }
    const auto always = [](const Peer&) { return true; };
    const auto in = exchanged(out, always, always);
    Migrants arrived;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!is_self(peers()[i])) arrived.emplace_back(peers()[i].rank, archive.unpack(in[i]));
    return arrived;
  }

  /// Images of own particles, which no message brings.
  void keep_own_positions(std::span<const Site> own) {
    own_.clear();
    for (const Peer& peer : peers())
      for (std::size_t i = 0; is_self(peer) && i < peer.sent.size(); ++i)
        own_.push_back(shifted(own, peer.sent[i]));
  }
  void set_own_positions(std::span<Site> ghosts) const {
    for (const Peer& peer : peers())
      for (std::size_t i = 0; is_self(peer) && i < peer.ghosts; ++i)
        ghosts[peer.first_ghost + i].position = own_[i];
  }
  void keep_own_forces(std::span<const Site> ghosts) {
    own_.clear();
    for (const Peer& peer : peers())
      for (std::size_t i = 0; is_self(peer) && i < peer.ghosts; ++i)
        own_.push_back(ghosts[peer.first_ghost + i].force);
  }
  /// In the order of peers, as sums of floating-point numbers want it. force_of(peer number, item) : of a message.
  template <class ForceOf>
  void add_forces(std::span<Site> own, ForceOf force_of) const {
    for (std::size_t p = 0; p < peers().size(); ++p)
      for (std::size_t i = 0; i < peers()[p].sent.size(); ++i) {
        const lj_fluid::Vector force = is_self(peers()[p]) ? own_[i] : force_of(p, i);
        for (std::size_t k = 0; k < 3; ++k) own[peers()[p].sent[i].item].force[k] += force[k];
      }
  }

  static constexpr int tag = 7;
  const wherry::Decomposition<3>& decomposition_;
  MPI_Comm comm_;

 private:
  Plan plan_;
  std::vector<lj_fluid::Vector> own_;
  std::uint64_t sent_bytes_ = 0;
};

}  // namespace overhead
