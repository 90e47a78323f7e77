// compact_vector against std::vector: random sequences of calls; overflow, exceptions, allocators.
#include <doctest/doctest.h>

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "wherry/compact_vector.hpp"

namespace {

using wherry::compact_vector;

static_assert(sizeof(compact_vector<int>) == 16);
static_assert(sizeof(compact_vector<std::string, std::uint32_t>) == 16);

/// Counts those that live, and throws when the count of copies has run out.
struct Watched {
  static inline int alive = 0, copies_left = 1 << 30;
  std::string value;

  Watched(std::string v = "") : value(std::move(v)) { ++alive; }
  Watched(const Watched& other) : value(other.value) {
    if (copies_left-- <= 0) throw std::bad_alloc();
    ++alive;
  }
  Watched& operator=(const Watched& other) {
    if (copies_left-- <= 0) throw std::bad_alloc();
    value = other.value;
    return *this;
  }
  ~Watched() { --alive; }
  bool operator==(const Watched&) const = default;
};

template <class T>
T made(std::uint64_t n) {
  if constexpr (std::is_same_v<T, int>) return static_cast<int>(n);
  else return T("a string that is too long for its own object " + std::to_string(n));
}

template <class T>
class Compared {
 public:
  explicit Compared(std::uint64_t seed) : random_(seed) {}

  void step() {
    const std::size_t at = ours_.empty() ? 0 : random_() % (ours_.size() + 1);
    const auto place = static_cast<std::ptrdiff_t>(at);
    const T value = made<T>(random_() % 1000);
    switch (random_() % 13) {
      case 0: ours_.push_back(value), theirs_.push_back(value); break;
      case 1:
        ours_.insert(ours_.begin() + place, value), theirs_.insert(theirs_.begin() + place, value);
        break;
      case 2: erase(at); break;
      case 3: ours_.resize(at), theirs_.resize(at); break;
      case 4: ours_.resize(at + 3, value), theirs_.resize(at + 3, value); break;
      case 5: ours_.assign(at, value), theirs_.assign(at, value); break;
      case 6: ours_.shrink_to_fit(); break;
      case 7: insert_several(place); break;
      case 8: ours_ = compact_vector<T>(theirs_.begin(), theirs_.end()); break;
      case 9: copy_and_swap(); break;
      case 10: ours_.reserve(at * 2); break;
      case 11: push_own_element(); break;
      default: assign_part(at);
    }
  }
  bool same() const {
    return std::equal(ours_.begin(), ours_.end(), theirs_.begin(), theirs_.end()) &&
           ours_.size() == theirs_.size() && ours_.capacity() >= ours_.size();
  }

 private:
  void erase(std::size_t at) {
    if (at >= ours_.size()) return;
    const auto first = static_cast<std::ptrdiff_t>(at);
    const auto last = first + static_cast<std::ptrdiff_t>(random_() % (ours_.size() - at + 1));
    ours_.erase(ours_.begin() + first, ours_.begin() + last);
    theirs_.erase(theirs_.begin() + first, theirs_.begin() + last);
  }
  void insert_several(std::ptrdiff_t at) {
    const std::vector<T> several(random_() % 5, made<T>(7));
    ours_.insert(ours_.begin() + at, several.begin(), several.end());
    theirs_.insert(theirs_.begin() + at, several.begin(), several.end());
  }
  void copy_and_swap() {
    compact_vector<T> copy(ours_), moved(std::move(ours_));
    ours_ = copy;
    swap(ours_, moved);
  }
  void push_own_element() {
    if (ours_.empty()) return;
    ours_.shrink_to_fit();
    ours_.push_back(ours_.front());
    theirs_.push_back(T(theirs_.front()));
  }
  void assign_part(std::size_t n) {
    const std::vector<T> part(theirs_.begin(), theirs_.begin() + static_cast<std::ptrdiff_t>(n));
    ours_.assign(part.begin(), part.end());
    theirs_ = part;
  }

