// Strategies that write a number in mixed radix and correct one digit per phase.
//
// Grid: the number is the rank. After i phases a block is at the rank with the i low digits of its
// destination and the high digits of its origin: mesh, 3-D grid and hypercube differ in radices only.
// Ring: the number is the distance from origin to destination around the ring: radix-r Bruck.
//
// With k digits of radix r a rank sends k (r - 1) messages instead of P - 1, and a block moves at most k
// times.
#pragma once

#include <array>

#include "schedule/arithmetic.hpp"
#include "schedule/blocks/families/family.hpp"

namespace wherry::schedule {

/// The values of the digits' places: at[0] = 1 < at[1] < ... and at[digits] >= the number of ranks.
struct Places {
  int digits = 0;
  std::array<int, Route::capacity + 1> at;

  constexpr Places() : at{} { at[0] = 1; }
  constexpr int last() const { return at[static_cast<std::size_t>(digits)]; }
  constexpr void add_digit(int radix) {
    const int place = last();
    at[static_cast<std::size_t>(++digits)] = place * radix;
  }
  constexpr int operator[](int i) const { return at[static_cast<std::size_t>(i)]; }
};

using PlacesOf = Places (*)(int size);

/// Digits of the rank. A last layer that is not full has holes: ranks that do not exist. The rank one place
/// below stands in for a hole. It exists, since the last place is the only one that can be cut off; and
/// no rank sends more than twice as many messages, where going straight on would cost O(P) of them.
struct Grid {
  static constexpr bool ranks_alike = false;

  static int holder(const Places& places, int size, Block b, int corrected) {
    const int place = places[corrected];
    const int via = b.origin - b.origin % place + b.destination % place;
    return via < size ? via : via - place;
  }

  template <class Sink>
  static void visit_held(const Places& places, int size, int rank, int corrected, Sink&& sink) {
    const int place = places[corrected];
    const auto visit_via = [&](int via) {
      const int first = via - via % place;
      for (int origin = first; origin < std::min<long long>(size, 0LL + first + place); ++origin)
        for (long long destination = via % place; destination < size; destination += place)
          sink(Block{origin, static_cast<int>(destination)});
    };
    visit_via(rank);
    if (0LL + rank + place >= size && rank + place < next_full(size, place)) visit_via(rank + place);
  }

  static long long held(const Places& places, int size, int corrected) {
    return 2LL * places[corrected] * ceil_div(size, places[corrected]);  // its own and those it stands in for
  }

 private:
  static int next_full(int size, int place) { return ceil_div(size, place) * place; }
};

/// Digits of the distance: every rank does the same, and there are no holes whatever the size.
struct Ring {
  static constexpr bool ranks_alike = true;

  static int holder(const Places& places, int size, Block b, int corrected) {
    const int distance = wrap(b.destination - b.origin, size);
    return wrap(b.origin + distance % places[corrected], size);
  }

  template <class Sink>
  static void visit_held(const Places& places, int size, int rank, int corrected, Sink&& sink) {
    for (int distance = 1; distance < size; ++distance) {
      const int origin = wrap(rank - distance % places[corrected], size);
      sink(Block{origin, wrap(origin + distance, size)});
    }
  }

  static long long held(const Places&, int size, int) { return size; }
};

template <class Number, PlacesOf places_of>
struct Digits : Number {
  static constexpr Hops hops = Hops::several;
  static constexpr Pace pace = in_phases;

  static Route route(const topology::Placement& placement, Block block) {
    const Places places = places_of(placement.size());
    Route route;
    int at = block.origin;
    for (int phase = 0; phase < places.digits; ++phase) {
      const int to = Number::holder(places, placement.size(), block, phase + 1);
      if (to != at) route.push_back({phase, to});
      at = to;
    }
    return route;
  }

  template <class Sink>
  static void visit(const topology::Placement& placement, int rank, Sink&& sink) {
    const int size = placement.size();
    const Places places = places_of(size);
    for (int corrected = 0; corrected <= places.digits; ++corrected) {
      Number::visit_held(places, size, rank, corrected, [&](Block block) {
        const bool was_here = corrected > 0 && Number::holder(places, size, block, corrected - 1) == rank;
        if (block.origin != block.destination && !was_here) sink(block);
      });
    }
  }

  static long long transit(const topology::Placement& placement) {
    const Places places = places_of(placement.size());
    long long blocks = 0;
    for (int corrected = 1; corrected < places.digits; ++corrected)
      blocks += Number::held(places, placement.size(), corrected);
    return blocks;
  }
};

}  // namespace wherry::schedule
