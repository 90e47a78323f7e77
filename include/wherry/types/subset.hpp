// Some members of an object, to be communicated without the others.
//
//   wherry::pack(wherry::subset<&Particle::position, &Particle::id>(particle))
//   wherry::datatype<wherry::Subset<Particle, &Particle::id, wherry::within(&Particle::state, &State::charge)>>()
#pragma once

#include <type_traits>

namespace wherry {

/// A member of a member.
template <class Outer, class Inner>
struct Within {
  Outer outer;
  Inner inner;
};

template <class Member>
constexpr Member within(Member member) {
  return member;
}
template <class Outer, class... Inner>
constexpr auto within(Outer outer, Inner... inner) {
  return Within<Outer, decltype(within(inner...))>{outer, within(inner...)};
}

/// The chosen members of an object, which is the caller's. member: pointers to members of T, or what within() makes of
/// several.
template <class T, auto... member>
struct Subset {
  T& object;
};

template <auto... member, class T>
constexpr Subset<T, member...> subset(T& object) {
  return {object};
}

namespace detail {

template <class T, class Member>
constexpr auto& member_of(T& object, Member member) {
  return object.*member;
}
template <class T, class Outer, class Inner>
constexpr auto& member_of(T& object, Within<Outer, Inner> path) {
  return member_of(object.*path.outer, path.inner);
}

/// Of a subset the object whose members they are; else T itself.
template <class T>
struct Whole {
  static constexpr bool is_subset = false;
  using Object = T;
};
template <class T, auto... member>
struct Whole<Subset<T, member...>> {
  static constexpr bool is_subset = true;
  using Object = std::remove_const_t<T>;

  template <class Of, class F>
  static constexpr decltype(auto) with_members(Of& object, F&& f) {
    return f(member_of(object, member)...);
  }
};
template <class T>
struct Whole<const T> : Whole<T> {};

template <class T>
concept IsSubset = Whole<T>::is_subset;

template <class T>
constexpr auto& object_of(T& t) {
  if constexpr (IsSubset<T>) return t.object;
  else return t;
}

}  // namespace detail
}  // namespace wherry
