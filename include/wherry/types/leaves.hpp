// Where the values of a type lie, known to the compiler: its scalars as (offset, size), and what of it is padding.
#pragma once

#include <algorithm>
#include <array>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include "wherry/types/members.hpp"
#include "wherry/types/subset.hpp"

namespace wherry {

/// Bytes of a value without padding among them.
struct ValueBytes {
  std::size_t offset;
  std::size_t bytes;
  bool operator==(const ValueBytes&) const = default;
};

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;

/// A number of elements that only the value says: vectors, strings, maps, ...
template <class T>
concept Container = !FixedArray<T> && !NamesMembers<T> && requires(T& t) {
  typename T::value_type;
  typename T::size_type;
  t.size();
  t.begin();
  t.end();
  t.clear();
};

template <class T>
concept PointerLike =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T> || requires(const T& t) {
      typename T::element_type;
      t.get();
    };

/// What is communicated member by member.
template <class T>
concept Composite =
    !Scalar<T> && !FixedArray<T> && !Container<T> && !is_optional<T> && !is_variant<T> && !PointerLike<T>;

template <class T>
struct ElementOf {
  using type = std::remove_cvref_t<decltype(*std::begin(std::declval<T&>()))>;
};
template <Container T>
struct ElementOf<T> {  // that of std::vector<bool> is no reference
  using type = typename T::value_type;
};
template <class T>
using ElementType = typename ElementOf<std::remove_const_t<T>>::type;

template <class T>
constexpr bool reject_what_cannot_be_sent() {
  static_assert(!PointerLike<T>,
                "wherry: a pointer means nothing on another rank; hold the value or a container of values, "
                "or leave the pointer "
                "out of members()");
  static_assert(!std::is_reference_v<T>, "wherry: a reference means nothing on another rank; hold the value");
  if constexpr (Container<T> && std::is_aggregate_v<T>)
    static_assert(!has_base<T>,
                  "wherry: of a class derived from a container only the elements would be sent; give it "
                  "static constexpr auto members(), or hold the container");
  return !PointerLike<T> && !std::is_reference_v<T>;
}

template <class T>
constexpr bool is_fixed();

/// The types of what T consists of, of a subset too.
template <class T, class F>
constexpr decltype(auto) with_parts(typename Whole<T>::Object& object, F&& f) {
  if constexpr (IsSubset<T>) return Whole<T>::with_members(object, f);
  else return with_members(object, f);
}
template <class T, class F>
constexpr decltype(auto) with_parts(const typename Whole<T>::Object& object, F&& f) {
  if constexpr (IsSubset<T>) return Whole<T>::with_members(object, f);
  else return with_members(object, f);
}
template <class T>
using Parts = decltype(with_parts<T>(std::declval<typename Whole<T>::Object&>(), TypesOf{}));

struct AnyConst {
  template <class... M>
  constexpr std::bool_constant<(std::is_const_v<M> || ...)> operator()(M&...) const {
    return {};
  }
};

template <class T, class... M>
constexpr bool all_fixed(Types<M...>) {
  // The keys of maps are const, and read to a copy.
  using IsConst = decltype(with_parts<T>(std::declval<typename Whole<T>::Object&>(), AnyConst{}));
  static_assert(TupleLike<T> || !IsConst::value,
                "wherry: a const member cannot be received; make it non-const, or leave it out of members()");
  return (is_fixed<M>() && ...);
}

/// Whether all values of T have the same size: no containers, optionals or variants in it.
template <class T>
constexpr bool is_fixed() {
  if constexpr (!reject_what_cannot_be_sent<T>() || Scalar<T>) return true;
  else if constexpr (FixedArray<T>) return is_fixed<ElementType<T>>();
  else if constexpr (Composite<T>) return all_fixed<T>(Parts<T>{});
  else return false;
}

template <class T>
concept Fixed = is_fixed<T>();

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

/// Storage that is never made: only the addresses of its parts are asked for.
template <class T>
union Probe {
  Probe();
  ~Probe();
  unsigned char bytes[sizeof(T)];
  T value;
};
template <class T>
struct ProbeOf {
  static const Probe<T> probe;
};

/// The offset in T of a part of its probe, which is looked for from `expected` on.
template <class T>
constexpr std::size_t offset_in(const void* part, std::size_t expected) {
  for (std::size_t i = 0; i <= sizeof(T); ++i) {
    const std::size_t offset = (expected + i) % (sizeof(T) + 1);
    if (part == static_cast<const void*>(ProbeOf<T>::probe.bytes + offset)) return offset;
  }
  return sizeof(T) + 1;
}

/// The offsets of T's parts, in the order of Parts<T>.
template <class T>
constexpr auto part_offsets() {
  using Object = typename Whole<T>::Object;
  return with_parts<T>(ProbeOf<Object>::probe.value, [](const auto&... part) {
    std::size_t end = 0;
    const auto offset = [&](const auto& one) {
      const std::size_t found = offset_in<Object>(static_cast<const void*>(&one), end);
      end = found + sizeof(one);
      return found;
    };
    return std::array<std::size_t, sizeof...(part)>{offset(part)...};
  });
}

#ifdef __clang__
#pragma clang diagnostic pop
#endif

/// The types that MPI has a name for, and enumerations as the integers below them.
enum class Kind : unsigned char {
  boolean,
  character,
  signed_char,
  unsigned_char,
  short_integer,
  unsigned_short,
  integer,
  unsigned_integer,
  long_integer,
  unsigned_long,
  long_long,
  unsigned_long_long,
  single_precision,
  double_precision,
  extended_precision,
  bytes
};

template <class T>
constexpr Kind kind_of() {
  if constexpr (std::is_enum_v<T>) return kind_of<std::underlying_type_t<T>>();
  else {
    constexpr bool is[] = {
        std::is_same_v<T, bool>,          std::is_same_v<T, char>,      std::is_same_v<T, signed char>,
        std::is_same_v<T, unsigned char>, std::is_same_v<T, short>,     std::is_same_v<T, unsigned short>,
        std::is_same_v<T, int>,           std::is_same_v<T, unsigned>,  std::is_same_v<T, long>,
        std::is_same_v<T, unsigned long>, std::is_same_v<T, long long>, std::is_same_v<T, unsigned long long>,
        std::is_same_v<T, float>,         std::is_same_v<T, double>,    std::is_same_v<T, long double>};
    return static_cast<Kind>(std::find(std::begin(is), std::end(is), true) - std::begin(is));
  }
}

/// What of a scalar holds its value: the x87 format has ten bytes in sixteen.
template <class T>
inline constexpr std::size_t value_bytes = std::is_same_v<T, long double> && LDBL_MANT_DIG == 64 &&
                                                   sizeof(T) > 10
                                               ? 10
                                               : sizeof(T);

/// Scalars of one kind, one after the other.
struct Leaf {
  std::size_t offset, count;
  std::size_t bytes;  // of one
  Kind kind;
};

/// Gets the leaves of a type twice: to count them, and to keep them.
struct LeafSink {
  Leaf* leaves = nullptr;
  std::size_t count = 0;
  constexpr void add(const Leaf& leaf) {
    if (leaves != nullptr) leaves[count] = leaf;
    ++count;
  }
};

template <class T>
constexpr void add_leaves(LeafSink& sink, std::size_t at);

template <class T>
constexpr void add_leaves_of_parts(LeafSink&, std::size_t, Types<>) {}
template <class T, class... M>
constexpr void add_leaves_of_parts(LeafSink& sink, std::size_t at, Types<M...>) {
  const auto offsets = part_offsets<T>();
  std::size_t i = 0;
  (add_leaves<M>(sink, at + offsets[i++]), ...);
}

template <class E>
constexpr void add_elements(LeafSink& sink, std::size_t at, std::size_t count) {
  if constexpr (Scalar<E> && !is_complex_number<E> && value_bytes<E> == sizeof(E)) {
    if (count > 0) sink.add({at, count, sizeof(E), kind_of<E>()});
  } else if constexpr (is_fixed<E>()) {
    for (std::size_t i = 0; i < count; ++i) add_leaves<E>(sink, at + i * sizeof(E));
  }
}

/// The scalars in T that are there in every value: what is in containers, optionals and variants is left out.
template <class T>
constexpr void add_leaves(LeafSink& sink, std::size_t at) {
  if constexpr (is_complex_number<T>) add_elements<typename T::value_type>(sink, at, 2);
  else if constexpr (Scalar<T>) sink.add({at, 1, value_bytes<T>, kind_of<T>()});
  else if constexpr (FixedArray<T>) add_elements<ElementType<T>>(sink, at, array_length<T>);
  else if constexpr (Composite<T>) add_leaves_of_parts<T>(sink, at, Parts<T>{});
}

template <class T>
constexpr std::size_t count_leaves() {
  LeafSink sink;
  add_leaves<T>(sink, 0);
  return sink.count;
}

/// In ascending order of offsets, which the members of a tuple do not have.
template <class T>
inline constexpr auto leaves = [] {
  std::array<Leaf, count_leaves<T>()> found{};
  LeafSink sink{found.data()};
  add_leaves<T>(sink, 0);
  std::sort(found.begin(), found.end(), [](const Leaf& a, const Leaf& b) { return a.offset < b.offset; });
  return found;
}();

/// Adds the block to those that are there, or to the last one of them; returns their number.
constexpr std::size_t join(ValueBytes* blocks, std::size_t count, ValueBytes next) {
  if (count > 0 && blocks[count - 1].offset + blocks[count - 1].bytes == next.offset) {
    blocks[count - 1].bytes += next.bytes;
    return count;
  }
  blocks[count] = next;
  return count + 1;
}

template <class T>
inline constexpr auto joined_leaves = [] {
  std::pair<std::array<ValueBytes, count_leaves<T>() + 1>, std::size_t> joined{};
  for (const Leaf& leaf : leaves<T>)
    joined.second = join(joined.first.data(), joined.second, {leaf.offset, leaf.count * leaf.bytes});
  return joined;
}();

}  // namespace detail

/// The bytes that are in every value of T, in ascending order and without padding. T: any type that can be packed, or a
/// Subset.
template <class T>
inline constexpr auto blocks = [] {
  std::array<ValueBytes, detail::joined_leaves<T>.second> found{};
  std::copy_n(detail::joined_leaves<T>.first.begin(), found.size(), found.begin());
  return found;
}();

/// How many bytes that are.
template <class T>
inline constexpr std::size_t fixed_bytes = [] {
  std::size_t sum = 0;
  for (const ValueBytes& b : blocks<T>) sum += b.bytes;
  return sum;
}();

/// Bytes of a T that hold nothing. T has no containers, optionals or variants.
template <detail::Fixed T>
inline constexpr std::size_t padding_bytes = sizeof(T) - fixed_bytes<T>;

}  // namespace wherry
