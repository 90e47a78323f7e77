// The record of fraillt/cpp_serializers_benchmark, made again from its description: a game's monster, whose strings and
// lists have 1 to 9 elements each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sample {

struct Point {
  float x = 0, y = 0, z = 0;
  bool operator==(const Point&) const = default;
};
struct Weapon {
  std::string name;
  std::int16_t damage = 0;
  bool operator==(const Weapon&) const = default;
};
enum class Colour : std::uint8_t { red, green, blue };

struct Record {
  Point position;
  std::int16_t mana = 0, health = 0;
  std::string name;
  std::vector<std::uint8_t> inventory;
  Colour colour = Colour::red;
  std::vector<Weapon> weapons;
  Weapon equipped;
  std::vector<Point> path;
  bool operator==(const Record&) const = default;
};

template <class Random>
std::size_t drawn_length(Random& random) {
  return 1 + random() % 9;
}
template <class Random>
std::string drawn_name(Random& random) {
  std::string name(drawn_length(random), ' ');
  for (char& letter : name) letter = static_cast<char>('A' + random() % 25);
  return name;
}
template <class Random>
Weapon drawn_weapon(Random& random) {
  return {drawn_name(random), static_cast<std::int16_t>(random() % 32767)};
}
template <class Random>
Point drawn_point(Random& random) {
  const auto coordinate = [&] { return static_cast<float>(random() % 2000) / 1000 - 1; };
  return {coordinate(), coordinate(), coordinate()};
}
template <class Random>
Record drawn_record(Random& random) {
  Record r{.position = drawn_point(random),
           .mana = static_cast<std::int16_t>(random() % 500),
           .health = static_cast<std::int16_t>(random() % 1000),
           .name = drawn_name(random),
           .inventory = std::vector<std::uint8_t>(drawn_length(random)),
           .colour = static_cast<Colour>(random() % 3),
           .weapons = std::vector<Weapon>(drawn_length(random)),
           .equipped = drawn_weapon(random),
           .path = std::vector<Point>(drawn_length(random))};
  for (std::uint8_t& item : r.inventory) item = static_cast<std::uint8_t>(drawn_length(random));
  for (Weapon& weapon : r.weapons) weapon = drawn_weapon(random);
  for (Point& point : r.path) point = drawn_point(random);
  return r;
}

}  // namespace sample
