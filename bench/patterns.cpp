// What does it take to pack the data of applications: by memcpy of as many bytes, by hand, by MPI_Pack, by Wherry's
// kernels?
//
// What do its datatypes cost besides: to create, to commit, to use for the first time, to free?
// And do two threads pack large data faster than one?
//
//   bench_patterns --turns 20
//
// Shapes are those of the applications' published communication patterns (WRF, MILC, NAS LU and MG, LAMMPS,
// SPECFEM3D, FFT: Schneider, Gerstenberger and Hoefler, 2012), rebuilt from their descriptions. All variants take
// turns in one process. Before that each must give the same bytes. Prints one JSON line per case and variant.
#include "patterns.hpp"

#include <mpi.h>

#include <cmath>
#include <vector>

#include "datatype/type_layouts.hpp"
#include "layout/canonical.hpp"
#include "layout/pack.hpp"
#include "layout/parallel_pack.hpp"
#include "measure.hpp"
#include "mpi/api.hpp"
#include "type_lives.hpp"
#include "waiting/host.hpp"

namespace bench {
namespace {

void add_strides(std::vector<Pattern>& all) {
  for (const long n : {1L << 10, 1L << 14, 1L << 19})
    all.push_back({"every other double, " + std::to_string(n / 128) + " KiB",
                   [n] { return vector(static_cast<int>(n), 1, 2, MPI_DOUBLE); }, 1,
                   static_cast<std::size_t>(n * 16), by_hand(Grid<8>{{1, 1, n}, {0, 0, 16}})});
}

void add_faces(std::vector<Pattern>& all) {
  constexpr int n = 256;
  constexpr long row = n * 8, plane = n * row;
  constexpr auto bytes = static_cast<std::size_t>(n * plane);
  all.push_back({"256^3 face x", [] { return subarray({n, n, n}, {n, n, 1}, {0, 0, 0}, MPI_DOUBLE); }, 1,
                 bytes, by_hand(Grid<8>{{1, n, n}, {0, plane, row}})});
  all.push_back({"256^3 face y", [] { return subarray({n, n, n}, {n, 1, n}, {0, 0, 0}, MPI_DOUBLE); }, 1,
                 bytes, by_hand(Rows{{1, n}, {0, plane}, row})});
  all.push_back({"256^3 face z", [] { return subarray({n, n, n}, {1, n, n}, {0, 0, 0}, MPI_DOUBLE); }, 1,
                 bytes, by_hand(Rows{{1, 1}, {0, 0}, plane})});
}

void add_particles(std::vector<Pattern>& all) {
  constexpr int many = 100'000, some = 10'000;
  const std::vector<int> ids = random_ids(some, many);
  all.push_back({"particles of 24 B by random ids", [=] { return by_ids(ids, contiguous(3, MPI_DOUBLE)); }, 1,
                 many * 24UL, by_hand(ByIndex<24>{ids, {0}})});
  all.push_back({"particles of 200 B by random ids", [=] { return by_ids(ids, contiguous(25, MPI_DOUBLE)); },
                 1, many * 200UL, by_hand(ByIndex<200>{ids, {0}})});
}

/// By the same random ids of particles or points.
void add_arrays(std::vector<Pattern>& all) {
  constexpr int many = 100'000, some = 10'000;
  const std::vector<int> ids = random_ids(some, many);
  // LAMMPS, atomic style: positions, and tag, type and mask of ghost atoms.
  constexpr long positions = many * 24L, integers = many * 4L;
  const auto position_loop = ByIndex<24>{ids, {0}};
  const auto integer_loop = ByIndex<4>{ids, {positions, positions + integers, positions + 2 * integers}};
  all.push_back({"LAMMPS atomic",
                 [=] {
                   const Type x = by_ids(ids, contiguous(3, MPI_DOUBLE)), i = by_ids(ids, MPI_INT);
                   return structure({0, positions, positions + integers, positions + 2 * integers},
                                    {&x, &i, &i, &i});
                 },
                 1, static_cast<std::size_t>(positions + 3 * integers),
                 [=, first = by_hand(position_loop), rest = by_hand(integer_loop)](
                     bool packing, std::byte* memory, std::byte* buffer) {
                   first(packing, memory, buffer);
                   rest(packing, memory, buffer + some * 24L);
                 }});
  const std::vector<long> arrays{0, many * 8L, many * 16L, many * 24L, many * 32L, many * 40L};
  all.push_back({"struct of 6 arrays by random ids",
                 [=] {
                   const Type d = by_ids(ids, MPI_DOUBLE);
                   return structure({arrays.begin(), arrays.end()}, {&d, &d, &d, &d, &d, &d});
                 },
                 1, many * 48UL, by_hand(ByIndex<8>{ids, arrays})});
  // SPECFEM3D: points of the mesh on the border, one float each in the outer core, three in crust and mantle.
  all.push_back({"SPECFEM3D outer core", [=] { return by_ids(ids, MPI_FLOAT); }, 1, many * 4UL,
                 by_hand(ByIndex<4>{ids, {0}})});
  all.push_back({"SPECFEM3D crust and mantle", [=] { return by_ids(ids, contiguous(3, MPI_FLOAT)); }, 1,
                 many * 12UL, by_hand(ByIndex<12>{ids, {0}})});
}

void add_halos(std::vector<Pattern>& all) {
  // MILC: su3_vector (3 complex floats) of half of the sites of a 16^4 lattice, in direction z.
  constexpr int site = 24, half = 16 * 16 / 2, slab = half * 16;
  all.push_back(
      {"MILC su3 z",
       [=] { return hvector(2, long{slab} * 16 * site, vector(16, half, slab, contiguous(6, MPI_FLOAT))); },
       1, 2UL * slab * 16 * site,
       by_hand(Rows{{2, 16}, {long{slab} * 16 * site, long{slab} * site}, half * site})});
  // NAS LU: five doubles of each point of a face; NAS MG: one.
  constexpr int n = 162;
  all.push_back({"NAS LU y", [] { return vector(n, 5, 5 * (n + 4), MPI_DOUBLE); }, 1,
                 40UL * (n + 4) * (n + 4), by_hand(Grid<40>{{1, 1, n}, {0, 0, 40L * (n + 4)}})});
  constexpr int m = 130;
  all.push_back({"NAS MG x", [] { return subarray({m, m, m}, {m - 2, m - 2, 1}, {1, 1, 1}, MPI_DOUBLE); }, 1,
                 8UL * m * m * m,
                 [hand = by_hand(Grid<8>{{1, m - 2, m - 2}, {0, 8L * m * m, 8L * m}})](
                     bool packing, std::byte* memory, std::byte* buffer) {
                   hand(packing, memory + 8L * (m * m + m + 1), buffer);
                 }});
  all.push_back({"NAS MG y", [] { return subarray({m, m, m}, {m - 2, 1, m - 2}, {1, 1, 1}, MPI_DOUBLE); }, 1,
                 8UL * m * m * m,
                 [hand = by_hand(Rows{{1, m - 2}, {0, 8L * m * m}, 8L * (m - 2)})](
                     bool packing, std::byte* memory, std::byte* buffer) {
                   hand(packing, memory + 8L * (m * m + m + 1), buffer);
                 }});
  // WRF: three columns at the border of four fields of 64 x 28 x 64 floats.
  constexpr int side = 64, levels = 28;
  constexpr long field = 4L * side * levels * side;
  const Grid<12> columns{{side, levels, 1}, {4L * levels * side, 4L * side, 0}};
  const std::vector<long> begins{0, field, 2 * field, 3 * field};
  constexpr long packed = 12L * side * levels;
  all.push_back({"WRF x",
                 [=] {
                   const Type border =
                       subarray({side, levels, side}, {side, levels, 3}, {0, 0, 0}, MPI_FLOAT);
                   return structure({begins.begin(), begins.end()}, {&border, &border, &border, &border});
                 },
                 1, static_cast<std::size_t>(4 * field),
                 by_hand(Several<Grid<12>>{
                     {columns, columns, columns, columns}, begins, {0, packed, 2 * packed, 3 * packed}})});
}

template <int size>
void add_transpose(std::vector<Pattern>& all, const std::string& name, int n, MPI_Datatype of) {
  all.push_back({name, [=] { return resized(vector(n, 1, n, of), size); }, n,
                 static_cast<std::size_t>(size) * static_cast<std::size_t>(n * n),
                 by_hand(Grid<size>{{1, n, n}, {0, size, long{size} * n}})});
}

void add_transposes(std::vector<Pattern>& all) {
  add_transpose<8>(all, "transpose of 1000 x 1000 doubles", 1000, MPI_DOUBLE);
  add_transpose<8>(all, "transpose of 128 x 128 doubles", 128, MPI_DOUBLE);
  add_transpose<4>(all, "transpose of 1000 x 1000 floats", 1000, MPI_FLOAT);
  add_transpose<16>(all, "FFT transpose of 512 x 512 complex", 512, MPI_C_DOUBLE_COMPLEX);
}

void add_structs(std::vector<Pattern>& all) {
  constexpr int n = 20'000;
  all.push_back({"padded struct of 13 of 16 B",
                 [] {
                   const Type d = MPI_DOUBLE, i = MPI_INT, c = MPI_CHAR;
                   return resized(structure({0, 8, 12}, {&d, &i, &c}), 16);
                 },
                 n, n * 16UL, by_hand(Members<16, 0, 8, 8, 4, 12, 1>{n})});
  all.push_back({"padded struct of 13 of 24 B",
                 [] {
                   const Type c = MPI_CHAR, d = MPI_DOUBLE, i = MPI_INT;
                   return resized(structure({0, 8, 16}, {&c, &d, &i}), 24);
                 },
                 n, n * 24UL, by_hand(Members<24, 0, 1, 8, 8, 16, 4>{n})});
  all.push_back({"members of 24 and 8 of 96 B",
                 [] {
                   const Type position = contiguous(3, MPI_DOUBLE), mass = MPI_DOUBLE;
                   return resized(structure({0, 48}, {&position, &mass}), 96);
                 },
                 n, n * 96UL, by_hand(Members<96, 0, 24, 48, 8>{n})});
}

using Bytes = std::vector<std::byte>;

/// One pattern in one direction, by each variant.
class Case {
 public:
  Case(const Pattern& pattern, wherry::datatype::TypeLayouts& layouts)
      : pattern_(pattern), type_(pattern.make()) {
    type_.commit();
    plan_ = layouts.plan(type_.get(), pattern.count);
    if (plan_ == nullptr) end_with(pattern.name + ": its datatype cannot be expressed as a layout");
    const auto size = static_cast<std::size_t>(plan_->size());
    memory_.resize(pattern.bytes);
    for (std::size_t i = 0; i < memory_.size(); ++i)
      memory_[i] = static_cast<std::byte>((i * 2654435761U) >> 15);
    packed_.resize(size);
    other_.resize(size);
  }

