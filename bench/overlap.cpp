// How much can a program compute while a nonblocking collective is under way?
//
//   bench_overlap --operations alltoall,allgather --sizes 64,1024 --strategies native,mesh --turns 10
// All variants run in one process in turns, each twice: alone, from the start to the end of MPI_Wait, and with
// computation in slices, each followed by MPI_Test, until the collective is over. Run it under the preload with
// WHERRY_NONBLOCKING=1.
#include <sched.h>
#include <time.h>

#include "exchange.hpp"
#include "operations.hpp"
#include "strategies.hpp"

namespace {

using bench::Case;

struct Form {
  std::string_view operation;
  void (*start)(Case& c, MPI_Request* request);
};

constexpr Form forms[] = {
    {"alltoall",
     [](Case& c, MPI_Request* r) {
       MPI_Ialltoall(c.send.data(), c.block, MPI_BYTE, c.receive.data(), c.block, MPI_BYTE, c.comm, r);
     }},
    {"allgather",
     [](Case& c, MPI_Request* r) {
       MPI_Iallgather(c.send.data(), c.block, MPI_BYTE, c.receive.data(), c.block, MPI_BYTE, c.comm, r);
     }},
    {"allreduce",
     [](Case& c, MPI_Request* r) {
       MPI_Iallreduce(c.addends.data(), c.sums.data(), c.floats, MPI_FLOAT, MPI_SUM, c.comm, r);
     }},
    {"bcast", [](Case& c, MPI_Request* r) { MPI_Ibcast(c.receive.data(), c.block, MPI_BYTE, 0, c.comm, r); }},
};

const Form& form_of(std::string_view operation) {
  for (const Form& form : forms)
    if (form.operation == operation) return form;
  bench::refuse("no nonblocking form of '" + std::string(operation) + "' here");
}

/// Processor seconds of this thread, or of the whole process: a thread that makes progress costs too.
double cpu_seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Computation that touches no memory, in slices of so many steps. Where ranks share a core, each gives way after a
/// slice, so that all get on alike.
class Work {
 public:
  explicit Work(int steps) : steps_(steps) {}

  /// Processor seconds that the slice took.
  double slice() {
    const double start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < steps_; ++i) value_ = value_ * 0.999999 + 1e-6;
    sched_yield();
    return cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
  }

  /// Slices of about so many seconds; the same number of steps on all ranks.
  static Work of(double seconds) {
    constexpr int trial = 200'000;
    Work probe(trial);
    int steps = static_cast<int>(seconds / probe.slice() * trial);
    MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return Work(std::max(steps, 1));
  }

 private:
  int steps_;
  volatile double value_ = 1;
};

/// Processor time in slices and outside of them.
class Meter {
 public:
  explicit Meter(Work& work) : work_(work), start_(cpu_seconds(CLOCK_PROCESS_CPUTIME_ID)) {}

  void compute() {
    computed_ += work_.slice();
    ++slices_;
  }
  double computed() const { return computed_; }
  double outside() const { return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start_ - computed_; }

  /// What looking at the clock costs outside of each slice.
  static double unseen(Work& work) {
    constexpr int slices = 200;
    Meter meter(work);
    for (int i = 0; i < slices; ++i) meter.compute();
    return meter.outside() / slices;
  }
  double outside(double unseen) const { return std::max(0.0, outside() - slices_ * unseen); }

 private:
  Work& work_;
  double start_;
  double computed_ = 0;
  int slices_ = 0;
};

/// What is measured of one variant: on the slowest rank, or the mean of all.
struct Samples {
  std::vector<double> alone, together, inside, computed;
};

void run_alone(const Form& form, Case& c, Samples& to) {
  bench::meet(c);
  const double start = MPI_Wtime();
  MPI_Request request = MPI_REQUEST_NULL;
  form.start(c, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  to.alone.push_back(MPI_Wtime() - start);
}

void run_with_work(const Form& form, Case& c, Work& work, double unseen, Samples& to) {
  bench::meet(c);
  const double start = MPI_Wtime();
  Meter meter(work);
  MPI_Request request = MPI_REQUEST_NULL;
  form.start(c, &request);
  for (int done = 0; done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) meter.compute();
  to.inside.push_back(meter.outside(unseen));
  to.computed.push_back(meter.computed());
  to.together.push_back(MPI_Wtime() - start);
  bench::meet(c);  // ranks that have ended go on with those that have not
}

std::vector<double> over_ranks(const Case& c, const std::vector<double>& mine, MPI_Op op) {
  std::vector<double> all(mine.size());
  MPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, op, 0, c.comm);
  if (op == MPI_SUM)
    for (double& sum : all) sum /= c.size;
  return all;
}

void print(const Case& c, const std::string& name, const std::string& variant, const Samples& s) {
  const std::pair<const char*, std::vector<double>> rows[] = {
      {", alone", over_ranks(c, s.alone, MPI_MAX)},
      {", with work", over_ranks(c, s.together, MPI_MAX)},
      {", inside", over_ranks(c, s.inside, MPI_SUM)},
      {", computed", over_ranks(c, s.computed, MPI_SUM)},
  };
  if (c.rank != 0) return;
  for (const auto& [what, samples] : rows) bench::print(name + what, variant, samples);
}

void measure(const std::string& operation, int block, const std::vector<std::string>& variants, int turns,
             Work& work) {
  constexpr int times = 5;
  const Form& form = form_of(operation);
  const bench::Operation& blocking = bench::find(operation);
  const double unseen = Meter::unseen(work);
  Case c(MPI_COMM_WORLD, block);
  bench::force("wherry");
  for (int i = 0; i < bench::least_training; ++i) blocking.call(c);

  const std::string name = operation + " " + bench::case_name(block);
  std::vector<Samples> samples(variants.size());
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < variants.size(); ++i) {
      bench::force(variants[i]);
      Samples unused;
      c.forget();
      run_alone(form, c, unused);  // not timed: the first call after a change pays for the change
      if (!blocking.right(c))
        bench::end_with("bench_overlap: " + name + " by " + variants[i] + ": wrong result");
      for (int k = 0; k < times; ++k) run_alone(form, c, samples[i]);
      for (int k = 0; k < times; ++k) run_with_work(form, c, work, unseen, samples[i]);
    }
  bench::force("native");
  for (std::size_t i = 0; i < variants.size(); ++i) print(c, name, variants[i], samples[i]);
}

/// Native, what Wherry would choose, and every strategy, if none are asked for.
std::vector<std::string> variants_of(const std::string& operation, const std::string& asked,
                                     const wherry::topology::Placement& placement) {
  std::vector<std::string> variants = {"native", "wherry"};
  const auto named = asked == "all" ? bench::strategies_of(operation, placement) : bench::words(asked);
  for (const std::string& name : named)
    if (std::ranges::find(variants, name) == variants.end()) variants.push_back(name);
  return variants;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr double slice_s = 20e-6;
  MPI_Init(&argc, &argv);
  bench::force("native");
  const wherry::topology::Placement placement = bench::placement_of(MPI_COMM_WORLD);
  const auto operations = bench::words(bench::option(argc, argv, "--operations", "alltoall,allgather"));
  const auto sizes = bench::numbers(bench::option(argc, argv, "--sizes", "64,1024,16384"));
  const std::string asked = bench::option(argc, argv, "--strategies", "all");
  const int turns = bench::number(argc, argv, "--turns", 10);
  Work work = Work::of(slice_s);
  for (const std::string& operation : operations)
    for (const int block : sizes)
      measure(operation, block, variants_of(operation, asked, placement), turns, work);
  MPI_Finalize();
}
