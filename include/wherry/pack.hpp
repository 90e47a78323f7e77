// Wherry for C++20: objects as bytes with nothing around them. Knows no MPI.
//
//   struct Particle { double position[3]; int id; wherry::compact_vector<int> bonds; };
//
//   wherry::PackedBytes bytes = wherry::pack(particle);     // 28 bytes, 2 for the number of bonds, 4 for each
//   wherry::unpack(bytes, other);                           // into what is there: a vector that is large enough stays
//
// Objects consist of what types.hpp describes (numbers, enumerations, bool, complex numbers, arrays, aggregates,
// classes with members(), pairs, tuples) and of containers, strings, optionals and variants of such. There is no
// version, class id or header, and no padding. Lengths are as wide as the container's size_type if that has less than
// 64 bits, else one byte below 253 elements, three to 65535. All ranks need the same types, sizes and byte order.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "wherry/types/fingerprint.hpp"
#include "wherry/types/wire_reader.hpp"

namespace wherry {

/// What is in front of the objects, and what is checked when they are unpacked.
enum class Wire {
  plain,  // nothing; never read or written beyond the bytes or the objects, whatever the bytes are
  checked  // 8 bytes that differ from type to type; a bool must be 0 or 1: for tests, files and untrusted input
};

/// Bytes that are their own.
class PackedBytes {
 public:
  PackedBytes() = default;
  explicit PackedBytes(std::size_t size)
      : bytes_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
  PackedBytes(PackedBytes&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  PackedBytes& operator=(PackedBytes&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  std::byte* begin() { return data(); }
  std::byte* end() { return data() + size_; }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

/// The exact number of bytes that pack() makes of these objects.
template <Wire wire = Wire::plain, class... T>
std::size_t packed_size(const T&... object) {
  return (detail::bytes_of(object) + ... + (wire == Wire::checked ? sizeof(std::uint64_t) : 0));
}

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_too_small(std::size_t needed, std::size_t given) {
  throw std::length_error("the objects are packed to " + std::to_string(needed) + " bytes, but there are " +
                          std::to_string(given) + "; give as many as packed_size() says");
}

template <Wire wire, class... T>
void write_all(std::byte* out, const T&... object) {
  if constexpr (wire == Wire::checked) out = write_integer(out, fingerprint<T...>);
  ((out = write(out, object)), ...);
}

}  // namespace detail

/// Packs the objects, one after the other, to the front of `bytes`; returns how many bytes they take.
/// Throws std::length_error, before anything is written, if there are not packed_size() bytes.
template <Wire wire = Wire::plain, class... T>
std::size_t pack_into(std::span<std::byte> bytes, const T&... object) {
  const std::size_t size = packed_size<wire>(object...);
  if (size > bytes.size()) [[unlikely]]
    detail::fail_too_small(size, bytes.size());
  detail::write_all<wire>(bytes.data(), object...);
  return size;
}

/// The same, to bytes of their own: one allocation of packed_size().
template <Wire wire = Wire::plain, class... T>
PackedBytes pack(const T&... object) {
  PackedBytes bytes(packed_size<wire>(object...));
  detail::write_all<wire>(bytes.data(), object...);
  return bytes;
}

/// Unpacks all of `bytes` to the objects that they were packed from, or to others of the same types (a subset: object
/// may be a temporary). Containers that have the capacity allocate nothing. Throws unpack_error if the bytes are too
/// few or too many, or are no such objects; the objects then hold some valid value.
template <Wire wire = Wire::plain, class... T>
void unpack(std::span<const std::byte> bytes, T&&... object) {
  detail::Reader reader(bytes, wire == Wire::checked);
  const std::byte* at = bytes.data();
  if constexpr (wire == Wire::checked) {
    std::uint64_t fingerprint = 0;
    at = detail::read_integer(reader, at, fingerprint);
    if (fingerprint != detail::fingerprint<std::remove_cvref_t<T>...>)
      reader.fail(at, "the fingerprint of other types, or of none,");
  }
  ((at = detail::read(reader, at, object)), ...);
  if (reader.left(at) > 0) [[unlikely]]
    reader.fail(at, "", reader.left(at), " bytes are left over");
}

}  // namespace wherry
