// Plans in C and C++: started many times with other values, several under way, against a result worked out one element
// at a time. Prints "ran COLLECTIVE NAME". WHERRY_TEST_SEED changes the data.
#include <wherry/plan.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "world.hpp"

namespace {

using test::World;
using wherry::Plan;

constexpr int rounds = 6;

/// What rank `from` has at place k in this round, without asking it.
int value(int round, int from, int k) { return (round * 64 + from) * 4096 + k; }

/// One plan, what it works on, and what must come out.
struct Case {
  const char* name;
  std::size_t sends, receives;
  std::function<int(int round, int k)> expected;
  std::function<Plan(Case&)> make;
  std::vector<int> send = std::vector<int>(sends), receive = std::vector<int>(receives);
  Plan plan = {};
};

int sum(const World& w, int round, int k) {
  int total = 0;
  for (int from = 0; from < w.ranks; ++from) total += value(round, from, k);
  return total;
}

template <class Maker, class... Arguments>
Plan in_c(World& w, Maker* maker, const Arguments&... arguments) {
  wherry_plan* made = nullptr;
  w.checks.that(maker(arguments..., &made) == MPI_SUCCESS && made != nullptr, "a maker failed");
  return Plan(made);
}

/// count: of a block.
std::vector<Case> cases(World& w, int count) {
  const auto block = static_cast<std::size_t>(count), all = block * w.size();
  const int me = w.rank, root = w.ranks - 1;
  const bool is_root = me == root;
  std::vector<int> counts(w.size(), count);
  const auto turned = [=](int round, int k) { return value(round, k / count, me * count + k % count); };
  const auto gathered = [=](int round, int k) { return value(round, k / count, k % count); };
  const auto summed = [&w](int round, int k) { return sum(w, round, k); };
  const auto mine_summed = [=, &w](int round, int k) { return sum(w, round, me * count + k); };
  const auto from_root = [=](int round, int k) { return value(round, root, k); };
  std::vector<Case> made;
  const auto add = [&](const char* name, std::size_t sends, std::size_t receives, auto expected, auto make) {
    made.push_back({name, sends, receives, expected, make});
  };
  add("alltoall", all, all, turned,
      [&w](Case& k) { return wherry::alltoall_plan(k.send, k.receive, w.comm); });
  add("alltoallv", all, all, turned,
      [&w, counts](Case& k) { return wherry::alltoallv_plan(k.send, counts, k.receive, counts, w.comm); });
  add("allgather", block, all, gathered,
      [&w](Case& k) { return wherry::allgather_plan(k.send, k.receive, w.comm); });
  add("allreduce", block, block, summed,
      [&w](Case& k) { return wherry::allreduce_plan(k.send, k.receive, wherry::op::sum{}, w.comm); });
  add("reduce_scatter_block", all, block, mine_summed, [&w](Case& k) {
    return wherry::reduce_scatter_block_plan(k.send, k.receive, wherry::op::sum{}, w.comm);
  });
  add("barrier", 0, 0, summed, [&w](Case&) { return wherry::barrier_plan(w.comm); });
  add("bcast", block, is_root ? 0 : block, from_root, [&w, root, is_root](Case& k) {
    return wherry::bcast_plan(is_root ? k.send : k.receive, root, w.comm);
  });
  add("gather", block, is_root ? all : 0, gathered, [&w, count, root](Case& k) {
    return in_c(w, wherry_gather_plan, k.send.data(), count, MPI_INT, k.receive.data(), count, MPI_INT, root,
                w.comm);
  });
  add(
      "scatter", all, block, [=](int round, int k) { return value(round, root, me * count + k); },
      [&w, count, root](Case& k) {
        return in_c(w, wherry_scatter_plan, k.send.data(), count, MPI_INT, k.receive.data(), count, MPI_INT,
                    root, w.comm);
      });
  add("reduce", block, is_root ? block : 0, summed, [&w, count, root](Case& k) {
    return in_c(w, wherry_reduce_plan, k.send.data(), k.receive.data(), count, MPI_INT, MPI_SUM, root,
                w.comm);
  });
  add("alltoallw", all, all, turned, [&w, counts, count](Case& k) {
    std::vector<int> begins(w.size());
    for (std::size_t i = 0; i < begins.size(); ++i)
      begins[i] = static_cast<int>(i) * count * int(sizeof(int));
    const std::vector<MPI_Datatype> types(w.size(), MPI_INT);
    return in_c(w, wherry_alltoallw_plan, k.send.data(), counts.data(), begins.data(), types.data(),
                k.receive.data(), counts.data(), begins.data(), types.data(), w.comm);
  });
  return made;
}

void begin(World& w, Case& k, int round) {
  for (std::size_t i = 0; i < k.sends; ++i) k.send[i] = value(round, w.rank, static_cast<int>(i));
  std::ranges::fill(k.receive, -1);
  k.plan.start();
}

void check(World& w, const Case& k, int round) {
  bool right = true;
  for (std::size_t i = 0; i < k.receives; ++i)
    right &= k.receive[i] == k.expected(round, static_cast<int>(i));
  w.checks.that(right, k.name);
}

/// By test and by wait in turn, and in another order on each rank.
void complete(World& w, std::vector<Case>& all, int round) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    Case& k = all[(i + static_cast<std::size_t>(w.rank)) % all.size()];
    if ((static_cast<std::size_t>(round) + i) % 2 == 0) k.plan.wait();
    else
      while (!k.plan.test()) {
      }
    w.checks.that(k.plan.test(), "a plan that is over is under way");
    check(w, k, round);
  }
}

