// Chunks from one process to another of the same host through memory that both have mapped: two copies that the caches
// hold, and no call of the system. To read another process's memory costs the system microseconds for each 64 KiB,
// since it looks at every page (exec/peer_memory.hpp); blocks that the caches hold are copied twice in that time. Those
// that they do not hold are better read: the second copy costs memory bandwidth.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

namespace wherry::run {

/// How another process finds the memory; part of a message. Without a descriptor: it has it already.
struct SharedKey {
  std::int64_t process = 0;
  std::int32_t descriptor = -1;
  std::uint64_t proof = 0;  // a process may have another number in the receiver's container
};

/// The memory, as one of its two processes has it. Chunks are taken in the order in which they were put.
class SharedChunks {
 public:
  static constexpr long long chunk_bytes = 32 << 10;
  static constexpr int places = 4;
  /// Larger blocks are better read by the receiver, if it can.
  static constexpr long long most_bytes = 4 << 20;

  /// By the sender. nullptr: the system refuses.
  static std::unique_ptr<SharedChunks> make();
  /// By the receiver. nullptr: the system refuses, or it is not the memory that the sender made.
  static std::unique_ptr<SharedChunks> open(const SharedKey& key);
  SharedChunks(const SharedChunks&) = delete;
  SharedChunks& operator=(const SharedChunks&) = delete;
  ~SharedChunks();

  /// The sender's, until close().
  SharedKey key() const;
  /// The receiver has it, or does not want it: the descriptor is not needed any more.
  void close();

  // The sender's: a place for the next chunk, and that it is full.
  bool has_free_chunk() const { return put_ - memory_->taken.load(std::memory_order_acquire) < places; }
  std::byte* free_chunk() { return place(put_); }
  void put() { memory_->put.store(++put_, std::memory_order_release); }

  // The receiver's: the next chunk, and that it is not needed any more.
  bool has_chunk() const { return memory_->put.load(std::memory_order_acquire) != taken_; }
  const std::byte* chunk() const { return const_cast<SharedChunks*>(this)->place(taken_); }
  void take() { memory_->taken.store(++taken_, std::memory_order_release); }

 private:
  struct Memory {
    std::uint64_t proof;
    alignas(64) std::atomic<std::uint64_t> put;
    alignas(64) std::atomic<std::uint64_t> taken;
    alignas(4096) std::byte chunks[places * chunk_bytes];
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  SharedChunks(Memory* memory, int descriptor) : memory_(memory), descriptor_(descriptor) {}
  static std::unique_ptr<SharedChunks> mapped(int descriptor);
  std::byte* place(std::uint64_t n) { return memory_->chunks + n % places * chunk_bytes; }

  Memory* memory_;
  int descriptor_;                     // of the sender, while the receiver may need it
  std::uint64_t put_ = 0, taken_ = 0;  // by this process
};

/// Of a process: 16 MiB.
inline constexpr int most_shared_connections = 128;

/// Those of one communicator, by ranks of this host. The sender has one as long as its receiver has it.
class SharedConnections {
 public:
  /// left: how many more may be made; outlives this.
  explicit SharedConnections(std::atomic<int>& left) : left_(left) {}
  SharedConnections(const SharedConnections&) = delete;
  SharedConnections& operator=(const SharedConnections&) = delete;
  ~SharedConnections();

  struct Connection {
    std::unique_ptr<SharedChunks> chunks;  // nullptr: there is none, and will be none
    bool is_open = false;                  // the receiver has it
  };
  /// That to a rank, which may be new; nullptr: there is none.
  Connection* to(int rank);
  /// The receiver's answer to a new one.
  void answered(Connection& connection, bool has_it);
  /// That from a rank, nullptr if there is none.
  SharedChunks* from(int rank);
  /// Opens what a rank offers; nullptr: that cannot be.
  SharedChunks* open(int rank, const SharedKey& key);

 private:
  std::atomic<int>& left_;
  std::map<int, Connection> to_;
  std::map<int, std::unique_ptr<SharedChunks>> from_;
};

}  // namespace wherry::run
