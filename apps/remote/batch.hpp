// Elements of other ranks that are read together: asked for one by one, brought by one flush.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "remote/reader.hpp"

namespace remote {

/// Consecutive elements of a rank.
struct Stretch {
  std::int32_t owner = 0, first = 0, count = 0;

  bool holds(std::int32_t begin, std::int32_t number) const {
    return begin >= first && begin + number <= first + count;
  }
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

template <class Element>
class Batch {
 public:
  /// Asks for a stretch; returns where it will begin in elements(). What was asked for last is not asked for again.
  std::size_t ask(const Stretch& stretch) {
    if (!stretches_.empty() && stretches_.back() == stretch)
      return asked_ - static_cast<std::size_t>(stretch.count);
    stretches_.push_back(stretch);
    asked_ += static_cast<std::size_t>(stretch.count);
    return asked_ - static_cast<std::size_t>(stretch.count);
  }
  bool is_empty() const { return stretches_.empty(); }

  /// Starts the gets of all that has been asked for; elements() are complete when the reader has been flushed.
  void start(Reader& reader) {
    elements_.resize(asked_);
    std::span<Element> rest = elements_;
    for (const Stretch& each : stretches_) {
      const auto count = static_cast<std::size_t>(each.count);
      get(reader, rest.first(count), each.owner, static_cast<std::size_t>(each.first));
      rest = rest.subspan(count);
    }
    stretches_.clear();
    asked_ = 0;
  }
  /// Of the last start().
  std::span<const Element> elements() const { return elements_; }

 private:
  std::vector<Stretch> stretches_;
  std::size_t asked_ = 0;  // elements
  std::vector<Element> elements_;
};

}  // namespace remote
