// Wherry for C++20: ghosts, the copies that a rank keeps of particles near its domain.
//
//   wherry::Decomposition<3> decomposition(comm, box);
//   wherry::Ghosts<Particle, &Particle::position, 3> exchange(decomposition, cutoff + skin);
//   exchange.migrate(particles);                                    // to the ranks in whose domains they are
//   exchange.rebuild<&Particle::id, &Particle::charge>(particles, ghosts);
//   for (...) {                                                     // until particles have moved by half the skin
//     exchange.start_update(particles);                             // positions travel
//     forces_between_own(particles);                              // now and then: exchange.progress()
//     exchange.finish_update(ghosts);
//     forces_with_ghosts(particles, ghosts);
//     exchange.start_return<&Particle::force>(ghosts);              // forces on ghosts go back
//     integrate_what_needs_no_force(particles);
//     exchange.finish_return<&Particle::force>(particles);          // and are added
//   }
//
// Between rebuilds the particles and ghosts stay where they are in their vectors; their lengths are agreed once. One
// message for each rank that is a neighbor, whatever the number of faces, edges and corners that it shares (or, staged,
// one across each face); none for images of this rank's own particles. Only the position and the chosen members travel,
// without padding.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wherry/decomposition.hpp"
#include "wherry/halo/ghost_plan.hpp"
#include "wherry/halo/traffic.hpp"
#include "wherry/objects.hpp"

namespace wherry {

/// Ghosts of particles of type T. position: its member (or what within() makes) with D coordinates.
template <class T, auto position, std::size_t D>
class Ghosts {
  using GhostPlan = detail::GhostPlan<D>;
  using Stage = typename GhostPlan::Stage;
  using Peer = typename GhostPlan::Peer;
  using Sent = typename GhostPlan::Sent;

 public:
  /// width: how far beyond this rank's domain ghosts are kept; the decomposition must live as long. width, shell and
  /// route are the same on all ranks. Collective. Throws usage_error (on all ranks) if the width is more than a domain:
  /// ghosts come from next to it.
  Ghosts(const Decomposition<D>& decomposition, double width, Shell shell = Shell::full,
         Route route = Route::direct)
      : decomposition_(&decomposition) {
    for (std::size_t i = 0; i < D; ++i) {
      const Box<D>& box = decomposition.box();
      const double extent = (box.upper[i] - box.lower[i]) / decomposition.grid()[i];
      const bool alone = decomposition.grid()[i] == 1 && !box.periodic[i];
      if (!(width >= 0) || (!alone && width > extent))
        throw usage_error("ghosts to a distance of " + std::to_string(width) + " do not fit domains of " +
                          std::to_string(extent) + " in dimension " + std::to_string(i) +
                          "; give a larger box, fewer domains there, or a smaller width");
    }
    if (route != Route::staged) direct_.emplace(decomposition, width, shell, Route::direct);
    if (route != Route::direct) staged_.emplace(decomposition, width, shell, Route::staged);
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
    if (direct_ && staged_) choose_route<member...>(particles, ghosts);
    make<member...>(particles, ghosts);
  }

  /// Sends the positions and `member`s as they are now; returns at once. particles: those of rebuild(), in its order.
  template <auto... member>
    requires detail::Fixed<Subset<T, member...>>
  void start_update(std::span<const T> particles) {
    check_length("particles", particles.size(), particles_);
    update_.start(&detail::members_tag<member...>);
    constexpr std::size_t bytes = update_bytes<member...>;
    update_.reserve(bytes * plan().sent(), bytes * plan().ghosts());
    for (const Stage& stage : plan().stages()) write_particles<member...>(stage, particles);
    send_update<member...>(plan().stages().front());
  }
  /// Waits for them, and writes them to the ghosts. Staged: passes on what the next stage needs of them.
  template <auto... member>
    requires detail::Fixed<Subset<T, member...>>
  void finish_update(std::span<T> ghosts) {
    check_length("ghosts", ghosts.size(), plan().ghosts());
    update_.finish(&detail::members_tag<member...>);
    const auto stages = plan().stages();
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (s > 0) write_ghosts<member...>(stages[s], ghosts), send_update<member...>(stages[s]);
      receive_update<member...>(stages[s], ghosts);
    }
  }

