// A rank that is refused memory for collectives that do not end where they begin: they are native on all ranks,
// or all perform them, and none waits for ever.
//
// The rank progresses its calls itself, so that this runs on every library.
// ranks: 3
#include <mpi.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "edge_bench.hpp"
#include "library_progress.hpp"
#include "refused_memory.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

constexpr int large = 10000, small = 10;  // ints of a block

/// Counts what was started by what, and what was native and why.
class Starts : public Witness {
 public:
  void made_operation(MPI_Comm, const run::CellKey&, run::Form, std::string_view strategy,
                      std::uint64_t) override {
    ++by[std::string(strategy)];
  }
  void not_started(Collective, run::Form, std::string_view reason) override { ++by[std::string(reason)]; }

  long take(std::string_view what) {
    const auto found = by.find(what);
    return found == by.end() ? 0 : std::exchange(found->second, 0);
  }
  long left() const {
    long sum = 0;
    for (const auto& [what, times] : by) sum += times;
    return sum;
  }

  std::map<std::string, long, std::less<>> by;
};

/// What a call moves, and what must come of it.
struct Data {
  Data(MPI_Comm on, int ints, int number)
      : comm(on), count(ints), seed(number), rank(rank_of(on)), size(size_of(on)) {
    for (int to = 0; to < size; ++to)
      for (int k = 0; k < count; ++k) out.push_back(value(rank, to, k));
    in.assign(out.size(), -1);
  }

  int value(int from, int to, int k) const { return ((seed * 8 + from) * 8 + to) * 16384 + k; }
  bool is_exchanged() const {
    for (int from = 0; from < size; ++from)
      for (int k = 0; k < count; ++k)
        if (in[static_cast<std::size_t>(from * count + k)] != value(from, rank, k)) return false;
    return true;
  }
  bool is_summed() const {
    for (int i = 0; i < size * count; ++i) {
      int sum = 0;
      for (int from = 0; from < size; ++from) sum += value(from, i / count, i % count);
      if (in[static_cast<std::size_t>(i)] != sum) return false;
    }
    return true;
  }

  MPI_Comm comm;
  int count, seed, rank, size;
  std::vector<int> out, in;
  MPI_Request request = MPI_REQUEST_NULL;
};

struct Exchange {
  static constexpr std::string_view strategy = "bruck2";
  static run::Alltoall call(Data& d) {
    return {d.out.data(), d.count, MPI_INT, d.in.data(), d.count, MPI_INT, d.comm};
  }
  static int native(Data& d) {
    return PMPI_Ialltoall(d.out.data(), d.count, MPI_INT, d.in.data(), d.count, MPI_INT, d.comm, &d.request);
  }
  static bool is_right(const Data& d) { return d.is_exchanged(); }
};

struct Sum {
  static constexpr std::string_view strategy = "recursive_doubling";
  static run::Allreduce call(Data& d) {
    return {d.out.data(), d.in.data(), d.count * d.size, MPI_INT, MPI_SUM, d.comm};
  }
  static int native(Data& d) {
    return PMPI_Iallreduce(d.out.data(), d.in.data(), d.count * d.size, MPI_INT, MPI_SUM, d.comm, &d.request);
  }
  static bool is_right(const Data& d) { return d.is_summed(); }
};

constexpr std::string_view of_non_blocking =
    "the strategy asked for may need more memory than every rank has reserved";
constexpr std::string_view of_this_rank = "this rank has not got the memory that it needs";
constexpr std::string_view of_another = "another rank cannot take part";

template <class What>
class Test {
 public:
  explicit Test(const char* label)
      : settings_(with_starts()), runtime_(settings_, mpi::linked_api(), &starts_) {
    runtime_.factory().drive([] { return std::string_view(); });
    bench_.label = std::string(What::strategy) + ", " + label;
    comm_ = duplicate(MPI_COMM_WORLD);
    last_ = rank_of(comm_) == size_of(comm_) - 1;
  }
  long ended() {
    MPI_Comm_free(&comm_);
    runtime_.finalize();
    return bench_.failures;
  }

  void enable() {
    runtime_.force("native");
    bench_.talk_times(comm_, 2);
    runtime_.force(What::strategy);
  }

