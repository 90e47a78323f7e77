// Datatypes become layouts: random types of all constructors against their type maps, and against the library's own
// packing. Where the library disagrees with the type map, the type must stay native or follow the map; the smallest
// such type is named.
//
// ranks: 1
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "datatype/type_layouts.hpp"
#include "datatype/type_map.hpp"
#include "layout/pack.hpp"
#include "layout/reference.hpp"
#include "mpi/api.hpp"
#include "random_types.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;
using datatype::PlanPtr;
using datatype::TypeLayouts;
using Bytes = std::vector<std::byte>;

long failures = 0;

void check(bool holds, const std::string& what) {
  if (holds) return;
  if (++failures <= 20) std::fprintf(stderr, "failed: %s\n", what.c_str());
}

/// The smallest type with each kind of disagreement between the library and the type map.
class Disagreements {
 public:
  void note(const std::string& kind, const RandomType& type) {
    Case& worst = cases_[kind];
    ++worst.times;
    if (worst.times == 1 || type.text.size() < worst.text.size()) worst.text = type.text;
  }
  void print() const {
    for (const auto& [kind, x] : cases_)
      std::printf("the library disagrees with the type map %ld times on the %s; the smallest case: %s\n",
                  x.times, kind.c_str(), x.text.c_str());
  }

 private:
  struct Case {
    long times = 0;
    std::string text;
  };
  std::map<std::string, Case> cases_;
};

std::vector<Long> offsets_of(const PlanPtr& plan) {
  const std::vector<layout::Offset> offsets = layout::byte_offsets(layout::placed(plan->form()));
  return {offsets.begin(), offsets.end()};
}

TypeMap repeated(const TypeMap& map, Long count) {
  TypeMap several;
  several.add(map, count, 0);
  return several;
}

/// Libraries copy values of this type, not their 6 bytes of padding.
bool has_padded_values(const RandomType& type) { return type.text.find("LONG_DOUBLE") != std::string::npos; }

/// Whether the library packs as the type map says.
bool packs_natively(const RandomType& type, const TypeMap& map, int count) {
  // Of contested types Open MPI 4.1 reads memory far from the data.
  if (map.bytes.empty() || type.hollow || type.contested || has_padded_values(type)) return true;
  constexpr Long margin = 4096;  // for libraries that go beyond the data
  const auto [first, last] = std::ranges::minmax(map.bytes);
  Bytes memory(static_cast<std::size_t>(last - first + 1 + 2 * margin)), packed(map.bytes.size() + margin),
      expected;
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>((i * 2654435761u) >> 13);
  std::byte* const base = memory.data() + margin - first;
  for (const Long at : map.bytes) expected.push_back(base[at]);
  int position = 0;
  MPI_Pack(base, count, type.type, packed.data(), static_cast<int>(packed.size()), &position, MPI_COMM_SELF);
  packed.resize(map.bytes.size());
  return position == static_cast<int>(map.bytes.size()) && packed == expected;
}

/// What the library says of the type's size and bounds.
bool is_told_alike(const RandomType& type) {
  MPI_Count size = 0;
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_size_x(type.type, &size);
  MPI_Type_get_extent(type.type, &lower, &extent);
  return size == static_cast<MPI_Count>(type.map.bytes.size()) && lower == type.map.lower &&
         extent == type.map.extent();
}

struct Counts {
  long native = 0, compared = 0, refused = 0;
};

void check_type(RandomType& type, TypeLayouts& layouts, Long count, Disagreements& disagreements,
                Counts& counts) {
  // Where the bounds differ, types made of this one differ in all that follows.
  if (!is_told_alike(type)) {
    disagreements.note("bounds", type);
    ++counts.native;
    return;
  }
  MPI_Type_commit(&type.type);
  const TypeMap several = repeated(type.map, count);
  const bool native = packs_natively(type, several, static_cast<int>(count));
  if (type.contested) disagreements.note("size or true bounds", type);
  if (!native) disagreements.note("packed bytes", type);
  const PlanPtr plan = layouts.plan(type.type, count);
  if (plan == nullptr) {
    check(!native || type.contested, "not expressed: " + type.text);
    ++counts.refused;
    return;
  }
  ++counts.compared;
  check(offsets_of(plan) == several.bytes, "another map, " + std::to_string(count) + " of " + type.text);
}

