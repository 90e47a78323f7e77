// What does it take to make bytes of objects, and how many are they: memcpy, Wherry, cereal, Boost.MPI?
//
//   bench_serialization --objects 100,1000 --turns 100
// Objects: vectors of three ints; particles of 616 bytes (568 without their two lists, 25 of them padding) with six
// ints in the lists; 50 records of fraillt/cpp_serializers_benchmark. All variants take turns in one process, and must
// bring back what was packed first. Times are per object; so are the lines of the variant's name with ", bytes", whose
// samples are no seconds.
#include "serialization.hpp"

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>

#include "measure.hpp"
#include "wherry/pack.hpp"

#if __has_include(<cereal/cereal.hpp>)
#include <cereal/archives/binary.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <sstream>

namespace sample {

template <class Archive, class T>
  requires std::is_aggregate_v<T>
void serialize(Archive& archive, T& object) {
  wherry::detail::with_members(object, [&](auto&... member) { archive(member...); });
}

}  // namespace sample
#define WHERRY_BENCH_CEREAL 1
#endif

namespace bench {
namespace {

/// Objects, the bytes that were made of them, and objects that are made of the bytes.
template <class T>
struct State {
  explicit State(const std::vector<T>& of) : objects(of), read(of.size()), bytes(of.size() * 700 + 64) {}
  std::vector<T> objects, read;
  std::vector<std::byte> bytes;
  std::size_t size = 0;
};

/// The bytes that are in every object, padding among them, by one memcpy each; lists by a length of 16 bits and one
/// memcpy.
template <class List>
std::byte* copy_list(std::byte* out, const List& list) {
  const auto n = static_cast<std::uint16_t>(list.size());
  std::memcpy(out, &n, sizeof n);
  std::memcpy(out + sizeof n, list.data(), n * sizeof list[0]);
  return out + sizeof n + n * sizeof list[0];
}
template <class List>
const std::byte* read_list(const std::byte* in, List& list) {
  std::uint16_t n = 0;
  std::memcpy(&n, in, sizeof n);
  list.resize(n);
  std::memcpy(list.data(), in + sizeof n, n * sizeof list[0]);
  return in + sizeof n + n * sizeof list[0];
}

constexpr std::size_t whole = sample::particle_fixed_bytes + sample::particle_padding;

std::byte* copy(std::byte* out, const Triple& t) {
  return static_cast<std::byte*>(std::memcpy(out, &t, sizeof t)) + sizeof t;
}
const std::byte* read(const std::byte* in, Triple& t) {
  std::memcpy(&t, in, sizeof t);
  return in + sizeof t;
}
std::byte* copy(std::byte* out, const Particle& p) {
  std::memcpy(out, &p, whole);
  return copy_list(copy_list(out + whole, p.bonds), p.exclusions);
}
const std::byte* read(const std::byte* in, Particle& p) {
  std::memcpy(static_cast<void*>(&p), in, whole);
  return read_list(read_list(in + whole, p.bonds), p.exclusions);
}

/// As one would write it by hand for this record: one byte for each length.
template <class List>
std::byte* copy_short(std::byte* out, const List& list) {
  const std::size_t bytes = list.size() * sizeof list[0];
  *out++ = static_cast<std::byte>(list.size());
  std::memcpy(out, list.data(), bytes);
  return out + bytes;
}
template <class List>
const std::byte* read_short(const std::byte* in, List& list) {
  list.resize(static_cast<std::size_t>(*in++));
  const std::size_t bytes = list.size() * sizeof list[0];
  std::memcpy(list.data(), in, bytes);
  return in + bytes;
}
template <class T>
std::byte* copy_value(std::byte* out, const T& value) {
  return static_cast<std::byte*>(std::memcpy(out, &value, sizeof value)) + sizeof value;
}
template <class T>
const std::byte* read_value(const std::byte* in, T& value) {
  std::memcpy(&value, in, sizeof value);
  return in + sizeof value;
}
std::byte* copy(std::byte* out, const sample::Weapon& w) {
  return copy_value(copy_short(out, w.name), w.damage);
}
const std::byte* read(const std::byte* in, sample::Weapon& w) {
  return read_value(read_short(in, w.name), w.damage);
}
std::byte* copy(std::byte* out, const sample::Record& r) {
  out = copy_value(copy_value(copy_value(copy_value(out, r.position), r.mana), r.health), r.colour);
  out = copy_short(copy_short(copy_short(out, r.name), r.inventory), r.path);
  *out++ = static_cast<std::byte>(r.weapons.size());
  for (const sample::Weapon& w : r.weapons) out = copy(out, w);
  return copy(out, r.equipped);
}
const std::byte* read(const std::byte* in, sample::Record& r) {
  in = read_value(read_value(read_value(read_value(in, r.position), r.mana), r.health), r.colour);
  in = read_short(read_short(read_short(in, r.name), r.inventory), r.path);
  r.weapons.resize(static_cast<std::size_t>(*in++));
  for (sample::Weapon& w : r.weapons) in = read(in, w);
  return read(in, r.equipped);
}

template <class T>
Codec by_memcpy(const std::vector<T>& objects) {
  const auto state = std::make_shared<State<T>>(objects);
  return {"memcpy",
          [state] {
            std::byte* out = state->bytes.data();
            for (const T& object : state->objects) out = copy(out, object);
            return static_cast<std::size_t>(out - state->bytes.data());
          },
          [state] {
            const std::byte* in = state->bytes.data();
            for (T& object : state->read) in = read(in, object);
          },
          [state] { return state->read == state->objects; }};
}

template <class T>
Codec by_wherry(const std::vector<T>& objects) {
  const auto state = std::make_shared<State<T>>(objects);
  return {"wherry", [state] { return state->size = wherry::pack_into(state->bytes, state->objects); },
          [state] { wherry::unpack({state->bytes.data(), state->size}, state->read); },
          [state] { return state->read == state->objects; }};
}

#ifdef WHERRY_BENCH_CEREAL

/// A stream of memory that is there already, which costs cereal less than its own.
struct Memory : std::streambuf {
  Memory(char* begin, std::size_t size) {
    setp(begin, begin + size);
    setg(begin, begin, begin + size);
  }
  std::size_t written() const { return static_cast<std::size_t>(pptr() - pbase()); }
};

template <class T>
void add_cereal(std::vector<Codec>& codecs, const std::vector<T>& objects) {
  const auto state = std::make_shared<State<T>>(objects);
  char* const memory = reinterpret_cast<char*>(state->bytes.data());
  codecs.push_back({"cereal",
                    [state, memory] {
                      Memory buffer(memory, state->bytes.size());
                      std::ostream stream(&buffer);
                      cereal::BinaryOutputArchive archive(stream);
                      for (const T& object : state->objects) archive(object);
                      return buffer.written();
                    },
                    [state, memory] {
                      Memory buffer(memory, state->bytes.size());
                      std::istream stream(&buffer);
                      cereal::BinaryInputArchive archive(stream);
                      for (T& object : state->read) archive(object);
                    },
                    [state] { return state->read == state->objects; }});
}

#else
template <class T>
void add_cereal(std::vector<Codec>&, const std::vector<T>&) {}
#endif

template <class T>
void add_boost_if_linked(std::vector<Codec>& codecs, const std::vector<T>& objects) {
  void (*const add)(std::vector<Codec>&, const std::vector<T>&) = add_boost;
  if (add != nullptr) add(codecs, objects);
}

/// Seconds per object, of each codec in its turn.
void run(const std::string& name, const std::vector<Codec>& codecs, int objects, int turns) {
  std::vector<std::vector<double>> packing(codecs.size()), unpacking(codecs.size());
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < codecs.size(); ++i) {
      packing[i].push_back(time_calls(MPI_COMM_SELF, 5, codecs[i].pack) / objects);
      unpacking[i].push_back(time_calls(MPI_COMM_SELF, 5, codecs[i].unpack) / objects);
    }
  for (std::size_t i = 0; i < codecs.size(); ++i) {
    const std::size_t bytes = codecs[i].pack();
    codecs[i].unpack();
    if (!codecs[i].same()) end_with(name + ": " + codecs[i].name + " brings back something else");
    print(name + ", pack", codecs[i].name, packing[i]);
    print(name + ", unpack", codecs[i].name, unpacking[i]);
    print(name + ", pack", codecs[i].name + ", bytes", {static_cast<double>(bytes) / objects});
  }
}

template <class List>
std::vector<sample::Particle<List>> particles(int count) {
  std::mt19937_64 random(1);
  std::vector<sample::Particle<List>> made;
  for (int i = 0; i < count; ++i) made.push_back(sample::drawn_particle<List>(random, 4, 2));
  return made;
}

void run_vectors(int objects, int turns) {
  const std::vector<Triple> triples(static_cast<std::size_t>(objects), Triple{4, 5, 6});
  std::vector<Codec> codecs{by_memcpy(triples), by_wherry(triples)};
  add_cereal(codecs, triples);
  add_boost_if_linked(codecs, triples);
  run(std::to_string(objects) + " 3-int vectors", codecs, objects, turns);
}

void run_particles(int objects, int turns) {
  const auto compact = particles<wherry::compact_vector<int>>(objects);
  const auto usual = particles<std::vector<int>>(objects);
  std::vector<Codec> codecs{by_memcpy(compact), by_wherry(compact)};
  add_cereal(codecs, usual);
  add_boost_if_linked(codecs, usual);
  run(std::to_string(objects) + " particles", codecs, objects, turns);
}

void run_records(int turns) {
  std::mt19937_64 random(1);
  std::vector<sample::Record> records;
  for (int i = 0; i < 50; ++i) records.push_back(sample::drawn_record(random));
  std::vector<Codec> codecs{by_memcpy(records), by_wherry(records)};
  add_cereal(codecs, records);
  add_boost_if_linked(codecs, records);
  run("50 records", codecs, 50, turns);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int turns = bench::number(argc, argv, "--turns", 100);
  for (const int objects : bench::numbers(bench::option(argc, argv, "--objects", "100,1000"))) {
    bench::run_vectors(objects, turns);
    bench::run_particles(objects, turns);
  }
  bench::run_records(turns);
  MPI_Finalize();
}
