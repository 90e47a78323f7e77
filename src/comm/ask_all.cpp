#include "comm/ask_all.hpp"

namespace wherry::run {

std::vector<long long> ask_all(const mpi::Api& api, MPI_Comm comm, std::span<const long long> mine) {
  int size = 0;
  api.Comm_size(comm, &size);
  std::vector<long long> told, heard(mine.size() * static_cast<std::size_t>(size));
  told.reserve(heard.size());
  for (int rank = 0; rank < size; ++rank) told.insert(told.end(), mine.begin(), mine.end());
  const int count = static_cast<int>(mine.size());
  const int code = api.Alltoall(told.data(), count, MPI_LONG_LONG, heard.data(), count, MPI_LONG_LONG, comm);
  if (code != MPI_SUCCESS) heard.clear();
  return heard;
}

}  // namespace wherry::run
