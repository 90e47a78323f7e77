// What does it cost a call to be intercepted? Times the call with the least work of its own, a send to nobody, and with
// several ranks a short collective that the settings give back to the library. And that collective and an exchange as
// programs make them: each after work on more memory than a core's own caches hold, which drives out what intercepts.
//
// The program is the same with and without the preload; wherry bench launches it in turns and compares.
#include <algorithm>
#include <array>
#include <chrono>

#include "measure.hpp"

namespace {

/// A program's own work, on 4 MiB.
class Work {
 public:
  void operator()() {
    for (double& value : values_) value = value * 0.999 + 1;
  }

 private:
  std::vector<double> values_ = std::vector<double>(524288);
};

/// The median of a few calls, each by itself.
template <class Call>
double time_after(Work& work, const Call& call) {
  std::array<double, 25> seconds{};
  for (double& taken : seconds) {
    work();
    const auto begin = std::chrono::steady_clock::now();
    call();
    taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::ranges::nth_element(seconds, seconds.begin() + seconds.size() / 2);
  return seconds[seconds.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int turns = bench::number(argc, argv, "--turns", 60);
  constexpr int calls = 20000;  // a turn of about a millisecond: long for the clock, short for the scheduler
  const auto sample = [&](const char* name, const auto& seconds) {
    seconds();
    std::vector<double> samples;
    for (int i = 0; i < turns; ++i) samples.push_back(seconds());
    if (bench::rank_of(MPI_COMM_WORLD) == 0) bench::print(name, "plain", samples);
  };
  const auto time = [&](const char* name, const auto& call) {
    sample(name, [&] { return bench::time_calls(MPI_COMM_WORLD, calls, call); });
  };
  time("MPI_Send to MPI_PROC_NULL", [] { MPI_Send(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); });
  if (bench::size_of(MPI_COMM_WORLD) > 1) {
    double mine = 1, sum = 0;
    const auto reduce = [&] { MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); };
    time("MPI_Allreduce of 8 B, given back", reduce);
    Work work;
    const auto time_apart = [&](const char* name, const auto& call) {
      sample(name, [&] { return time_after(work, call); });
    };
    time_apart("MPI_Allreduce of 8 B after other work", reduce);
    constexpr int count = 256;
    std::vector<double> out(count), in(count);
    const int rank = bench::rank_of(MPI_COMM_WORLD), size = bench::size_of(MPI_COMM_WORLD);
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    const auto exchange = [&](int elements, MPI_Datatype type) {
      return [&, elements, type] {
        MPI_Sendrecv(out.data(), elements, type, next, 0, in.data(), elements, type, before, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      };
    };
    time_apart("MPI_Sendrecv of 2 KiB after other work", exchange(count, MPI_DOUBLE));
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    time_apart("MPI_Sendrecv of 2 KiB of a derived type after other work", exchange(count / 2, pair));
    MPI_Type_free(&pair);
  }
  MPI_Finalize();
}
