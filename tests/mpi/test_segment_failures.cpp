// Errors in collectives on segments, by every strategy: ranks that give another count than the others, and transfers
// that the library refuses to one of them. All calls end on every rank, nobody writes beyond the buffers, no request is
// left behind, and the next calls are right.
//
// ranks: 2 3 5
#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "schedule/segments/segment_strategy.hpp"
#include "segment_calls.hpp"
#include "watched_calls.hpp"

namespace {

using namespace wherry;

constexpr int untouched = -77, guards = 4096;
constexpr int ranks_per_node = 2;
constexpr int talked = 7;  // ints of the calls in which all is well

/// The memory of one call, as large as its rank says.
struct Memory {
  Memory(const test::SegmentCollective& what, int count, int rank, int size)
      : room((what.gets_all ? size : 1) * count) {
    const int given = (what.gives_all ? size : 1) * count;
    for (int i = 0; i < given; ++i) send.push_back(1000 * rank + i);
    receive.assign(static_cast<std::size_t>(room + guards), untouched);
    // A bcast works in it.
    if (what.operation == schedule::Operation::bcast) std::copy(send.begin(), send.end(), receive.begin());
  }
  bool is_guarded() const {
    return std::all_of(receive.begin() + room, receive.end(), [](int i) { return i == untouched; });
  }

  int room;
  std::vector<int> send, receive;
};

/// One strategy, forced on a communicator that is enabled.
class Bench : public test::WatchedCalls {
 public:
  Bench(run::Runtime& runtime, const test::SegmentCollective& what, const schedule::SegmentStrategy& strategy,
        long& failures)
      : WatchedCalls(std::string(schedule::name(strategy.operation)) + " by " + std::string(strategy.name),
                     failures),
        runtime_(runtime),
        what_(what),
        root_(what.operation == schedule::Operation::scatter || what.operation == schedule::Operation::bcast
                  ? 0
                  : size - 1),
        expected_(what, talked, rank, size) {
    what_.perform({}, part(expected_, talked));
    runtime_.force("native");
    std::vector<int> from(static_cast<std::size_t>(size)), to(from);
    for (int call = 0; call < 2; ++call)  // the second enables it
      runtime_.alltoall({from.data(), 1, MPI_INT, to.data(), 1, MPI_INT, comm()}, [&] {
        return PMPI_Alltoall(from.data(), 1, MPI_INT, to.data(), 1, MPI_INT, comm());
      });
    runtime_.force(strategy.name);
  }

  int perform(Memory& m, int count) {
    const auto never = [this] {
      expect(false, "the call was native");
      return MPI_SUCCESS;
    };
    return what_.perform({&runtime_, never}, part(m, count));
  }

  /// All is well: the strategy does what the library does.
  void talk() {
    Memory ours(what_, talked, rank, size);
    call(MPI_SUCCESS, [&] { return perform(ours, talked); });
    expect(ours.receive == expected_.receive, "the next call went wrong");
  }

  const test::SegmentCollective& what() const { return what_; }

 private:
  test::Part part(Memory& m, int count) const {
    return {m.send.data(), m.receive.data(), count, root_, comm()};
  }

  run::Runtime& runtime_;
  const test::SegmentCollective& what_;
  const int root_;
  Memory expected_;
};

/// One rank says `odd_count`, all others `count`. A library may notice that or not.
void other_count(Bench& b, int odd, int count, int odd_count) {
  b.label =
      std::to_string(count) + " ints, but rank " + std::to_string(odd) + " says " + std::to_string(odd_count);
  const int mine = b.rank == odd ? odd_count : count;
  Memory m(b.what(), mine, b.rank, b.size);
  const int reported = b.call([&] { return b.perform(m, mine); });
  b.expect(reported == MPI_SUCCESS || reported == MPI_ERR_TRUNCATE,
           "error class " + std::to_string(reported));
  b.expect(m.is_guarded(), "written behind the receive buffer");
  b.talk();
}

/// Counts of one size class: strategies are chosen by that. Three and four ints are cut into segments some of which are
/// empty, but not the same.
void other_counts(Bench& b, bool clean) {
  for (const int odd : {0, b.size - 1}) {
    other_count(b, odd, 4, 3);
    other_count(b, odd, 3, 4);
    other_count(b, odd, 8, 5);
    other_count(b, odd, 5, 8);
    if (clean) other_count(b, odd, 20000, 17000);
    if (clean) other_count(b, odd, 17000, 20000);
  }
}

void refused(Bench& b) {
  constexpr int count = 3000;
  Memory m(b.what(), count, b.rank, b.size);
  b.refuse_each("refused transfers", [&] { return b.perform(m, count); }, [&] { b.talk(); });
}

void check(const test::SegmentCollective& what, const schedule::SegmentStrategy& strategy,
           test::Trials& trials) {
  Settings settings = test::untuned();
  settings.ranks_per_node = ranks_per_node;
  run::Runtime runtime(settings, trials.api, nullptr);
  {
    Bench b(runtime, what, strategy, trials.failures);
    if (what.operation != schedule::Operation::barrier) other_counts(b, trials.clean);
    refused(b);
  }
  runtime.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  test::start_with_errors_returned(argc, argv);
  test::Trials trials(ranks_per_node);
  for (const test::SegmentCollective& what : test::segment_collectives)
    trials.each(schedule::segment_strategies(what.operation),
                [&](const schedule::SegmentStrategy& strategy) { check(what, strategy, trials); });
  return trials.concluded("segment failures");
}
