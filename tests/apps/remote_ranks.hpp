// Ranks whose memory is in this process, for readers that know no MPI.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "remote/plain.hpp"
#include "remote/transport.hpp"

namespace remote_test {

using Memories = std::vector<std::span<const std::byte>>;

/// Gets that are done when they are completed, and not before: what is read too early is still what it was.
class LateTransport : public remote::Transport {
 public:
  explicit LateTransport(Memories ranks) : ranks_(std::move(ranks)) {}

  void start_get(std::span<std::byte> into, int target, std::size_t displacement) override {
    const auto from = ranks_.at(static_cast<std::size_t>(target)).subspan(displacement, into.size());
    under_way_.push_back([=] { std::ranges::copy(from, into.begin()); });
  }
  void complete() override {
    for (const auto& arrive : under_way_) arrive();
    under_way_.clear();
  }
  void renew() override { complete(); }
  std::size_t size(int target) const override { return ranks_.at(static_cast<std::size_t>(target)).size(); }

 private:
  Memories ranks_;
  std::vector<std::function<void()>> under_way_;
};

template <class Element>
Memories memories(const std::vector<std::vector<Element>>& ranks) {
  Memories all;
  for (const auto& elements : ranks) all.push_back(std::as_bytes(std::span(elements)));
  return all;
}

inline std::unique_ptr<remote::Reader> reader(Memories ranks) {
  return std::make_unique<remote::PlainReader>(std::make_unique<LateTransport>(std::move(ranks)));
}

}  // namespace remote_test
