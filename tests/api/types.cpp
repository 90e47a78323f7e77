// wherry::datatype: size and extent, the bytes that MPI takes from an object, arrays that go round a ring, and that
// MPI_Finalize finds the types freed.
#include <wherry/pack.hpp>
#include <wherry/types.hpp>

#include <cstring>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "check.hpp"

namespace {

enum class Phase : short { solid, liquid };

struct Site {
  double position[3];
  Phase phase;
  bool fixed;
  bool operator==(const Site&) const = default;
};
struct Molecule {
  char name;
  Site sites[2];
  std::pair<char, int> bond;
  std::tuple<char, float> tuple;
  std::complex<double> field;
  char16_t label;
  std::array<float, 3> dipole;
  bool operator==(const Molecule&) const = default;
};
class Counter {
 public:
  Counter() = default;
  explicit Counter(int n) : n_(n), half_(n / 2.0) {}
  static constexpr auto members() { return wherry::members(&Counter::n_, &Counter::half_); }
  bool operator==(const Counter& o) const { return n_ == o.n_ && half_ == o.half_; }

 private:
  [[maybe_unused]] void* own_ = nullptr;
  int n_ = 0;
  double half_ = 0;
};
using SiteState = wherry::Subset<Site, &Site::phase, &Site::position>;

int made = 0, freed = 0;
std::set<MPI_Datatype> types;

Molecule molecule(int n) {
  const double x = n;
  return {'m',
          {{{x, x + 1, x + 2}, Phase::liquid, true}, {{x, 0, -x}, Phase::solid, false}},
          {'b', n},
          {'t', 0.5f},
          {x, 1},
          u'l',
          {1, 2, float(n)}};
}

/// MPI's bytes of an object are those of wherry::pack: it takes the same leaves in the same order.
template <class T>
void check_bytes(test::Checks& checks, const T& object) {
  int size = 0, position = 0;
  MPI_Aint lower = 1, extent = 0;
  const MPI_Datatype type = wherry::datatype<T>();
  types.insert(type);
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &lower, &extent);
  checks.that(size == int(wherry::fixed_bytes<T>) && lower == 0 && extent == MPI_Aint(sizeof(T)),
              "size or extent");
  checks.that(type == wherry::datatype<T>(), "not made once");
  std::vector<char> packed(2 * wherry::fixed_bytes<T>);
  const T both[] = {object, object};
  MPI_Pack(both, 2, type, packed.data(), int(packed.size()), &position, MPI_COMM_SELF);
  const wherry::PackedBytes expected = wherry::pack(object, object);
  checks.that(
      position == int(expected.size()) && std::memcmp(packed.data(), expected.data(), expected.size()) == 0,
      "MPI packs other bytes");
}

template <class T>
void check_ring(test::Checks& checks, std::vector<T> mine, const std::vector<T>& before, MPI_Datatype type) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<T> got(before.size());
  MPI_Sendrecv(mine.data(), int(mine.size()), type, (rank + 1) % ranks, 1, got.data(), int(got.size()), type,
               (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  checks.that(got == before, "the ring brings something else");
}

void check_subset(test::Checks& checks) {
  const Site from{{1, 2, 3}, Phase::liquid, true};
  Site to{{0, 0, 0}, Phase::solid, false};
  const MPI_Datatype type = wherry::datatype<SiteState>();
  types.insert(type);
  MPI_Sendrecv(&from, 1, type, 0, 2, &to, 1, type, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  checks.that(to == Site{{1, 2, 3}, Phase::liquid, false}, "a subset brings other members");
}

void check_all(test::Checks& checks) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int last = (rank + ranks - 1) % ranks;
  check_bytes(checks, molecule(rank).sites[0]);
  check_bytes(checks, molecule(rank));
  check_bytes(checks, Counter(5));
  check_bytes(checks, Phase::liquid);
  check_ring<Molecule>(checks, {molecule(rank), molecule(7)}, {molecule(last), molecule(7)},
                       wherry::datatype<Molecule>());
  check_ring<Counter>(checks, {Counter(rank)}, {Counter(last)}, wherry::datatype<Counter>());
  check_subset(checks);
  checks.that(wherry::datatype<double>() == MPI_DOUBLE, "double is MPI's own");
}

}  // namespace

// The program's own, which count.
extern "C" int MPI_Type_commit(MPI_Datatype* type) {
  ++made;
  return PMPI_Type_commit(type);
}
extern "C" int MPI_Type_free(MPI_Datatype* type) {
  freed += static_cast<int>(types.erase(*type));
  return PMPI_Type_free(type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test::Checks checks;
  check_all(checks);
  const int all = static_cast<int>(types.size());
  checks.that(all == made && freed == 0, "types are made more than once, or freed early");
  const int code = checks.exit_code();
  MPI_Finalize();
  return code != 0 || freed != all;
}
