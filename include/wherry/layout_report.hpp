// Where the members of a type lie, the bytes between them that hold nothing, and an order of members without these.
//
//   struct Particle { char kind; double x[3]; int id; };
//
//   std::fputs(wherry::to_text(wherry::layout_report<Particle>()).c_str(), stdout);
//   static_assert(wherry::layout_report<Particle>().hole_bytes() < 8, "reorder the members of Particle");
//
// `wherry layout PROGRAM TYPE` says the same of any class of a program that was compiled with -g, with the names of
// members, which C++20 does not tell. Needs no MPI.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "wherry/types/leaves.hpp"

namespace wherry {

/// A member; offset and bytes in its object.
struct MemberLayout {
  std::string_view type;
  std::size_t offset, bytes, alignment;
};

/// n: the number of members. bytes is sizeof the type.
template <std::size_t n>
struct LayoutReport {
  std::string_view type;
  std::size_t bytes, alignment;
  std::array<MemberLayout, n> members;  // as declared
  std::array<std::size_t, n> order;     // indices of members; declared so, an object has ordered_bytes
  std::size_t ordered_bytes;            // equals bytes if no order is smaller, or none can be proposed
  bool
      complete;  // all members are known: of a class with members(), others may lie in what seems to be a hole

  /// Bytes of an object that no member covers; holes inside of members are not among them.
  constexpr std::size_t hole_bytes() const {
    std::size_t covered = 0;
    for (const MemberLayout& member : members) covered += member.bytes;
    return bytes - std::min(covered, bytes);
  }
};

namespace detail {

template <class T>
constexpr std::string_view type_name() {
  const std::string_view whole = __PRETTY_FUNCTION__;  // "... [with T = X; ...]" or "... [T = X]"
  const std::size_t begin = whole.find("T = ") + 4;
  return whole.substr(begin, std::min(whole.find(';', begin), whole.rfind(']')) - begin);
}

constexpr std::size_t aligned(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Where members end that are laid out in this order, each at the next multiple of its alignment.
template <std::size_t n>
constexpr std::size_t ordered_end(const std::array<MemberLayout, n>& members,
                                  const std::array<std::size_t, n>& order, bool& as_found) {
  std::size_t end = 0;
  for (const std::size_t i : order) {
    end = aligned(end, members[i].alignment);
    as_found = as_found && end == members[i].offset;
    end += members[i].bytes;
  }
  return end;
}

/// By falling alignment: then there are no holes, for the size of a member is a multiple of its alignment.
template <std::size_t n>
constexpr std::array<std::size_t, n> by_alignment(const std::array<MemberLayout, n>& members,
                                                  std::array<std::size_t, n> order) {
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t of_a = members[a].alignment, of_b = members[b].alignment;
    return of_a != of_b ? of_a > of_b : a < b;
  });
  return order;
}

template <class T, class... M>
constexpr auto report_of(Types<M...>) {
  constexpr std::size_t n = sizeof...(M);
  LayoutReport<n> report{type_name<T>(),
                         sizeof(T),
                         alignof(T),
                         {MemberLayout{type_name<M>(), 0, sizeof(M), alignof(M)}...},
                         {},
                         sizeof(T),
                         !NamesMembers<T> && !TupleLike<T>};
  if constexpr (n > 0) {
    constexpr auto offsets = part_offsets<T>();  // the probe has addresses, but no storage
    for (std::size_t i = 0; i < n; ++i) {
      report.members[i].offset = offsets[i];
      report.order[i] = i;
    }
    bool as_found = true, any = true;
    const std::size_t end = ordered_end(report.members, report.order, as_found);
    // Other rules are at work where these do not give what was found: alignas of a member.
    if (!report.complete || !as_found || aligned(end, alignof(T)) != sizeof(T)) return report;
    const auto order = by_alignment(report.members, report.order);
    const std::size_t bytes = aligned(ordered_end(report.members, order, any), alignof(T));
    if (bytes < sizeof(T)) {
      report.order = order;
      report.ordered_bytes = bytes;
    }
  }
  return report;
}

}  // namespace detail

/// The layout of a T: an aggregate, or a class with members() (types/members.hpp). Known to the compiler.
template <detail::Composite T>
  requires(!detail::IsSubset<T>)
constexpr auto layout_report() {
  return detail::report_of<T>(detail::Parts<T>{});
}

/// A table of the members and holes, and the proposed order.
template <std::size_t n>
std::string to_text(const LayoutReport<n>& report) {
  const auto number = [](std::size_t value) { return std::to_string(value); };
  std::string text =
      std::string(report.type) + ": " + number(report.bytes) + " bytes, " + number(report.hole_bytes()) +
      (report.complete ? " of them holes\n" : " of them holes or members that members() leaves out\n");
  const auto line = [&](std::size_t offset, std::size_t bytes, const std::string& what) {
    text +=
        "  " + number(offset) + ": " + number(bytes) + (bytes == 1 ? " byte, " : " bytes, ") + what + '\n';
  };
  auto places = report.order;
  for (std::size_t i = 0; i < n; ++i) places[i] = i;
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return report.members[a].offset < report.members[b].offset;
  });
  std::size_t end = 0;
  for (const std::size_t i : places) {
    const MemberLayout& member = report.members[i];
    if (member.offset > end) line(end, member.offset - end, "hole");
    line(member.offset, member.bytes, "member " + number(i) + ", " + std::string(member.type));
    end = std::max(end, member.offset + member.bytes);
  }
  if (end < report.bytes) line(end, report.bytes - end, "hole");
  if (report.ordered_bytes < report.bytes) {
    text += number(report.ordered_bytes) + " bytes in this order of members:";
    for (const std::size_t i : report.order) text += ' ' + number(i);
    text += '\n';
  }
  return text;
}

}  // namespace wherry