  void check() {
    const Bytes before = memory_;
    Bytes expected(packed_.size());
    native(true);
    expected.swap(packed_);
    packed_.resize(expected.size());
    for (const bool hand : {true, false}) {
      std::ranges::fill(packed_, std::byte{0});
      hand ? by_hand(true) : wherry(true);
      if (packed_ != expected)
        end_with(pattern_.name + (hand ? ": the hand loop packs" : ": Wherry packs") + " other bytes");
      hand ? by_hand(false) : wherry(false);
      if (memory_ != before)
        end_with(pattern_.name + (hand ? ": the hand loop unpacks" : ": Wherry unpacks") + " otherwise");
    }
  }

  void run(int turns) {
    for (const bool packing : {true, false}) {
      std::vector<double> samples[4];
      const int calls = calls_for(packing);
      for (int turn = 0; turn < turns; ++turn) {
        samples[0].push_back(time_calls(MPI_COMM_SELF, calls, [&] { by_hand(packing); }));
        samples[1].push_back(time_calls(MPI_COMM_SELF, calls, [&] { wherry(packing); }));
        samples[2].push_back(time_calls(MPI_COMM_SELF, calls, [&] { native(packing); }));
        samples[3].push_back(time_calls(MPI_COMM_SELF, calls, [&] { copy(); }));
      }
      const char* names[] = {"hand", "wherry", "native", "memcpy"};
      for (int i = 0; i < 4; ++i)
        print(pattern_.name + (packing ? ", pack" : ", unpack"), names[i], samples[i]);
    }
  }

