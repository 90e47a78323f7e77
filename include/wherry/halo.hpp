// Wherry for C++20: ghosts, the copies that a rank keeps of particles near its domain.
//
//   wherry::Decomposition<3> decomposition(comm, box);
//   wherry::Ghosts<Particle, &Particle::position, 3> exchange(decomposition, cutoff + skin);
//   exchange.migrate(particles);                                    // to the ranks in whose domains they are
//   exchange.rebuild<&Particle::id, &Particle::charge>(particles, ghosts);
//   for (...) {                                                     // until particles have moved by half the skin
//     exchange.start_update(particles);                             // positions travel
//     forces_between_own(particles);
//     exchange.finish_update(ghosts);
//     forces_with_ghosts(particles, ghosts);
//     exchange.start_return<&Particle::force>(ghosts);              // forces on ghosts go back
//     integrate_what_needs_no_force(particles);
//     exchange.finish_return<&Particle::force>(particles);          // and are added
//   }
//
// Between rebuilds the particles and ghosts stay where they are in their vectors; their lengths are agreed once. One
// message for each rank that is a neighbor, whatever the number of faces, edges and corners that it shares; none for
// images of this rank's own particles. Only the position and the chosen members travel, without padding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wherry/decomposition.hpp"
#include "wherry/objects.hpp"

namespace wherry {
namespace detail {

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

  /// Bytes to be filled for sending, and for receiving; memory of earlier steps is used again. members: what travels.
  void begin(std::size_t out, std::size_t in, const void* members) {
    if (under_way()) throw usage_error("ghosts are exchanged already; finish that before you start another");
    members_ = members;
    if (out_.size() < out) out_ = PackedBytes(out);
    if (in_.size() < in) in_ = PackedBytes(in);
  }
  std::byte* out() { return out_.data(); }
  const std::byte* in() const { return in_.data(); }

  void receive(std::size_t at, std::size_t bytes, int rank, MPI_Comm comm) {
    if (bytes == 0) return;
    check("MPI_Irecv", MPI_Irecv(in_.data() + at, message_bytes(bytes), MPI_BYTE, rank, tag_, comm, add()));
  }
  void send(std::size_t at, std::size_t bytes, int rank, MPI_Comm comm) {
    if (bytes == 0) return;
    check("MPI_Isend", MPI_Isend(out_.data() + at, message_bytes(bytes), MPI_BYTE, rank, tag_, comm, add()));
  }
  /// To this rank itself.
  void copy(std::size_t from, std::size_t to, std::size_t bytes) {
    std::copy_n(out_.data() + from, bytes, in_.data() + to);
  }
  void started() { under_way_ = true; }
  bool under_way() const { return under_way_; }

  /// Returns when all are there.
  void finish(const void* members) {
    if (!under_way()) throw usage_error("no ghosts are under way; start before you finish");
    if (members != members_)
      throw usage_error(
          "ghosts were started with other members; finish with the members that you started with");
    under_way_ = false;
    const int code = MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    check("MPI_Waitall", code);
  }

 private:
  int count() const { return static_cast<int>(requests_.size()); }
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  int tag_;
  bool under_way_ = false;
  const void* members_ = nullptr;
  PackedBytes out_, in_;
  std::vector<MPI_Request> requests_;
};

}  // namespace detail

/// Whose particles are ghosts: those of all adjacent domains, or of those on one side, half of them. Where what two
/// particles do to each other is computed once, and returned to the other, half of them are enough.
enum class Shell { full, half };

/// Ghosts of particles of type T. position: its member (or what within() makes) with D coordinates.
template <class T, auto position, std::size_t D>
class Ghosts {
 public:
  /// width: how far beyond this rank's domain ghosts are kept; the decomposition must live as long. width and shell are
  /// the same on all ranks. Collective. Throws usage_error (on all ranks) if the width is more than a domain: ghosts
  /// come from next to it.
  Ghosts(const Decomposition<D>& decomposition, double width, Shell shell = Shell::full)
      : decomposition_(&decomposition), width_(width), shell_(shell) {
    for (std::size_t i = 0; i < D; ++i) {
      const Box<D>& box = decomposition.box();
      const double extent = (box.upper[i] - box.lower[i]) / decomposition.grid()[i];
      const bool alone = decomposition.grid()[i] == 1 && !box.periodic[i];
      if (!(width >= 0) || (!alone && width > extent))
        throw usage_error("ghosts to a distance of " + std::to_string(width) + " do not fit domains of " +
                          std::to_string(extent) + " in dimension " + std::to_string(i) +
                          "; give a larger box, fewer domains there, or a smaller width");
    }
    add_peers();
  }

