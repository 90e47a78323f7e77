// How each kind of type is written to packed bytes and read from them; pack.hpp has what programs call.
//
// What is in every value of a type (blocks<T>) comes first, in ascending order of offsets and without padding; then, in
// the order of the members, what differs from value to value: a container as its length and its elements, an optional
// as one byte and perhaps its value, a variant as the index of its alternative and that. Bytes are those of the
// machine.
#pragma once

#include <bit>
#include <climits>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "wherry/types/leaves.hpp"

namespace wherry {

/// The bytes are not what pack() makes of such objects: damaged, truncated, or of other types.
struct unpack_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

template <class T>
const std::byte* address(const T& t) {
  return reinterpret_cast<const std::byte*>(std::addressof(object_of(t)));
}
template <class T>
std::byte* address(T& t) {
  return reinterpret_cast<std::byte*>(std::addressof(object_of(t)));
}

/// Blocks up to this number are copied one by one in straight code.
inline constexpr std::size_t most_unrolled = 64;

/// blocks<T> at `object` to packed bytes.
template <class T>
void gather_blocks(std::byte* packed, const std::byte* object) {
  if constexpr (blocks<T>.size() <= most_unrolled) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] std::size_t at = 0;
      ((std::memcpy(packed + at, object + blocks<T>[I].offset, blocks<T>[I].bytes), at += blocks<T>[I].bytes),
       ...);
    }(std::make_index_sequence<blocks<T>.size()>{});
  } else {
    for (const ValueBytes& b : blocks<T>) {
      std::memcpy(packed, object + b.offset, b.bytes);
      packed += b.bytes;
    }
  }
}

template <class T>
void scatter_blocks(std::byte* object, const std::byte* packed) {
  if constexpr (blocks<T>.size() <= most_unrolled) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] std::size_t at = 0;
      ((std::memcpy(object + blocks<T>[I].offset, packed + at, blocks<T>[I].bytes), at += blocks<T>[I].bytes),
       ...);
    }(std::make_index_sequence<blocks<T>.size()>{});
  } else {
    for (const ValueBytes& b : blocks<T>) {
      std::memcpy(object + b.offset, packed, b.bytes);
      packed += b.bytes;
    }
  }
}

/// Whether a T is its packed bytes.
template <class T>
inline constexpr bool is_dense = Fixed<T> && fixed_bytes<T> == sizeof(T) && !IsSubset<T>;

/// f(part) for each part of t whose size differs from value to value.
template <class T, class F>
void each_variable_part(T& t, F&& f) {
  using Plain = std::remove_const_t<T>;
  if constexpr (Fixed<Plain>) return;
  else if constexpr (Composite<Plain>)
    with_parts<Plain>(object_of(t), [&](auto&... part) { (each_variable_part(part, f), ...); });
  else f(t);
}

/// Lengths: as wide as a size_type of up to 32 bits; of wider ones (and of those that cannot be that long) one byte, or
/// a byte that says how many follow.
enum LengthMark : unsigned char { two_follow = 253, four_follow = 254, eight_follow = 255 };

template <class C>
inline constexpr bool has_narrow_length = sizeof(typename C::size_type) < sizeof(std::uint64_t);

template <class C>
constexpr std::size_t length_bytes(std::size_t n) {
  if constexpr (has_narrow_length<C>) return sizeof(typename C::size_type);
  else return n < two_follow ? 1 : n <= UINT16_MAX ? 3 : n <= UINT32_MAX ? 5 : 9;
}