 private:
  void by_hand(bool packing) { pattern_.hand(packing, memory_.data(), packed_.data()); }
  void wherry(bool packing) {
    const wherry::layout::DataRange all{0, plan_->size()};
    if (packing) wherry::layout::pack(*plan_, memory_.data(), packed_.data(), all);
    else wherry::layout::unpack(*plan_, memory_.data(), packed_.data(), all);
  }
  void native(bool packing) {
    int position = 0;
    const auto size = static_cast<int>(packed_.size());
    if (packing)
      MPI_Pack(memory_.data(), pattern_.count, type_.get(), packed_.data(), size, &position, MPI_COMM_SELF);
    else
      MPI_Unpack(packed_.data(), size, &position, memory_.data(), pattern_.count, type_.get(), MPI_COMM_SELF);
  }
  void copy() {
    std::memcpy(other_.data(), packed_.data(), packed_.size());
    asm volatile("" : : "r"(other_.data()) : "memory");
  }
  /// Some 300 us of calls.
  int calls_for(bool packing) {
    wherry(packing);
    const double once = time_calls(MPI_COMM_SELF, 3, [&] { wherry(packing); });
    return std::clamp(static_cast<int>(300e-6 / once), 1, 1000);
  }

  const Pattern& pattern_;
  Type type_;
  wherry::datatype::PlanPtr plan_;
  Bytes memory_, packed_, other_;
};

struct Large {
  std::string name;
  wherry::layout::Layout layout;
};

/// So many bytes of data each.
std::vector<Large> large_layouts(long bytes) {
  using namespace wherry::layout;
  const auto ids = [&](int size) {
    std::vector<Offset> displacements;
    for (const int id : random_ids(static_cast<int>(bytes / size), static_cast<int>(2 * bytes / size)))
      displacements.push_back(Offset{id} * size);
    return displacements;
  };
  const auto n = static_cast<Offset>(std::sqrt(static_cast<double>(bytes) / 8));
  return {{"every other double", strided(bytes / 8, 16, dense(8))},
          {"one of 8 doubles", strided(bytes / 8, 64, dense(8))},
          {"half of each row of 8 KiB", strided(bytes / 4096, 8192, dense(4096))},
          {"transpose of doubles", strided(n, 8, strided(n, 8 * n, dense(8)))},
          {"particles of 24 B by random ids", indexed_block(ids(24), dense(24))},
          {"particles of 200 B by random ids", indexed_block(ids(200), dense(200))},
          {"padded struct of 13 of 24 B", strided(bytes / 13, 24, indexed({{0, 8}, {9, 1}, {16, 4}}))}};
}

/// By one thread and by two, in turns.
void run_large(const Large& large, const std::string& name, int turns) {
  const wherry::layout::PackPlan plan(wherry::layout::canonical(large.layout));
  const wherry::layout::DataRange all{0, plan.size()};
  Bytes memory(static_cast<std::size_t>(plan.end())), packed(static_cast<std::size_t>(plan.size()));
  const int calls = std::max(1, static_cast<int>((16 << 20) / plan.size()));
  for (const bool packing : {true, false}) {
    std::vector<double> samples[2];
    for (int turn = 0; turn < turns; ++turn)
      for (const int threads : {1, 2})
        samples[threads - 1].push_back(time_calls(MPI_COMM_SELF, calls, [&] {
          if (packing) wherry::layout::pack(plan, memory.data(), packed.data(), all, threads);
          else wherry::layout::unpack(plan, memory.data(), packed.data(), all, threads);
        }));
    print(name + (packing ? ", pack" : ", unpack"), "one thread", samples[0]);
    print(name + (packing ? ", pack" : ", unpack"), "wherry", samples[1]);
  }
}

void run_all_large(const std::string& only, int turns) {
  if (wherry::waiting::count(wherry::waiting::allowed_processors()) < 2) return;
  for (const long mib : {4, 16, 64})
    for (const Large& large : large_layouts(mib << 20)) {
      const std::string name = large.name + ", " + std::to_string(mib) + " MiB";
      if (name.find(only) != std::string::npos) run_large(large, name, turns);
    }
}

}  // namespace

std::vector<Pattern> application_patterns() {
  std::vector<Pattern> all;
  for (auto* const add :
       {add_strides, add_faces, add_particles, add_arrays, add_halos, add_transposes, add_structs})
    add(all);
  return all;
}

}  // namespace bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int turns = bench::number(argc, argv, "--turns", 20);
  const std::string only = bench::option(argc, argv, "--only", "");
  {
    wherry::datatype::TypeLayouts layouts(wherry::mpi::linked_api());
    std::vector<bench::Pattern> patterns = bench::application_patterns();
    for (const bench::Pattern& pattern : patterns) {
      if (pattern.name.find(only) == std::string::npos) continue;
      bench::measure_lives(pattern, turns);
      bench::Case one(pattern, layouts);
      one.check();
      one.run(turns);
    }
    bench::run_all_large(only, turns);
  }
  MPI_Finalize();
}
