// Random schedules of everything that can be done with a cache, checked byte by byte against a model that has
// none.
//
// The model is a map from (target, displacement) to a byte. Every choice comes from a stream of numbers, so
// that a fuzzer can make it as well as a generator with a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cache/cache.hpp"

namespace cache_test {

using wherry::cache::Answer;
using wherry::cache::Cache;
using wherry::cache::CacheOptions;
using wherry::cache::Missing;
using wherry::cache::TargetRange;
using wherry::cache::Ticket;

/// The window's memory, one byte at a time.
class Model {
 public:
  std::byte at(std::uint32_t target, std::uint64_t displacement) const {
    const auto written = bytes_.find({target, displacement});
    return written != bytes_.end()
               ? written->second
               : static_cast<std::byte>(displacement * 37 + target * 101 + displacement / 256);
  }
  std::vector<std::byte> read(const TargetRange& range) const {
    std::vector<std::byte> bytes;
    for (std::uint64_t i = 0; i < range.bytes; ++i) bytes.push_back(at(range.target, range.displacement + i));
    return bytes;
  }
  void write(const TargetRange& range, const std::vector<std::byte>& bytes) {
    for (std::uint64_t i = 0; i < range.bytes; ++i) bytes_[{range.target, range.displacement + i}] = bytes[i];
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::byte> bytes_;
};

/// Runs one schedule; problem() is empty as long as all has been right.
class Schedule {
 public:
  using Choose = std::function<std::uint64_t(std::uint64_t)>;  // a number below its argument

  Schedule(const CacheOptions& options, std::uint64_t window_bytes, Choose choose)
      : cache_(options), window_bytes_(window_bytes), choose_(std::move(choose)) {}

  void step() {
    switch (choose_(32)) {
      case 0: own_write(true); break;
      case 1: own_write(false); break;
      case 2: foreign_write(); break;
      case 3: flush(); break;
      case 4: complete_one(); break;
      case 5: complete_one(); break;
      case 6: peek(); break;
      case 7: get_in_block(); break;
      default: get(); break;
    }
    if (cache_.bytes() > cache_.options().ceiling_bytes) complain("memory above the ceiling");
  }

  /// Completes every fetch and checks every get.
  void flush() {
    while (!fetches_.empty()) complete(choose_(fetches_.size()));
    for (const Get& get : gets_) check(get);
    gets_.clear();
    blocks_.clear();
    if (cache_.under_way() != 0) complain("fetches are left");
    cache_.end_epoch();
  }

  const std::string& problem() const { return problem_; }
  const Cache& cache() const { return cache_; }

 private:
  struct Get {
    TargetRange range;
    std::vector<std::byte> destination, expected;
    std::vector<bool> either;  // written while the get was under way: old and new bytes are both right
  };
  struct Fetch {
    TargetRange range;
    Ticket ticket;
    std::byte* destination;
    std::vector<std::byte> bytes;  // as they were when it was issued
  };

  TargetRange some_range() {
    constexpr std::uint64_t sizes[] = {1, 8, 8, 8, 24, 24, 64, 64, 64, 300, 300, 1000, 1000, 5000};
    const std::uint64_t size = sizes[choose_(std::size(sizes))];
    const std::uint64_t bytes = std::min(choose_(4) == 0 ? 1 + choose_(size) : size, window_bytes_);
    // Beginnings that are often the same, and some anywhere.
    std::uint64_t at = choose_(window_bytes_ - bytes + 1);
    if (choose_(4) != 0) at = at / size * size;
    constexpr std::uint64_t far = std::uint64_t{3} << 33;
    return {static_cast<std::uint32_t>(choose_(2)), at + far * choose_(2), bytes};
  }

  Get& begin_get(const TargetRange& range) {
    gets_.push_back({range, std::vector<std::byte>(range.bytes, std::byte{0xa5}), model_.read(range),
                     std::vector<bool>(range.bytes)});
    return gets_.back();
  }

  void get() {
    Get& get = begin_get(some_range());
    note(get, cache_.lookup(get.range, get.destination.data(), static_cast<float>(1 + choose_(3))));
  }