void random_types(const mpi::Api& api) {
  constexpr std::uint64_t seed = 28;
  const char* asked = std::getenv("WHERRY_TEST_LAYOUTS");
  const int cases = asked != nullptr ? std::atoi(asked) : 100'000;
  RandomTypes random(seed);
  TypeLayouts layouts(api);
  Disagreements disagreements;
  Counts counts;
  std::printf("seed %lu, %d types\n", static_cast<unsigned long>(seed), cases);
  for (int i = 0; i < cases; ++i) {
    RandomType type = random.any(static_cast<int>(random.between(0, 5)));
    check_type(type, layouts, random.between(0, 3), disagreements, counts);
    if (!type.predefined) MPI_Type_free(&type.type);
  }
  disagreements.print();
  std::printf("%ld compared, %ld left native, %ld with other bounds in the library\n", counts.compared,
              counts.refused, counts.native);
  check(counts.compared > cases / 2, "too few types were compared");
  for (const std::string_view constructor : RandomTypes::constructors())
    check(random.made_by(constructor) > cases / 100, std::string(constructor) + " has hardly made a type");
}

MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

/// A handle that is freed and comes again as another type must not find the old layout.
void handles_come_again(const mpi::Api& api) {
  TypeLayouts layouts(api);
  std::map<MPI_Datatype, int> seen;
  int again = 0;
  for (int i = 1; i <= 1000; ++i) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, i + 1, MPI_INT, &type);
    type = committed(type);
    again += seen[type]++ > 0 ? 1 : 0;
    const PlanPtr plan = layouts.plan(type, 1);
    check(plan != nullptr && plan->end() == 4 * (i + 2), "an old layout, stride " + std::to_string(i + 1));
    MPI_Type_free(&type);
  }
  check(again > 0, "no handle came again");
}

/// Equal maps share a plan; it outlives the types, and so does not keep them.
void maps_share_plans(const mpi::Api& api) {
  TypeLayouts layouts(api);
  MPI_Datatype vector = MPI_DATATYPE_NULL, subarray = MPI_DATATYPE_NULL, copy = MPI_DATATYPE_NULL;
  const int sizes[] = {100, 8}, subsizes[] = {100, 3}, starts[] = {0, 0};
  MPI_Type_vector(100, 3, 8, MPI_DOUBLE, &vector);
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &subarray);
  for (MPI_Datatype* type : {&vector, &subarray}) MPI_Type_commit(type);
  MPI_Type_dup(vector, &copy);
  const PlanPtr plan = layouts.plan(vector, 1);
  check(plan == layouts.plan(subarray, 1) && plan == layouts.plan(copy, 1),
        "equal maps have plans of their own");
  check(layouts.plan(vector, 3) != plan && layouts.plan(vector, 3)->size() == 3 * plan->size(),
        "three elements");
  check(layouts.plan(vector, 0)->size() == 0, "no elements");
  check(layouts.plan(vector, -1) == nullptr, "a negative count");
  for (MPI_Datatype* type : {&vector, &subarray, &copy}) MPI_Type_free(type);
  check(plan->size() == 2400 && plan->step().size == 2400, "a plan that outlives its types");
}

/// Predefined types are given no attribute, which all of the program would see.
int attributes_set = 0;
int count_attribute(MPI_Datatype type, int keyval, void* value) {
  ++attributes_set;
  return PMPI_Type_set_attr(type, keyval, value);
}

void predefined_types_stay_as_they_are(const mpi::Api& real) {
  mpi::Api api = real;
  api.Type_set_attr = count_attribute;
  TypeLayouts layouts(api);
  for (const MPI_Datatype type : {MPI_INT, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_BYTE, MPI_PACKED})
    check(layouts.plan(type, 5) != nullptr && layouts.plan(type, 5) == layouts.plan(type, 5), "a named type");
  check(attributes_set == 0, "an attribute on a predefined type");
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_commit(&type);
  check(layouts.plan(type, 1)->is_block(), "three ints");
  check(attributes_set == 1, "no attribute on a derived type");
  MPI_Type_free(&type);
}

