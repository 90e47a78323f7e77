// Receives messages of which neither source nor size is known.
#pragma once

#include "comm/channel.hpp"
#include "sparse/inbox.hpp"

namespace wherry::run {

/// Of all messages with one tag on the channel. No other receive may use that tag meanwhile.
class Collector {
 public:
  Collector(const Channel& channel, int tag, Inbox& inbox) : channel_(channel), tag_(tag), inbox_(inbox) {}

  /// Begins to receive a message that has come. Whether there was one.
  bool take();
  /// Waits for all that was begun; the first error.
  int finish();

 private:
  const Channel& channel_;
  int tag_;
  Inbox& inbox_;
  std::vector<MPI_Request> requests_;
  Spare spare_;
  int code_ = MPI_SUCCESS;
};

}  // namespace wherry::run
