// Who sends which particles to whom, so that every rank has its ghosts; halo.hpp has what programs call.
//
// Ghosts of diagonal neighbors travel directly, one message to each of up to 26 ranks, all in one stage. Or staged:
// across the faces of one dimension after the other, where a stage passes on what the earlier ones brought: up to 6
// messages, each of which waits for those before it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wherry/decomposition.hpp"

namespace wherry {

/// Whose particles are ghosts: those of all adjacent domains, or of those on one side, half of them. Where what two
/// particles do to each other is computed once, and returned to the other, half of them are enough.
enum class Shell { full, half };

/// How ghosts of diagonal neighbors travel. measured: the faster of the two, which all ranks measure and agree on in
/// their first rebuild(). Ghosts are the same either way, in another order: sums of what is returned round otherwise.
enum class Route { direct, staged, measured };

namespace detail {

template <std::size_t D>
class GhostPlan {
 public:
  /// An item, and the neighbor that it goes to. Items are particles, and behind these the ghosts of earlier stages.
  struct Sent {
    std::uint32_t item;
    std::uint8_t neighbor;
  };
  /// A rank that is a neighbor in one or more directions. What it is sent, and what it sends, lies in one piece.
  struct Peer {
    int rank;
    std::vector<Sent> sent;
    std::size_t sends = 0, ghosts = 0, first_sent = 0, first_ghost = 0;  // from the stage's first ones on
  };
  struct Target {
    std::uint8_t neighbor, peer;  // of the decomposition; of the stage
  };
  static constexpr std::size_t end_sets = std::size_t{1} << 2 * D;
  using Targets =
      std::array<std::vector<Target>, end_sets>;  // by the ends of the domain that an item is near to
  struct Stage {
    std::vector<std::uint8_t> neighbors;  // across which items travel
    Targets of_own, of_ghosts;            // whom particles and ghosts of earlier stages are sent
    std::vector<Peer> peers;
    std::size_t sent = 0, ghosts = 0, first_sent = 0, first_ghost = 0;
  };

  GhostPlan(const Decomposition<D>& decomposition, double width, Shell shell, Route route)
      : decomposition_(&decomposition), width_(width), shell_(shell) {
    if (route == Route::direct) add_stage([](const Neighbor<D>&) { return true; });
    else
      for (std::size_t i = D; i-- > 0;)  // downwards, as half a shell wants it: see sends_own()
        add_stage([i](const Neighbor<D>& neighbor) { return is_across(neighbor, i); });
  }

  std::span<const Stage> stages() const { return stages_; }
  std::size_t ghosts() const { return ghosts_; }
  std::size_t sent() const { return sent_; }

  /// Before the first stage is made anew. position_of(i): of particle i.
  template <class PositionOf>
  void begin(std::size_t particles, PositionOf position_of) {
    particles_ = particles, sent_ = ghosts_ = 0;
    near_border_.clear();
    add_near_border(0, particles, position_of);
  }
  /// What the stage sends, and how many ghosts it brings. The ghosts of earlier stages have been passed to
  /// add_ghosts(). Collective.
  void make(std::size_t number) {
    Stage& stage = stages_[number];
    choose(stage);
    agree_on_lengths(stage);
    stage.first_sent = sent_, stage.first_ghost = ghosts_;
    sent_ += stage.sent, ghosts_ += stage.ghosts;
  }
  /// position_of(i): of ghost i.
  template <class PositionOf>
  void add_ghosts(const Stage& stage, PositionOf position_of) {
    add_near_border(particles_ + stage.first_ghost, stage.ghosts,
                    [&](std::size_t i) { return position_of(stage.first_ghost + i); });
  }

 private:
  /// An item that may be some neighbor's ghost, and the ends of the domain that it is near to.
  struct NearBorder {
    std::uint32_t item;
    std::uint8_t ends;
  };
  static constexpr std::uint8_t lower_end(std::size_t dimension) {
    return static_cast<std::uint8_t>(1U << 2 * dimension);
  }
  static constexpr std::uint8_t upper_end(std::size_t dimension) {
    return static_cast<std::uint8_t>(2U << 2 * dimension);
  }

  static bool is_across(const Neighbor<D>& neighbor, std::size_t dimension) {
    for (std::size_t i = 0; i < D; ++i)
      if ((neighbor.direction[i] != 0) != (i == dimension)) return false;
    return true;
  }

