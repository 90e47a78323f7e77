// Memory of an accelerator: where its run-time library is loaded, only the MPI library touches the program's buffers.
//
// Stands in for such memory: pages that are closed to this process except while it is inside the MPI library.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/mman.h>

#include <filesystem>
#include <functional>
#include <vector>

#include "edge_bench.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;

constexpr int most_ranks = 8;
constexpr std::size_t page =
    4096;  // bytes: as much as both buffers need, and on any machine closed as a whole

int* device = nullptr;
int inside = 0;  // calls of the MPI library under way

/// While one lives the memory is open.
class Open {
 public:
  Open() {
    if (inside++ == 0) mprotect(device, page, PROT_READ | PROT_WRITE);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  ~Open() {
    if (--inside == 0) mprotect(device, page, PROT_NONE);
  }
};

/// The same function of the library, with the memory open.
template <auto function, class... Arguments>
int opened(Arguments... arguments) {
  const Open open;
  return function(arguments...);
}

mpi::Api opening_api() {
  mpi::Api api = mpi::linked_api();
  api.Isend = opened<PMPI_Isend>;
  api.Irecv = opened<PMPI_Irecv>;
  api.Sendrecv = opened<PMPI_Sendrecv>;
  api.Sendrecv_replace = opened<PMPI_Sendrecv_replace>;
  api.Wait = opened<PMPI_Wait>;
  api.Test = opened<PMPI_Test>;
  api.Waitany = opened<PMPI_Waitany>;
  api.Testany = opened<PMPI_Testany>;
  return api;
}

/// Two blocks of ints per rank, the first half of the memory to send and the second one to receive.
struct Buffers {
  int ranks, rank;
  int* send = device;
  int* receive = device + 2 * most_ranks;

  void fill() const {
    const Open open;
    for (int i = 0; i < 2 * ranks; ++i) send[i] = 1000 * rank + i, receive[i] = -1;
  }
  bool arrived() const {
    const Open open;
    bool right = true;
    for (int i = 0; i < 2 * ranks; ++i) right = right && receive[i] == 1000 * (i / 2) + 2 * rank + i % 2;
    return right;
  }
};

void exchange(Bench& b, MPI_Comm comm, const std::function<int(const Buffers&)>& call) {
  const Buffers buffers{size_of(comm), rank_of(comm)};
  b.repeat(comm, 1, [&] {
    buffers.fill();
    const int code = call(buffers);
    b.expect(code == MPI_SUCCESS && buffers.arrived(), "wrong data");
  });
}

void exchanges(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const int n = size_of(comm);
  const std::vector<int> counts = all(n, 2);
  std::vector<int> places = counts;
  for (int r = 0; r < n; ++r) places[static_cast<std::size_t>(r)] = 2 * r;
  exchange(b, comm, [&](const Buffers& m) {
    return b.runtime.alltoall({m.send, 2, MPI_INT, m.receive, 2, MPI_INT, comm}, [&] {
      const Open open;
      return PMPI_Alltoall(m.send, 2, MPI_INT, m.receive, 2, MPI_INT, comm);
    });
  });
  exchange(b, comm, [&](const Buffers& m) {
    return b.runtime.alltoallv({m.send, counts.data(), places.data(), MPI_INT, m.receive, counts.data(),
                                places.data(), MPI_INT, comm},
                               [&] {
                                 const Open open;
                                 return PMPI_Alltoallv(m.send, counts.data(), places.data(), MPI_INT,
                                                       m.receive, counts.data(), places.data(), MPI_INT,
                                                       comm);
                               });
  });
  MPI_Comm_free(&comm);
}

/// What counts is the name of the library: it lies beside the folder of this program (tests/CMakeLists.txt).
bool load_stand_in() {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return dlopen((self.parent_path().parent_path() / "libcuda.so").c_str(), RTLD_NOW) != nullptr;
}

long failures_with_device_memory() {
  constexpr std::string_view strategies[] = {learner, "direct", "pairwise"};
  const Settings settings = untuned();
  const mpi::Api api = opening_api();
  Witness witness;
  run::Runtime runtime(settings, api, &witness);
  long failures = 0;
  for (const std::string_view meant : strategies) {
    runtime.force(meant);
    Bench b{runtime, witness, meant, std::string(meant)};
    exchanges(b);
    failures += b.failures;
  }
  runtime.finalize();
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  void* const memory = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool ready = memory != MAP_FAILED && load_stand_in() && size_of(MPI_COMM_WORLD) <= most_ranks;
  if (!ready) std::fprintf(stderr, "no memory, no stand-in, or more than %d ranks\n", most_ranks);
  device = static_cast<int*>(memory);
  return concluded("accelerator", ready ? failures_with_device_memory() : 1);
}