  /// Sends `member`s of the ghosts back to the particles that they are copies of; returns at once.
  template <auto... member>
    requires detail::Fixed<Subset<T, member...>>
  void start_return(std::span<const T> ghosts) {
    check_length("ghosts", ghosts.size(), plan().ghosts());
    return_.start(&detail::members_tag<member...>);
    constexpr std::size_t bytes = fixed_bytes<Subset<T, member...>>;
    return_.reserve(bytes * plan().ghosts(), bytes * plan().sent());
    std::byte* out = return_.out();
    for (const T& ghost : ghosts) out = detail::write(out, subset<member...>(ghost));
    send_return(plan().stages().back(), bytes);
  }
  /// Waits for those of all ranks, and adds them to the particles': in the order of stages and ranks, so that sums are
  /// the same on every run. Staged: passes on what is added to ghosts of an earlier stage.
  template <auto... member>
    requires detail::Fixed<Subset<T, member...>>
  void finish_return(std::span<T> particles) {
    check_length("particles", particles.size(), particles_);
    return_.finish(&detail::members_tag<member...>);
    const auto stages = plan().stages();
    for (std::size_t s = stages.size(); s-- > 0;) {
      if (s + 1 < stages.size()) send_return(stages[s], fixed_bytes<Subset<T, member...>>);
      return_.wait();
      add_returned<member...>(stages[s], particles);
    }
  }

  /// Lets the MPI library move what is under way: large messages of many libraries move only while the program is in a
  /// call. For the program to call now and then while it computes between start and finish. Local.
  void progress() {
    update_.progress();
    return_.progress();
  }

  /// How many particles the last rebuild() sends, as many times as they are ghosts; staged, those that are passed on as
  /// well.
  std::size_t sent() const { return plan().sent(); }
  /// Bytes of all messages of this rank so far, but for those that migrate.
  std::uint64_t sent_bytes() const { return update_.sent_bytes() + return_.sent_bytes(); }
  /// The route that they take: measured until the first rebuild() has measured it.
  Route route() const {
    if (direct_ && staged_) return Route::measured;
    return direct_ ? Route::direct : Route::staged;
  }

 private:
  template <auto... member>
  static constexpr std::size_t update_bytes = sizeof(Point<D>) + fixed_bytes<Subset<T, member...>>;

  GhostPlan& plan() { return direct_ ? *direct_ : *staged_; }
  const GhostPlan& plan() const { return direct_ ? *direct_ : *staged_; }

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

  template <auto... member>
  void make(std::span<const T> particles, std::vector<T>& ghosts) {
    const auto position_in = [](std::span<const T> all) {
      return [all](std::size_t i) -> const auto& { return detail::member_of(all[i], position); };
    };
    GhostPlan& made = plan();
    update_.start(&detail::members_tag<member...>);
    ghosts.clear();
    made.begin(particles.size(), position_in(particles));
    for (std::size_t s = 0; s < made.stages().size(); ++s) {
      const Stage& stage = made.stages()[s];
      made.make(s);
      ghosts.resize(made.ghosts());
      update_.reserve(update_bytes<member...> * made.sent(), update_bytes<member...> * made.ghosts());
      write_particles<member...>(stage, particles), write_ghosts<member...>(stage, ghosts);
      send_update<member...>(stage);
      receive_update<member...>(stage, ghosts);
      if (s + 1 < made.stages().size()) made.add_ghosts(stage, position_in(ghosts));
    }
    update_.finish(&detail::members_tag<member...>);
  }

  /// By updates that take turns: of each route the best of a few, on the rank where it is slowest. Collective.
  template <auto... member>
  void choose_route(std::span<const T> particles, std::vector<T>& ghosts) {
    constexpr int turns = 8;
    std::array<std::optional<GhostPlan>*, 2> routes{&direct_, &staged_};
    std::array<std::optional<GhostPlan>, 2> plans{std::move(direct_), std::move(staged_)};
    std::array<double, 2> best{1e30, 1e30}, slowest{};
    for (int turn = 0; turn < turns; ++turn)
      for (std::size_t r = 0; r < routes.size(); ++r) {
        direct_.reset(), staged_.reset();
        routes[r]->swap(plans[r]);
        if (turn == 0) make<member...>(particles, ghosts);
        ghosts.resize(plan().ghosts());
        detail::check("MPI_Barrier", MPI_Barrier(decomposition_->comm()));
        const double start = MPI_Wtime();
        start_update<member...>(particles);
        finish_update<member...>(ghosts);
        best[r] = std::min(best[r], MPI_Wtime() - start);
        routes[r]->swap(plans[r]);
      }
    detail::check("MPI_Allreduce",
                  MPI_Allreduce(best.data(), slowest.data(), 2, MPI_DOUBLE, MPI_MAX, decomposition_->comm()));
    const std::size_t chosen = slowest[1] < slowest[0] ? 1 : 0;
    direct_.reset(), staged_.reset();
    routes[chosen]->swap(plans[chosen]);
  }

