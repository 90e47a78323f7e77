#include "api/process.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "host/runtime.hpp"
#include "progress/progress_engine.hpp"

namespace wherry::api {

namespace {

thread_local const char* last_strategy = "";

/// The file that the program's MPI functions come from.
const char* path_of_library() {
  Dl_info info{};
  void* const version = ::dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
  return version != nullptr && ::dladdr(version, &info) != 0 ? info.dli_fname : "this program";
}

/// "openmpi", "mpich" or "abi": an MPI library's ABI, by what only it has.
const char* abi_of(std::string_view path) {
  if (::dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != nullptr) return "openmpi";
  return path.find("/libmpi_abi.so") != path.npos ? "abi" : "mpich";
}

/// Handles differ between ABIs: the first call with a wrong one would crash, with no word of why.
void check_abi() {
  const char* const path = path_of_library();
  const std::string_view abi = abi_of(path);
  if (abi == WHERRY_ABI) return;
  std::fprintf(stderr,
               "wherry: this is Wherry for MPI libraries of the ABI %s, but %s has the ABI %s; "
               "link the program to Wherry::%s\n",
               WHERRY_ABI, path, abi.data(), abi.data());
  std::abort();
}

class Listener : public run::Observer {
 public:
  void used(MPI_Comm, const run::CellKey&, std::string_view strategy, std::uint64_t, std::uint64_t) override {
    LastStrategy::set(strategy);
  }
  bool takes_times() const override { return true; }
  void decided(MPI_Comm, const run::CellKey&, std::uint32_t, std::string_view, profile::Reason, std::uint64_t,
               std::uint64_t) override {}
  void fell_back(Collective, std::string_view) override {}
};

const Settings& settings_of_process() {
  static const Settings settings = read_settings(read_variable, ::getauxval(AT_SECURE) != 0);
  return settings;
}

int advance();
bool is_idle();
int poll(void*);
void stop_thread();

class Process {
 public:
  Process()
      : settings_(settings_of_process()),
        runtime_(settings_, library(), &listener_),
        progress_engine_(library(), settings_.progress, {advance, is_idle, poll}) {
    print_problems();
    watch_self();
    if (settings_.progress == ProgressBy::thread) std::atexit(stop_thread);
    if (progress_engine_.exists()) runtime_.factory().drive([this] { return progress_engine_.wake(); });
  }
  run::Runtime& runtime() { return runtime_; }
  run::ProgressEngine& progress_engine() { return progress_engine_; }
  const Settings& settings() const { return settings_; }

 private:
  void print_problems() const {
    int rank = 0;
    library().Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) return;
    print(settings_.problems);
    // Under `wherry run` the tool says so; here nobody else does.
    print(run::unknown_settings(settings_));
  }

  static void print(const std::vector<std::string>& problems) {
    for (const std::string& problem : problems) std::fprintf(stderr, "wherry: %s\n", problem.c_str());
  }

  /// MPI_COMM_SELF is freed first when MPI ends, while Wherry may still communicate (MPI 4.1, 11.2.4).
  void watch_self() {
    const auto end = [](MPI_Comm, int, void* process, void*) -> int {
      static_cast<Process*>(process)->progress_engine_.stop();
      static_cast<Process*>(process)->runtime_.finalize();
      return MPI_SUCCESS;
    };
    int keyval = MPI_KEYVAL_INVALID;
    library().Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &keyval, nullptr);
    library().Comm_set_attr(MPI_COMM_SELF, keyval, this);
    library().Comm_free_keyval(&keyval);  // lives on as long as the attribute
  }

  const Settings& settings_;
  Listener listener_;
  run::Runtime runtime_;
  run::ProgressEngine progress_engine_;
};

/// Made at the first call; never destroyed: exit handlers may still communicate.
Process& process() {
  static auto* const made = new Process;
  return *made;
}

int advance() { return process().runtime().advance(); }
bool is_idle() { return process().runtime().is_idle(); }
int poll(void*) { return process().progress_engine().poll(); }
/// For a program that exits without MPI_Finalize.
void stop_thread() { process().progress_engine().stop(); }

}  // namespace

void LastStrategy::set(std::string_view name) { last_strategy = name.data(); }
const char* LastStrategy::get() { return last_strategy; }

const mpi::Api& library() {
  static const mpi::Api& api = (check_abi(), mpi::linked_api());
  return api;
}

run::Waiting waiting() {
  static const run::Waiting found = run::waiting_in(library(), settings_of_process().wait);
  return found;
}

run::Runtime* runtime() {
  int initialized = 0;
  library().Initialized(&initialized);
  if (initialized == 0) return nullptr;
  return &process().runtime();
}

const Settings* settings_in_use() { return runtime() == nullptr ? nullptr : &process().settings(); }

}  // namespace wherry::api
