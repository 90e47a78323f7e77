// Other ranks' memory, read by one-sided gets: in this the variants of an application differ, and in nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace remote {

/// What happened to the gets of this rank.
struct Statistics {
  std::uint64_t gets = 0;  // as the application asked for them
  std::uint64_t get_bytes = 0;
  std::uint64_t hits = 0;   // gets for which nothing had to be moved
  std::uint64_t moves = 0;  // one-sided gets that went out
  std::uint64_t move_bytes = 0;
};

inline Statistics operator+(const Statistics& a, const Statistics& b) {
  return {.gets = a.gets + b.gets,
          .get_bytes = a.get_bytes + b.get_bytes,
          .hits = a.hits + b.hits,
          .moves = a.moves + b.moves,
          .move_bytes = a.move_bytes + b.move_bytes};
}

/// For one thread of each rank.
class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  /// Reads target's bytes from `displacement` on. They are in `into` when flush() has returned.
  /// score: how much more than others these bytes deserve to be remembered.
  virtual void get(std::span<std::byte> into, int target, std::size_t displacement, double score) = 0;
  virtual void flush() = 0;

  /// All ranks have written to their memory: later gets see what is there now. Between the last flush of any rank and
  /// the first write lies a barrier, which is the application's. Collective.
  virtual void renew() = 0;

  virtual Statistics statistics() const = 0;
};

/// The same, counted in elements.
template <class Element>
void get(Reader& reader, std::span<Element> into, int target, std::size_t first, double score = 1) {
  reader.get(std::as_writable_bytes(into), target, first * sizeof(Element), score);
}

}  // namespace remote
