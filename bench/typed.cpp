// What does a collective of derived types take: natively, packed by hand, and under Wherry?
//
//   bench_typed --sizes 1024,32768 --turns 20 --train 300
// "alltoall of every other double, N B": each rank sends N bytes of data to each other, in a block of one element whose
// type takes every second double; "padded structs": each block is an array of {double, char, int}, 13 bytes of data in
// 16. "bcast": one such block from rank 0. "packed" copies the data by a loop into contiguous memory, calls the library
// with bytes, and copies them back. "wherry" is Wherry's choice after --train calls. Run it under the preload. Each
// variant's answer is compared with what was sent; a wrong one ends the run.
#include <cstddef>
#include <cstring>

#include "exchange.hpp"
#include "pattern_types.hpp"
#include "turns.hpp"

namespace {

using bench::Variant;

/// How the elements of a block lie: so many bytes of data in so many of memory, repeated.
struct Pattern {
  const char* name;
  int data, extent;
  bench::Type (*block)(int repetitions);  // a type of so many
  void (*pack)(const char* memory, char* packed, long repetitions);
  void (*unpack)(char* memory, const char* packed, long repetitions);
};

struct Record {
  double x;
  char kind;
  int id;
};

bench::Type every_other_double(int repetitions) {
  return bench::resized(bench::vector(repetitions, 1, 2, MPI_DOUBLE), MPI_Aint{16} * repetitions);
}

bench::Type padded_structs(int repetitions) {
  const bench::Type x = MPI_DOUBLE, kind = MPI_CHAR, id = MPI_INT;
  const bench::Type members =
      bench::structure({offsetof(Record, x), offsetof(Record, kind), offsetof(Record, id)}, {&x, &kind, &id});
  return bench::contiguous(repetitions, bench::resized(members, sizeof(Record)));
}

/// By hand, as programs do it.
void pack_doubles(const char* memory, char* packed, long repetitions) {
  for (long i = 0; i < repetitions; ++i) std::memcpy(packed + 8 * i, memory + 16 * i, 8);
}
void unpack_doubles(char* memory, const char* packed, long repetitions) {
  for (long i = 0; i < repetitions; ++i) std::memcpy(memory + 16 * i, packed + 8 * i, 8);
}
void pack_structs(const char* memory, char* packed, long repetitions) {
  for (long i = 0; i < repetitions; ++i, memory += sizeof(Record), packed += 13) {
    std::memcpy(packed, memory + offsetof(Record, x), 8);
    std::memcpy(packed + 8, memory + offsetof(Record, kind), 1);
    std::memcpy(packed + 9, memory + offsetof(Record, id), 4);
  }
}
void unpack_structs(char* memory, const char* packed, long repetitions) {
  for (long i = 0; i < repetitions; ++i, memory += sizeof(Record), packed += 13) {
    std::memcpy(memory + offsetof(Record, x), packed, 8);
    std::memcpy(memory + offsetof(Record, kind), packed + 8, 1);
    std::memcpy(memory + offsetof(Record, id), packed + 9, 4);
  }
}

const Pattern patterns[] = {
    {"every other double", 8, 16, every_other_double, pack_doubles, unpack_doubles},
    {"padded structs", 13, 16, padded_structs, pack_structs, unpack_structs},
};

/// Blocks of one pattern in memory, and the same without gaps.
class Blocks {
 public:
  Blocks(const Pattern& pattern, int bytes, int blocks)
      : repetitions_(std::max(1, bytes / pattern.data)),
        blocks_(blocks),
        pattern_(pattern),
        type_(pattern.block(repetitions_)),
        memory_(static_cast<std::size_t>(repetitions_) * static_cast<std::size_t>(pattern.extent * blocks)),
        packed_(static_cast<std::size_t>(repetitions_) * static_cast<std::size_t>(pattern.data * blocks)) {
    type_.commit();
  }

  void* data() { return memory_.data(); }
  void* packed() { return packed_.data(); }
  MPI_Datatype type() const { return type_.get(); }
  int packed_bytes() const { return repetitions_ * pattern_.data; }  // of a block

