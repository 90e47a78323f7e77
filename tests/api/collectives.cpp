// The C and the C++ functions against the MPI call with the same arguments, on random data, over enough calls that
// trials go on, or over as many as the argument says. WHERRY_TEST_SEED changes the data. Prints what ran, once per
// name, on rank 0: "ran NAME".
#include <wherry/wherry.hpp>

#include <cstdlib>
#include <utility>
#include <vector>

#include "world.hpp"

namespace {

using test::Particle;
using test::World;

constexpr int enough_for_trials = 30;

void check_alltoall(World& w, int count) {
  const auto send = w.data<int>(w.size() * static_cast<std::size_t>(count));
  std::vector<int> ours(send.size(), -1), expected(send.size(), -1);
  MPI_Alltoall(send.data(), count, MPI_INT, expected.data(), count, MPI_INT, w.comm);
  const int code = wherry_alltoall(send.data(), count, MPI_INT, ours.data(), count, MPI_INT, w.comm);
  w.checks.that(code == MPI_SUCCESS, "wherry_alltoall failed");
  w.same(ours, expected, "wherry_alltoall differs from MPI_Alltoall");

  std::vector<int> replaced = send;
  wherry_alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, replaced.data(), count, MPI_INT, w.comm);
  w.same(replaced, expected, "wherry_alltoall in place differs from MPI_Alltoall");
}

template <class T>
void check_range(World& w, int count) {
  const auto send = w.data<T>(w.size() * static_cast<std::size_t>(count));
  const int bytes = count * static_cast<int>(sizeof(T));
  std::vector<T> ours(send.size()), expected(send.size());
  MPI_Alltoall(send.data(), bytes, MPI_BYTE, expected.data(), bytes, MPI_BYTE, w.comm);
  wherry::alltoall(send, ours, w.comm);
  w.same(ours, expected, "wherry::alltoall differs from MPI_Alltoall");
  std::vector<T> replaced = send;
  wherry::alltoall(replaced, w.comm);
  w.same(replaced, expected, "wherry::alltoall in place differs from MPI_Alltoall");
}

struct Irregular {
  std::vector<int> send_counts, send_begins, receive_counts, receive_begins;
  std::size_t sent = 0, received = 0;
};

/// Random counts, often 0, with gaps of `gap` values between the blocks.
Irregular draw_counts(World& w, int gap) {
  Irregular i;
  i.receive_counts.resize(w.size());
  for (int r = 0; r < w.ranks; ++r)
    i.send_counts.push_back(static_cast<int>(w.random() % 3 * (w.random() % 40)));
  MPI_Alltoall(i.send_counts.data(), 1, MPI_INT, i.receive_counts.data(), 1, MPI_INT, w.comm);
  const auto place = [gap](const std::vector<int>& counts, std::vector<int>& begins) {
    int at = 0;
    for (const int count : counts) begins.push_back(std::exchange(at, at + count + gap));
    return static_cast<std::size_t>(at);
  };
  i.sent = place(i.send_counts, i.send_begins);
  i.received = place(i.receive_counts, i.receive_begins);
  return i;
}

void check_alltoallv(World& w, int gap) {
  const Irregular i = draw_counts(w, gap);
  const auto send = w.data<double>(i.sent);
  std::vector<double> expected(i.received, -1), ours = expected, ranged = expected;
  MPI_Alltoallv(send.data(), i.send_counts.data(), i.send_begins.data(), MPI_DOUBLE, expected.data(),
                i.receive_counts.data(), i.receive_begins.data(), MPI_DOUBLE, w.comm);
  wherry_alltoallv(send.data(), i.send_counts.data(), i.send_begins.data(), MPI_DOUBLE, ours.data(),
                   i.receive_counts.data(), i.receive_begins.data(), MPI_DOUBLE, w.comm);
  w.same(ours, expected, "wherry_alltoallv differs from MPI_Alltoallv");
  if (gap == 0) wherry::alltoallv(send, i.send_counts, ranged, i.receive_counts, w.comm);
  else
    wherry::alltoallv(send, i.send_counts, i.send_begins, ranged, i.receive_counts, i.receive_begins, w.comm);
  w.same(ranged, expected, "wherry::alltoallv differs from MPI_Alltoallv");
}

