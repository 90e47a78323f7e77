// A number for what a type looks like on the wire, for checked bytes.
#pragma once

#include <bit>

#include "wherry/types/wire.hpp"

namespace wherry::detail {

enum class Mark : std::uint64_t { array = 101, container, optional, variant, composite, end, deeper };

/// FNV-1a over numbers.
constexpr std::uint64_t hashed(std::uint64_t hash, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ (value >> shift & 0xff)) * 0x100000001b3u;
  return hash;
}
constexpr std::uint64_t hashed(std::uint64_t hash, Mark mark) {
  return hashed(hash, static_cast<std::uint64_t>(mark));
}

/// Types that contain themselves are described to this depth.
inline constexpr int most_described = 5;

template <class T, int depth = 0>
constexpr std::uint64_t described(std::uint64_t hash);

template <int depth, class... M>
constexpr std::uint64_t described_all(std::uint64_t hash, Types<M...>) {
  ((hash = described<M, depth>(hash)), ...);
  return hashed(hash, Mark::end);
}

template <int depth, class... M>
constexpr std::uint64_t described_alternatives(std::uint64_t hash, const std::variant<M...>*) {
  return described_all<depth>(hash, Types<M...>{});
}

template <class T, int depth>
constexpr std::uint64_t described(std::uint64_t hash) {
  if constexpr (Fixed<T>) {
    for (const Leaf& leaf : leaves<T>)
      hash = hashed(hashed(hashed(hash, leaf.count), leaf.bytes), static_cast<std::uint64_t>(leaf.kind));
    return hash;
  } else if constexpr (depth == most_described) return hashed(hash, Mark::deeper);
  else if constexpr (Container<T>) {
    using E = std::remove_const_t<typename T::value_type>;
    return described<E, depth + 1>(hashed(hashed(hash, Mark::container), length_bytes<T>(UINT16_MAX)));
  } else if constexpr (FixedArray<T>)
    return described<ElementType<T>, depth + 1>(hashed(hashed(hash, Mark::array), array_length<T>));
  else if constexpr (is_optional<T>)
    return described<typename T::value_type, depth + 1>(hashed(hash, Mark::optional));
  else if constexpr (is_variant<T>)
    return described_alternatives<depth + 1>(hashed(hash, Mark::variant), static_cast<const T*>(nullptr));
  else return described_all<depth + 1>(hashed(hash, Mark::composite), Parts<T>{});
}

template <class... T>
inline constexpr std::uint64_t fingerprint =
    described_all<0>(hashed(0xcbf29ce484222325u, std::endian::native == std::endian::little), Types<T...>{});

}  // namespace wherry::detail
