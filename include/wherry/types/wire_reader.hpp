// How each kind of type is read from packed bytes; wire.hpp has how it is written, pack.hpp what programs call.
#pragma once

#include "wherry/types/wire.hpp"

namespace wherry::detail {

/// Packed bytes that are read from the front, never beyond their end.
class Reader {
 public:
  Reader(const std::byte* bytes, std::size_t size, bool checks_values)
      : begin_(bytes), at_(bytes), end_(bytes + size), checks_values_(checks_values) {}

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  bool checks_values() const { return checks_values_; }

  /// The next bytes.
  const std::byte* take(std::size_t bytes) {
    if (bytes > left()) [[unlikely]]
      fail_at_end(bytes);
    const std::byte* const taken = at_;
    at_ += bytes;
    return taken;
  }

  template <class Integer>
  Integer take_integer() {
    Integer value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw unpack_error(problem + " at byte " + std::to_string(at_ - begin_) + " of " +
                       std::to_string(end_ - begin_) +
                       "; the bytes are damaged, or were packed from other types");
  }

  /// One level of containers in containers, of which types that contain themselves have as many as the bytes say.
  class Level {
   public:
    explicit Level(Reader& reader) : reader_(reader) {
      if (++reader_.levels_ > most_levels) reader_.fail("more than 500 levels of nesting");
    }
    ~Level() { --reader_.levels_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    static constexpr int most_levels = 500;
    Reader& reader_;
  };

 private:
  [[noreturn]] void fail_at_end(std::size_t bytes) const {
    fail("packed bytes end where " + std::to_string(bytes) + " more are needed,");
  }

  const std::byte *begin_, *at_, *end_;
  bool checks_values_;
  int levels_ = 0;
};

template <class T>
void read(Reader& reader, T& t);

/// The length of a container whose elements take at least `least` bytes each: as many can still be there.
template <class C>
std::size_t read_length(Reader& reader, std::size_t least) {
  std::uint64_t n = 0;
  if constexpr (has_narrow_length<C>) n = reader.take_integer<typename C::size_type>();
  else {
    n = reader.take_integer<unsigned char>();
    if (n == two_follow) n = reader.take_integer<std::uint16_t>();
    else if (n == four_follow) n = reader.take_integer<std::uint32_t>();
    else if (n == eight_follow) n = reader.take_integer<std::uint64_t>();
  }
  if (n > reader.left() / least) [[unlikely]]
    reader.fail("a container of " + std::to_string(n) + " elements, more than the bytes that follow,");
  return static_cast<std::size_t>(n);
}

template <class T>
constexpr bool has_booleans() {
  for (const Leaf& leaf : leaves<T>)
    if (leaf.kind == Kind::boolean) return true;
  return false;
}

/// A bool is 0 or 1: the compiler takes that for granted.
template <class T>
void check_booleans(const Reader& reader, const std::byte* object) {
  for (const Leaf& leaf : leaves<T>)
    for (std::size_t i = 0; leaf.kind == Kind::boolean && i < leaf.count; ++i)
      if (static_cast<unsigned char>(object[leaf.offset + i]) > 1)
        reader.fail("a bool that is neither 0 nor 1");
}

template <class T>
void read_blocks(Reader& reader, T& t) {
  scatter_blocks<T>(address(t), reader.take(fixed_bytes<T>));
  if constexpr (has_booleans<T>())
    if (reader.checks_values()) check_booleans<T>(reader, address(t));
}

/// Of a known number: those of an array, or of a container that has its size already.
template <class C>
void read_elements(Reader& reader, C& c) {
  using E = Element<C>;
  if constexpr (is_contiguous<C> && is_dense<E>) {
    const std::size_t bytes = std::size(c) * sizeof(E);
    const std::byte* const from = reader.take(bytes);
    if (bytes > 0) std::memcpy(static_cast<void*>(std::data(c)), from, bytes);
    if constexpr (has_booleans<E>())
      if (reader.checks_values())
        for (const E& element : c) check_booleans<E>(reader, address(element));
  } else {
    const Reader::Level level(reader);
    for (auto&& element : c) {
      if constexpr (std::is_same_v<decltype(element), E&>) read(reader, element);
      else element = reader.take_integer<unsigned char>() != 0;  // a bit of std::vector<bool>
    }
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
void read_inserted(Reader& reader, C& c, std::size_t n) {
  const Reader::Level level(reader);
  c.clear();
  for (std::size_t i = 0; i < n; ++i) {
    typename Unfrozen<typename C::value_type>::type value{};
    read(reader, value);
    c.insert(c.end(), std::move(value));
  }
  if (c.size() != n) reader.fail("the same key twice");
}

template <class C>
void read_container(Reader& reader, C& c) {
  using E = typename Unfrozen<typename C::value_type>::type;
  static_assert(least_bytes<E>() > 0,
                "wherry: elements without a value take no bytes; send their number instead of them");
  const std::size_t n = read_length<C>(reader, least_bytes<E>());
  if constexpr (requires { c.resize(n); }) {
    c.resize(static_cast<typename C::size_type>(n));
    read_elements(reader, c);
  } else read_inserted(reader, c, n);
}

template <class V, std::size_t i = 0>
void read_alternative(Reader& reader, V& v, std::size_t index) {
  if constexpr (i == std::variant_size_v<V>) reader.fail("a variant of unknown alternative");
  else if (index != i) read_alternative<V, i + 1>(reader, v, index);
  else {
    const Reader::Level level(reader);
    if (v.index() != i) v.template emplace<i>();
    read(reader, *std::get_if<i>(&v));
  }
}

template <class T>
void read_variable(Reader& reader, T& t) {
  if constexpr (Container<T>) read_container(reader, t);
  else if constexpr (FixedArray<T>) read_elements(reader, t);
  else if constexpr (is_optional<T>) {
    const auto there = reader.take_integer<unsigned char>();
    if (there > 1) reader.fail("an optional that is neither there nor not there");
    const Reader::Level level(reader);
    if (there == 0) t.reset();
    else read(reader, t ? *t : t.emplace());
  } else read_alternative(reader, t, reader.take_integer<unsigned char>());
}

template <class T>
void read(Reader& reader, T& t) {
  read_blocks(reader, t);
  each_variable_part(t, [&](auto& part) { read_variable(reader, part); });
}

}  // namespace wherry::detail
