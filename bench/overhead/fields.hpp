// The pattern that ESPResSo's pull request 5404 went over to, written by hand: only the fields that the other rank
// needs, all messages at once, positions and forces under way while the program computes. Particles that migrate are
// those of the last step of issue 4415.
#pragma once

#include "overhead/archives.hpp"

namespace overhead {

class Fields : public HandWritten {
  static constexpr Step step = Step::compact;
  using Archive = Memory<step>;

 public:
  using HandWritten::HandWritten;

  Migrants migrate(Migrants leaving, Goal goal) override {
    return migrated(leaving, goal, WholeParticles<step, Archive>{comm_});
  }
  void rebuild(std::span<const Site> own, std::vector<Site>& ghosts) override {
    choose(own, ghosts);
    std::vector<std::vector<std::uint64_t>> out;
    for (const Peer& peer : peers()) {
      std::vector<std::uint64_t>& keys = out.emplace_back();
      for (const Sent& sent : peer.sent) keys.push_back(own[sent.item].key);
    }
    std::vector<std::vector<std::uint64_t>> in;
    for (const Peer& peer : peers()) in.emplace_back(peer.ghosts);
    start(out, in);
    wait();
    for (std::size_t p = 0; p < in.size(); ++p)
      for (std::size_t i = 0; i < peers()[p].ghosts; ++i)
        ghosts[peers()[p].first_ghost + i].key = is_self(peers()[p]) ? out[p][i] : in[p][i];
    start_update(own);
    finish_update(ghosts);
  }

  void start_update(std::span<const Site> own) override {
    resize(&Peer::sends, &Peer::ghosts);
    for (std::size_t p = 0; p < peers().size(); ++p)
      for (std::size_t i = 0; !is_self(peers()[p]) && i < peers()[p].sends; ++i)
        out_[p][i] = shifted(own, peers()[p].sent[i]);
    start(out_, in_);
    keep_own_positions(own);
  }
  void finish_update(std::span<Site> ghosts) override {
    wait();
    for (std::size_t p = 0; p < peers().size(); ++p)
      for (std::size_t i = 0; !is_self(peers()[p]) && i < peers()[p].ghosts; ++i)
        ghosts[peers()[p].first_ghost + i].position = in_[p][i];
    set_own_positions(ghosts);
  }
  void start_return(std::span<const Site> ghosts) override {
    resize(&Peer::ghosts, &Peer::sends);
    for (std::size_t p = 0; p < peers().size(); ++p)
      for (std::size_t i = 0; !is_self(peers()[p]) && i < peers()[p].ghosts; ++i)
        out_[p][i] = ghosts[peers()[p].first_ghost + i].force;
    start(out_, in_);
    keep_own_forces(ghosts);
  }
  void finish_return(std::span<Site> own) override {
    wait();
    add_forces(own, [&](std::size_t p, std::size_t i) { return in_[p][i]; });
  }

 private:
  void resize(std::size_t Peer::* out, std::size_t Peer::* in) {
    out_.resize(peers().size()), in_.resize(peers().size());
    for (std::size_t p = 0; p < peers().size(); ++p)
      out_[p].resize(peers()[p].*out), in_[p].resize(peers()[p].*in);
  }
  template <class T>
  void start(const std::vector<std::vector<T>>& out, std::vector<std::vector<T>>& in) {
    requests_.clear();
    for (std::size_t p = 0; p < in.size(); ++p)
      if (!is_self(peers()[p]) && !in[p].empty())
        MPI_Irecv(in[p].data(), static_cast<int>(in[p].size() * sizeof(T)), MPI_BYTE, peers()[p].rank, tag,
                  comm_, &requests_.emplace_back());
    for (std::size_t p = 0; p < out.size(); ++p)
      if (!is_self(peers()[p]) && !out[p].empty())
        send(std::span(reinterpret_cast<const char*>(out[p].data()), out[p].size() * sizeof(T)),
             peers()[p].rank, &requests_.emplace_back());
  }
  void wait() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

  std::vector<std::vector<lj_fluid::Vector>> out_, in_;
  std::vector<MPI_Request> requests_;
};

}  // namespace overhead