  /// So many at once, by the strategy or, for the reason, by the library.
  void start_several(int calls, int count, std::string_view expected) {
    std::vector<Data> all;
    for (int i = 0; i < calls; ++i) all.emplace_back(comm_, count, i);
    for (Data& d : all) runtime_.start(What::call(d), [&d] { return What::native(d); }, &d.request);
    for (Data& d : all) wait([&d] { return is_complete(d); });
    for (const Data& d : all) bench_.expect(What::is_right(d), "a nonblocking call went wrong");
    bench_.expect(starts_.take(expected) == calls, "calls did not run as expected");
    starts_.take("native");
    bench_.expect(starts_.left() == 0, "calls ran by another algorithm besides");
  }

  /// Makes a plan of a large call; nullptr: native.
  std::shared_ptr<run::Plan> make(Data& d) { return runtime_.plan(What::call(d)); }
  Data data() const { return {comm_, large, 1}; }

  void run(const std::shared_ptr<run::Plan>& plan, Data& d) {
    std::fill(d.in.begin(), d.in.end(), -1);
    runtime_.factory().start(plan);
    wait([&plan] { return plan->is_over(); });
    bench_.expect(plan->code() == MPI_SUCCESS && What::is_right(d), "a plan went wrong");
  }

  void expect_refused(const std::shared_ptr<run::Plan>& plan) {
    bench_.expect(plan == nullptr, "a plan was made on a rank without memory, or beside one");
    bench_.expect(starts_.take(last_ ? of_this_rank : of_another) == 1, "the reason was not told");
  }
  void expect_made(const std::shared_ptr<run::Plan>& plan) {
    bench_.expect(plan != nullptr && starts_.take(What::strategy) == 1, "no plan was made");
  }

  /// A persistent call, which the library is asked for.
  void expect_persistent_refused() {
    Data d = data();
    int natives = 0;
    runtime_.init(What::call(d), [&] { return ++natives, MPI_SUCCESS; }, &d.request);
    bench_.expect(natives == 1, "a persistent call was made on a rank without memory, or beside one");
    bench_.expect(starts_.take(last_ ? of_this_rank : of_another) == 1, "the reason was not told");
  }

 private:
  static Settings with_starts() {
    Settings settings = untuned();
    settings.features.nonblocking = true;
    return settings;
  }
  static bool is_complete(Data& d) {
    int over = 0;
    MPI_Test(&d.request, &over, MPI_STATUS_IGNORE);
    return over != 0;
  }
  void wait(const std::function<bool()>& is_over) {
    while (!is_over()) {
      let_library_progress();
      runtime_.advance();
    }
  }

  Settings settings_;
  Starts starts_;
  run::Runtime runtime_;
  Bench bench_{runtime_, starts_, What::strategy, ""};
  MPI_Comm comm_ = MPI_COMM_NULL;
  bool last_ = false;
};

/// Nothing large can be reserved, so large calls are native, on all ranks.
template <class What>
long refused_before() {
  Test<What> test("refused before enabling");
  while_refused([&] { test.enable(); });
  test.start_several(4, large, of_non_blocking);
  test.start_several(4, small, What::strategy);
  return test.ended();
}

/// What was reserved serves one call after the other.
template <class What>
long refused_later() {
  Test<What> test("refused later");
  test.enable();
  while_refused([&] { test.start_several(6, large, What::strategy); });
  test.start_several(6, large, What::strategy);
  return test.ended();
}

/// A plan keeps the memory that it has.
template <class What>
long plans() {
  Test<What> test("plans");
  test.enable();
  Data first = test.data(), second = test.data();
  while_refused([&] {
    test.expect_refused(test.make(first));
    test.expect_persistent_refused();
  });
  const std::shared_ptr<run::Plan> one = test.make(first);
  test.expect_made(one);
  const std::shared_ptr<run::Plan> other = test.make(second);
  test.expect_made(other);
  while_refused([&] {
    for (int round = 0; round < 3; ++round) test.run(one, first), test.run(other, second);
  });
  return test.ended();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  long failures = 0;
  for (const auto part : {refused_before<Exchange>, refused_before<Sum>, refused_later<Exchange>,
                          refused_later<Sum>, plans<Exchange>, plans<Sum>})
    failures += part();
  return concluded("nonblocking memory", failures);
}
