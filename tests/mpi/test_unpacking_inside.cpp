// Nonblocking calls may progress inside the library, where nothing may be sent that has to be waited for: data
// that MPI_Unpack does not take as it is (absolute addresses, more room than data) is still unpacked by it.
//
// Runs under mpiexec at any number of ranks. The library is watched through the table of its functions.
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

int messages = 0;  // that were waited for where they were sent

int sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int send_tag, void* in,
             int in_count, MPI_Datatype in_type, int from, int receive_tag, MPI_Comm comm,
             MPI_Status* status) {
  ++messages;
  return PMPI_Sendrecv(out, out_count, out_type, to, send_tag, in, in_count, in_type, from, receive_tag, comm,
                       status);
}

/// An element for each rank at an absolute address, received by a type of two that are `gap` apart, of which the second
/// stays.
struct Absolute {
  static constexpr int gap = 3, untouched = -1;

  explicit Absolute(int rank, int size)
      : ranks(static_cast<std::size_t>(size)),
        in(ranks),
        out(2 * gap * ranks, untouched),
        ones(ranks, 1),
        zeros(ranks, 0),
        from(ranks),
        to(ranks) {
    for (std::size_t i = 0; i < ranks; ++i) {
      in[i] = 100 * rank + static_cast<int>(i);
      from[i] = at({&in[i]});
      to[i] = at({&out[2 * gap * i], &out[2 * gap * i + gap]});
    }
  }
  ~Absolute() {
    for (std::vector<MPI_Datatype>* types : {&from, &to})
      for (MPI_Datatype& type : *types) MPI_Type_free(&type);
  }
  Absolute(const Absolute&) = delete;
  Absolute& operator=(const Absolute&) = delete;

  static MPI_Datatype at(std::vector<int*> places) {
    std::vector<MPI_Aint> addresses(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) MPI_Get_address(places[i], &addresses[i]);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(static_cast<int>(places.size()), 1, addresses.data(), MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
  }
  run::Alltoallw arguments() const {
    return {MPI_BOTTOM,  ones.data(),  zeros.data(), from.data(),   MPI_BOTTOM,
            ones.data(), zeros.data(), to.data(),    MPI_COMM_WORLD};
  }
  bool is_right(int rank) const {
    bool right = true;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t origin = i / (2 * gap);
      right &= out[i] == (i % (2 * gap) == 0 ? 100 * static_cast<int>(origin) + rank : untouched);
    }
    return right;
  }

  std::size_t ranks;
  std::vector<int> in, out, ones, zeros;
  std::vector<MPI_Datatype> from, to;
};

/// Whether the call came out right without a message that was waited for.
bool is_unpacked(std::string_view strategy, int rank, int size) {
  mpi::Api api = mpi::linked_api();
  api.Sendrecv = sendrecv;
  messages = 0;
  run::Staging staging{std::size_t{1} << 20};
  const auto c = std::make_shared<run::Communicator>(MPI_COMM_WORLD, Settings{}, api);
  const schedule::Strategy* const s = schedule::find_strategy(strategy);
  if (!s->applies(c->placement())) return true;
  run::Progress progress;
  const Absolute call(rank, size);
  MPI_Request request = MPI_REQUEST_NULL;
  auto operation = std::make_shared<run::Nonblocking>(c, &request);
  run::read_work(api, call.arguments(), *c, operation->arguments.blocks, operation->arguments.segments);
  operation->prepare(*s, {Collective::alltoallw, Limit::none, 5}, staging);
  progress.start(std::move(operation));
  for (; !progress.is_idle(); progress.advance()) test::let_library_progress();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  progress.sweep();
  return messages == 0 && call.is_right(rank);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const std::string_view strategy : {"direct", "bruck2", "mesh"})
    if (!is_unpacked(strategy, rank, size)) {
      ++wrong;
      std::fprintf(stderr, "rank %d: %s: %d messages to itself, or wrong data\n", rank, strategy.data(),
                   messages);
    }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
