// Of the collectives with a root, or one block for all, and of the reductions: arguments that do not fit are refused
// before any message; MPI's errors come as MPI gives them; on intercommunicators the shapes are those of the other
// group.
#include <wherry/wherry.hpp>

#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "world.hpp"

namespace {

using test::Checks;
using wherry::usage_error;
namespace op = wherry::op;

int handled = 0;

void count_error(MPI_Comm*, int*, ...) { ++handled; }

int class_of(int code) {
  int value = MPI_SUCCESS;
  MPI_Error_class(code, &value);
  return value;
}

bool refuses(const std::function<void()>& work, std::string_view text) {
  try {
    work();
  } catch (const usage_error& error) {
    return std::string_view(error.what()).find(text) != std::string_view::npos;
  }
  return false;
}

/// A call that must be refused, with a part of the sentence that says why.
struct Wrong {
  const char* what;
  std::function<void()> call;
  std::string_view text;
};

void check_usage(Checks& checks, MPI_Comm comm, int rank, int ranks) {
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<int> one(1), two(2), all(size), more(size + 1);
  const Wrong anywhere[] = {
      {"allgather: too much room", [&] { wherry::allgather(one, more, comm); }, "resize receive"},
      {"bcast: root beyond", [&] { wherry::bcast(one, ranks, comm); }, "give one from 0 to"},
      {"bcast: negative root", [&] { wherry::bcast(one, -1, comm); }, "root is -1, but there are"},
      {"gather: too little room", [&] { wherry::gather(two, all, rank, comm); }, "resize receive"},
      {"gather: root beyond", [&] { wherry::gather(one, all, ranks, comm); }, "give one from 0 to"},
      {"scatter: too little", [&] { wherry::scatter(all, two, rank, comm); }, "resize send"},
      {"scatter: root beyond", [&] { wherry::scatter(all, one, ranks, comm); }, "give one from 0 to"},
      {"reduce: sizes differ", [&] { wherry::reduce(one, two, op::sum{}, rank, comm); },
       "but reduce receives"},
      {"reduce: root beyond", [&] { wherry::reduce(one, op::sum{}, ranks, comm); }, "give one from 0 to"},
      {"allreduce: sizes differ", [&] { wherry::allreduce(one, two, op::sum{}, comm); },
       "but allreduce receives"},
      {"reduce_scatter_block: too little", [&] { wherry::reduce_scatter_block(more, one, MPI_SUM, comm); },
       "resize send"},
  };
  for (const Wrong& wrong : anywhere) checks.that(refuses(wrong.call, wrong.text), wrong.what);
  if (ranks == 1) return;
  const Wrong undivided[] = {
      {"allgather in place", [&] { wherry::allgather(more, comm); }, "no multiple of"},
      {"gather in place", [&] { wherry::gather(more, rank, comm); }, "no multiple of"},
      {"scatter in place", [&] { wherry::scatter(more, rank, comm); }, "no multiple of"},
      {"reduce_scatter_block in place", [&] { wherry::reduce_scatter_block(more, MPI_SUM, comm); },
       "no multiple of"},
  };
  for (const Wrong& wrong : undivided) checks.that(refuses(wrong.call, wrong.text), wrong.what);
}

/// A rank that was refused can go on: nothing was sent, and nobody counted the call.
void check_one_wrong_rank(Checks& checks, MPI_Comm comm, int rank, int ranks) {
  std::vector<int> one(1, rank), two(2);
  for (int i = 0; i < 20; ++i) {
    if (rank == 0)
      checks.that(refuses([&] { wherry::allreduce(one, two, op::sum{}, comm); }, ""), "not refused");
    std::vector<int> sum(1);
    wherry::allreduce(one, sum, op::sum{}, comm);
    checks.that(sum[0] == ranks * (ranks - 1) / 2, "a sum after a refused call");
  }
}

void check_codes(Checks& checks, MPI_Comm comm) {
  int a = 0, b = 0;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const auto like = [&](int ours, int native, const char* what) {
    checks.that(ours != MPI_SUCCESS && class_of(ours) == class_of(native), what);
  };
  for (int i = 0; i < 20; ++i) {  // before and after Wherry is enabled
    like(wherry_bcast(&a, -1, MPI_INT, 0, comm), MPI_Bcast(&a, -1, MPI_INT, 0, comm), "bcast of -1");
    like(wherry_bcast(&a, 1, MPI_INT, -7, comm), MPI_Bcast(&a, 1, MPI_INT, -7, comm), "bcast from rank -7");
    like(wherry_allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, comm),
         MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, comm), "allreduce by no operation");
    wherry::allreduce(std::span(&a, 1), std::span(&b, 1), op::sum{}, comm);
  }
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  wherry_bcast(&a, -1, MPI_INT, 0, comm);
  checks.that(handled == 1, "the error handler was not called once");
  MPI_Errhandler_free(&handler);
}

struct Groups {
  MPI_Comm comm;
  bool low;                     // of this rank: the first two ranks of the world
  std::vector<int> own, other;  // world ranks
};

/// The low group is at the root's side; its first rank is the root.
void check_rooted(Checks& checks, const Groups& g, int rank) {
  const int root = !g.low ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  const bool at_root = root == MPI_ROOT;
  const std::vector<int> mine(1, rank), none;
  std::vector<int> data(1, rank), all(at_root ? g.other.size() : 0);
  wherry::bcast(data, root, g.comm);
  checks.that(data[0] == (g.low ? rank : 0), "bcast on an intercommunicator");
  wherry::gather(mine, all, root, g.comm);
  checks.that(!at_root || all == g.other, "gather on an intercommunicator");
  wherry::scatter(at_root ? g.other : none, data, root, g.comm);
  checks.that(data[0] == rank, "scatter on an intercommunicator");
  wherry::reduce(at_root ? none : mine, data, op::sum{}, root, g.comm);
  checks.that(!at_root || data[0] == std::reduce(g.other.begin(), g.other.end()),
              "reduce on an intercommunicator");
}

void check_unrooted(Checks& checks, const Groups& g, int rank) {
  const std::vector<int> mine(1, rank);
  std::vector<int> all(g.other.size()), sum(1);
  wherry::allgather(mine, all, g.comm);
  checks.that(all == g.other, "allgather on an intercommunicator");
  wherry::allreduce(mine, sum, op::sum{}, g.comm);
  checks.that(sum[0] == std::reduce(g.other.begin(), g.other.end()), "allreduce on an intercommunicator");
  wherry::barrier(g.comm);
  checks.that(std::string_view(wherry_last_strategy()) == "native", "not native on an intercommunicator");
}

void check_intercommunicator(Checks& checks, int rank, int ranks) {
  if (ranks < 3) return;
  Groups g{MPI_COMM_NULL, rank < 2, {}, {}};
  for (int r = 0; r < ranks; ++r) ((r < 2) == g.low ? g.own : g.other).push_back(r);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, g.low, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, g.low ? 2 : 0, 5, &g.comm);
  check_rooted(checks, g, rank);
  check_unrooted(checks, g, rank);
  MPI_Comm_free(&g.comm);
  MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  return test::run(argc, argv, [](test::World& w) {
    check_usage(w.checks, w.comm, w.rank, w.ranks);
    check_one_wrong_rank(w.checks, w.comm, w.rank, w.ranks);
    check_codes(w.checks, w.comm);
    check_intercommunicator(w.checks, w.rank, w.ranks);
  });
}
