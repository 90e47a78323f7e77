// Arguments at the edges of what MPI allows: empty, uneven, out of order, before the buffer.
//
// Runs under mpiexec at any number of ranks.
#include <mpi.h>

#include <numeric>
#include <vector>

#include "edge_bench.hpp"

namespace {

using namespace wherry::test;

void nothing_to_send(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const int n = size_of(comm);
  int here = 7;
  b.repeat(comm, 3, [&] {
    b.expect(b.alltoall({nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, comm}) == MPI_SUCCESS, "empty alltoall");
    b.expect(b.alltoallv(&here, all(n, 0), all(n, 0), MPI_INT, &here, all(n, 0), all(n, 0), MPI_INT, comm) ==
                 MPI_SUCCESS,
             "empty alltoallv");
    b.expect(b.alltoallw(&here, all(n, 0), all(n, 0), all(n, MPI_INT), &here, all(n, 0), all(n, 0),
                         all(n, MPI_DOUBLE), comm) == MPI_SUCCESS,
             "empty alltoallw");
    b.talk(comm);
  });
  b.expect(here == 7, "an empty exchange wrote something");
  MPI_Comm_free(&comm);
}

/// Ranks that have nothing to say to each other need no datatype. Open MPI refuses that; Wherry's strategies do not.
void no_type_for_nothing(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD), reference = duplicate(MPI_COMM_WORLD);
  for (const MPI_Comm c : {comm, reference}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  const int n = size_of(comm), rank = rank_of(comm);
  int out = rank, in = -1;
  std::vector<int> counts = all(n, 0);
  std::vector<MPI_Datatype> types = all<MPI_Datatype>(n, MPI_DATATYPE_NULL);
  // Pairs exchange one number; an odd last rank has no partner.
  const int partner = rank % 2 == 0 ? rank + 1 : rank - 1;
  if (partner < n)
    counts[static_cast<std::size_t>(partner)] = 1, types[static_cast<std::size_t>(partner)] = MPI_INT;
  const std::vector<int> places = all(n, 0);
  const int native = MPI_Alltoallw(&out, counts.data(), places.data(), types.data(), &in, counts.data(),
                                   places.data(), types.data(), reference);
  const bool library_may_run = b.meant == learner || !b.obstacle(comm).empty();
  b.talk_times(comm, 2);  // enabled: from here on a strategy runs if one is meant
  b.repeat(comm, 1, [&] {
    in = -1;
    const int code = b.alltoallw(&out, counts, places, types, &in, counts, places, types, comm);
    const bool delivered = code == MPI_SUCCESS && in == (partner < n ? partner : -1);
    const bool refused = native != MPI_SUCCESS && class_of(code) == class_of(native);
    b.expect(delivered || (library_may_run && refused), "no type for empty blocks");
  });
  MPI_Comm_free(&reference);
  MPI_Comm_free(&comm);
}

/// Only rank 0 sends anything, to the last rank.
void one_block_only(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const int n = size_of(comm), rank = rank_of(comm), last = n - 1;
  for (const int length : {1, 3, 100, 30000}) {
    b.repeat(comm, 1, [&] {
      std::vector<int> out(static_cast<std::size_t>(length)), in(out.size(), -1);
      std::iota(out.begin(), out.end(), length);
      std::vector<int> sent = all(n, 0), received = all(n, 0);
      if (rank == 0) sent[static_cast<std::size_t>(last)] = length;
      if (rank == last) received[0] = length;
      b.alltoallv(out.data(), sent, all(n, 0), MPI_INT, in.data(), received, all(n, 0), MPI_INT, comm);
      b.expect(rank == last ? in == out : in[0] == -1, "a single block did not arrive");
    });
  }
  MPI_Comm_free(&comm);
}

/// Displacements before the buffer's address, and types whose data begins before it.
void negative_places(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const int n = size_of(comm), rank = rank_of(comm);
  MPI_Datatype early = MPI_DATATYPE_NULL;  // two ints at -8 and -4; lower bound -8, extent 8
  const int before = -2, two = 2;
  MPI_Type_indexed(1, &two, &before, MPI_INT, &early);
  MPI_Type_commit(&early);
  std::vector<int> displacements(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) displacements[static_cast<std::size_t>(r)] = -r;
  b.repeat(comm, 1, [&] {
    std::vector<int> out(static_cast<std::size_t>(2 * n + 2)), in(out.size(), -1), expected(in);
    for (int r = 0; r < n; ++r)
      for (int k = 0; k < 2; ++k) {
        const auto at = static_cast<std::size_t>(2 * (n - r) - 2 + k);
        out[at] = 100 * rank + 10 * r + k;
        expected[at] = 100 * r + 10 * rank + k;
      }
    // Element r lies 8r bytes before the base, and its data another 8.
    b.alltoallv(&out[static_cast<std::size_t>(2 * n)], all(n, 1), displacements, early,
                &in[static_cast<std::size_t>(2 * n)], all(n, 1), displacements, early, comm);
    b.expect(in == expected, "negative displacements");
  });
  MPI_Type_free(&early);
  MPI_Comm_free(&comm);
}

MPI_Datatype absolute(int* address) {
  MPI_Aint place = 0;
  MPI_Get_address(address, &place);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int one = 1;
  MPI_Type_create_hindexed(1, &one, &place, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

void absolute_addresses(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const int n = size_of(comm), rank = rank_of(comm);
  std::vector<int> out = all(n, 0), in = all(n, -1);
  std::vector<MPI_Datatype> from, to;
  for (int& value : out) from.push_back(absolute(&value));
  for (int& value : in) to.push_back(absolute(&value));
  b.repeat(comm, 1, [&] {
    for (int r = 0; r < n; ++r) out[static_cast<std::size_t>(r)] = 100 * rank + r;
    in.assign(in.size(), -1);
    b.alltoallw(MPI_BOTTOM, all(n, 1), all(n, 0), from, MPI_BOTTOM, all(n, 1), all(n, 0), to, comm);
    for (int r = 0; r < n; ++r)
      b.expect(in[static_cast<std::size_t>(r)] == 100 * r + rank, "absolute addresses from MPI_BOTTOM");
  });
  for (MPI_Datatype& type : from) MPI_Type_free(&type);
  for (MPI_Datatype& type : to) MPI_Type_free(&type);
  MPI_Comm_free(&comm);
}

/// An irregular and a regular exchange of so many ints, the second one in place.
void exchange_twice(Bench& b, MPI_Comm comm, int length) {
  const int n = size_of(comm), rank = rank_of(comm);
  const auto block = static_cast<std::size_t>(length);
  std::vector<int> out(block * static_cast<std::size_t>(n), rank), in(out.size(), -1);
  std::vector<int> places = all(n, 0);
  for (int r = 0; r < n; ++r) places[static_cast<std::size_t>(r)] = r * length;
  b.alltoallv(out.data(), all(n, length), places, MPI_INT, in.data(), all(n, length), places, MPI_INT, comm);
  for (int r = 0; r < n; ++r) {
    const auto first = static_cast<std::size_t>(r) * block;
    b.expect(in[first] == r && in[first + block - 1] == r, "sizes that change");
  }
  in.assign(in.size(), rank);
  b.alltoall({MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in.data(), length, MPI_INT, comm});
  b.expect(in.front() == 0 && in.back() == n - 1, "sizes that change, in place");
}

/// Sizes that change from call to call, around what travels combined.
void changing_sizes(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  b.talk(comm);
  for (const int length : {1, 5000, 2, 70, 63, 64, 65, 40000, 1})
    b.as_fits(comm, 2, [&] { exchange_twice(b, comm, length); });
  MPI_Comm_free(&comm);
}

constexpr Case cases[] = {
    {"nothing to send", nothing_to_send},       {"no type for nothing", no_type_for_nothing},
    {"one block only", one_block_only},         {"negative places", negative_places},
    {"absolute addresses", absolute_addresses}, {"changing sizes", changing_sizes},
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return concluded("arguments", failures_of(cases));
}