  /// The rest of the block is asked for, too.
  void get_in_block() {
    constexpr std::uint64_t size = 512;
    TargetRange range = some_range();
    const std::uint64_t begin = range.displacement / size * size;
    const TargetRange block{range.target, begin, size};
    range.bytes = std::min(range.bytes, block.end() - range.displacement);
    Get& get = begin_get(range);
    const Answer answer = cache_.lookup_in_block(block, range, get.destination.data());
    if (answer != Answer::block) return note(get, answer);
    blocks_.emplace_back(size);
    note_fetches(block, blocks_.back().data());
  }

  void note(const Get& get, Answer answer) {
    if (answer == Answer::block) complain("a block that nobody wanted");
    if (answer == Answer::missing) note_fetches(get.range, gets_.back().destination.data());
    if (answer != Answer::hit) return;
    check(get);
    gets_.pop_back();
  }

  void note_fetches(const TargetRange& range, std::byte* destination) {
    std::uint64_t before = 0;
    for (const Missing& each : cache_.missing()) {
      if (each.bytes == 0 || each.offset < before || each.offset + each.bytes > range.bytes)
        return complain("what is missing is not in the range, or not in order");
      before = each.offset + each.bytes;
      const TargetRange part{range.target, range.displacement + each.offset, each.bytes};
      fetches_.push_back({part, each.ticket, destination + each.offset, model_.read(part)});
    }
    if (cache_.missing().empty()) complain("nothing is missing of what is said to be");
  }

  void complete_one() {
    if (!fetches_.empty()) complete(choose_(fetches_.size()));
  }

  /// Some fetches read when they are issued, some when they complete.
  void complete(std::size_t number) {
    Fetch fetch = std::move(fetches_[number]);
    fetches_.erase(fetches_.begin() + static_cast<std::ptrdiff_t>(number));
    if (choose_(2) == 0) fetch.bytes = model_.read(fetch.range);
    std::copy(fetch.bytes.begin(), fetch.bytes.end(), fetch.destination);
    if (fetch.ticket != 0) cache_.filled(fetch.ticket, fetch.destination);
  }

  void own_write(bool known) {
    const TargetRange range = some_range();
    const std::vector<std::byte> bytes = write(range);
    cache_.written(range, known ? bytes.data() : nullptr);
  }

  /// Another rank writes; the program knows, and invalidates.
  void foreign_write() {
    if (choose_(4) != 0) return;
    write(some_range());
    cache_.invalidate();
  }

  std::vector<std::byte> write(const TargetRange& range) {
    std::vector<std::byte> bytes;
    for (std::uint64_t i = 0; i < range.bytes; ++i) bytes.push_back(static_cast<std::byte>(choose_(256)));
    model_.write(range, bytes);
    for (Get& get : gets_)
      for (std::uint64_t i = 0; i < get.range.bytes; ++i) {
        const std::uint64_t at = get.range.displacement + i;
        if (get.range.target == range.target && at >= range.displacement && at < range.end())
          get.either[i] = true;
      }
    return bytes;
  }

  void peek() {
    const TargetRange range = some_range();
    constexpr std::byte untouched{0xa5};
    std::vector<std::byte> seen(range.bytes, untouched), expected = model_.read(range);
    const Answer answer = cache_.peek(range, seen.data());
    for (const Missing& each : cache_.missing()) {
      if (each.ticket != 0) complain("a peek asks for what it does not keep");
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(each.offset), each.bytes, untouched);
    }
    if (seen != expected) complain("wrong bytes seen in a peek");
    if ((answer == Answer::hit) != cache_.missing().empty())
      complain("a peek that does not know what it saw");
  }

  void check(const Get& get) {
    for (std::uint64_t i = 0; i < get.range.bytes; ++i)
      if (!get.either[i] && get.destination[i] != get.expected[i])
        return complain("wrong byte " + std::to_string(i) + " of (" + std::to_string(get.range.target) +
                        ", " + std::to_string(get.range.displacement) + ", " +
                        std::to_string(get.range.bytes) + ")");
  }

  void complain(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }

  Cache cache_;
  std::uint64_t window_bytes_;
  Choose choose_;
  Model model_;
  std::vector<Get> gets_;
  std::vector<Fetch> fetches_;
  std::list<std::vector<std::byte>> blocks_;  // under way
  std::string problem_;
};

}  // namespace cache_test