  std::mt19937_64 random_;
  compact_vector<T> ours_;
  std::vector<T> theirs_;
};

TEST_CASE_TEMPLATE("random calls do what they do to std::vector", T, int, std::string, Watched) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Compared<T> compared(seed);
    for (int i = 0; i < 300; ++i) {
      CAPTURE(seed);
      CAPTURE(i);
      compared.step();
      REQUIRE(compared.same());
    }
  }
  CHECK(Watched::alive == 0);
}

TEST_CASE("growing beyond the size type is an error that changes nothing") {
  compact_vector<int, std::uint8_t> small(255, 3);
  CHECK(small.max_size() == 255);
  CHECK_THROWS_AS(small.push_back(1), std::length_error);
  CHECK_THROWS_AS(small.resize(256), std::length_error);
  CHECK_THROWS_AS((compact_vector<int>(65536)), std::length_error);
  CHECK(small == compact_vector<int, std::uint8_t>(255, 3));
  compact_vector<char> large;
  for (int i = 0; i < 65535; ++i) large.push_back('c');
  CHECK(large.size() == 65535);
  CHECK_THROWS_AS(large.push_back('c'), std::length_error);
}

TEST_CASE("a copy that throws leaves everything as it was") {
  {
    compact_vector<Watched> values;
    for (int i = 0; i < 4; ++i) values.emplace_back(std::to_string(i));
    REQUIRE(values.size() == values.capacity());
    for (int left = 0; left < 5; ++left) {
      const Watched more("more");
      Watched::copies_left = left;
      CHECK_THROWS_AS(values.push_back(more), std::bad_alloc);
      Watched::copies_left = 1 << 30;
      CHECK(values == compact_vector<Watched>{Watched("0"), Watched("1"), Watched("2"), Watched("3")});
    }
    Watched::copies_left = 2;
    CHECK_THROWS_AS((compact_vector<Watched>(values)), std::bad_alloc);
    Watched::copies_left = 1 << 30;
  }
  CHECK(Watched::alive == 0);
}

/// Memory that belongs to one of two owners.
template <class T>
struct Owned {
  using value_type = T;
  int* balance;

  explicit Owned(int* of) : balance(of) {}
  template <class U>
  Owned(const Owned<U>& other) : balance(other.balance) {}
  T* allocate(std::size_t n) {
    *balance += static_cast<int>(n);
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* memory, std::size_t n) {
    *balance -= static_cast<int>(n);
    std::allocator<T>().deallocate(memory, n);
  }
  bool operator==(const Owned&) const = default;
};

TEST_CASE("memory goes back to the allocator that it came from") {
  using Vector = compact_vector<std::string, std::uint16_t, Owned<std::string>>;
  int one = 0, two = 0;
  {
    Vector a({"a", "b"}, Owned<std::string>(&one)), b({"c"}, Owned<std::string>(&two));
    const std::string* const kept = a.data();
    Vector same(std::move(a), Owned<std::string>(&one));
    CHECK(same.data() == kept);
    b = std::move(same);  // not the allocator's: element by element
    CHECK(b.get_allocator() == Owned<std::string>(&two));
    CHECK(b.size() == 2);
    CHECK(b.back() == "b");
    const Vector copy(b);
    a = copy;
    CHECK(a.get_allocator() == Owned<std::string>(&one));
    CHECK(a == b);
    CHECK(one > 0);
    CHECK(two > 0);
  }
  CHECK(one == 0);
  CHECK(two == 0);
}

TEST_CASE("order, iteration and bounds") {
  const compact_vector<int> a{1, 2, 3}, b{1, 2, 4};
  CHECK(a < b);
  CHECK(std::vector<int>(a.rbegin(), a.rend()) == std::vector<int>{3, 2, 1});
  CHECK(a.at(2) == 3);
  CHECK_THROWS_AS(a.at(3), std::out_of_range);
  CHECK(compact_vector<int>(2) == compact_vector<int>{0, 0});
  CHECK(compact_vector<int>().data() == nullptr);
}

}  // namespace
