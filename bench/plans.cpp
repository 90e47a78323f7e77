// What does an all-to-all of fixed arguments cost in each form: the native call, its nonblocking and persistent
// forms, Wherry's call, Wherry's plan?
//
//   bench_plans --sizes 64,1024 --turns 10 [--thread]
// All forms run in one process in turns, through Wherry's library and without the preload; the strategy and who makes
// progress are settings (WHERRY_ALLTOALL, WHERRY_PROGRESS). --thread: asks MPI for the thread level that a progress
// thread needs.
#include <dlfcn.h>
#include <time.h>

#include <functional>

#include "measure.hpp"
#include "wherry/plan.hpp"

namespace {

struct Blocks {
  int ranks, bytes;
  std::vector<char> send, receive;

  explicit Blocks(int block)
      : ranks(bench::size_of(MPI_COMM_WORLD)), bytes(block), send(total()), receive(total()) {
    const auto rank = static_cast<std::size_t>(bench::rank_of(MPI_COMM_WORLD));
    for (std::size_t i = 0; i < send.size(); ++i) send[i] = value(rank, i / length());
  }
  bool right() const {
    const auto rank = static_cast<std::size_t>(bench::rank_of(MPI_COMM_WORLD));
    for (std::size_t i = 0; i < receive.size(); ++i)
      if (receive[i] != value(i / length(), rank)) return false;
    return true;
  }

 private:
  std::size_t length() const { return static_cast<std::size_t>(bytes); }
  std::size_t total() const { return length() * static_cast<std::size_t>(ranks); }
  static char value(std::size_t from, std::size_t to) { return static_cast<char>(7 * from + to + 1); }
};

struct Algorithm {
  std::string name;
  std::function<void()> exchange;
};

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// MPI 4's, which some of the libraries do not have.
using AlltoallInit = int (*)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Info,
                             MPI_Request*);

/// The native persistent collective; no request where it has none.
class Persistent {
 public:
  explicit Persistent(Blocks& b) {
    const auto init = reinterpret_cast<AlltoallInit>(dlsym(RTLD_DEFAULT, "MPI_Alltoall_init"));
    if (init != nullptr)
      init(b.send.data(), b.bytes, MPI_BYTE, b.receive.data(), b.bytes, MPI_BYTE, MPI_COMM_WORLD,
           MPI_INFO_NULL, &request_);
  }
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;
  ~Persistent() {
    if (there()) MPI_Request_free(&request_);
  }

  bool there() const { return request_ != MPI_REQUEST_NULL; }
  void exchange() {
    MPI_Start(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

std::vector<Algorithm> forms(Blocks& b, Persistent& persistent, wherry::Plan& plan) {
  std::vector<Algorithm> all = {
      {"native",
       [&b] {
         MPI_Alltoall(b.send.data(), b.bytes, MPI_BYTE, b.receive.data(), b.bytes, MPI_BYTE, MPI_COMM_WORLD);
       }},
      {"native, nonblocking",
       [&b] {
         MPI_Request request = MPI_REQUEST_NULL;
         MPI_Ialltoall(b.send.data(), b.bytes, MPI_BYTE, b.receive.data(), b.bytes, MPI_BYTE, MPI_COMM_WORLD,
                       &request);
         MPI_Wait(&request, MPI_STATUS_IGNORE);
       }},
      {"wherry", [&b] { wherry::alltoall(b.send, b.receive, MPI_COMM_WORLD); }},
      {"plan",
       [&plan] {
         plan.start();
         plan.wait();
       }},
  };
  if (persistent.there()) all.push_back({"native, persistent", [&persistent] { persistent.exchange(); }});
  return all;
}

struct Times {
  std::vector<double> elapsed, processor;
};

/// A burst of calls, from a barrier: seconds per call on the slowest rank, processor seconds as the mean of the ranks.
void time_burst(const Algorithm& form, int calls, Times& to) {
  const double before = processor_seconds();
  to.elapsed.push_back(bench::time_calls(MPI_COMM_WORLD, calls, form.exchange));
  const double mine = (processor_seconds() - before) / calls;
  to.processor.push_back(apps::reduced(mine, MPI_SUM, MPI_COMM_WORLD) / bench::size_of(MPI_COMM_WORLD));
}

void measure(int block, int turns) {
  Blocks blocks(block);
  Persistent persistent(blocks);
  wherry::Plan plan = wherry::alltoall_plan(blocks.send, blocks.receive, MPI_COMM_WORLD);
  const std::vector<Algorithm> all = forms(blocks, persistent, plan);
  const std::string name = "alltoall " + std::to_string(block) + " B";
  for (const Algorithm& form : all) {
    std::ranges::fill(blocks.receive, '\0');
    form.exchange();
    if (!blocks.right()) bench::end_with("bench_plans: " + name + " by " + form.name + ": wrong result");
  }
  const int calls = bench::calls_per_burst(MPI_COMM_WORLD, all.front().exchange);
  std::vector<Times> times(all.size());
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < all.size(); ++i) time_burst(all[i], calls, times[i]);
  if (bench::rank_of(MPI_COMM_WORLD) != 0) return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bench::print(name, all[i].name, times[i].elapsed);
    bench::print(name + ", processor", all[i].name, times[i].processor);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool thread = std::find(argv, argv + argc, std::string_view("--thread")) != argv + argc;
  int level = 0;
  MPI_Init_thread(&argc, &argv, thread ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  if (thread && level != MPI_THREAD_MULTIPLE)
    bench::refuse("bench_plans: this MPI library does not allow a thread that makes progress");
  const int turns = bench::number(argc, argv, "--turns", 10);
  for (const int block : bench::numbers(bench::option(argc, argv, "--sizes", "64,1024,16384")))
    measure(block, turns);
  MPI_Finalize();
}