void check_alltoallv_of_bytes(World& w) {
  const Irregular i = draw_counts(w, 0);
  const auto send = w.data<Particle>(i.sent);
  std::vector<Particle> ours(i.received), expected(i.received);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Particle), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Alltoallv(send.data(), i.send_counts.data(), i.send_begins.data(), type, expected.data(),
                i.receive_counts.data(), i.receive_begins.data(), type, w.comm);
  MPI_Type_free(&type);
  wherry::alltoallv(send, i.send_counts, ours, i.receive_counts, w.comm);
  w.same(ours, expected, "wherry::alltoallv of a struct differs from MPI_Alltoallv");
}

void check_alltoallv_in_place(World& w) {
  std::vector<int> counts, begins;
  for (int r = 0, at = 0; r < w.ranks; ++r) {
    counts.push_back((r + w.rank) % 4 + 1);  // the same on both sides of a pair
    begins.push_back(std::exchange(at, at + counts.back()));
  }
  const auto send = w.data<long>(static_cast<std::size_t>(begins.back() + counts.back()));
  std::vector<long> expected(send.size()), ours = send;
  MPI_Alltoallv(send.data(), counts.data(), begins.data(), MPI_LONG, expected.data(), counts.data(),
                begins.data(), MPI_LONG, w.comm);
  wherry::alltoallv(ours, counts, w.comm);
  w.same(ours, expected, "wherry::alltoallv in place differs from MPI_Alltoallv");
}

/// A column of a matrix for each rank becomes a row.
void check_alltoallw(World& w, int rows) {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, w.ranks, MPI_FLOAT, &column);
  MPI_Type_commit(&column);
  const std::vector<MPI_Datatype> columns(w.size(), column), floats(w.size(), MPI_FLOAT);
  const std::vector<int> ones(w.size(), 1), row_lengths(w.size(), rows);
  std::vector<int> column_begins, row_begins;
  for (int r = 0; r < w.ranks; ++r) {
    column_begins.push_back(r * static_cast<int>(sizeof(float)));
    row_begins.push_back(r * rows * static_cast<int>(sizeof(float)));
  }
  const auto send = w.data<float>(w.size() * static_cast<std::size_t>(rows));
  std::vector<float> expected(send.size(), -1), ours = expected, ranged = expected;
  MPI_Alltoallw(send.data(), ones.data(), column_begins.data(), columns.data(), expected.data(),
                row_lengths.data(), row_begins.data(), floats.data(), w.comm);
  wherry_alltoallw(send.data(), ones.data(), column_begins.data(), columns.data(), ours.data(),
                   row_lengths.data(), row_begins.data(), floats.data(), w.comm);
  w.same(ours, expected, "wherry_alltoallw differs from MPI_Alltoallw");
  wherry::alltoallw({send.data(), ones, column_begins, columns},
                    {ranged.data(), row_lengths, row_begins, floats}, w.comm);
  w.same(ranged, expected, "wherry::alltoallw differs from MPI_Alltoallw");
  MPI_Type_free(&column);
}

void check_all(World& w) {
  check_alltoall(w, 0);
  check_alltoall(w, 5);
  check_range<double>(w, 3);
  check_range<unsigned char>(w, 300);
  check_range<std::complex<float>>(w, 2);
  check_range<Particle>(w, 4);
  check_alltoallv(w, 0);
  check_alltoallv(w, 2);
  check_alltoallv_of_bytes(w);
  check_alltoallv_in_place(w);
  check_alltoallw(w, 7);
}

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : enough_for_trials;
  return test::run(argc, argv, [calls](World& w) {
    for (int i = 0; i < calls; ++i) check_all(w);
  });
}
