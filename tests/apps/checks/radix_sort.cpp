// The sort's check passes what is right and names what is wrong, on every rank. For two ranks and more.
#include "broken.hpp"
#include "radix_sort/sorter.hpp"

using namespace radix_sort;

namespace {

std::string problem_with(const apps::Collectives& collectives) {
  constexpr std::size_t keys_per_rank = 100;
  const MPI_Comm comm = MPI_COMM_WORLD;
  std::vector<Key> keys =
      draw(Keys::uniform, static_cast<std::uint64_t>(apps::rank_of(comm)) * keys_per_rank, keys_per_rank);
  const Contents before = all_contents(keys, comm);
  Sorter sorter(comm, 8, keys.size());
  PassTimings timings(comm);
  sorter.sort(keys, collectives, timings);
  return problem_of(keys, before, comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  using broken::as_expected;
  constexpr int key_bytes = sizeof(Key);
  const bool right =
      as_expected("plain MPI", problem_with(apps::plain_mpi), "") &
      as_expected("Wherry", problem_with(apps::wherrys), "") &
      as_expected("a key twice", problem_with(broken::broken(broken::repeats<key_bytes>)), "not those") &
      as_expected("no exchange", problem_with(broken::broken(broken::keeps<key_bytes>)), "not in order");
  const int code = apps::on_all(right, MPI_COMM_WORLD) ? 0 : 1;
  MPI_Finalize();
  return code;
}