/// Some libraries leave padding out when they pack: then a map is not to be had that way, or has each byte once.
void maps_of_windows_with_padding(const mpi::Api& api) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(300, 1, 2, MPI_LONG_DOUBLE, &type);
  MPI_Type_commit(&type);
  const datatype::TypeMap map = datatype::type_map_of(api, type);
  Long end = 0, bytes = 0;
  for (const layout::ByteBlock& block : map.blocks) {
    check(block.displacement >= end, "a byte of a strided long double is there twice");
    end = block.displacement + block.bytes;
    bytes += block.bytes;
  }
  check(map.size > 0 && (!map.mapped || bytes == map.size), "the map of strided long doubles");
  MPI_Type_free(&type);
}

bool has_byte_twice(std::vector<Long> bytes) {
  std::ranges::sort(bytes);
  return std::ranges::adjacent_find(bytes) != bytes.end();
}

/// Packed and unpacked as windows do it; between the data nothing may change.
void check_copies(const datatype::TypeMap& map, const TypeMap& several, Long count, const std::string& what) {
  const auto [first, last] = std::ranges::minmax(several.bytes);
  Bytes memory(static_cast<std::size_t>(last - first + 1)), packed(several.bytes.size()), expected;
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>((i * 2654435761u) >> 13);
  std::byte* const base = memory.data() - first;
  for (const Long at : several.bytes) expected.push_back(base[at]);
  datatype::gather(map, count, base, packed.data());
  check(packed == expected, "gathered " + what);
  if (has_byte_twice(several.bytes)) return;
  Bytes changed = memory;
  for (std::size_t i = 0; i < packed.size(); ++i) {
    packed[i] ^= std::byte{0xff};
    changed[static_cast<std::size_t>(several.bytes[i] - first)] = packed[i];
  }
  datatype::scatter(map, count, packed.data(), base);
  check(memory == changed, "scattered " + what);
}

void windows_copy_random_types(const mpi::Api& api) {
  constexpr std::uint64_t seed = 29;
  RandomTypes random(seed);
  int few = 0, many = 0;
  std::printf("windows: seed %lu\n", static_cast<unsigned long>(seed));
  for (int i = 0; i < 3000; ++i) {
    RandomType type = random.any(static_cast<int>(random.between(1, 4)));
    MPI_Type_commit(&type.type);
    const bool agreed = is_told_alike(type) && packs_natively(type, type.map, 1) && !type.contested &&
                        !type.hollow && !has_padded_values(type) && !type.map.bytes.empty();
    const datatype::TypeMap map = agreed ? datatype::type_map_of(api, type.type) : datatype::TypeMap{};
    for (const Long count : {1, 3, 3, 40, 1}) {
      if (!agreed || !map.is_told(count)) continue;
      check_copies(map, repeated(type.map, count), count, std::to_string(count) + " of " + type.text);
      ++(map.blocks.size() * static_cast<std::size_t>(count) < 8 ? few : many);
    }
    if (!type.predefined) MPI_Type_free(&type.type);
  }
  check(few > 500 && many > 2000, "windows: " + std::to_string(few) + " short and " + std::to_string(many) +
                                      " long copies were compared");
}

/// Offsets and sizes beyond 32 bits, by int and by large counts.
void large_counts(const mpi::Api& api) {
  TypeLayouts layouts(api);
  MPI_Datatype row = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  MPI_Type_vector(1 << 20, 1, 2, MPI_DOUBLE, &row);
  MPI_Type_create_hvector(1 << 20, 1, MPI_Aint{1} << 24, row, &type);
  MPI_Type_commit(&type);
  const PlanPtr plan = layouts.plan(type, 1);
  check(plan != nullptr && plan->size() == Long{8} << 40, "2^40 doubles");
  MPI_Type_free(&type);
  MPI_Type_free(&row);
  const auto contiguous = newer<int (*)(MPI_Count, MPI_Datatype, MPI_Datatype*)>("MPI_Type_contiguous_c");
  if (contiguous == nullptr) return;
  contiguous(MPI_Count{5} << 32, MPI_INT, &type);
  MPI_Type_commit(&type);
  const PlanPtr large = layouts.plan(type, 1);
  check(large != nullptr && large->is_block() && large->size() == Long{20} << 32, "5 * 2^32 ints");
  MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const mpi::Api& api = mpi::linked_api();
  handles_come_again(api);
  maps_share_plans(api);
  predefined_types_stay_as_they_are(api);
  maps_of_windows_with_padding(api);
  windows_copy_random_types(api);
  large_counts(api);
  random_types(api);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
