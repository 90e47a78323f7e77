// C++: cells of a graph whose edges cross ranks. Each rank knows which cells of others it reads, but not who reads its
// own: one sparse exchange of requests tells it, and from then on messages go both ways between those that share an
// edge.
#include <cstdio>
#include <map>
#include <vector>

#include <wherry/sparse_exchange.hpp>

constexpr int cells = 100;  // per rank

/// The far ends of this rank's edges: a third of its cells read one of another rank, far away.
std::map<int, std::vector<int>> edges(int rank, int ranks) {
  std::map<int, std::vector<int>> wanted;
  for (int cell = 0; cell < cells; cell += 3) {
    const int owner = (rank + cell * cell) % ranks;
    if (owner != rank) wanted[owner].push_back((cell * 7) % cells);
  }
  return wanted;
}

double value(int owner, int cell) { return 1000.0 * owner + cell; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const auto wanted = edges(rank, ranks);
  std::vector<wherry::Outgoing<int>> requests;
  for (const auto& [owner, list] : wanted) requests.push_back({owner, list});
  const auto readers = wherry::sparse_exchange(requests, MPI_COMM_WORLD);

  std::map<int, std::vector<double>> values;
  for (const auto& [reader, list] : readers)
    for (const int cell : list) values[reader].push_back(value(rank, cell));
  std::vector<wherry::Outgoing<double>> answers;
  for (const auto& [reader, list] : values) answers.push_back({reader, list});

  long requested = 0, received = 0, wrong = 0;
  for (const auto& [owner, list] : wanted) requested += static_cast<long>(list.size());
  for (const auto& [owner, list] : wherry::sparse_exchange(answers, MPI_COMM_WORLD))
    for (std::size_t i = 0; i < list.size(); ++i, ++received)
      wrong += list[i] != value(owner, wanted.at(owner)[i]);

  // Per rank: what one lost must not be made up for by what another got twice.
  long mine[3] = {wrong != 0 || received != requested, received, requested}, all[3] = {};
  MPI_Allreduce(mine, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  const bool right = all[0] == 0;
  if (rank == 0) std::printf("halo: %s, %ld of %ld values read\n", right ? "right" : "WRONG", all[1], all[2]);
  MPI_Finalize();
  return right ? 0 : 1;
}