  /// Wraps all positions into the box and moves each particle to the rank whose domain has it. The order of those that
  /// stay is kept; those that come follow, in the order of ranks.
  /// Collective. Throws usage_error (local, when all others have been moved) if a position is not finite.
  void migrate(std::vector<T>& particles) {
    std::vector<std::vector<T>> leaving(detail::own_ranks(decomposition_->comm()));
    std::size_t kept = 0, lost = 0;
    for (T& particle : particles) {
      const Point<D> at = decomposition_->wrapped(position_of(particle));
      const bool finite = std::ranges::all_of(at, [](double x) { return std::isfinite(x); });
      const int owner = finite ? decomposition_->owner(at) : decomposition_->rank();
      lost += !finite;
      set_position(particle, at);
      if (owner != decomposition_->rank())
        leaving[static_cast<std::size_t>(owner)].push_back(std::move(particle));
      else if (&particles[kept++] != &particle) particles[kept - 1] = std::move(particle);
    }
    particles.resize(kept);
    std::vector<std::pair<int, std::vector<T>>> messages;
    for (std::size_t r = 0; r < leaving.size(); ++r)
      if (!leaving[r].empty()) messages.emplace_back(static_cast<int>(r), std::move(leaving[r]));
    for (auto& [source, arrived] : exchange_objects(messages, decomposition_->comm()))
      particles.insert(particles.end(), std::move_iterator(arrived.begin()),
                       std::move_iterator(arrived.end()));
    if (lost > 0)
      throw usage_error(
          std::to_string(lost) +
          " particles have positions that are not finite; look at their forces and the time step");
  }

  /// Decides which particles the neighbors get, and fills `ghosts` with those that they send: position and `member`s;
  /// the other members have their default values. A particle that is near a periodic boundary may be there several
  /// times, at different positions. Collective.
  template <auto... member>
    requires detail::Fixed<Subset<T, member...>>
  void rebuild(std::span<const T> particles, std::vector<T>& ghosts) {
    particles_ = particles.size();
    for (Peer& peer : peers_) peer.sent.clear();
    const auto neighbors = decomposition_->neighbors();
    find_near_border(particles);
    for (std::size_t n = 0; n < neighbors.size(); ++n)
      if (shell_ == Shell::full || is_above(neighbors[n])) choose(neighbors[n], static_cast<std::uint8_t>(n));
    agree_on_lengths();
    ghosts.assign(ghosts_, T{});
    start_update<member...>(particles);
    finish_update<member...>(ghosts);
  }

  /// Sends the positions and `member`s as they are now; returns at once. particles: those of rebuild(), in its order.
  template <auto... member>
    requires detail::Fixed<Subset<T, member...>>
  void start_update(std::span<const T> particles) {
    check_length("particles", particles.size(), particles_);
    start(update_, &detail::members_tag<member...>, update_bytes<member...>, &Peer::first_sent, &Peer::sends,
          &Peer::first_ghost, &Peer::ghosts, [&](std::byte* out, const Peer& peer) {
            for (const Sent& sent : peer.sent)
              out = write_item<member...>(out, particles[sent.particle], sent);
          });
  }
  /// Waits for them, and writes them to the ghosts.
  template <auto... member>
    requires detail::Fixed<Subset<T, member...>>
  void finish_update(std::span<T> ghosts) {
    check_length("ghosts", ghosts.size(), ghosts_);
    update_.finish(&detail::members_tag<member...>);
    const std::byte* in = update_.in();
    for (T& ghost : ghosts) in = read_item<member...>(in, ghost);
  }

