// What readers stand on: gets that are started, and then completed together.
#pragma once

#include <cstddef>
#include <span>

namespace remote {

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual void start_get(std::span<std::byte> into, int target, std::size_t displacement) = 0;
  /// Returns when all that was started is where it should be.
  virtual void complete() = 0;
  /// As Reader::renew.
  virtual void renew() = 0;
  /// Bytes that the target has to be read.
  virtual std::size_t size(int target) const = 0;
};

}  // namespace remote