template <class Integer>
std::byte* write_integer(std::byte* out, Integer value) {
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

template <class C>
std::byte* write_length(std::byte* out, std::size_t n) {
  if constexpr (has_narrow_length<C>) return write_integer(out, static_cast<typename C::size_type>(n));
  else if (n < two_follow) return write_integer(out, static_cast<std::uint8_t>(n));
  else if (n <= UINT16_MAX)
    return write_integer(write_integer(out, two_follow), static_cast<std::uint16_t>(n));
  else if (n <= UINT32_MAX)
    return write_integer(write_integer(out, four_follow), static_cast<std::uint32_t>(n));
  else return write_integer(write_integer(out, eight_follow), static_cast<std::uint64_t>(n));
}

/// The fewest bytes that a T can be packed to.
template <class T>
constexpr std::size_t least_bytes();

template <class... M>
constexpr std::size_t least_bytes_of_variable(Types<M...>) {
  return ((is_fixed<M>() ? 0 : least_bytes<M>() - (Composite<M> ? fixed_bytes<M> : 0)) + ... + 0);
}

template <class T>
constexpr std::size_t least_bytes() {
  if constexpr (Fixed<T>) return fixed_bytes<T>;
  else if constexpr (Container<T>) return length_bytes<T>(0);
  else if constexpr (is_optional<T> || is_variant<T>) return 1;
  else if constexpr (FixedArray<T>) return sizeof(T) / sizeof(ElementType<T>) * least_bytes<ElementType<T>>();
  else return fixed_bytes<T> + least_bytes_of_variable(Parts<T>{});
}

template <class T>
std::size_t bytes_of(const T& t);

template <class C>
std::size_t bytes_of_elements(const C& c) {
  if constexpr (Fixed<ElementType<const C>>) return std::size(c) * fixed_bytes<ElementType<const C>>;
  else {
    std::size_t sum = 0;
    for (const auto& element : c) sum += bytes_of(element);
    return sum;
  }
}

/// Of what is not in blocks<T>.
template <class T>
std::size_t bytes_of_variable(const T& t) {
  if constexpr (Container<T>) return length_bytes<T>(t.size()) + bytes_of_elements(t);
  else if constexpr (FixedArray<T>) return bytes_of_elements(t);
  else if constexpr (is_optional<T>) return 1 + (t ? bytes_of(*t) : 0);
  else {
    static_assert(is_variant<T>);
    if (t.valueless_by_exception()) throw std::invalid_argument("a variant without a value cannot be packed");
    return 1 + std::visit([](const auto& value) { return bytes_of(value); }, t);
  }
}

/// How many bytes t is packed to.
template <class T>
std::size_t bytes_of(const T& t) {
  std::size_t sum = fixed_bytes<T>;
  each_variable_part(t, [&](const auto& part) { sum += bytes_of_variable(part); });
  return sum;
}

template <class T>
std::byte* write(std::byte* out, const T& t);

template <class C>
inline constexpr bool is_contiguous = requires(C& c) {
  *c.data();
  c.size();
} || std::is_bounded_array_v<C>;

template <class C>
std::byte* write_elements(std::byte* out, const C& c) {
  using E = ElementType<const C>;
  if constexpr (is_contiguous<C> && is_dense<E>) {
    const std::size_t bytes = std::size(c) * sizeof(E);
    if (bytes > 0) std::memcpy(out, std::data(c), bytes);
    return out + bytes;
  } else {
    for (const auto& element : c) out = write<E>(out, element);
    return out;
  }
}

template <class T>
std::byte* write_variable(std::byte* out, const T& t) {
  if constexpr (Container<T>) return write_elements(write_length<T>(out, t.size()), t);
  else if constexpr (FixedArray<T>) return write_elements(out, t);
  else if constexpr (is_optional<T>) {
    out = write_integer(out, static_cast<unsigned char>(t.has_value()));
    return t ? write(out, *t) : out;
  } else {
    static_assert(std::variant_size_v<T> <= UCHAR_MAX, "wherry: a variant may have 255 alternatives");
    out = write_integer(out, static_cast<unsigned char>(t.index()));
    return std::visit([&](const auto& value) { return write(out, value); }, t);
  }
}

/// t at `out`, which has room for bytes_of(t); returns where the next one goes.
template <class T>
std::byte* write(std::byte* out, const T& t) {
  gather_blocks<T>(out, address(t));
  out += fixed_bytes<T>;
  each_variable_part(t, [&](const auto& part) { out = write_variable(out, part); });
  return out;
}

}  // namespace detail
}  // namespace wherry
