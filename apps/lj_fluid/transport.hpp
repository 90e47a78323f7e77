// How what a fluid's ranks tell each other travels: particles that migrate, ghosts, forces on ghosts. lj_fluid has one
// implementation, by Wherry's headers; `wherry study overhead` compares it with others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lj_fluid/particle.hpp"
#include "wherry/halo.hpp"

namespace lj_fluid {

/// All functions are collective but for progress().
class Transport {
 public:
  virtual ~Transport() = default;

  using Migrants = std::vector<std::pair<int, std::vector<Particle>>>;
  /// Whether all that leave go to adjacent domains, on all ranks.
  enum class Goal { neighbors, any };
  /// Particles to other ranks; returns those that come, with the ranks that they come from, in the order of ranks.
  virtual Migrants migrate(Migrants leaving, Goal goal) = 0;

  /// Ghosts of adjacent domains that are above this one: decided anew, with their positions and keys.
  virtual void rebuild(std::span<const Site> own, std::vector<Site>& ghosts) = 0;
  virtual void start_update(std::span<const Site> own) = 0;
  virtual void finish_update(std::span<Site> ghosts) = 0;
  /// Forces on ghosts, back to the particles.
  virtual void start_return(std::span<const Site> ghosts) = 0;
  virtual void finish_return(std::span<Site> own) = 0;
  /// To be called now and then between start and finish.
  virtual void progress() {}

  /// Bytes of all messages of this rank so far.
  virtual std::uint64_t sent_bytes() const = 0;
};

/// Makes one for a decomposition that outlives it. reach: how far ghosts are kept.
using MakeTransport =
    std::function<std::unique_ptr<Transport>(const wherry::Decomposition<3>& decomposition, double reach)>;

/// Other ranks that have adjacent domains, in ascending order.
inline std::vector<int> neighbors_of(const wherry::Decomposition<3>& decomposition) {
  std::vector<int> ranks;
  for (const wherry::Neighbor<3>& neighbor : decomposition.neighbors())
    if (neighbor.rank != decomposition.rank()) ranks.push_back(neighbor.rank);
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  return ranks;
}

class WherryTransport : public Transport {
 public:
  WherryTransport(const wherry::Decomposition<3>& decomposition, double reach, wherry::Route route)
      : comm_(decomposition.comm()),
        neighbors_(neighbors_of(decomposition)),
        exchange_(decomposition, reach, wherry::Shell::half, route) {}

  Migrants migrate(Migrants leaving, Goal goal) override {
    for (const auto& [rank, particles] : leaving) migrated_bytes_ += wherry::packed_size(particles);
    if (goal == Goal::any) return wherry::exchange_objects(leaving, comm_);
    std::vector<std::vector<Particle>> out(neighbors_.size());
    for (auto& [rank, particles] : leaving)
      out[static_cast<std::size_t>(std::ranges::lower_bound(neighbors_, rank) - neighbors_.begin())] =
          std::move(particles);
    auto in = wherry::neighbor_exchange_objects<std::vector<Particle>>(out, neighbors_, comm_);
    Migrants arrived;
    for (std::size_t i = 0; i < in.size(); ++i) arrived.emplace_back(neighbors_[i], std::move(in[i]));
    return arrived;
  }
  void rebuild(std::span<const Site> own, std::vector<Site>& ghosts) override {
    exchange_.rebuild<&Site::key>(own, ghosts);
  }
  void start_update(std::span<const Site> own) override { exchange_.start_update(own); }
  void finish_update(std::span<Site> ghosts) override { exchange_.finish_update(ghosts); }
  void start_return(std::span<const Site> ghosts) override { exchange_.start_return<&Site::force>(ghosts); }
  void finish_return(std::span<Site> own) override { exchange_.finish_return<&Site::force>(own); }
  void progress() override { exchange_.progress(); }
  std::uint64_t sent_bytes() const override { return exchange_.sent_bytes() + migrated_bytes_; }

 private:
  MPI_Comm comm_;
  std::vector<int> neighbors_;
  wherry::Ghosts<Site, &Site::position, 3> exchange_;
  std::uint64_t migrated_bytes_ = 0;
};

inline MakeTransport by_wherry(wherry::Route route = wherry::Route::direct) {
  return [route](const wherry::Decomposition<3>& decomposition, double reach) {
    return std::make_unique<WherryTransport>(decomposition, reach, route);
  };
}

}  // namespace lj_fluid