  void pack() { pattern_.pack(memory_.data(), packed_.data(), long{repetitions_} * blocks_); }
  void unpack() { pattern_.unpack(memory_.data(), packed_.data(), long{repetitions_} * blocks_); }
  /// All data of block i is of(i).
  template <class Of>
  void fill(const Of& of) {
    for (int i = 0; i < blocks_; ++i)
      std::memset(packed_.data() + static_cast<std::ptrdiff_t>(i) * packed_bytes(), of(i),
                  static_cast<std::size_t>(packed_bytes()));
    unpack();
  }
  template <class Of>
  bool has(const Of& of) {
    pack();
    for (int i = 0; i < blocks_ * packed_bytes(); ++i)
      if (packed_[static_cast<std::size_t>(i)] != static_cast<char>(of(i / packed_bytes()))) return false;
    return true;
  }

 private:
  int repetitions_, blocks_;
  const Pattern& pattern_;
  bench::Type type_;
  std::vector<char> memory_, packed_;
};

/// A collective with what it sends and receives.
struct Case {
  Case(const Pattern& pattern, int bytes, int blocks)
      : out(pattern, bytes, blocks), in(pattern, bytes, blocks) {}

  Blocks out, in;
  int rank = bench::rank_of(MPI_COMM_WORLD);
};

void alltoall(Case& c) {
  MPI_Alltoall(c.out.data(), 1, c.out.type(), c.in.data(), 1, c.in.type(), MPI_COMM_WORLD);
}
void alltoall_packed(Case& c) {
  c.out.pack();
  MPI_Alltoall(c.out.packed(), c.out.packed_bytes(), MPI_BYTE, c.in.packed(), c.in.packed_bytes(), MPI_BYTE,
               MPI_COMM_WORLD);
  c.in.unpack();
}
void bcast(Case& c) {
  Blocks& blocks = c.rank == 0 ? c.out : c.in;
  MPI_Bcast(blocks.data(), 1, blocks.type(), 0, MPI_COMM_WORLD);
}
void bcast_packed(Case& c) {
  Blocks& blocks = c.rank == 0 ? c.out : c.in;
  if (c.rank == 0) blocks.pack();
  MPI_Bcast(blocks.packed(), blocks.packed_bytes(), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (c.rank != 0) blocks.unpack();
}

struct Operation {
  const char* name;
  void (*typed)(Case&);
  void (*packed)(Case&);
  bool among_all;  // a block for each rank
};
const Operation operations[] = {{"alltoall", alltoall, alltoall_packed, true},
                                {"bcast", bcast, bcast_packed, false}};

/// Calls it once, with data that tells who sent it to whom.
void check(const Operation& operation, Case& c, const Variant& variant, const std::string& name) {
  const int rank = c.rank;
  const auto sent = [](int from, int to) { return 1 + from * 16 + to; };
  c.out.fill([&](int i) { return operation.among_all ? sent(rank, i) : sent(0, 0); });
  c.in.fill([](int) { return 0; });
  variant.choose();
  variant.call();
  Blocks& received = !operation.among_all && rank == 0 ? c.out : c.in;
  if (!received.has([&](int i) { return operation.among_all ? sent(i, rank) : sent(0, 0); }))
    bench::end_with(name + ", " + variant.name + ": wrong result");
}

void measure(const Operation& operation, const Pattern& pattern, int bytes, int turns, int calls) {
  Case c(pattern, bytes, operation.among_all ? bench::size_of(MPI_COMM_WORLD) : 1);
  const std::string name =
      std::string(operation.name) + " of " + pattern.name + ", " + bench::case_name(c.out.packed_bytes());
  const auto typed = [&] { operation.typed(c); };
  const std::vector<Variant> variants = {
      {"native", typed, [] { bench::force("native"); }},
      {"packed", [&] { operation.packed(c); }, [] { bench::force("native"); }},
      {"wherry", typed, [] { bench::force("wherry"); }}};
  bench::force("wherry");
  for (int i = 0; i < calls; ++i) bench::time_calls(MPI_COMM_WORLD, 1, typed);
  bench::compare(name, variants, turns);
  for (const Variant& variant : variants) check(operation, c, variant, name);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto sizes = bench::numbers(bench::option(argc, argv, "--sizes", "1024,32768"));
  const int turns = bench::number(argc, argv, "--turns", 20),
            calls = bench::number(argc, argv, "--train", 300);
  for (const Operation& operation : operations)
    for (const Pattern& pattern : patterns)
      for (const int bytes : sizes) measure(operation, pattern, bytes, turns, calls);
  MPI_Finalize();
}
