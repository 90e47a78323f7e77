// Random datatypes of every constructor, each with its type map.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leaf_types.hpp"
#include "mapped_type.hpp"

namespace wherry::test {

using RandomType = MappedType;

/// MPI-4's function if the library exports it.
template <class F>
F newer(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

class RandomTypes {
 public:
  explicit RandomTypes(std::uint64_t seed) : random_(seed) {}

  /// The caller frees what is not predefined. Types that other types were made of are freed: they live on in these.
  RandomType any(int depth) {
    if (depth == 0) return leaves_[static_cast<std::size_t>(below(static_cast<Long>(leaves_.size())))];
    RandomType inner = any(depth - 1);
    if (inner.map.bytes.size() > 300) return inner;
    RandomType made = outer(inner);
    give_bounds(made);
    made.hollow = inner.hollow || inner.map.bytes.empty() || inner.map.extent() == 0;
    made.contested = inner.contested || is_contested(made);
    if (!inner.predefined) MPI_Type_free(&inner.type);
    return made;
  }

  Long below(Long n) { return static_cast<Long>(random_() % static_cast<std::uint64_t>(n)); }
  Long between(Long least, Long most) { return least + below(most - least + 1); }
  /// How many types each constructor has made: where one cannot, because the library lacks or refuses it, another
  /// does.
  int made_by(std::string_view constructor) const {
    const auto at = made_.find(constructor);
    return at == made_.end() ? 0 : at->second;
  }
  /// All that this library has.
  static std::vector<std::string_view> constructors() {
    std::vector<std::string_view> all{"dup",     "contiguous", "vector",        "hvector",
                                      "indexed", "hindexed",   "indexed_block", "hindexed_block",
                                      "struct",  "subarray",   "darray",        "with bounds"};
    constexpr std::pair<const char*, const char*> large[] = {{"MPI_Type_vector_c", "vector_c"},
                                                             {"MPI_Type_create_hindexed_c", "hindexed_c"},
                                                             {"MPI_Type_create_subarray_c", "subarray_c"},
                                                             {"MPI_Type_create_struct_c", "struct_c"}};
    for (const auto& [function, name] : large)
      if (newer<void*>(function) != nullptr) all.emplace_back(name);
    return all;
  }

 private:
  using Maker = RandomType (RandomTypes::*)(const RandomType&);

  RandomType outer(const RandomType& inner) {
    static constexpr Maker makers[] = {&RandomTypes::dup,
                                       &RandomTypes::contiguous,
                                       &RandomTypes::vector,
                                       &RandomTypes::hvector,
                                       &RandomTypes::indexed,
                                       &RandomTypes::hindexed,
                                       &RandomTypes::indexed_block,
                                       &RandomTypes::hindexed_block,
                                       &RandomTypes::structure,
                                       &RandomTypes::subarray,
                                       &RandomTypes::darray,
                                       &RandomTypes::resized,
                                       &RandomTypes::large_vector,
                                       &RandomTypes::large_hindexed,
                                       &RandomTypes::large_subarray,
                                       &RandomTypes::large_structure};
    RandomType x = (this->*makers[below(std::size(makers))])(inner);
    ++made_[x.constructor];
    return x;
  }

  static RandomType made(std::string_view name, const std::vector<Long>& numbers, const RandomType& inner) {
    RandomType x{MPI_DATATYPE_NULL, {}, list(std::string(name), numbers, inner.text)};
    x.constructor = name;
    return x;
  }
  template <class To>
  static std::vector<To> as(const std::vector<Long>& from) {
    return {from.begin(), from.end()};
  }

  Long count() { return between(0, 4); }
  Long length() { return between(0, 3); }
  std::vector<Long> several(std::size_t n, Long least, Long most) {
    std::vector<Long> found(n);
    for (Long& x : found) x = between(least, most);
    return found;
  }

  RandomType dup(const RandomType& inner) {
    RandomType x = made("dup", {}, inner);
    MPI_Type_dup(inner.type, &x.type);
    x.map = inner.map;
    return x;
  }

  RandomType contiguous(const RandomType& inner) {
    const Long n = count();
    RandomType x = made("contiguous", {n}, inner);
    MPI_Type_contiguous(static_cast<int>(n), inner.type, &x.type);
    x.map.add(inner.map, n, 0);
    return x;
  }

  RandomType vector(const RandomType& inner) {
    const Long n = count(), b = length(), s = between(-4, 6);
    RandomType x = made("vector", {n, b, s}, inner);
    MPI_Type_vector(static_cast<int>(n), static_cast<int>(b), static_cast<int>(s), inner.type, &x.type);
    for (Long i = 0; i < n; ++i) x.map.add(inner.map, b, i * s * inner.map.extent());
    return x;
  }

  RandomType hvector(const RandomType& inner) {
    const Long n = count(), b = length(), s = between(-60, 90);
    RandomType x = made("hvector", {n, b, s}, inner);
    MPI_Type_create_hvector(static_cast<int>(n), static_cast<int>(b), s, inner.type, &x.type);
    for (Long i = 0; i < n; ++i) x.map.add(inner.map, b, i * s);
    return x;
  }

  struct Lists {
    std::vector<Long> lengths, displacements, all;
  };
  Lists lists(Long least, Long most) {
    const auto n = static_cast<std::size_t>(count());
    Lists x{several(n, 0, 3), several(n, least, most), {}};
    x.all = x.lengths;
    x.all.insert(x.all.end(), x.displacements.begin(), x.displacements.end());
    return x;
  }
  void add_blocks(RandomType& x, const Lists& l, const RandomType& inner, Long unit) {
    for (std::size_t i = 0; i < l.lengths.size(); ++i)
      x.map.add(inner.map, l.lengths[i], l.displacements[i] * unit);
  }

  RandomType indexed(const RandomType& inner) {
    const Lists l = lists(-6, 9);
    RandomType x = made("indexed", l.all, inner);
    MPI_Type_indexed(static_cast<int>(l.lengths.size()), as<int>(l.lengths).data(),
                     as<int>(l.displacements).data(), inner.type, &x.type);
    add_blocks(x, l, inner, inner.map.extent());
    return x;
  }

  RandomType hindexed(const RandomType& inner) {
    const Lists l = lists(-100, 150);
    RandomType x = made("hindexed", l.all, inner);
    MPI_Type_create_hindexed(static_cast<int>(l.lengths.size()), as<int>(l.lengths).data(),
                             as<MPI_Aint>(l.displacements).data(), inner.type, &x.type);
    add_blocks(x, l, inner, 1);
    return x;
  }

  RandomType indexed_block(const RandomType& inner) {
    Lists l = lists(-6, 9);
    const Long b = length();
    std::ranges::fill(l.lengths, b);
    RandomType x = made("indexed_block", l.all, inner);
    MPI_Type_create_indexed_block(static_cast<int>(l.lengths.size()), static_cast<int>(b),
                                  as<int>(l.displacements).data(), inner.type, &x.type);
    add_blocks(x, l, inner, inner.map.extent());
    return x;
  }

  RandomType hindexed_block(const RandomType& inner) {
    Lists l = lists(-100, 150);
    const Long b = length();
    std::ranges::fill(l.lengths, b);
    RandomType x = made("hindexed_block", l.all, inner);
    MPI_Type_create_hindexed_block(static_cast<int>(l.lengths.size()), static_cast<int>(b),
                                   as<MPI_Aint>(l.displacements).data(), inner.type, &x.type);
    add_blocks(x, l, inner, 1);
    return x;
  }

  /// The bounds of structs are rounded as the compiler would round, and libraries differ in that; so they are given.
  void bound(RandomType& x, MPI_Datatype unbounded) {
    x.map.lower = between(-16, 16);
    x.map.upper = x.map.lower + between(0, 200);
    x.map.bounded = true;
    MPI_Type_create_resized(unbounded, x.map.lower, x.map.extent(), &x.type);
    MPI_Type_free(&unbounded);
    x.text = list("resized", {x.map.lower, x.map.extent()}, x.text);
  }

  RandomType structure(const RandomType& inner) {
    const Lists l = lists(-100, 150);
    const RandomType leaf = any(0);
    std::vector<MPI_Datatype> types;
    RandomType x = made("struct", l.all, {MPI_DATATYPE_NULL, {}, leaf.text + " and " + inner.text});
    for (std::size_t i = 0; i < l.lengths.size(); ++i) {
      const RandomType& part = i % 2 == 0 ? inner : leaf;
      types.push_back(part.type);
      x.map.add(part.map, l.lengths[i], l.displacements[i]);
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(static_cast<int>(types.size()), as<int>(l.lengths).data(),
                           as<MPI_Aint>(l.displacements).data(), types.data(), &type);
    bound(x, type);
    return x;
  }

  struct Sub {
    std::vector<Long> sizes, subsizes, starts, all;
    int order;
  };
  Sub random_sub() {
    const auto n = static_cast<std::size_t>(between(1, 3));
    Sub s{several(n, 1, 4), {}, {}, {}, below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN};
    for (const Long size : s.sizes) {
      s.subsizes.push_back(between(1, size));
      s.starts.push_back(between(0, size - s.subsizes.back()));
    }
    for (const auto* part : {&s.sizes, &s.subsizes, &s.starts})
      s.all.insert(s.all.end(), part->begin(), part->end());
    s.all.push_back(s.order);
    return s;
  }
  static TypeMap map_of(const Sub& s, const TypeMap& inner) {
    return of_array(s.sizes, s.order, inner, [&](const std::vector<Long>& index) {
      for (std::size_t d = 0; d < index.size(); ++d)
        if (index[d] < s.starts[d] || index[d] >= s.starts[d] + s.subsizes[d]) return false;
      return true;
    });
  }

  // Elements of arrays with a lower bound other than 0 mean nothing that libraries agree on.
  RandomType subarray(const RandomType& inner) {
    if (inner.map.lower != 0 || inner.map.extent() <= 0) return dup(inner);
    const Sub s = random_sub();
    RandomType x = made("subarray", s.all, inner);
    MPI_Type_create_subarray(static_cast<int>(s.sizes.size()), as<int>(s.sizes).data(),
                             as<int>(s.subsizes).data(), as<int>(s.starts).data(), s.order, inner.type,
                             &x.type);
    x.map = map_of(s, inner.map);
    return x;
  }

  RandomType darray(const RandomType& inner) {
    if (inner.map.lower != 0 || inner.map.extent() <= 0) return dup(inner);
    const auto n = static_cast<std::size_t>(between(1, 3));
    const std::vector<Long> sizes = several(n, 1, 5);
    std::vector<Long> distributions(n), arguments(n), processes(n), place(n);
    Long ranks = 1, rank = 0;
    for (std::size_t d = 0; d < n; ++d) {
      constexpr int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC};
      distributions[d] = kinds[below(3)];
      processes[d] = distributions[d] == MPI_DISTRIBUTE_NONE ? 1 : between(1, 3);
      arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
      // Blocks of a given length must cover the array.
      const Long least =
          distributions[d] == MPI_DISTRIBUTE_BLOCK ? (sizes[d] + processes[d] - 1) / processes[d] : 1;
      if (distributions[d] != MPI_DISTRIBUTE_NONE && below(2) == 0) arguments[d] = between(least, least + 2);
      place[d] = below(processes[d]);
      // Open MPI refuses a process that has no elements.
      while (!has_any(place[d], sizes[d], distributions[d], arguments[d], processes[d])) --place[d];
      ranks *= processes[d];
      rank = rank * processes[d] + place[d];
    }
    const int order = below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    std::vector<Long> all{ranks, rank};
    for (const std::vector<Long>* part :
         {&sizes, &std::as_const(distributions), &std::as_const(arguments), &std::as_const(processes)})
      all.insert(all.end(), part->begin(), part->end());
    all.push_back(order);
    RandomType x = made("darray", all, inner);
    const ErrorsReturned returned;  // Open MPI 5.0 refuses processes whose only cyclic block is incomplete
    const int code = MPI_Type_create_darray(static_cast<int>(ranks), static_cast<int>(rank),
                                            static_cast<int>(n), as<int>(sizes).data(),
                                            as<int>(distributions).data(), as<int>(arguments).data(),
                                            as<int>(processes).data(), order, inner.type, &x.type);
    if (code != MPI_SUCCESS) return dup(inner);
    x.map = of_array(sizes, order, inner.map, [&](const std::vector<Long>& index) {
      for (std::size_t d = 0; d < n; ++d)
        if (owner(index[d], sizes[d], distributions[d], arguments[d], processes[d]) != place[d]) return false;
      return true;
    });
    return x;
  }
  RandomType resized(const RandomType& inner) {
    RandomType x = made("with bounds", {}, inner);
    x.map = inner.map;
    MPI_Datatype same = MPI_DATATYPE_NULL;
    MPI_Type_dup(inner.type, &same);
    bound(x, same);
    return x;
  }

  RandomType large_vector(const RandomType& inner) {
    const auto make =
        newer<int (*)(MPI_Count, MPI_Count, MPI_Count, MPI_Datatype, MPI_Datatype*)>("MPI_Type_vector_c");
    if (make == nullptr) return vector(inner);
    const Long n = count(), b = length(), s = between(-4, 6);
    RandomType x = made("vector_c", {n, b, s}, inner);
    make(n, b, s, inner.type, &x.type);
    for (Long i = 0; i < n; ++i) x.map.add(inner.map, b, i * s * inner.map.extent());
    return x;
  }

  RandomType large_hindexed(const RandomType& inner) {
    const auto make =
        newer<int (*)(MPI_Count, const MPI_Count*, const MPI_Count*, MPI_Datatype, MPI_Datatype*)>(
            "MPI_Type_create_hindexed_c");
    if (make == nullptr) return hindexed(inner);
    const Lists l = lists(-100, 150);
    RandomType x = made("hindexed_c", l.all, inner);
    make(static_cast<MPI_Count>(l.lengths.size()), as<MPI_Count>(l.lengths).data(),
         as<MPI_Count>(l.displacements).data(), inner.type, &x.type);
    add_blocks(x, l, inner, 1);
    return x;
  }

  RandomType large_subarray(const RandomType& inner) {
    const auto make = newer<int (*)(int, const MPI_Count*, const MPI_Count*, const MPI_Count*, int,
                                    MPI_Datatype, MPI_Datatype*)>("MPI_Type_create_subarray_c");
    if (make == nullptr || inner.map.lower != 0 || inner.map.extent() <= 0) return subarray(inner);
    const Sub s = random_sub();
    RandomType x = made("subarray_c", s.all, inner);
    make(static_cast<int>(s.sizes.size()), as<MPI_Count>(s.sizes).data(), as<MPI_Count>(s.subsizes).data(),
         as<MPI_Count>(s.starts).data(), s.order, inner.type, &x.type);
    x.map = map_of(s, inner.map);
    return x;
  }

  RandomType large_structure(const RandomType& inner) {
    const auto make =
        newer<int (*)(MPI_Count, const MPI_Count*, const MPI_Count*, const MPI_Datatype*, MPI_Datatype*)>(
            "MPI_Type_create_struct_c");
    if (make == nullptr) return structure(inner);
    const Lists l = lists(-100, 150);
    const std::vector<MPI_Datatype> types(l.lengths.size(), inner.type);
    RandomType x = made("struct_c", l.all, inner);
    add_blocks(x, l, inner, 1);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    make(static_cast<MPI_Count>(types.size()), as<MPI_Count>(l.lengths).data(),
         as<MPI_Count>(l.displacements).data(), types.data(), &type);
    bound(x, type);
    return x;
  }

  std::mt19937_64 random_;
  std::vector<RandomType> leaves_ = leaf_types();
  std::map<std::string_view, int> made_;
};

}  // namespace wherry::test
