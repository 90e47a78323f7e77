// Random objects of every kind of type that can be packed, and a second way to pack them: by hand, member by member.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "wherry/compact_vector.hpp"
#include "wherry/pack.hpp"

namespace types_test {

using Random = std::mt19937_64;

enum class Color : std::uint8_t { red, green, blue };

struct Padded {
  double d = 0;
  char c = 0;
  bool operator==(const Padded&) const = default;
};

struct Tree {
  int value = 0;
  std::vector<Tree> branches;
  bool operator==(const Tree&) const = default;
};

class Secret {
 public:
  Secret() = default;
  Secret(int key, std::string name) : key_(key), name_(std::move(name)) {}
  static constexpr auto members() { return wherry::members(&Secret::key_, &Secret::name_); }
  bool operator==(const Secret&) const = default;
  auto operator<=>(const Secret&) const = default;

 private:
  int key_ = 0;
  std::string name_;
};

/// One of each.
struct Sample {
  bool flag = false;
  std::int16_t small = 0;
  Color color = Color::red;
  std::complex<double> z;
  long double extended = 0;
  Padded padded;
  int matrix[2][3] = {};
  std::array<Padded, 2> pair_of_padded{};
  std::vector<double> numbers;
  std::vector<Padded> many_padded;
  std::vector<std::string> words;
  std::vector<bool> bits;
  wherry::compact_vector<int> bonds;
  wherry::compact_vector<Padded, std::uint8_t> few;
  std::string text;
  std::optional<Padded> maybe;
  std::optional<std::string> comment;
  std::variant<int, std::string, Padded, std::vector<int>> one_of;
  std::map<std::string, int> map;
  std::unordered_map<int, Padded> table;
  std::set<Secret> secrets;
  std::list<int> list;
  std::deque<Padded> deque;
  std::pair<int, std::string> pair;
  std::tuple<char, Padded, std::vector<short>> tuple;
  std::array<std::string, 2> two_words;
  Tree tree;
  bool operator==(const Sample&) const = default;
};

inline std::string drawn_text(Random& random) {
  std::string text(random() % 4 == 0 ? random() % 300 : random() % 20, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}
inline Padded drawn_padded(Random& random) {
  return {static_cast<double>(random() % 1000) / 8, static_cast<char>(random())};
}
inline Tree drawn_tree(Random& random, int depth) {
  Tree tree{static_cast<int>(random()), {}};
  for (std::size_t n = depth == 0 ? 0 : random() % 3; n > 0; --n)
    tree.branches.push_back(drawn_tree(random, depth - 1));
  return tree;
}

template <class Make>
void times(Random& random, std::size_t most, Make make) {
  for (std::size_t n = random() % (most + 1); n > 0; --n) make();
}

inline void draw_containers(Random& random, Sample& s) {
  const auto integer = [&] { return static_cast<int>(random()); };
  times(random, 300, [&] { s.numbers.push_back(static_cast<double>(integer())); });
  times(random, 5, [&] { s.many_padded.push_back(drawn_padded(random)); });
  times(random, 5, [&] { s.words.push_back(drawn_text(random)); });
  times(random, 20, [&] { s.bits.push_back(random() % 2 == 0); });
  times(random, 7, [&] { s.bonds.push_back(integer()); });
  times(random, 3, [&] { s.few.push_back(drawn_padded(random)); });
  times(random, 4, [&] { s.map[drawn_text(random)] = integer(); });
  times(random, 4, [&] { s.table[integer()] = drawn_padded(random); });
  times(random, 3, [&] { s.secrets.emplace(integer(), drawn_text(random)); });
  times(random, 4, [&] { s.list.push_back(integer()); });
  times(random, 4, [&] { s.deque.push_back(drawn_padded(random)); });
}

inline Sample drawn_sample(Random& random) {
  Sample s;
  s.flag = random() % 2 == 0;
  s.small = static_cast<std::int16_t>(random());
  s.color = static_cast<Color>(random() % 3);
  s.z = {1.5, static_cast<double>(random() % 9)};
  s.extended = static_cast<long double>(random() % 1000) / 3;
  s.padded = drawn_padded(random);
  for (auto& row : s.matrix)
    for (int& entry : row) entry = static_cast<int>(random());
  s.pair_of_padded = {drawn_padded(random), drawn_padded(random)};
  draw_containers(random, s);
  s.text = drawn_text(random);
  if (random() % 2 == 0) s.maybe = drawn_padded(random);
  if (random() % 2 == 0) s.comment = drawn_text(random);
  switch (random() % 4) {
    case 0: s.one_of = static_cast<int>(random()); break;
    case 1: s.one_of = drawn_text(random); break;
    case 2: s.one_of = drawn_padded(random); break;
    default: s.one_of = std::vector<int>{1, 2, static_cast<int>(random())};
  }
  s.pair = {static_cast<int>(random()), drawn_text(random)};
  s.tuple = {'x', drawn_padded(random), {1, static_cast<short>(random())}};
  s.two_words = {drawn_text(random), drawn_text(random)};
  s.tree = drawn_tree(random, 4);
  return s;
}

/// Packs by hand.
class ByHand {
 public:
  template <class T>
  ByHand& value(const T& t, std::size_t bytes = sizeof(T)) {
    const auto* const from = reinterpret_cast<const char*>(&t);
    bytes_.append(from, bytes);
    return *this;
  }
  ByHand& padded(const Padded& p) { return value(p.d).value(p.c); }
  ByHand& length(std::size_t n) {
    if (n < 253) return value(static_cast<std::uint8_t>(n));
    return value(std::uint8_t{253}).value(static_cast<std::uint16_t>(n));
  }
  ByHand& text(const std::string& s) {
    length(s.size());
    bytes_ += s;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

inline std::string as_text(const wherry::PackedBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace types_test
