// Objects as bytes as the source makes them, beside Boost's own archives (boost.cpp).
#pragma once

#include <cstring>
#include <span>

#include "overhead/hand_written.hpp"
#include "overhead/particle.hpp"

namespace overhead {

/// An archive packs objects, and unpacks as many as the vector has, or, of particles, as there are. From `bitwise` on:
/// memory as it is, with its padding; lists behind lengths of eight bytes, then of two.
template <Step step>
struct Memory {
  static_assert(step >= Step::bitwise);
  using Buffer = std::vector<char>;
  using Length = std::conditional_t<(step >= Step::compact), std::uint16_t, std::uint64_t>;

  template <class T>
  static Buffer pack(std::span<const T> objects, MPI_Comm) {
    Buffer buffer(objects.size_bytes());
    if (!buffer.empty()) std::memcpy(buffer.data(), objects.data(), buffer.size());
    return buffer;
  }
  template <class T>
  static void unpack(const Buffer& buffer, std::vector<T>& objects, MPI_Comm) {
    if (!buffer.empty()) std::memcpy(objects.data(), buffer.data(), buffer.size());
  }

  static Buffer pack(std::span<const Particle<step>> particles, MPI_Comm) {
    Buffer buffer;
    for (const Particle<step>& p : particles) {
      const auto* const begin = reinterpret_cast<const char*>(&p);
      buffer.insert(buffer.end(), begin, begin + offsetof(Particle<step>, bonds));
      for (const List<step>* list : {&p.bonds, &p.exclusions}) {
        const Length n = static_cast<Length>(list->size());
        const auto *length = reinterpret_cast<const char*>(&n),
                   *items = reinterpret_cast<const char*>(list->data());
        buffer.insert(buffer.end(), length, length + sizeof n);
        buffer.insert(buffer.end(), items, items + n * sizeof(int));
      }
    }
    return buffer;
  }
  static void unpack(const Buffer& buffer, std::vector<Particle<step>>& particles, MPI_Comm) {
    const char* at = buffer.data();
    const auto take = [&](void* to, std::size_t bytes) {
      if (bytes > 0) std::memcpy(to, at, bytes);
      at += bytes;
    };
    particles.clear();
    while (at != buffer.data() + buffer.size()) {
      Particle<step>& p = particles.emplace_back();
      take(static_cast<void*>(&p), offsetof(Particle<step>, bonds));
      for (List<step>* list : {&p.bonds, &p.exclusions}) {
        Length n = 0;
        take(&n, sizeof n);
        list->resize(n);
        take(list->data(), n * sizeof(int));
      }
    }
  }
};

/// Whole particles of the application as those of a step.
template <Step step, class Archive>
struct WholeParticles {
  using Buffer = typename Archive::Buffer;
  MPI_Comm comm;

  Buffer pack(const std::vector<lj_fluid::Particle>& particles) const {
    std::vector<Particle<step>> made;
    for (const lj_fluid::Particle& particle : particles) made.push_back(from_fluid<step>(particle));
    return Archive::pack(std::span<const Particle<step>>(made), comm);
  }
  std::vector<lj_fluid::Particle> unpack(const Buffer& buffer) const {
    std::vector<Particle<step>> made;
    Archive::unpack(buffer, made, comm);
    std::vector<lj_fluid::Particle> particles;
    for (const Particle<step>& particle : made) particles.push_back(to_fluid<step>(particle));
    return particles;
  }
};

/// The source's exchange: every step sends whole parts of particles, position or force, and waits for those of the
/// neighbors before the program computes on.
template <Step step, class Archive>
class PartByPart : public HandWritten {
  using Buffer = typename Archive::Buffer;

 public:
  using HandWritten::HandWritten;

  Migrants migrate(Migrants leaving, Goal goal) override {
    return migrated(leaving, goal, WholeParticles<step, Archive>{comm_});
  }
  void rebuild(std::span<const Site> own, std::vector<Site>& ghosts) override {
    choose(own, ghosts);
    std::vector<Buffer> out;
    std::vector<Properties<step>> properties;
    for (const Peer& peer : peers()) {
      properties.clear();
      for (const Sent& sent : peer.sent)
        properties.emplace_back().identity = static_cast<int>(own[sent.item].key);
      out.push_back(Archive::pack(std::span<const Properties<step>>(properties), comm_));
      for (std::size_t i = 0; is_self(peer) && i < peer.ghosts; ++i)
        ghosts[peer.first_ghost + i].key = own[peer.sent[i].item].key;
    }
    const std::vector<Buffer> in = exchanged(out, has_sent, has_ghosts);
    for (std::size_t p = 0; p < in.size(); ++p) {
      if (in[p].empty()) continue;
      properties.resize(peers()[p].ghosts);
      Archive::unpack(in[p], properties, comm_);
      for (std::size_t i = 0; i < peers()[p].ghosts; ++i)
        ghosts[peers()[p].first_ghost + i].key = static_cast<std::uint64_t>(properties[i].identity);
    }
    start_update(own);
    finish_update(ghosts);
  }

  void start_update(std::span<const Site> own) override {
    std::vector<Buffer> out;
    for (const Peer& peer : peers()) {
      positions_.resize(peer.sent.size());
      for (std::size_t i = 0; i < positions_.size(); ++i)
        copy<step>(shifted(own, peer.sent[i]), positions_[i].position);
      out.push_back(is_self(peer) ? Buffer()
                                  : Archive::pack(std::span<const Position<step>>(positions_), comm_));
    }
    keep_own_positions(own);
    in_ = exchanged(out, has_sent, has_ghosts);
  }
  void finish_update(std::span<Site> ghosts) override {
    for (std::size_t p = 0; p < in_.size(); ++p) {
      if (in_[p].empty()) continue;
      positions_.resize(peers()[p].ghosts);
      Archive::unpack(in_[p], positions_, comm_);
      for (std::size_t i = 0; i < peers()[p].ghosts; ++i)
        ghosts[peers()[p].first_ghost + i].position = copied<step>(positions_[i].position);
    }
    set_own_positions(ghosts);
  }

  void start_return(std::span<const Site> ghosts) override {
    std::vector<Buffer> out;
    for (const Peer& peer : peers()) {
      forces_.resize(peer.ghosts);
      for (std::size_t i = 0; i < forces_.size(); ++i)
        copy<step>(ghosts[peer.first_ghost + i].force, forces_[i].force);
      out.push_back(is_self(peer) ? Buffer() : Archive::pack(std::span<const Force<step>>(forces_), comm_));
    }
    keep_own_forces(ghosts);
    in_ = exchanged(out, has_ghosts, has_sent);
  }
  void finish_return(std::span<Site> own) override {
    std::vector<std::vector<Force<step>>> forces(in_.size());
    for (std::size_t p = 0; p < in_.size(); ++p) {
      if (in_[p].empty()) continue;
      forces[p].resize(peers()[p].sends);
      Archive::unpack(in_[p], forces[p], comm_);
    }
    add_forces(own, [&](std::size_t p, std::size_t i) { return copied<step>(forces[p][i].force); });
  }

 private:
  static bool has_sent(const Peer& peer) { return peer.sends > 0; }
  static bool has_ghosts(const Peer& peer) { return peer.ghosts > 0; }

  std::vector<Position<step>> positions_;
  std::vector<Force<step>> forces_;
  std::vector<Buffer> in_;
};

template <Step step, class Archive>
lj_fluid::MakeTransport part_by_part() {
  return [](const wherry::Decomposition<3>& decomposition, double reach) {
    return std::make_unique<PartByPart<step, Archive>>(decomposition, reach);
  };
}

}  // namespace overhead
