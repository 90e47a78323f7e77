// Every get goes out.
#pragma once

#include <memory>
#include <utility>

#include "remote/reader.hpp"
#include "remote/transport.hpp"

namespace remote {

class PlainReader : public Reader {
 public:
  explicit PlainReader(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  void get(std::span<std::byte> into, int target, std::size_t displacement, double) override {
    ++statistics_.gets;
    statistics_.get_bytes += into.size();
    transport_->start_get(into, target, displacement);
  }
  void flush() override { transport_->complete(); }
  void renew() override { transport_->renew(); }

  Statistics statistics() const override {
    Statistics all = statistics_;
    all.moves = all.gets;
    all.move_bytes = all.get_bytes;
    return all;
  }

 private:
  std::unique_ptr<Transport> transport_;
  Statistics statistics_;
};

}  // namespace remote
