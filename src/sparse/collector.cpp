#include "sparse/collector.hpp"

namespace wherry::run {

// The receive names the source that the probe told: it gets that very message, since one thread at a time is here
// (MPI 4.1, 3.8.1).
bool Collector::take() {
  int found = 0;
  MPI_Status status;
  const mpi::Api& api = channel_.api();
  code_ = first_error(code_, api.Iprobe(MPI_ANY_SOURCE, tag_, channel_.comm(), &found, &status));
  if (!found) return false;
  MPI_Count bytes = 0;
  code_ = first_error(code_, api.Get_elements_x(&status, MPI_BYTE, &bytes));
  std::byte* const to = inbox_.add(status.MPI_SOURCE, static_cast<std::size_t>(bytes));
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  code_ = first_error(code_, channel_.receive({to, bytes}, status.MPI_SOURCE, tag_, &request, spare_));
  return true;
}

int Collector::finish() { return first_error(code_, channel_.wait_all(requests_)); }

}  // namespace wherry::run
