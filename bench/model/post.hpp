// Messages and copies of one rank, for the probes.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "comm/channel.hpp"

namespace bench::model {

inline constexpr int small_bytes = 8;
inline constexpr int most_bytes = 1 << 20;  // of a message, what one flow carries, and a burst of copies
inline constexpr int samples = 15;
// Bursts of copies walk through it, since data is seldom in a cache.
inline constexpr int buffer_bytes = samples * most_bytes;

enum Tag { data, ready, go, done };

/// What a rank has seen: as many values as all others, zeros if it has no clock.
using Values = std::vector<double>;

[[noreturn]] inline void end_with(const std::string& problem) {
  std::fprintf(stderr, "bench_model: %s\n", problem.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

inline void check(int code) {
  if (code != MPI_SUCCESS) end_with("the MPI library failed with code " + std::to_string(code));
}

/// Messages of this rank.
class Post {
 public:
  explicit Post(const wherry::run::Channel& channel)
      : channel_(channel), out_(buffer_bytes, 'x'), in_(buffer_bytes) {}

  MPI_Request start_send(int peer, int bytes, Tag tag = data) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(channel_.send({out_.data(), bytes, MPI_BYTE}, peer, tag, &request));
    return request;
  }
  MPI_Request start_receive(int peer, int bytes, Tag tag = data, int offset = 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(channel_.receive({in_.data() + offset, bytes, MPI_BYTE}, peer, tag, &request, spare_));
    return request;
  }
  void send(int peer, int bytes, Tag tag = data) { wait(start_send(peer, bytes, tag)); }
  void receive(int peer, int bytes, Tag tag = data) { wait(start_receive(peer, bytes, tag)); }
  void wait(MPI_Request request) { check(channel_.wait(request)); }
  void wait_all(std::vector<MPI_Request>& requests) { check(channel_.wait_all(requests)); }
  void copy(int offset, int bytes) {
    std::memcpy(in_.data() + offset, out_.data() + offset, static_cast<std::size_t>(bytes));
  }

 private:
  const wherry::run::Channel& channel_;
  std::vector<char> out_, in_;
  wherry::run::Spare spare_;
};

}  // namespace bench::model
