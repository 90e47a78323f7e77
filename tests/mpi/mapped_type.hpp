// A datatype beside its type map, expanded by the definitions of MPI 4.1, section 5.1.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wherry::test {

using Long = long long;

/// The displacement of each byte in the order of the type map, and the bounds.
struct TypeMap {
  std::vector<Long> bytes;
  Long lower = 0, upper = 0;
  bool bounded = false;  // there is an entry, even if it has no bytes

  Long extent() const { return upper - lower; }

  /// Adds `count` elements of `x` at a displacement.
  void add(const TypeMap& x, Long count, Long displacement) {
    std::size_t end = bytes.size();
    bytes.resize(end + x.bytes.size() * static_cast<std::size_t>(std::max<Long>(0, count)));
    for (Long i = 0; i < count; ++i) {
      const Long at = displacement + i * x.extent();
      for (const Long byte : x.bytes) bytes[end++] = at + byte;
      if (!x.bounded) continue;
      lower = bounded ? std::min(lower, at + x.lower) : at + x.lower;
      upper = bounded ? std::max(upper, at + x.upper) : at + x.upper;
      bounded = true;
    }
  }
};

struct MappedType {
  MPI_Datatype type;
  TypeMap map;
  std::string text;
  bool predefined = false;
  // Of this type or of one that it was made of: the library says another size or other true bounds.
  bool contested = false;
  // A part has no data or no extent: MPICH 5.0 and Intel MPI crash when they pack such types.
  bool hollow = false;
  std::string_view constructor = {};  // of the outermost level, if it is random
};

inline std::string list(const std::string& name, const std::vector<Long>& numbers, const std::string& inner) {
  std::string text = name + "(";
  for (const Long n : numbers) text += std::to_string(n) + ", ";
  return text + inner + ")";
}

inline bool is_contested(const MappedType& x) {
  MPI_Count size = 0;
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_size_x(x.type, &size);
  MPI_Type_get_true_extent(x.type, &lower, &extent);
  if (size != static_cast<MPI_Count>(x.map.bytes.size())) return true;
  if (size == 0) return false;
  const auto [first, last] = std::ranges::minmax(x.map.bytes);
  return lower != first || extent != last - first + 1;
}

/// MPI lets libraries round a type's extent up, as a compiler would for alignment. Then the bounds of the type map
/// are given.
inline void give_bounds(MappedType& x) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(x.type, &lower, &extent);
  if (lower == x.map.lower && extent == x.map.extent()) return;
  MPI_Datatype unbounded = x.type;
  MPI_Type_create_resized(unbounded, x.map.lower, x.map.extent(), &x.type);
  MPI_Type_free(&unbounded);
  x.map.bounded = true;
  x.text = list("resized", {x.map.lower, x.map.extent()}, x.text);
}

// --- arrays

/// Calls use(index) for all indices of an array, in the order in which they lie in memory.
template <class Use>
void each_index(const std::vector<Long>& sizes, int order, Use&& use) {
  const std::size_t n = sizes.size();
  std::vector<Long> index(n, 0);
  for (Long place = 0;; ++place) {
    use(index, place);
    std::size_t k = 0;
    for (; k < n; ++k) {
      const std::size_t d = order == MPI_ORDER_C ? n - 1 - k : k;
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
    if (k == n) return;
  }
}

/// The elements of an array that `has(index)` names, and the bounds of the whole.
template <class Has>
TypeMap of_array(const std::vector<Long>& sizes, int order, const TypeMap& inner, Has&& has) {
  TypeMap map;
  Long elements = 1;
  for (const Long size : sizes) elements *= size;
  each_index(sizes, order, [&](const std::vector<Long>& index, Long place) {
    if (has(index)) map.add(inner, 1, place * inner.extent());
  });
  map.lower = 0;
  map.upper = elements * inner.extent();
  map.bounded = true;
  return map;
}

/// The process that has an element in one dimension of a distributed array.
inline Long owner(Long index, Long size, Long distribution, Long argument, Long processes) {
  if (distribution == MPI_DISTRIBUTE_NONE) return 0;
  const bool by_default = argument == MPI_DISTRIBUTE_DFLT_DARG;
  if (distribution == MPI_DISTRIBUTE_CYCLIC) return index / (by_default ? 1 : argument) % processes;
  return index / (by_default ? (size + processes - 1) / processes : argument);
}

inline bool has_any(Long place, Long size, Long distribution, Long argument, Long processes) {
  for (Long i = 0; i < size; ++i)
    if (owner(i, size, distribution, argument, processes) == place) return true;
  return false;
}

}  // namespace wherry::test
