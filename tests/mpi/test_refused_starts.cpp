// Nonblocking and persistent calls where the MPI library refuses what they need: ranks stay in step, and the call is
// native.
//
// Runs under mpiexec at any number of ranks. The library is replaced through the table of its functions.
#include <mpi.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/runtime.hpp"
#include "progress/nonblocking.hpp"
#include "progress/progress_engine.hpp"

namespace {

using namespace wherry;

int wrong = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  ++wrong;
  std::fprintf(stderr, "%s\n", what);
}

int refuse_request(MPI_Grequest_query_function*, MPI_Grequest_free_function*, MPI_Grequest_cancel_function*,
                   void*, MPI_Request*) {
  return MPI_ERR_OTHER;
}
int refuse_callback(int (*)()) { return -1; }
int refuse_poll(int (*)(void*), void*, int) { return MPI_ERR_OTHER; }
int take_poll(int (*)(void*), void*, int) { return MPI_SUCCESS; }

/// An all-to-all of one int per rank, and how often the library performed it.
struct Call {
  Call() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    send.resize(static_cast<std::size_t>(size));
    receive.resize(send.size());
  }
  run::Alltoall arguments() { return {send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, MPI_COMM_WORLD}; }
  run::Native native() {
    return [this] { return ++natives, MPI_SUCCESS; };
  }
  std::vector<int> send, receive;
  int natives = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

/// The number of a call without a request is taken all the same: the other ranks have taken it.
void check_numbers() {
  mpi::Api api = mpi::linked_api();
  api.Grequest_start = refuse_request;
  run::Staging staging{std::size_t{1} << 20};
  const auto c = std::make_shared<run::Communicator>(MPI_COMM_WORLD, Settings{}, api);
  run::Progress progress;
  Call call;
  auto operation = std::make_shared<run::Nonblocking>(c, &call.request);
  expect(
      run::read_work(api, call.arguments(), *c, operation->arguments.blocks, operation->arguments.segments),
      "the call has no work");
  operation->prepare(*schedule::find_strategy("direct"), {Collective::alltoall, Limit::none, 3}, staging);
  expect(progress.start(std::move(operation)) == MPI_ERR_OTHER, "the library's error was not returned");
  expect(progress.is_idle() && call.request == MPI_REQUEST_NULL, "a call without a request is under way");
  const run::Tags::Sequence next = c->tags().take();
  expect(next == 1, "a call without a request took no sequence number");
  expect(c->tags().is_free(next), "a call without a request kept its tag");
}

struct Reasons : run::Observer {
  void used(MPI_Comm, const run::CellKey&, std::string_view, std::uint64_t, std::uint64_t) override {}
  void decided(MPI_Comm, const run::CellKey&, std::uint32_t, std::string_view, profile::Reason, std::uint64_t,
               std::uint64_t) override {}
  void fell_back(Collective, std::string_view) override {}
  void not_started(Collective, run::Form, std::string_view reason) override { told.emplace_back(reason); }
  std::vector<std::string> told;
};

constexpr std::string_view refused = "the MPI library refused to let Wherry take part in its progress";

/// Nonblocking and persistent calls are native where it lets nothing progress them.
void check_runtime(const mpi::Api& api) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Settings settings;
  settings.features.nonblocking = true;
  settings.features.tuning = false;
  Reasons reasons;
  run::Runtime runtime(settings, api, &reasons);
  run::ProgressEngine engine(api, ProgressBy::calls,
                             {[] { return 0; }, [] { return true; }, [](void*) { return 1; }});
  runtime.factory().drive([&] { return engine.wake(); });
  Call call;
  for (int i = 0; i < 2; ++i) runtime.alltoall(call.arguments(), [] { return MPI_SUCCESS; });  // enables it
  runtime.start(call.arguments(), call.native(), &call.request);
  runtime.init(call.arguments(), call.native(), &call.request);
  expect(call.natives == 2, "a call that nothing progresses was not native");
  const std::vector<std::string> expected(2, size > 1 ? std::string(refused) : "communicator of one rank");
  expect(reasons.told == expected, "the reason was not told");
  expect(runtime.plan(call.arguments()) == nullptr, "a plan that nothing progresses was not native");
  runtime.finalize();
}

void check_refusals() {
  mpi::Api open = mpi::linked_api();
  open.Progress_register = refuse_callback;
  open.Async_start = nullptr;
  check_runtime(open);
  mpi::Api mpich = mpi::linked_api();
  mpich.Progress_register = nullptr;
  mpich.Async_start = refuse_poll;
  check_runtime(mpich);
}

/// A refusal is not for ever where the library is asked each time.
void check_asking_again() {
  mpi::Api api = mpi::linked_api();
  api.Progress_register = nullptr;
  api.Async_start = refuse_poll;
  run::ProgressEngine engine(api, ProgressBy::calls,
                             {[] { return 0; }, [] { return true; }, [](void*) { return 1; }});
  expect(engine.wake() == refused, "a refusal was not noticed");
  api.Async_start = take_poll;
  expect(engine.wake().empty(), "the library was not asked again");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check_numbers();
  check_refusals();
  check_asking_again();
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
