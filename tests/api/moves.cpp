// The C and the C++ functions that move data with one rank at an end, or one block for all, against the MPI call with
// the same arguments, over enough calls that trials go on. WHERRY_TEST_SEED changes the data. Prints "ran COLLECTIVE
// NAME".
#include <wherry/wherry.hpp>

#include <algorithm>
#include <complex>
#include <vector>

#include "world.hpp"

namespace {

using test::Particle;
using test::World;

constexpr int rounds = 8;

/// One call: how many values a block has, who is the root.
struct Case {
  int count;
  int root;
  std::size_t block() const { return static_cast<std::size_t>(count); }
};

template <class T>
int bytes(const Case& k) {
  return k.count * static_cast<int>(sizeof(T));
}

/// This rank's block of those of all ranks.
template <class T>
std::vector<T> own_block(const World& w, const Case& k, const std::vector<T>& all) {
  const auto begin = all.begin() + w.rank * k.count;
  return {begin, begin + k.count};
}

void check_allgather_in_c(World& w, const Case& k) {
  const auto send = w.data<int>(k.block());
  std::vector<int> expected(w.size() * k.block(), -1), ours = expected;
  MPI_Allgather(send.data(), k.count, MPI_INT, expected.data(), k.count, MPI_INT, w.comm);
  const int code = wherry_allgather(send.data(), k.count, MPI_INT, ours.data(), k.count, MPI_INT, w.comm);
  w.checks.that(code == MPI_SUCCESS, "wherry_allgather failed");
  w.same("allgather", ours, expected, "C");
}

template <class T>
void check_allgather(World& w, const Case& k) {
  const auto send = w.data<T>(k.block());
  std::vector<T> expected(w.size() * k.block()), ours(expected);
  MPI_Allgather(send.data(), bytes<T>(k), MPI_BYTE, expected.data(), bytes<T>(k), MPI_BYTE, w.comm);
  wherry::allgather(send, ours, w.comm);
  w.same("allgather", ours, expected, "C++");
  std::vector<T> replaced(expected.size());
  std::copy(send.begin(), send.end(), replaced.begin() + w.rank * k.count);
  wherry::allgather(replaced, w.comm);
  w.same("allgather", replaced, expected, "C++ in place");
}

void check_bcast_in_c(World& w, const Case& k) {
  const auto data = w.data<int>(k.block());
  std::vector<int> expected = data, ours = data;
  MPI_Bcast(expected.data(), k.count, MPI_INT, k.root, w.comm);
  w.checks.that(wherry_bcast(ours.data(), k.count, MPI_INT, k.root, w.comm) == MPI_SUCCESS,
                "wherry_bcast failed");
  w.same("bcast", ours, expected, "C");
}

template <class T>
void check_bcast(World& w, const Case& k) {
  std::vector<T> expected = w.data<T>(k.block()), ours = expected;
  MPI_Bcast(expected.data(), bytes<T>(k), MPI_BYTE, k.root, w.comm);
  wherry::bcast(ours, k.root, w.comm);
  w.same("bcast", ours, expected, "C++");
}

void check_gather_in_c(World& w, const Case& k) {
  const auto send = w.data<int>(k.block());
  std::vector<int> expected(w.rank == k.root ? w.size() * k.block() : 0, -1), ours = expected;
  MPI_Gather(send.data(), k.count, MPI_INT, expected.data(), k.count, MPI_INT, k.root, w.comm);
  const int code =
      wherry_gather(send.data(), k.count, MPI_INT, ours.data(), k.count, MPI_INT, k.root, w.comm);
  w.checks.that(code == MPI_SUCCESS, "wherry_gather failed");
  w.same("gather", ours, expected, "C");
}

template <class T>
void check_gather(World& w, const Case& k) {
  const bool is_root = w.rank == k.root;
  const auto send = w.data<T>(k.block());
  std::vector<T> expected(is_root ? w.size() * k.block() : 0), ours(expected);
  MPI_Gather(send.data(), bytes<T>(k), MPI_BYTE, expected.data(), bytes<T>(k), MPI_BYTE, k.root, w.comm);
  wherry::gather(send, ours, k.root, w.comm);
  w.same("gather", ours, expected, "C++");
  std::vector<T> replaced = send;
  if (is_root) {
    replaced.assign(expected.size(), T{});
    std::copy(send.begin(), send.end(), replaced.begin() + w.rank * k.count);
  }
  wherry::gather(replaced, k.root, w.comm);
  w.same("gather", replaced, is_root ? expected : send, "C++ in place");
}

void check_scatter_in_c(World& w, const Case& k) {
  const auto send = w.data<int>(w.rank == k.root ? w.size() * k.block() : 0);
  std::vector<int> expected(k.block(), -1), ours = expected;
  MPI_Scatter(send.data(), k.count, MPI_INT, expected.data(), k.count, MPI_INT, k.root, w.comm);
  const int code =
      wherry_scatter(send.data(), k.count, MPI_INT, ours.data(), k.count, MPI_INT, k.root, w.comm);
  w.checks.that(code == MPI_SUCCESS, "wherry_scatter failed");
  w.same("scatter", ours, expected, "C");
}

template <class T>
void check_scatter(World& w, const Case& k) {
  const bool is_root = w.rank == k.root;
  const auto send = w.data<T>(is_root ? w.size() * k.block() : 0);
  std::vector<T> expected(k.block()), ours(expected);
  MPI_Scatter(send.data(), bytes<T>(k), MPI_BYTE, expected.data(), bytes<T>(k), MPI_BYTE, k.root, w.comm);
  wherry::scatter(send, ours, k.root, w.comm);
  w.same("scatter", ours, expected, "C++");
  std::vector<T> replaced = is_root ? send : std::vector<T>(k.block());
  wherry::scatter(replaced, k.root, w.comm);
  w.same("scatter", is_root ? own_block(w, k, replaced) : replaced, expected, "C++ in place");
}

/// Nobody leaves before the last has come: what each rank says before it has arrived after it.
void check_barrier(World& w, const Case& k) {
  int said = 0;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(&said, sizeof said, sizeof said, MPI_INFO_NULL, w.comm, &window);
  for (const bool in_c : {true, false}) {
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, k.root, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT, k.root, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(k.root, window);
    if (in_c) w.checks.that(wherry_barrier(w.comm) == MPI_SUCCESS, "wherry_barrier failed");
    else wherry::barrier(w.comm);
    w.note("barrier");
    int heard = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, k.root, 0, window);
    MPI_Get(&heard, 1, MPI_INT, k.root, 0, 1, MPI_INT, window);
    MPI_Win_unlock(k.root, window);
    w.checks.that(heard >= w.ranks * (in_c ? 1 : 2), "a barrier was left before all had come");
    wherry::barrier(w.comm);
  }
  MPI_Win_free(&window);
}

template <class T>
void check_ranges(World& w, const Case& k) {
  check_allgather<T>(w, k);
  check_bcast<T>(w, k);
  check_gather<T>(w, k);
  check_scatter<T>(w, k);
}

void check_all(World& w, int root) {
  for (const int count : {0, 5}) {
    check_allgather_in_c(w, {count, root});
    check_bcast_in_c(w, {count, root});
    check_gather_in_c(w, {count, root});
    check_scatter_in_c(w, {count, root});
  }
  check_ranges<double>(w, {3, root});
  check_ranges<unsigned char>(w, {300, root});
  check_ranges<std::complex<float>>(w, {0, root});
  check_ranges<Particle>(w, {4, root});
}

}  // namespace

int main(int argc, char** argv) {
  return test::run(argc, argv, [](World& w) {
    for (int i = 0; i < rounds; ++i) check_all(w, i % w.ranks);
    for (int i = 0; i < 2; ++i) check_barrier(w, {0, i % w.ranks});
  });
}
