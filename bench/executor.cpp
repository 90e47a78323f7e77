// Does a schedule cost anything? The pairwise strategy through the executor against a hand-written pairwise loop.
//
// Includes reading the call's arguments and binding them. Both run in one process, in turns of a few calls.
// Prints one JSON line per case and variant on rank 0.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "coll/blocks/block_collectives.hpp"

namespace {

using Buffer = std::vector<char>;

/// What a programmer would write: P - 1 exchanges, to the right and from the left.
void hand_written(const Buffer& send, Buffer& receive, int block, int rank, int size, MPI_Comm comm) {
  const auto at = [block](int r) { return static_cast<std::size_t>(r) * static_cast<std::size_t>(block); };
  std::memcpy(&receive[at(rank)], &send[at(rank)], static_cast<std::size_t>(block));
  for (int k = 1; k < size; ++k) {
    const int to = (rank + k) % size, from = (rank - k + size) % size;
    MPI_Sendrecv(&send[at(to)], block, MPI_BYTE, to, 1, &receive[at(from)], block, MPI_BYTE, from, 1, comm,
                 MPI_STATUS_IGNORE);
  }
}

/// Seconds per call of `calls` calls back to back, the slowest rank's.
double time_calls(const std::function<void()>& call, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  double mine = (MPI_Wtime() - start) / calls, worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

void print(int block, const char* variant, const std::vector<double>& samples) {
  std::printf("{\"case\": \"%d B\", \"variant\": \"%s\", \"unit\": \"s\", \"samples\": [", block, variant);
  for (std::size_t i = 0; i < samples.size(); ++i) std::printf("%s%.9g", i == 0 ? "" : ", ", samples[i]);
  std::printf("]}\n");
}

/// The same exchange as a schedule.
class Scheduled {
 public:
  Scheduled(MPI_Comm comm, const wherry::Settings& settings)
      : api_(wherry::mpi::linked_api()),
        communicator_(comm, settings, api_),
        staging_(settings.staging_max),
        pairwise_(*wherry::schedule::find_strategy("pairwise")) {}

  void operator()(const Buffer& send, Buffer& receive, int block, MPI_Comm comm) {
    wherry::run::read_blocks(
        api_, wherry::run::Alltoall{send.data(), block, MPI_BYTE, receive.data(), block, MPI_BYTE, comm},
        communicator_.size(), blocks_);
    wherry::run::perform_uniform(communicator_, blocks_, pairwise_.hops,
                                 wherry::run::prepared(communicator_, pairwise_), staging_);
  }

 private:
  const wherry::mpi::Api& api_;
  wherry::run::Communicator communicator_;
  wherry::run::Blocks blocks_;
  wherry::run::Staging staging_;
  const wherry::schedule::Strategy& pairwise_;
};

/// The two in turns; a sample is the mean of a few calls back to back.
void compare(int block, int turns, Scheduled& schedule, MPI_Comm comm) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const auto bytes = static_cast<std::size_t>(block) * static_cast<std::size_t>(size);
  Buffer send(bytes, static_cast<char>(rank)), receive(bytes);
  const auto by_hand = [&] { hand_written(send, receive, block, rank, size, comm); };
  const auto scheduled = [&] { schedule(send, receive, block, comm); };
  const int calls = block <= 4096 ? 50 : 20;
  time_calls(by_hand, calls);
  time_calls(scheduled, calls);
  std::vector<double> hand, planned;
  for (int i = 0; i < turns; ++i) {
    hand.push_back(time_calls(by_hand, calls));
    planned.push_back(time_calls(scheduled, calls));
  }
  if (rank != 0) return;
  print(block, "native", hand);
  print(block, "wherry", planned);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int turns = argc > 1 ? std::atoi(argv[1]) : 40;
  {
    Scheduled schedule(MPI_COMM_WORLD, wherry::Settings{});
    for (const int block : {8, 64, 512, 1024, 4096, 16384, 65536})
      compare(block, turns, schedule, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
