// The size class of irregular collectives, followed while the program runs.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "comm/channel.hpp"

namespace wherry::run {

/// Follows the block sizes of an irregular collective, which each rank knows only in part.
///
/// The ranks agree on the largest average block now and then, out of the way of the calls; the size class in use
/// changes only when an agreement arrives, at the same call everywhere. An error of the library ends the agreements:
/// the class then stays as it is, on all ranks that get the error.
class SizeWatch {
 public:
  /// Collective: the size class to start with.
  void start(long long average_bytes, const Channel& channel);
  bool started() const { return started_; }
  /// Collective, before each call.
  std::uint32_t bucket(const Channel& channel);
  /// The size class in use, which all ranks have at the same call; 0 before start().
  std::uint32_t known_bucket() const { return bucket_; }
  /// Collective, with each call.
  void saw(long long average_bytes, const Channel& channel);
  /// All three, around a call: the size class for it. Collective.
  std::uint32_t follow(long long average_bytes, const Channel& channel);
  /// Waits for an agreement that is under way.
  void finish(const Channel& channel);

 private:
  static constexpr std::uint64_t period = 64;  // calls between agreements
  static constexpr std::uint64_t lag = 2;      // calls that an agreement may take

  bool started_ = false;
  bool failed_ = false;
  std::uint32_t bucket_ = 0;
  std::uint64_t calls_ = 0;
  long long largest_ = 0, mine_ = 0, agreed_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace wherry::run