  /// What the stage sends of this rank's particles; the rest of its bytes is left as it is.
  template <auto... member>
  void write_particles(const Stage& stage, std::span<const T> particles) {
    write_sent<member...>(stage,
                          [&](std::size_t item) { return item < particles_ ? &particles[item] : nullptr; });
  }
  template <auto... member>
  void write_ghosts(const Stage& stage, std::span<const T> ghosts) {
    write_sent<member...>(
        stage, [&](std::size_t item) { return item < particles_ ? nullptr : &ghosts[item - particles_]; });
  }
  template <auto... member>
  void write_sent(const Stage& stage, auto item_at) {
    constexpr std::size_t bytes = update_bytes<member...>;
    for (const Peer& peer : stage.peers) {
      // Images of own particles go straight to where messages arrive.
      std::byte* out = peer.rank == decomposition_->rank()
                           ? update_.in() + bytes * (stage.first_ghost + peer.first_ghost)
                           : update_.out() + bytes * (stage.first_sent + peer.first_sent);
      for (const Sent& sent : peer.sent) {
        if (const T* const item = item_at(sent.item)) write_item<member...>(out, *item, sent);
        out += bytes;
      }
    }
  }

  template <auto... member>
  void send_update(const Stage& stage) {
    exchange(update_, stage, update_bytes<member...>, sent_part, ghost_part);
  }
  template <auto... member>
  void receive_update(const Stage& stage, std::span<T> ghosts) {
    update_.wait();
    const std::byte* in = update_.in() + update_bytes<member...> * stage.first_ghost;
    for (T& ghost : ghosts.subspan(stage.first_ghost, stage.ghosts)) in = read_item<member...>(in, ghost);
  }

  void send_return(const Stage& stage, std::size_t bytes) {
    exchange(return_, stage, bytes, ghost_part, sent_part);
  }
  template <auto... member>
  void add_returned(const Stage& stage, std::span<T> particles) {
    constexpr std::size_t bytes = fixed_bytes<Subset<T, member...>>;
    T value{}, sum{};
    for (const Peer& peer : stage.peers) {
      // Those of images of own particles lie where they were packed.
      const std::byte* in = peer.rank == decomposition_->rank()
                                ? return_.out() + bytes * (stage.first_ghost + peer.first_ghost)
                                : return_.in() + bytes * (stage.first_sent + peer.first_sent);
      for (const Sent& sent : peer.sent) {
        detail::scatter_blocks<Subset<T, member...>>(detail::address(value), in);
        in += bytes;
        if (sent.item < particles_) add<member...>(particles[sent.item], value);
        else {  // a ghost, which is returned later
          std::byte* const at = return_.out() + bytes * (sent.item - particles_);
          detail::scatter_blocks<Subset<T, member...>>(detail::address(sum), at);
          add<member...>(sum, value);
          detail::write(at, subset<member...>(std::as_const(sum)));
        }
      }
    }
  }
  template <auto... member>
  static void add(T& to, const T& value) {
    (detail::add_values(detail::member_of(to, member), detail::member_of(value, member)), ...);
  }

  /// Which of a stage's items, and of a peer's: what is sent in updates, or the ghosts.
  struct Part {
    std::size_t Stage::* begin;
    std::size_t Peer::* first;
    std::size_t Peer::* count;
  };
  static constexpr Part sent_part{&Stage::first_sent, &Peer::first_sent, &Peer::sends};
  static constexpr Part ghost_part{&Stage::first_ghost, &Peer::first_ghost, &Peer::ghosts};

  /// Items of `bytes` to and from all other ranks of the stage.
  void exchange(detail::Traffic& traffic, const Stage& stage, std::size_t bytes, const Part& out,
                const Part& in) {
    const MPI_Comm comm = decomposition_->comm();
    auto others = std::views::filter(
        stage.peers, [this](const Peer& peer) { return peer.rank != decomposition_->rank(); });
    const auto at = [&](const Part& part, const Peer& peer) {
      return bytes * (stage.*part.begin + peer.*part.first);
    };
    for (const Peer& peer : others)  // first, for what arrives unexpected is copied once more
      traffic.receive(at(in, peer), bytes * (peer.*in.count), peer.rank, comm);
    for (const Peer& peer : others) traffic.send(at(out, peer), bytes * (peer.*out.count), peer.rank, comm);
  }

  template <auto... member>
  void write_item(std::byte* out, const T& particle, const Sent& sent) const {
    const Point<D>& shift = decomposition_->neighbors()[sent.neighbor].shift;
    Point<D> at = position_of(particle);
    for (std::size_t i = 0; i < D; ++i) at[i] += shift[i];
    detail::write(detail::write(out, at), subset<member...>(particle));
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

  static constexpr int update_tag = 102, return_tag = 103;  // those of CellHalo and GhostPlan are lower

  const Decomposition<D>* decomposition_;
  std::optional<GhostPlan> direct_, staged_;  // both until one is chosen
  std::size_t particles_ = 0;
  detail::Traffic update_{update_tag}, return_{return_tag};
};

}  // namespace wherry
