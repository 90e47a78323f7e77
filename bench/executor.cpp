// Does a schedule cost anything? The pairwise strategy through the executor against a hand-written pairwise loop.
//
// Includes reading the call's arguments and binding them. Both run in one process, in turns of a few calls.
// Prints one JSON line per case and variant on rank 0.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "coll/blocks/block_collectives.hpp"
#include "measure.hpp"

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
  const int rank = bench::rank_of(comm), size = bench::size_of(comm);
  const auto bytes = static_cast<std::size_t>(block) * static_cast<std::size_t>(size);
  Buffer send(bytes, static_cast<char>(rank)), receive(bytes);
  const auto by_hand = [&] { hand_written(send, receive, block, rank, size, comm); };
  const auto scheduled = [&] { schedule(send, receive, block, comm); };
  const int calls = block <= 4096 ? 50 : 20;
  bench::time_calls(comm, calls, by_hand);
  bench::time_calls(comm, calls, scheduled);
  std::vector<double> hand, planned;
  for (int i = 0; i < turns; ++i) {
    hand.push_back(bench::time_calls(comm, calls, by_hand));
    planned.push_back(bench::time_calls(comm, calls, scheduled));
  }
  if (rank != 0) return;
  const std::string name = std::to_string(block) + " B";
  bench::print(name, "native", hand);
  bench::print(name, "wherry", planned);
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
