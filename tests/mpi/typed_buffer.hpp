// Typed test data with an oracle of its own: an explicit type map, and guards around and between the data.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <vector>

namespace wherry::test {

inline constexpr std::int32_t guard = 0x5A5A5A5A;
inline constexpr int ints_per_element = 6;

/// A datatype of six ints, and where an element has them: the type map, written by hand.
struct TestType {
  const char* name;
  MPI_Datatype type;
  std::vector<long> offsets;  // bytes, in type map order
  long extent;                // bytes
};

inline TestType committed(const char* name, MPI_Datatype type, std::vector<long> offsets, long extent) {
  MPI_Type_commit(&type);
  return {name, type, std::move(offsets), extent};
}

/// Made by MPI-4's constructors, where the library has them. Other functions must be used to ask about such types.
inline void add_large_count_types(std::vector<TestType>& types) {
  const auto contiguous = reinterpret_cast<int (*)(MPI_Count, MPI_Datatype, MPI_Datatype*)>(
      dlsym(RTLD_DEFAULT, "MPI_Type_contiguous_c"));
  const auto vector = reinterpret_cast<int (*)(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype*)>(
      dlsym(RTLD_DEFAULT, "MPI_Type_vector_c"));
  if (contiguous == nullptr || vector == nullptr) return;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  contiguous(ints_per_element, MPI_INT, &type);
  types.push_back(committed("large contiguous", type, {0, 4, 8, 12, 16, 20}, 24));
  vector(2, 3, 5, MPI_INT, &type);
  types.push_back(committed("large vector", type, {0, 4, 8, 20, 24, 28}, 32));
}

/// Types whose elements can be sent as one and received as another.
inline std::vector<TestType> make_types() {
  std::vector<TestType> types;
  MPI_Datatype type = MPI_DATATYPE_NULL, inner = MPI_DATATYPE_NULL;

  MPI_Type_contiguous(ints_per_element, MPI_INT, &type);
  types.push_back(committed("contiguous", type, {0, 4, 8, 12, 16, 20}, 24));

  MPI_Type_vector(3, 2, 4, MPI_INT, &type);
  types.push_back(committed("vector", type, {0, 4, 16, 20, 32, 36}, 40));

  int backwards[] = {5, 4, 3, 2, 1, 0};
  MPI_Type_create_indexed_block(6, 1, backwards, MPI_INT, &type);
  types.push_back(committed("backwards", type, {20, 16, 12, 8, 4, 0}, 24));

  MPI_Type_contiguous(ints_per_element, MPI_INT, &inner);
  MPI_Type_create_resized(inner, 0, 36, &type);
  MPI_Type_free(&inner);
  types.push_back(committed("resized", type, {0, 4, 8, 12, 16, 20}, 36));

  int lengths[] = {1, 3, 2};
  MPI_Aint places[] = {8, 16, 40};
  MPI_Datatype parts[] = {MPI_INT, MPI_INT, MPI_INT};
  MPI_Type_create_struct(3, lengths, places, parts, &inner);
  MPI_Type_create_resized(inner, 0, 52, &type);
  MPI_Type_free(&inner);
  types.push_back(committed("struct", type, {8, 16, 20, 24, 40, 44}, 52));
  add_large_count_types(types);
  return types;
}

inline void free_types(std::vector<TestType>& types) {
  for (TestType& t : types) MPI_Type_free(&t.type);
}

/// The value of int k of the block that `origin` sends to `destination` in round `seed`.
inline std::int32_t value(int origin, int destination, long k, unsigned seed) {
  std::uint32_t x = static_cast<std::uint32_t>(origin) * 2654435761u ^
                    static_cast<std::uint32_t>(destination) * 40503u ^
                    static_cast<std::uint32_t>(k) * 2246822519u ^ seed * 3266489917u;
  x ^= x >> 15;
  return static_cast<std::int32_t>(x | 1u);
}

/// Memory full of guards into which blocks are written and from which they are expected.
class Buffer {
 public:
  explicit Buffer(long bytes) : ints_(static_cast<std::size_t>(bytes / 4 + 16), guard), expected_(ints_) {}

  /// Room before and after the data shows writes outside of it.
  std::int32_t* data() { return ints_.data() + 8; }

  /// Writes the block (origin -> destination) of `count` elements at byte `at`, as the caller's data.
  void write(const TestType& type, long at, long count, int origin, int destination, unsigned seed) {
    store(ints_, type, at, count, origin, destination, seed);
    store(expected_, type, at, count, origin, destination, seed);
  }
  /// States that the block will be there after the call.
  void expect(const TestType& type, long at, long count, int origin, int destination, unsigned seed) {
    store(expected_, type, at, count, origin, destination, seed);
  }
  /// Index of the first int that is not as expected, or -1.
  long first_wrong() const {
    for (std::size_t i = 0; i < ints_.size(); ++i)
      if (ints_[i] != expected_[i]) return static_cast<long>(i) - 8;
    return -1;
  }

 private:
  static void store(std::vector<std::int32_t>& to, const TestType& type, long at, long count, int origin,
                    int destination, unsigned seed) {
    long k = 0;
    for (long e = 0; e < count; ++e)
      for (const long offset : type.offsets)
        to[static_cast<std::size_t>(8 + (at + e * type.extent + offset) / 4)] =
            value(origin, destination, k++, seed);
  }

  std::vector<std::int32_t> ints_;
  std::vector<std::int32_t> expected_;
};

}  // namespace wherry::test
