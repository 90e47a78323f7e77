// Many nonblocking collectives at once that have fewer tags than there are calls: none gets what belongs to another.
//
// Runs under mpiexec at any number of ranks. Nothing but this program progresses nonblocking operations.
#include <mpi.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "coll/choice/read.hpp"
#include "library_progress.hpp"
#include "progress/nonblocking.hpp"
#include "progress/progress.hpp"

namespace {

using namespace wherry;

constexpr int calls = 60;

struct Ranks {
  int rank = 0;
  int size = 1;
};

/// An all-to-all of `count` ints per rank, by a strategy of several hops or of one.
struct Call {
  Call(Ranks r, int number) : ranks(r), seed(number), count(1 + number % 7) {
    send.resize(static_cast<std::size_t>(count * ranks.size));
    receive.assign(send.size(), -1);
    for (int to = 0; to < ranks.size; ++to)
      for (int k = 0; k < count; ++k) send[at(to, k)] = value(ranks.rank, to, k);
  }

  std::size_t at(int block, int k) const { return static_cast<std::size_t>(block * count + k); }
  int value(int from, int to, int k) const { return ((seed * 64 + from) * 64 + to) * 8 + k; }
  bool is_right() const {
    for (int from = 0; from < ranks.size; ++from)
      for (int k = 0; k < count; ++k)
        if (receive[at(from, k)] != value(from, ranks.rank, k)) return false;
    return true;
  }

  Ranks ranks;
  int seed, count;
  std::vector<int> send, receive;
  MPI_Request request = MPI_REQUEST_NULL;
};

void start(Call& call, const std::shared_ptr<run::Communicator>& c, run::Progress& progress,
           run::Staging& staging) {
  constexpr std::string_view strategies[] = {"bruck2", "direct", "pairwise", "mesh"};
  const schedule::Strategy* strategy = schedule::find_strategy(strategies[call.seed % 4]);
  if (!strategy->applies(c->placement())) strategy = schedule::find_strategy("pairwise");
  const run::Alltoall arguments{call.send.data(), call.count, MPI_INT,       call.receive.data(),
                                call.count,       MPI_INT,    MPI_COMM_WORLD};
  auto operation = std::make_shared<run::Nonblocking>(c, &call.request);
  run::read_work(c->channel().api(), arguments, *c, operation->arguments.blocks,
                 operation->arguments.segments);
  operation->prepare(*strategy, {Collective::alltoall, Limit::none, 5}, staging);
  progress.start(std::move(operation));
}

/// How many calls ended wrong, or not at all.
int wrong_calls(Ranks ranks, int tags) {
  run::Staging staging{std::size_t{1} << 20};
  auto c = std::make_shared<run::Communicator>(MPI_COMM_WORLD, Settings{}, mpi::linked_api());
  c->tags() = run::Tags(16, tags);
  run::Progress progress;
  std::vector<Call> all;
  for (int i = 0; i < calls; ++i) all.emplace_back(ranks, i);
  for (Call& call : all) start(call, c, progress, staging);
  while (!progress.is_idle()) {
    test::let_library_progress();
    progress.advance();
  }
  int wrong = 0;
  for (Call& call : all) {
    int over = 0;
    MPI_Test(&call.request, &over, MPI_STATUS_IGNORE);
    wrong += over == 0 || !call.is_right();
  }
  progress.sweep();
  if (c.use_count() != 1) ++wrong;  // an ended call holds on to its communicator
  return wrong;
}

/// A tag is free again when all calls are over that began before it came around.
bool tags_come_again() {
  run::Tags tags(16, 2);
  const auto first = tags.take(), second = tags.take(), third = tags.take();
  const bool alike = tags.tag(first) == 16 && tags.tag(second) == 17 && tags.tag(third) == 16;
  const bool before = tags.is_free(second) && !tags.is_free(third);
  tags.give_back(second);
  const bool still = !tags.is_free(third);
  tags.give_back(first);
  return alike && before && still && tags.is_free(third);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  int wrong = tags_come_again() ? 0 : 1;
  for (const int tags : {1, 3, 1000}) wrong += wrong_calls(ranks, tags);
  std::printf("rank %d: %d wrong\n", ranks.rank, wrong);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
