// What a type consists of, found out by the compiler: the members of aggregates, of classes that name theirs, of pairs
// and tuples.
//
//   struct Particle { double position[3]; int id; Kind kind; };    // nothing to write
//
//   class Bond {                                                   // private members
//    public:
//     static constexpr auto members() { return wherry::members(&Bond::partner_, &Bond::strength_); }
//   ...
//
// Members that members() leaves out are not communicated. What has no meaning on another rank is rejected at compile
// time: pointers, references, unions, classes that are neither aggregates nor have members().
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "wherry/types/bindings.hpp"

namespace wherry {

/// What a class lists in `static constexpr auto members()`: pointers to its own or inherited members.
template <class... Member>
constexpr auto members(Member... member) {
  static_assert((std::is_member_object_pointer_v<Member> && ...),
                "wherry::members takes pointers to data members: wherry::members(&C::a_, &C::b_)");
  return std::tuple(member...);
}

namespace detail {

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<std::complex<T>> = true;

template <class T>
inline constexpr bool is_std_array = false;
template <class T, std::size_t N>
inline constexpr bool is_std_array<std::array<T, N>> = true;

/// What is copied as one value.
template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::is_enum_v<T> || is_complex_number<T>;

/// Elements whose number the type says.
template <class T>
concept FixedArray = std::is_bounded_array_v<T> || is_std_array<T>;

template <class T>
inline constexpr std::size_t array_length = std::extent_v<T>;
template <class T, std::size_t N>
inline constexpr std::size_t array_length<std::array<T, N>> = N;
template <class T, std::size_t N>
inline constexpr std::size_t array_length<const std::array<T, N>> = N;

template <class T>
concept NamesMembers = requires { T::members(); };

/// std::pair and std::tuple.
template <class T>
concept TupleLike = !is_std_array<T> && requires { std::tuple_size<T>::value; };

/// Converts to a member of any type; to a base class of T only.
struct AnyMember {
  template <class U>
  operator U() const noexcept;
};
template <class T>
struct AnyBaseOf {
  template <class U>
    requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>)
  operator U() const noexcept;
};

template <std::size_t>
using AnyMemberAt = AnyMember;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/// Whether T{any * before, any * after} compiles; with_braces: with {} for a member between the two.
template <class T, bool with_braces, std::size_t... Before, std::size_t... After>
constexpr bool takes(std::index_sequence<Before...>, std::index_sequence<After...>) {
  if constexpr (with_braces) return requires { T{AnyMemberAt<Before>{}..., {}, AnyMemberAt<After>{}...}; };
  else return requires { T{AnyMemberAt<Before>{}..., AnyMemberAt<After>{}...}; };
}

template <class T>
constexpr bool has_base = requires { T{AnyBaseOf<T>{}}; };

#pragma GCC diagnostic pop

/// The largest n for which fits.operator()<n>() holds; it holds for 0 and up to some number.
template <std::size_t lower, std::size_t upper, class Fits>
constexpr std::size_t largest_between(Fits fits) {
  if constexpr (upper - lower <= 1) return lower;
  else if constexpr (constexpr std::size_t middle = (lower + upper) / 2; fits.template operator()<middle>())
    return largest_between<middle, upper>(fits);
  else return largest_between<lower, middle>(fits);
}
template <std::size_t upper = 1, class Fits>
constexpr std::size_t largest(Fits fits) {
  if constexpr (fits.template operator()<upper>()) return largest<2 * upper>(fits);
  else return largest_between<upper / 2, upper>(fits);
}

/// How many initializers T takes. C arrays among its members take one for each of their elements.
template <class T>
constexpr std::size_t initializers() {
  return largest([]<std::size_t n>() { return takes<T, false>(std::make_index_sequence<n>{}, {}); });
}

/// How many of them belong to the member that begins at initializer `at`: {} in its place, and see how many may follow.
template <class T, std::size_t at, std::size_t all>
constexpr std::size_t width() {
  constexpr auto follow = []<std::size_t n>() {
    return takes<T, true>(std::make_index_sequence<at>{}, std::make_index_sequence<n>{});
  };
  if constexpr (!follow.template operator()<0>()) return 1;  // has no {}; no array of scalars
  else if constexpr (follow.template operator()<all - at - 1>()) return 1;
  else return all - at - largest(follow);
}

template <class T, std::size_t at, std::size_t all>
constexpr std::size_t members_from() {
  if constexpr (at >= all) return 0;
  else return 1 + members_from<T, at + width<T, at, all>(), all>();
}

/// The number of members of an aggregate, which the compiler counts by initializing it; the reasons why that cannot be.
template <class T>
constexpr std::size_t count_members() {
  static_assert(!std::is_union_v<T>,
                "wherry: a union does not say which member it holds; use std::variant, or members()");
  static_assert(
      !std::is_polymorphic_v<T>,
      "wherry: virtual functions and virtual bases mean nothing on another rank; send a class without them");
  static_assert(std::is_aggregate_v<T>,
                "wherry: the members of this class are not visible (private parts, constructors or virtual "
                "bases); give it "
                "static constexpr auto members() { return wherry::members(&C::a_, &C::b_); }");
  if constexpr (std::is_empty_v<T> || std::is_union_v<T> || !std::is_aggregate_v<T>) return 0;
  else if constexpr (!takes<T, false>(std::make_index_sequence<0>{}, {})) {
    static_assert(takes<T, false>(std::make_index_sequence<0>{}, {}),
                  "wherry: a member of this aggregate is a reference, or has no default value; references "
                  "mean nothing on "
                  "another rank: hold a value instead, or leave the member out of members()");
    return 0;
  } else {
    static_assert(!has_base<T>,
                  "wherry: this aggregate has a base class, so that its members cannot be listed; give it "
                  "static constexpr auto members() { return wherry::members(&C::a, &C::inherited); }");
    if constexpr (has_base<T>) return 0;
    else {
      constexpr std::size_t count = members_from<T, 0, initializers<T>()>();
      static_assert(
          count <= most_members,
          "wherry: an aggregate may have 32 members; group them in nested ones, or list them in members()");
      return count;
    }
  }
}

template <class T>
inline constexpr std::size_t member_count = count_members<std::remove_const_t<T>>();

/// Whether the members() that is found for T is that of a class that T is derived from, which does not know of T's own.
template <class T, class C>
constexpr bool inherits_from() {
  if constexpr (!std::is_same_v<T, C> && requires { &T::members == &C::members; })
    return &T::members == &C::members;
  else return false;
}
template <class T, class... C, class... M>
constexpr bool inherits_members(const std::tuple<M C::*...>&) {
  return (inherits_from<T, C>() || ...);
}

/// f(member...) of what has members.
template <class T, class F>
constexpr decltype(auto) with_members(T& t, F&& f) {
  using Plain = std::remove_const_t<T>;
  if constexpr (NamesMembers<Plain>) {
    static_assert(!inherits_members<Plain>(Plain::members()),
                  "wherry: this class has the members() of its base class, which leaves its own members out; "
                  "give it one of its own");
    return std::apply([&](auto... member) -> decltype(auto) { return f(t.*member...); }, Plain::members());
  } else if constexpr (TupleLike<Plain>)
    return std::apply([&](auto&... member) -> decltype(auto) { return f(member...); }, t);
  else return bind_members<member_count<T>>(t, f);
}

template <class... T>
struct Types {};

struct TypesOf {
  template <class... M>
  constexpr Types<std::remove_const_t<M>...> operator()(M&...) const {
    return {};
  }
};

}  // namespace detail
}  // namespace wherry