/// The program's memory and handles as an error handler that returns sees them.
void check_misuse(World& w) {
  MPI_Comm_set_errhandler(w.comm, MPI_ERRORS_RETURN);
  wherry_plan* plan = nullptr;
  int over = 0;
  w.checks.that(wherry_barrier_plan(w.comm, &plan) == MPI_SUCCESS, "wherry_barrier_plan failed");
  w.checks.that(wherry_plan_wait(plan) == MPI_SUCCESS, "waiting for a plan that was not started failed");
  w.checks.that(wherry_plan_start(plan) == MPI_SUCCESS, "wherry_plan_start failed");
  w.checks.that(wherry_plan_start(plan) == MPI_ERR_REQUEST, "a plan was started twice");
  wherry_plan* const same = plan;
  w.checks.that(wherry_plan_free(&plan) == MPI_ERR_REQUEST && plan == same, "a plan under way was freed");
  w.checks.that(wherry_plan_wait(plan) == MPI_SUCCESS, "wherry_plan_wait failed");
  w.checks.that(wherry_plan_free(&plan) == MPI_SUCCESS && plan == nullptr, "wherry_plan_free failed");
  w.checks.that(wherry_plan_free(&plan) == MPI_SUCCESS, "freeing nothing failed");
  w.checks.that(wherry_plan_start(nullptr) == MPI_ERR_REQUEST, "no plan was started");
  w.checks.that(wherry_plan_test(nullptr, &over) == MPI_ERR_REQUEST, "no plan was tested");
  w.checks.that(*wherry_plan_strategy(nullptr) == '\0', "no plan has a strategy");
  w.checks.that(wherry_barrier_plan(w.comm, nullptr) == MPI_ERR_ARG, "a plan was made for nobody");
  try {
    const std::vector<int> send(w.size() + 1);
    std::vector<int> receive(w.size());
    const Plan wrong = wherry::alltoall_plan(send, receive, w.comm);
    w.checks.that(false, "a shape that does not fit was taken");
  } catch (const wherry::usage_error&) {
    w.checks.that(true, "");
  }
}

void check_all(World& w) {
  for (const int count : {1, 7, 600}) {
    std::vector<Case> all = cases(w, count);
    for (Case& k : all) k.plan = k.make(k);
    for (const Case& k : all) w.ran.insert(std::string(k.name) + " " + k.plan.strategy());
    for (int round = 0; round < rounds; ++round) {
      for (Case& k : all) begin(w, k, round);
      complete(w, all, round);
    }
  }
  check_misuse(w);
}

}  // namespace

int main(int argc, char** argv) { return test::run(argc, argv, check_all); }