  /// Sends `member`s of the ghosts back to the particles that they are copies of; returns at once.
  template <auto... member>
    requires detail::Fixed<Subset<T, member...>>
  void start_return(std::span<const T> ghosts) {
    check_length("ghosts", ghosts.size(), ghosts_);
    start(return_, &detail::members_tag<member...>, fixed_bytes<Subset<T, member...>>, &Peer::first_ghost,
          &Peer::ghosts, &Peer::first_sent, &Peer::sends, [&](std::byte* out, const Peer& peer) {
            for (const T& ghost : ghosts.subspan(peer.first_ghost, peer.ghosts))
              out = detail::write(out, subset<member...>(ghost));
          });
  }
  /// Waits for those of all ranks, and adds them to the particles': in the order of ranks, so that sums are the same on
  /// every run.
  template <auto... member>
    requires detail::Fixed<Subset<T, member...>>
  void finish_return(std::span<T> particles) {
    check_length("particles", particles.size(), particles_);
    return_.finish(&detail::members_tag<member...>);
    const std::byte* in = return_.in();
    T value{};
    for (const Peer& peer : peers_)
      for (const Sent& sent : peer.sent) {
        detail::scatter_blocks<Subset<T, member...>>(detail::address(value), in);
        in += fixed_bytes<Subset<T, member...>>;
        T& particle = particles[sent.particle];
        (detail::add_values(detail::member_of(particle, member), detail::member_of(value, member)), ...);
      }
  }

  /// How many particles the last rebuild() sends, as many times as they are ghosts.
  std::size_t sent() const { return sent_; }

 private:
  struct Sent {
    std::uint32_t particle;
    std::uint8_t neighbor;
  };
  /// A rank that is a neighbor in one or more directions. What it is sent, and what it sends, lies in one piece.
  struct Peer {
    int rank;
    std::vector<Sent> sent;
    std::size_t sends = 0, ghosts = 0, first_sent = 0, first_ghost = 0;
  };

  template <auto... member>
  static constexpr std::size_t update_bytes = sizeof(Point<D>) + fixed_bytes<Subset<T, member...>>;

  static Point<D> position_of(const T& particle) {
    const auto& at = detail::member_of(particle, position);
    Point<D> copy;
    for (std::size_t i = 0; i < D; ++i) copy[i] = at[i];
    return copy;
  }
  static void set_position(T& particle, const Point<D>& to) {
    auto& at = detail::member_of(particle, position);
    for (std::size_t i = 0; i < D; ++i) at[i] = to[i];
  }

  void add_peers() {
    for (const Neighbor<D>& neighbor : decomposition_->neighbors())
      if (std::ranges::find(peers_, neighbor.rank, &Peer::rank) == peers_.end())
        peers_.push_back({neighbor.rank, {}, 0, 0, 0, 0});
    std::ranges::sort(peers_, {}, &Peer::rank);
  }

  /// A particle that is some neighbor's ghost, and the ends of the domain that it is near to.
  struct NearBorder {
    std::uint32_t particle;
    std::uint8_t ends;
  };
  static constexpr std::uint8_t lower_end(std::size_t dimension) {
    return static_cast<std::uint8_t>(1U << 2 * dimension);
  }
  static constexpr std::uint8_t upper_end(std::size_t dimension) {
    return static_cast<std::uint8_t>(2U << 2 * dimension);
  }

  /// Most particles are nobody's ghosts: one pass leaves them out.
  void find_near_border(std::span<const T> particles) {
    Point<D> from, to;
    for (std::size_t i = 0; i < D; ++i) {
      from[i] = decomposition_->upper(i) - width_;
      to[i] = decomposition_->lower(i) + width_;
    }
    near_border_.clear();
    for (std::size_t p = 0; p < particles.size(); ++p) {
      const auto& at = detail::member_of(particles[p], position);
      unsigned ends = 0;
      for (std::size_t i = 0; i < D; ++i)
        ends |= (at[i] >= from[i] ? upper_end(i) : 0U) | (at[i] <= to[i] ? lower_end(i) : 0U);
      if (ends != 0) near_border_.push_back({static_cast<std::uint32_t>(p), static_cast<std::uint8_t>(ends)});
    }
  }

  /// In the last dimension in which the domains differ: so of two adjacent domains one is above the other, for each of
  /// their faces, edges and corners.
  static bool is_above(const Neighbor<D>& neighbor) {
    for (std::size_t i = D; i-- > 0;)
      if (neighbor.direction[i] != 0) return neighbor.direction[i] > 0;
    return false;
  }

