// Reports of layouts, against the compiler's own offsetof and sizeof, and against types declared in the proposed order.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "wherry/layout_report.hpp"

namespace {

using wherry::layout_report;

struct Loose {
  char a;
  double b;
  char c;
  int d;
  short e;
  void* p;
  bool f;
};
struct LooseInOrder {  // as the report of Loose proposes: by falling alignment, else as declared
  double b;
  void* p;
  int d;
  short e;
  char a;
  char c;
  bool f;
};
struct Tight {
  double a;
  int b, c;
};
struct Nested {
  char tag;
  Loose inner[2];
  short count;
  std::string name;
  char last;
};
struct NestedInOrder {
  Loose inner[2];
  std::string name;
  short count;
  char tag;
  char last;
};
struct Wide {
  char a;
  alignas(32) int b;
  char c;
};
struct NoMembers {};
struct One {
  double only;
};
class Secret {
 public:
  static constexpr auto members() { return wherry::members(&Secret::small_, &Secret::large_); }

 private:
  char small_ = 0;
  [[maybe_unused]] int not_listed_ = 0;
  double large_ = 0;
  [[maybe_unused]] char last_ = 0;
};

template <std::size_t n>
std::vector<std::size_t> offsets(const wherry::LayoutReport<n>& report) {
  std::vector<std::size_t> found;
  for (const auto& member : report.members) found.push_back(member.offset);
  return found;
}

template <class T>
constexpr bool proposes_nothing() {
  const auto report = layout_report<T>();
  for (std::size_t i = 0; i < report.order.size(); ++i)
    if (report.order[i] != i) return false;
  return report.ordered_bytes == sizeof(T);
}

TEST_CASE("offsets are those of offsetof") {
  CHECK(offsets(layout_report<Loose>()) == std::vector<std::size_t>{offsetof(Loose, a), offsetof(Loose, b),
                                                                    offsetof(Loose, c), offsetof(Loose, d),
                                                                    offsetof(Loose, e), offsetof(Loose, p),
                                                                    offsetof(Loose, f)});
  CHECK(offsets(layout_report<Wide>()) ==
        std::vector<std::size_t>{offsetof(Wide, a), offsetof(Wide, b), offsetof(Wide, c)});
}

TEST_CASE("the proposed order has the size that it promises") {
  static_assert(layout_report<Loose>().ordered_bytes == sizeof(LooseInOrder));
  static_assert(layout_report<Loose>().order == std::array<std::size_t, 7>{1, 5, 3, 4, 0, 2, 6});
  static_assert(layout_report<Nested>().ordered_bytes == sizeof(NestedInOrder));
  static_assert(sizeof(NestedInOrder) < sizeof(Nested));
  static_assert(layout_report<Loose>().hole_bytes() == sizeof(Loose) - 25);
}

TEST_CASE("nothing is proposed where nothing is won, or other rules are at work") {
  static_assert(proposes_nothing<Tight>() && layout_report<Tight>().hole_bytes() == 0);
  static_assert(proposes_nothing<One>() && proposes_nothing<NoMembers>());
  static_assert(proposes_nothing<Wide>());  // alignas of a member is not told
  static_assert(proposes_nothing<std::tuple<char, double, char>>());
}

TEST_CASE("members that members() leaves out may lie in what seems to be a hole") {
  constexpr auto report = layout_report<Secret>();
  static_assert(!report.complete && proposes_nothing<Secret>());
  CHECK(report.members.size() == 2);
  CHECK(wherry::to_text(report).find("holes or members that members() leaves out") != std::string::npos);
}

TEST_CASE("the text shows members, holes and the order") {
  struct Small {
    char a;
    int b;
    char c;
  };
  const std::string text = wherry::to_text(layout_report<Small>());
  CHECK(text.substr(text.find(": ")) ==
        ": 12 bytes, 6 of them holes\n"
        "  0: 1 byte, member 0, char\n"
        "  1: 3 bytes, hole\n"
        "  4: 4 bytes, member 1, int\n"
        "  8: 1 byte, member 2, char\n"
        "  9: 3 bytes, hole\n"
        "8 bytes in this order of members: 1 0 2\n");
  CHECK(wherry::to_text(layout_report<Tight>()).find("in this order") == std::string::npos);
}

}  // namespace