  template <class Uses>
  void add_stage(Uses uses) {
    const auto neighbors = decomposition_->neighbors();
    Stage& stage = stages_.emplace_back();
    for (std::size_t n = 0; n < neighbors.size(); ++n) {
      if (!uses(neighbors[n])) continue;
      if (stages_.size() > 1 || sends_own(neighbors[n]))
        stage.neighbors.push_back(static_cast<std::uint8_t>(n));
      if (std::ranges::find(stage.peers, neighbors[n].rank, &Peer::rank) == stage.peers.end())
        stage.peers.push_back({neighbors[n].rank, {}, 0, 0, 0, 0});
    }
    std::ranges::sort(stage.peers, {}, &Peer::rank);
    stage.of_own = targets(stage, false), stage.of_ghosts = targets(stage, true);
  }

  /// Half a shell: to the domains above, in the last dimension in which they differ. So of two adjacent domains one is
  /// above the other, for each of their faces, edges and corners.
  bool sends_own(const Neighbor<D>& neighbor) const {
    if (shell_ == Shell::full) return true;
    for (std::size_t i = D; i-- > 0;)
      if (neighbor.direction[i] != 0) return neighbor.direction[i] > 0;
    return false;
  }

  /// Most particles are nobody's ghosts: one pass leaves them out.
  template <class PositionOf>
  void add_near_border(std::size_t first, std::size_t count, PositionOf position_of) {
    Point<D> from, to;
    for (std::size_t i = 0; i < D; ++i) {
      from[i] = decomposition_->upper(i) - width_;
      to[i] = decomposition_->lower(i) + width_;
    }
    for (std::size_t p = 0; p < count; ++p) {
      const auto& at = position_of(p);
      unsigned ends = 0;
      for (std::size_t i = 0; i < D; ++i)  // without branches
        ends |= unsigned{at[i] >= from[i]} * upper_end(i) | unsigned{at[i] <= to[i]} * lower_end(i);
      if (ends != 0)
        near_border_.push_back({static_cast<std::uint32_t>(first + p), static_cast<std::uint8_t>(ends)});
    }
  }

  /// Of the ends that an item is near to, those of a neighbor's direction are enough for it to be that one's ghost.
  static unsigned ends_towards(const Neighbor<D>& neighbor) {
    unsigned ends = 0;
    for (std::size_t i = 0; i < D; ++i) {
      if (neighbor.direction[i] > 0) ends |= upper_end(i);
      if (neighbor.direction[i] < 0) ends |= lower_end(i);
    }
    return ends;
  }

  /// For each set of ends that an item may be near to, whom the stage sends it.
  Targets targets(const Stage& stage, bool of_ghosts) const {
    Targets all;
    for (const std::uint8_t n : stage.neighbors) {
      const Neighbor<D>& neighbor = decomposition_->neighbors()[n];
      if (!of_ghosts && !sends_own(neighbor)) continue;
      const auto peer = std::ranges::find(stage.peers, neighbor.rank, &Peer::rank) - stage.peers.begin();
      const unsigned needed = ends_towards(neighbor);
      for (unsigned ends = 0; ends < end_sets; ++ends)
        if ((ends & needed) == needed) all[ends].push_back({n, static_cast<std::uint8_t>(peer)});
    }
    return all;
  }

  /// One pass over the items: there are many more of them than neighbors of any one.
  void choose(Stage& stage) {
    for (Peer& peer : stage.peers) peer.sent.clear();
    for (const NearBorder& near : near_border_)
      for (const Target& target : (near.item < particles_ ? stage.of_own : stage.of_ghosts)[near.ends])
        stage.peers[target.peer].sent.push_back({near.item, target.neighbor});
  }

  void agree_on_lengths(Stage& stage) {
    const MPI_Comm comm = decomposition_->comm();
    std::vector<Peer>& peers = stage.peers;
    std::vector<std::uint64_t> out(peers.size()), in(peers.size());
    std::vector<MPI_Request> requests(2 * peers.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      out[i] = peers[i].sent.size();
      check("MPI_Irecv",
            MPI_Irecv(&in[i], 1, MPI_UINT64_T, peers[i].rank, length_tag, comm, &requests[2 * i]));
      check("MPI_Isend",
            MPI_Isend(&out[i], 1, MPI_UINT64_T, peers[i].rank, length_tag, comm, &requests[2 * i + 1]));
    }
    check("MPI_Waitall",
          MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    stage.sent = stage.ghosts = 0;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      Peer& peer = peers[i];
      peer.first_sent = stage.sent, peer.first_ghost = stage.ghosts;
      stage.sent += peer.sends = out[i];
      stage.ghosts += peer.ghosts = in[i];
    }
  }

  static constexpr int length_tag = 101;  // those of CellHalo are lower

  const Decomposition<D>* decomposition_;
  double width_;
  Shell shell_;
  std::vector<Stage> stages_;
  std::vector<NearBorder> near_border_;
  std::size_t particles_ = 0, sent_ = 0, ghosts_ = 0;
};

}  // namespace detail
}  // namespace wherry