  /// The particles that the neighbor's domain, with the width around it, has.
  void choose(const Neighbor<D>& neighbor, std::uint8_t number) {
    Peer& peer = *std::ranges::find(peers_, neighbor.rank, &Peer::rank);
    unsigned needed = 0;
    for (std::size_t i = 0; i < D; ++i) {
      if (neighbor.direction[i] > 0) needed |= upper_end(i);
      if (neighbor.direction[i] < 0) needed |= lower_end(i);
    }
    for (const NearBorder& near : near_border_)
      if ((near.ends & needed) == needed) peer.sent.push_back({near.particle, number});
  }

  void agree_on_lengths() {
    const MPI_Comm comm = decomposition_->comm();
    std::vector<std::uint64_t> out(peers_.size()), in(peers_.size());
    std::vector<MPI_Request> requests(2 * peers_.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      out[i] = peers_[i].sent.size();
      detail::check("MPI_Irecv",
                    MPI_Irecv(&in[i], 1, MPI_UINT64_T, peers_[i].rank, length_tag, comm, &requests[2 * i]));
      detail::check("MPI_Isend", MPI_Isend(&out[i], 1, MPI_UINT64_T, peers_[i].rank, length_tag, comm,
                                           &requests[2 * i + 1]));
    }
    detail::check("MPI_Waitall",
                  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    sent_ = ghosts_ = 0;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      Peer& peer = peers_[i];
      peer.first_sent = sent_, peer.first_ghost = ghosts_;
      sent_ += peer.sends = out[i];
      ghosts_ += peer.ghosts = in[i];
    }
  }

  /// Items of `bytes` to all peers: fill(memory, peer) makes those of one. first_out and so on: which items those are.
  template <class Fill>
  void start(detail::Traffic& traffic, const void* members, std::size_t bytes, std::size_t Peer::* first_out,
             std::size_t Peer::* out, std::size_t Peer::* first_in, std::size_t Peer::* in, Fill fill) {
    const MPI_Comm comm = decomposition_->comm();
    traffic.begin(bytes * (out == &Peer::sends ? sent_ : ghosts_),
                  bytes * (in == &Peer::sends ? sent_ : ghosts_), members);
    for (const Peer& peer : peers_)  // first, for what arrives unexpected is copied once more
      if (peer.rank != decomposition_->rank())
        traffic.receive(bytes * (peer.*first_in), bytes * (peer.*in), peer.rank, comm);
    for (const Peer& peer : peers_) {
      const std::size_t at = bytes * (peer.*first_out), length = bytes * (peer.*out);
      fill(traffic.out() + at, peer);
      if (peer.rank == decomposition_->rank()) traffic.copy(at, bytes * (peer.*first_in), length);
      else traffic.send(at, length, peer.rank, comm);
    }
    traffic.started();
  }

  template <auto... member>
  std::byte* write_item(std::byte* out, const T& particle, const Sent& sent) const {
    const Point<D>& shift = decomposition_->neighbors()[sent.neighbor].shift;
    Point<D> at = position_of(particle);
    for (std::size_t i = 0; i < D; ++i) at[i] += shift[i];
    return detail::write(detail::write(out, at), subset<member...>(particle));
  }
  template <auto... member>
  static const std::byte* read_item(const std::byte* in, T& ghost) {
    Point<D> at;
    std::memcpy(&at, in, sizeof at);
    set_position(ghost, at);
    detail::scatter_blocks<Subset<T, member...>>(detail::address(ghost), in + sizeof at);
    return in + update_bytes<member...>;
  }

  static void check_length(const char* name, std::size_t now, std::size_t then) {
    if (now != then)
      throw usage_error(std::string(name) + ": " + std::to_string(now) + " now, but " + std::to_string(then) +
                        " when they were exchanged last; call rebuild() when they have changed");
  }

  static constexpr int length_tag = 101, update_tag = 102, return_tag = 103;  // those of CellHalo are lower

  const Decomposition<D>* decomposition_;
  double width_;
  Shell shell_;
  std::vector<Peer> peers_;
  std::vector<NearBorder> near_border_;
  std::size_t particles_ = 0, sent_ = 0, ghosts_ = 0;
  detail::Traffic update_{update_tag}, return_{return_tag};
};

}  // namespace wherry
