// What the datatype of a pattern costs besides packing: to create, to commit, to use for the first time, to free.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "datatype/type_layouts.hpp"
#include "layout/pack.hpp"
#include "measure.hpp"
#include "mpi/api.hpp"
#include "patterns.hpp"

namespace bench {

inline constexpr const char* stages[] = {"create", "commit", "first use", "free"};
using Life = std::array<double, std::size(stages)>;  // seconds

/// Adds those of a new type; use(type) packs once.
template <class Use>
void live(const Pattern& pattern, const Use& use, Life& life) {
  double before = MPI_Wtime();
  const auto ends = [&](std::size_t stage) {
    const double now = MPI_Wtime();
    life[stage] += now - std::exchange(before, now);
  };
  {
    Type type = pattern.make();
    ends(0);
    type.commit();
    ends(1);
    use(type.get());
    ends(2);
  }
  ends(3);
}

/// The means of a few lives, in one turn.
template <class Use>
void add_lives(const Pattern& pattern, const Use& use, std::vector<Life>& turns) {
  constexpr int lives = 4;
  Life& life = turns.emplace_back();
  for (int i = 0; i < lives; ++i) live(pattern, use, life);
  for (double& seconds : life) seconds /= lives;
}

inline void print_lives(const Pattern& pattern, const char* variant, const std::vector<Life>& turns) {
  for (std::size_t stage = 0; stage < std::size(stages); ++stage) {
    std::vector<double> samples;
    for (const Life& life : turns) samples.push_back(life[stage]);
    print(pattern.name + ", " + stages[stage], variant, samples);
  }
}

inline std::size_t packed_size(const Pattern& pattern) {
  const Type type = pattern.make();
  int size = 0;
  MPI_Type_size(type.get(), &size);
  return static_cast<std::size_t>(size) * static_cast<std::size_t>(pattern.count);
}

/// Each type is new: Wherry's first use of it reads the type, makes a plan, and sets an attribute, which is freed with
/// the type. The native one is MPI_Pack.
inline void measure_lives(const Pattern& pattern, int turns) {
  wherry::datatype::TypeLayouts layouts(wherry::mpi::linked_api());
  std::vector<std::byte> memory(pattern.bytes), packed(packed_size(pattern));
  const auto by_library = [&](MPI_Datatype type) {
    int position = 0;
    MPI_Pack(memory.data(), pattern.count, type, packed.data(), static_cast<int>(packed.size()), &position,
             MPI_COMM_SELF);
  };
  const auto by_wherry = [&](MPI_Datatype type) {
    const wherry::datatype::PlanPtr plan = layouts.plan(type, pattern.count);
    wherry::layout::pack(*plan, memory.data(), packed.data(), {0, plan->size()});
  };
  std::vector<Life> native, wherry;
  for (int turn = 0; turn <= turns; ++turn) {
    add_lives(pattern, by_library, native);
    add_lives(pattern, by_wherry, wherry);
  }
  // The first turn touched the memory.
  native.erase(native.begin());
  wherry.erase(wherry.begin());
  print_lives(pattern, "native", native);
  print_lives(pattern, "wherry", wherry);
}

}  // namespace bench
