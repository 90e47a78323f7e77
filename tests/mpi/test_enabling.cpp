// Ranks that cannot enable a communicator: the program does not notice, the report says why, and nothing is held or
// counted.
//
// The library's functions fail here where a test says so, on one rank or on all.
// ranks: 2 3 5
#include <mpi.h>

#include <string_view>
#include <vector>

#include "edge_bench.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

enum class Where { nowhere, rank_0, everywhere };

/// Which calls of Wherry fail, and what it holds. MPI's functions carry no state: there is one for the program.
struct Library {
  Where split = Where::nowhere, alltoall = Where::nowhere;
  long communicators = 0;  // made for Wherry and not freed
} library;

bool fails(Where where, MPI_Comm comm) {
  return where == Where::everywhere || (where == Where::rank_0 && rank_of(comm) == 0);
}

/// As a library fails: through the communicator's error handler, the default of which ends the program.
int error_on(MPI_Comm comm) {
  PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

/// No result where it is to fail; the other ranks' libraries have split all the same.
int split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  PMPI_Comm_split(comm, color, key, made);
  if (!fails(library.split, comm)) {
    ++library.communicators;
    return MPI_SUCCESS;
  }
  PMPI_Comm_free(made);
  return error_on(comm);
}

int free_one(MPI_Comm* comm) {
  --library.communicators;
  return PMPI_Comm_free(comm);
}

int alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
             MPI_Datatype recvtype, MPI_Comm comm) {
  const int code = PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  return fails(library.alltoall, comm) ? error_on(comm) : code;
}

mpi::Api failing_api() {
  mpi::Api api = mpi::linked_api();
  api.Comm_split = split;
  api.Comm_free = free_one;
  api.Alltoall = alltoall;
  return api;
}

struct Trouble {
  const char* name;
  Library with;
  std::string_view refusal;
  bool same_settings = true;
};

constexpr std::string_view no_communicator = "the MPI library could not make another communicator";

constexpr Trouble troubles[] = {
    {"different settings", {}, "ranks have different settings", false},
    {"no split on any rank", {.split = Where::everywhere}, no_communicator},
    {"no split on rank 0", {.split = Where::rank_0}, no_communicator},
    {"no all-to-all",
     {.alltoall = Where::everywhere},
     "the MPI library failed when the ranks were to settle their agreement"},
};

int handled = 0;
void count_error(MPI_Comm*, int*, ...) { ++handled; }

/// A communicator whose error handler belongs to the program: it must not run, and must be there afterwards.
void refused_with_handler(Bench& b, std::string_view refusal) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  MPI_Errhandler mine = MPI_ERRHANDLER_NULL, found = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_error, &mine);
  MPI_Comm_set_errhandler(comm, mine);
  handled = 0;
  b.left_alone(refusal, before_and_after - 1, [&] { b.talk_times(comm, before_and_after); });
  b.expect(handled == 0, "the program's error handler ran for a call of Wherry's");
  MPI_Comm_get_errhandler(comm, &found);
  b.expect(found == mine, "the program's error handler is not back");
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&mine);
  MPI_Comm_free(&comm);
}

/// A communicator that stays alive, refused.
MPI_Comm refused(Bench& b, std::string_view reason) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  b.left_alone(reason, 1, [&] { b.talk_times(comm, 2); });
  b.expect(library.communicators == 0, "something is held for a communicator that was refused");
  return comm;
}

/// With the trouble over, a communicator must be enabled.
void enables_again(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  b.repeat(comm, 1, [&] { b.talk(comm); });
  MPI_Comm_free(&comm);
}

/// In one runtime, with more refused communicators alive in the end than may be enabled.
long failures_in_trouble() {
  constexpr int of_each = 10;
  const mpi::Api api = failing_api();
  Settings settings = untuned();
  Witness witness;
  run::Runtime runtime(settings, api, &witness);
  std::vector<MPI_Comm> alive;
  long failures = 0;
  for (const Trouble& trouble : troubles) {
    Bench b{runtime, witness, learner, trouble.name};
    if (!trouble.same_settings && rank_of(MPI_COMM_WORLD) == 0)
      settings.strategies[index_of(Collective::alltoall)] = "mesh";
    library = trouble.with;
    refused_with_handler(b, trouble.refusal);
    for (int i = 0; i < of_each; ++i) alive.push_back(refused(b, trouble.refusal));
    library = {};
    settings.strategies[index_of(Collective::alltoall)] = learner;
    enables_again(b);
    b.expect(library.communicators == 0, "not all communicators were freed");
    failures += b.failures;
  }
  for (MPI_Comm& comm : alive) MPI_Comm_free(&comm);
  runtime.finalize();
  return failures;
}

int even_or_odd(char* name, int* length) {
  const std::string_view host = rank_of(MPI_COMM_WORLD) % 2 == 0 ? "even" : "odd";
  *length = static_cast<int>(host.copy(name, host.size()));
  name[*length] = 0;
  return MPI_SUCCESS;
}

int no_name(char*, int*) { return MPI_ERR_OTHER; }

/// Ranks whose hosts have the same name share a node; a rank that gets no name has one of its own.
long failures_of_nodes() {
  const int size = size_of(MPI_COMM_WORLD);
  mpi::Api api = mpi::linked_api();
  long failures = 0;
  for (const auto& [name, nodes] : {std::pair{&even_or_odd, std::min(size, 2)}, std::pair{&no_name, size}}) {
    api.Get_processor_name = name;
    const run::Communicator c(MPI_COMM_WORLD, untuned(), api);
    failures += c.placement().nodes() != nodes;
    for (int r = 0; r < size; ++r)
      failures += c.placement().same_node(0, r) != (nodes == size && size > 2 ? r == 0 : r % 2 == 0);
  }
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return concluded("enabling", failures_in_trouble() + failures_of_nodes());
}
