// C++: sends particles to the ranks that own their cells. How many go where differs from step to step, so the counts
// travel first, by alltoall, and then the particles, by alltoallv.
#include <cstdio>
#include <random>
#include <vector>

#include <wherry/wherry.hpp>

struct Particle {
  double position[3];
  int cell;
};

int owner(const Particle& particle, int ranks) { return particle.cell % ranks; }

/// Particles in random cells, in the order of the ranks that own them, and how many go to each.
std::vector<Particle> draw(std::minstd_rand& random, std::vector<int>& counts) {
  const int ranks = static_cast<int>(counts.size());
  std::vector<Particle> particles;
  for (int rank = 0; rank < ranks; ++rank) {
    counts[rank] = static_cast<int>(random() % 5);
    for (int i = 0; i < counts[rank]; ++i) particles.push_back({{0, 0, 0}, rank + ranks * i});
  }
  return particles;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::minstd_rand random(static_cast<unsigned>(rank) + 1);

  long misplaced = 0, arrived = 0;
  for (int step = 0; step < 20; ++step) {
    std::vector<int> leaving(ranks), coming(ranks);
    const std::vector<Particle> mine = draw(random, leaving);
    wherry::alltoall(leaving, coming, MPI_COMM_WORLD);

    int total = 0;
    for (const int count : coming) total += count;
    std::vector<Particle> received(total);
    wherry::alltoallv(mine, leaving, received, coming, MPI_COMM_WORLD);

    arrived += total;
    for (const Particle& particle : received) misplaced += owner(particle, ranks) != rank;
  }

  long mine[2] = {misplaced, arrived}, all[2] = {};
  MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("shuffle: %ld particles moved, %ld misplaced\n", all[1], all[0]);
  MPI_Finalize();
  return all[0] != 0;
}
