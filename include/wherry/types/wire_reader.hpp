// How each kind of type is read from packed bytes; wire.hpp has how it is written, pack.hpp what programs call.
#pragma once

#include <span>

#include "wherry/types/wire.hpp"

namespace wherry::detail {

/// Where packed bytes end, and what is checked of them. The place that is read next goes from function to function by
/// value: kept here, it would have to be loaded again after each copy.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, bool checks_values)
      : begin_(bytes.data()), end_(begin_ + bytes.size()), checks_values_(checks_values) {}

  std::size_t left(const std::byte* at) const { return static_cast<std::size_t>(end_ - at); }
  bool checks_values() const { return checks_values_; }

  /// So many bytes are there from `at` on.
  void need(const std::byte* at, std::size_t bytes) const {
    if (bytes > left(at)) [[unlikely]]
      fail(at, "packed bytes end where ", bytes, " more are needed,");
  }

  /// The text is put together here, where it does not make the readers longer.
  [[noreturn, gnu::cold, gnu::noinline]] void fail(const std::byte* at, const char* problem) const {
    throw unpack_error(problem + (" at byte " + std::to_string(at - begin_)) + " of " +
                       std::to_string(end_ - begin_) +
                       "; the bytes are damaged, or were packed from other types");
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail(const std::byte* at, const char* problem, std::uint64_t n,
                                                   const char* why) const {
    fail(at, (problem + std::to_string(n) + why).c_str());
  }

  /// One level of containers in containers, of which types that contain themselves have as many as the bytes say.
  class Level {
   public:
    Level(Reader& reader, const std::byte* at) : reader_(reader) {
      if (reader_.levels_ == most_levels) reader_.fail(at, "more than 500 levels of nesting");
      ++reader_.levels_;
    }
    ~Level() { --reader_.levels_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    static constexpr int most_levels = 500;
    Reader& reader_;
  };

 private:
  const std::byte *const begin_, *const end_;
  const bool checks_values_;
  int levels_ = 0;
};

/// Reads a T at `at`, and returns where the next one is.
template <class T>
const std::byte* read(Reader& reader, const std::byte* at, T& t);

template <class Integer>
const std::byte* read_integer(const Reader& reader, const std::byte* at, Integer& value) {
  reader.need(at, sizeof value);
  std::memcpy(&value, at, sizeof value);
  return at + sizeof value;
}

/// An integer of another type, widened.
template <class Integer>
const std::byte* read_as(const Reader& reader, const std::byte* at, std::uint64_t& value) {
  Integer narrow{};
  at = read_integer(reader, at, narrow);
  value = narrow;
  return at;
}

/// The length of a container whose elements take at least `least` bytes each: as many can still be there.
template <class C, std::size_t least>
const std::byte* read_length(const Reader& reader, const std::byte* at, std::size_t& length) {
  std::uint64_t n = 0;
  if constexpr (has_narrow_length<C>) at = read_as<typename C::size_type>(reader, at, n);
  else {
    at = read_as<std::uint8_t>(reader, at, n);
    if (n == two_follow) at = read_as<std::uint16_t>(reader, at, n);
    else if (n == four_follow) at = read_as<std::uint32_t>(reader, at, n);
    else if (n == eight_follow) at = read_as<std::uint64_t>(reader, at, n);
  }
  if (n > reader.left(at) / least) [[unlikely]]
    reader.fail(at, "a container of ", n, " elements, more than the bytes that follow,");
  length = static_cast<std::size_t>(n);
  return at;
}

template <class T>
constexpr bool has_booleans() {
  for (const Leaf& leaf : leaves<T>)
    if (leaf.kind == Kind::boolean) return true;
  return false;
}

/// A bool is 0 or 1: the compiler takes that for granted.
template <class T>
void check_booleans(const Reader& reader, const std::byte* at, const std::byte* object) {
  for (const Leaf& leaf : leaves<T>)
    for (std::size_t i = 0; leaf.kind == Kind::boolean && i < leaf.count; ++i)
      if (static_cast<unsigned char>(object[leaf.offset + i]) > 1)
        reader.fail(at, "a bool that is neither 0 nor 1");
}

template <class T>
const std::byte* read_blocks(const Reader& reader, const std::byte* at, T& t) {
  reader.need(at, fixed_bytes<T>);
  scatter_blocks<T>(address(t), at);
  if constexpr (has_booleans<T>())
    if (reader.checks_values()) check_booleans<T>(reader, at, address(t));
  return at + fixed_bytes<T>;
}

/// Of a known number: those of an array, or of a container that has its size already.
template <class C>
const std::byte* read_elements(Reader& reader, const std::byte* at, C& c) {
  using E = ElementType<C>;
  if constexpr (is_contiguous<C> && is_dense<E>) {
    const std::size_t bytes = std::size(c) * sizeof(E);
    reader.need(at, bytes);
    if (bytes > 0) std::memcpy(static_cast<void*>(std::data(c)), at, bytes);
    if constexpr (has_booleans<E>())
      if (reader.checks_values())
        for (const E& element : c) check_booleans<E>(reader, at, address(element));
    return at + bytes;
  } else {
    const Reader::Level level(reader, at);
    for (auto&& element : c) {
      if constexpr (std::is_same_v<decltype(element), E&>) at = read(reader, at, element);
      else {  // a bit of std::vector<bool>
        unsigned char bit = 0;
        at = read_integer(reader, at, bit);
        element = bit != 0;
      }
    }
    return at;
  }
}

template <class T>
struct Unfrozen {
  using type = T;
};
template <class K, class V>
struct Unfrozen<std::pair<const K, V>> {
  using type = std::pair<K, V>;
};

/// A container that finds its own places: sets and maps.
template <class C>
const std::byte* read_inserted(Reader& reader, const std::byte* at, C& c, std::size_t n) {
  const Reader::Level level(reader, at);
  c.clear();
  for (std::size_t i = 0; i < n; ++i) {
    typename Unfrozen<typename C::value_type>::type value{};
    at = read(reader, at, value);
    c.insert(c.end(), std::move(value));
  }
  if (c.size() != n) reader.fail(at, "the same key twice");
  return at;
}

template <class C>
const std::byte* read_container(Reader& reader, const std::byte* at, C& c) {
  using E = typename Unfrozen<typename C::value_type>::type;
  static_assert(least_bytes<E>() > 0,
                "wherry: elements without a value take no bytes; send their number instead of them");
  std::size_t n = 0;
  at = read_length<C, least_bytes<E>()>(reader, at, n);
  if constexpr (requires { c.resize(n); }) {
    c.resize(static_cast<typename C::size_type>(n));
    return read_elements(reader, at, c);
  } else return read_inserted(reader, at, c, n);
}

template <class V, std::size_t i = 0>
const std::byte* read_alternative(Reader& reader, const std::byte* at, V& v, std::size_t index) {
  if constexpr (i == std::variant_size_v<V>) reader.fail(at, "a variant of unknown alternative");
  else if (index != i) return read_alternative<V, i + 1>(reader, at, v, index);
  else {
    const Reader::Level level(reader, at);
    if (v.index() != i) v.template emplace<i>();
    return read(reader, at, *std::get_if<i>(&v));
  }
}

template <class T>
const std::byte* read_optional(Reader& reader, const std::byte* at, T& t) {
  unsigned char there = 0;
  at = read_integer(reader, at, there);
  if (there > 1) reader.fail(at, "an optional that is neither there nor not there");
  const Reader::Level level(reader, at);
  if (there == 1) return read(reader, at, t ? *t : t.emplace());
  t.reset();
  return at;
}

template <class T>
const std::byte* read_variable(Reader& reader, const std::byte* at, T& t) {
  if constexpr (Container<T>) return read_container(reader, at, t);
  else if constexpr (FixedArray<T>) return read_elements(reader, at, t);
  else if constexpr (is_optional<T>) return read_optional(reader, at, t);
  else {
    unsigned char index = 0;
    at = read_integer(reader, at, index);
    return read_alternative(reader, at, t, index);
  }
}

template <class T>
const std::byte* read(Reader& reader, const std::byte* at, T& t) {
  at = read_blocks(reader, at, t);
  each_variable_part(t, [&](auto& part) { at = read_variable(reader, at, part); });
  return at;
}

}  // namespace wherry::detail
