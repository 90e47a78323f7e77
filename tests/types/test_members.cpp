// What the compiler finds out about types: members, offsets, blocks, padding.
#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "layout/layout.hpp"
#include "particle.hpp"
#include "wherry/types/leaves.hpp"

namespace {

using wherry::blocks;
using wherry::fixed_bytes;
using wherry::padding_bytes;
using wherry::ValueBytes;

enum class Kind : short { a, b };
enum Old { c, d };

struct Empty {};
struct Inner {
  double d;
  char c;
};
struct Arrays {
  int one[3];
  Inner two[2][2];
  char last;
};
struct Mixed {
  std::optional<int> maybe;
  std::string name;
  int ids[2];
  std::vector<double> values;
  std::optional<std::string> comment;
  Inner inner;
};
struct Everything {
  bool flag;
  Kind kind;
  Old old;
  std::complex<float> z;
  std::pair<char, double> pair;
  std::tuple<char, short, double> tuple;
  Empty nothing;
  long double extended;
  std::array<Inner, 2> inners;
};
struct Aligned {
  char c;
  alignas(32) double d;
  int i;
};
class Hidden {
 public:
  static constexpr auto members() { return wherry::members(&Hidden::second_, &Hidden::first_); }

 private:
  [[maybe_unused]] void* cache_ = nullptr;
  double first_ = 0;
  int second_ = 0;
};
struct Base {
  int b;
};
struct Derived : Base {
  int own;
  static constexpr auto members() { return wherry::members(&Derived::b, &Derived::own); }
};
struct Many {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff;
};
struct LongText {
  char text[1000];
  int n;
};

template <class T>
std::vector<ValueBytes> blocks_of() {
  return {blocks<T>.begin(), blocks<T>.end()};
}

TEST_CASE("members are counted, whatever they are") {
  using wherry::detail::member_count;
  static_assert(member_count<Empty> == 0);
  static_assert(member_count<Inner> == 2);
  static_assert(member_count<Arrays> == 3);
  static_assert(member_count<Mixed> == 6);
  static_assert(member_count<Everything> == 9);
  static_assert(member_count<Many> == 32);
  static_assert(member_count<LongText> == 2);
  CHECK(member_count<sample::Particle<std::vector<int>>> == 8);
}

TEST_CASE("blocks are where the members are") {
  CHECK(blocks_of<Inner>() == std::vector<ValueBytes>{{0, 9}});
  CHECK(padding_bytes<Inner> == 7);
  CHECK(blocks_of<Arrays>() ==
        std::vector<ValueBytes>{{0, 12}, {16, 9}, {32, 9}, {48, 9}, {64, 9}, {offsetof(Arrays, last), 1}});
  CHECK(blocks_of<Aligned>() == std::vector<ValueBytes>{{0, 1}, {32, 12}});
  CHECK(blocks_of<Many>() == std::vector<ValueBytes>{{0, 128}});
  CHECK(blocks_of<LongText>() == std::vector<ValueBytes>{{0, 1004}});
  CHECK(blocks_of<Derived>() == std::vector<ValueBytes>{{0, 8}});
  CHECK(blocks_of<Empty>().empty());
}

TEST_CASE("only values count, and of containers none") {
  constexpr std::size_t extended = wherry::detail::value_bytes<long double>;
  CHECK(fixed_bytes<Everything> == 1 + 2 + 4 + 8 + 9 + 11 + extended + 18);
  CHECK(fixed_bytes<Mixed> == 8 + 9);
  CHECK(blocks_of<Mixed>() ==
        std::vector<ValueBytes>{{offsetof(Mixed, ids), 8}, {offsetof(Mixed, inner), 9}});
  static_assert(!wherry::detail::Fixed<Mixed> && wherry::detail::Fixed<Everything>);
}

TEST_CASE("a class says which of its members count") {
  CHECK(blocks_of<Hidden>() == std::vector<ValueBytes>{{sizeof(void*), 12}});
  CHECK(padding_bytes<Hidden> == sizeof(Hidden) - 12);
}

TEST_CASE("a particle's padding is found though no double has a unique representation") {
  using Small = sample::Particle<std::array<int, 0>>;
  using Usual = sample::Particle<std::vector<int>>;
  CHECK(sizeof(Usual) == 616);
  CHECK(fixed_bytes<Usual> == sample::particle_fixed_bytes);
  CHECK(sizeof(Usual) - 2 * sizeof(std::vector<int>) - fixed_bytes<Usual> == sample::particle_padding);
  CHECK(fixed_bytes<Small> == sample::particle_fixed_bytes);
}

TEST_CASE("a subset has the blocks of its members") {
  using wherry::within;
  using Pair = std::pair<char, double>;
  using Some = wherry::Subset<Everything, &Everything::kind, within(&Everything::pair, &Pair::second)>;
  CHECK(blocks_of<Some>() == std::vector<ValueBytes>{{2, 2}, {24, 8}});
  using All = wherry::Subset<Inner, &Inner::c, &Inner::d>;
  CHECK(blocks_of<All>() == blocks_of<Inner>());
}

TEST_CASE("blocks are a layout of the algebra") {
  using namespace wherry::layout;
  std::vector<wherry::layout::ByteBlock> list;
  for (const ValueBytes& b : blocks<Everything>) list.push_back({Offset(b.offset), Offset(b.bytes)});
  const Layout layout = indexed(list);
  CHECK(layout->size() == Offset(fixed_bytes<Everything>));
  CHECK(layout->begin() >= 0);
  CHECK(layout->end() <= Offset(sizeof(Everything)));
}

/// Writes every byte of a member and looks which bytes of the object changed: the compiler's offsets against the
/// machine's.
template <class T, class Member>
void check_offset(std::size_t expected_offset, Member T::* member) {
  alignas(T) std::byte before[sizeof(T)] = {}, after[sizeof(T)] = {};
  T* const object = reinterpret_cast<T*>(after);
  std::memset(static_cast<void*>(&(object->*member)), 0xff, sizeof(Member));
  std::size_t first = 0;
  while (first < sizeof(T) && before[first] == after[first]) ++first;
  CHECK(first == expected_offset);
}

TEST_CASE("offsets are those that a write to the member shows") {
  check_offset(wherry::detail::part_offsets<Everything>()[1], &Everything::kind);
  check_offset(wherry::detail::part_offsets<Everything>()[4], &Everything::pair);
  check_offset(wherry::detail::part_offsets<Everything>()[7], &Everything::extended);
  check_offset(wherry::detail::part_offsets<Everything>()[8], &Everything::inners);
  check_offset(wherry::detail::part_offsets<Aligned>()[1], &Aligned::d);
}

}  // namespace
