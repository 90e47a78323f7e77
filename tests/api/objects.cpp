// Objects between ranks: each function against what every rank can compute, again and again, so that Wherry's
// algorithms run too.
#include <wherry/compact_vector.hpp>
#include <wherry/objects.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "world.hpp"

namespace {

using test::World;

/// Always of the same size, with padding.
struct Fixed {
  double x = 0;
  bool flag = false;
  bool operator==(const Fixed&) const = default;
};
/// Of any size.
struct Varying {
  int id = 0;
  std::string name;
  wherry::compact_vector<Fixed> parts;
  std::optional<std::map<int, double>> table;
  bool operator==(const Varying&) const = default;
};

/// The object that a rank has for another in a step, which all ranks can compute.
template <class T>
T object(int step, int from, int to);

template <>
double object<double>(int step, int from, int to) {
  return step + 0.5 * from + 100 * to;
}
template <>
Fixed object<Fixed>(int step, int from, int to) {
  return {object<double>(step, from, to), (from + to) % 2 == 0};
}
template <>
Varying object<Varying>(int step, int from, int to) {
  std::minstd_rand random(static_cast<unsigned>(10'000 * step + 100 * from + to + 1));
  random.discard(3);
  Varying v{to, std::string(random() % 3 == 0 ? random() % 3000 : random() % 30, 'a'), {}, {}};
  for (unsigned n = random() % 20; n > 0; --n) v.parts.push_back(object<Fixed>(step, from, int(n)));
  if (random() % 2 == 0) v.table = {{from, 1.5}, {to + 1000, 2.5}};
  return v;
}
template <>
std::vector<Fixed> object<std::vector<Fixed>>(int step, int from, int to) {
  std::vector<Fixed> list(static_cast<std::size_t>((step + 7 * from + 3 * to) % 50));
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = object<Fixed>(step, from, int(i));
  return list;
}

template <class T>
std::vector<T> from_all(int step, int to, int ranks) {
  std::vector<T> all;
  for (int from = 0; from < ranks; ++from) all.push_back(object<T>(step, from, to));
  return all;
}

template <class T>
void check_collectives(World& w, int step) {
  const int root = step % w.ranks;
  T spread = object<T>(step, w.rank, 1);
  wherry::bcast_object(spread, root, w.comm);
  w.checks.that(spread == object<T>(step, root, 1), "bcast_object");
  const std::vector<T> at_root = wherry::gather_objects(object<T>(step, w.rank, 2), root, w.comm);
  w.checks.that(at_root == (w.rank == root ? from_all<T>(step, 2, w.ranks) : std::vector<T>()),
                "gather_objects");
  w.checks.that(
      wherry::allgather_objects(object<T>(step, w.rank, 3), w.comm) == from_all<T>(step, 3, w.ranks),
      "allgather_objects");
  std::vector<T> leaving;
  for (int to = 0; to < w.ranks; ++to) leaving.push_back(object<T>(step, w.rank, to));
  w.checks.that(wherry::alltoall_objects(leaving, w.comm) == from_all<T>(step, w.rank, w.ranks),
                "alltoall_objects");
  w.note("alltoall_objects");
}

/// To whom a rank sends how much.
std::vector<int> destinations(int step, int rank, int ranks) {
  std::minstd_rand random(static_cast<unsigned>(77 * step + rank + 1));
  random.discard(3);
  std::vector<int> to(random() % 4);
  for (int& d : to) d = static_cast<int>(random() % static_cast<unsigned>(ranks));
  return to;
}

template <class T>
void check_exchange(World& w, int step) {
  std::vector<std::pair<int, T>> leaving, expected;
  for (const int to : destinations(step, w.rank, w.ranks))
    leaving.emplace_back(to, object<T>(step, w.rank, to));
  for (int from = 0; from < w.ranks; ++from)
    for (const int to : destinations(step, from, w.ranks))
      if (to == w.rank) expected.emplace_back(from, object<T>(step, from, to));
  w.checks.that(wherry::exchange_objects(leaving, w.comm) == expected, "exchange_objects");
}

/// Among the ranks that are 1 or 2 away in a ring, if there are so many.
template <class T>
void check_neighbors(World& w, int step) {
  std::vector<int> neighbors;
  for (const int distance : {1, 2, -1, -2}) {
    const int rank = (w.rank + distance + 2 * w.ranks) % w.ranks;
    if (rank != w.rank && std::ranges::find(neighbors, rank) == neighbors.end()) neighbors.push_back(rank);
  }
  std::vector<T> leaving, expected;
  for (const int rank : neighbors) {
    leaving.push_back(object<T>(step, w.rank, rank));
    expected.push_back(object<T>(step, rank, w.rank));
  }
  w.checks.that(wherry::neighbor_exchange_objects<T>(leaving, neighbors, w.comm) == expected,
                "neighbor_exchange_objects");
}

template <class T>
void check_messages(World& w, int step) {
  const int next = (w.rank + 1) % w.ranks, before = (w.rank + w.ranks - 1) % w.ranks;
  T sent = object<T>(step, w.rank, next), got = object<T>(step + 1, 5, 5);
  wherry::ObjectSend sending = wherry::isend_object(sent, next, 9, w.comm);
  sent = object<T>(step + 2, 1, 1);  // the message has a copy
  const wherry::Envelope from = wherry::recv_object(got, MPI_ANY_SOURCE, 9, w.comm);
  sending.wait();
  w.checks.that(sending.test(), "a send that is over is not");
  w.checks.that(got == object<T>(step, before, w.rank) && from.source == before && from.tag == 9,
                "isend_object");
  if (w.ranks == 1) return;
  if (w.rank == 0) wherry::send_object(object<T>(step, 0, 1), 1, 4, w.comm);
  if (w.rank == 1) {
    wherry::recv_object(got, 0, MPI_ANY_TAG, w.comm);
    w.checks.that(got == object<T>(step, 0, 1), "send_object");
  }
}

template <class Action>
bool throws_unpack_error(Action action) {
  try {
    action();
  } catch (const wherry::unpack_error&) {
    return true;
  }
  return false;
}

/// Wrong types and lists are this rank's errors.
void check_errors(World& w) {
  wherry::ObjectSend sending = wherry::isend_object(std::string("not a number"), w.rank, 1, w.comm);
  double number = 0;
  w.checks.that(throws_unpack_error([&] { wherry::recv_object(number, w.rank, 1, w.comm); }),
                "a string was received as a number");
  sending.wait();
  bool thrown = false;
  try {
    wherry::alltoall_objects(std::vector<double>(w.size() + 1), w.comm);
  } catch (const wherry::usage_error&) {
    thrown = true;
  }
  w.checks.that(thrown, "an object more than there are ranks");
  wherry::recv_object(number, MPI_PROC_NULL, 1, w.comm);
  wherry::send_object(number, MPI_PROC_NULL, 1, w.comm);
}

/// Padding is not sent: what the receiver has in its own stays.
void check_wire(World& w) {
  int bytes = -1;
  MPI_Status status{};
  wherry::ObjectSend sending = wherry::isend_object(Fixed{1, true}, w.rank, 2, w.comm);
  MPI_Probe(w.rank, 2, w.comm, &status);
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  w.checks.that(bytes == 9 && sizeof(Fixed) == 16, "a Fixed is not 9 bytes on the wire");
  Fixed got;
  wherry::recv_object(got, w.rank, 2, w.comm);
  w.checks.that(got == Fixed{1, true}, "a Fixed comes back as something else");
}

template <class T>
void check_type(World& w, int steps) {
  for (int step = 0; step < steps; ++step) {
    check_collectives<T>(w, step);
    check_exchange<T>(w, step);
    check_neighbors<T>(w, step);
    check_messages<T>(w, step);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return test::run(argc, argv, [](World& w) {
    check_wire(w);
    check_type<Varying>(w, 20);
    check_type<Fixed>(w, 10);
    check_type<double>(w, 5);
    check_type<std::vector<Fixed>>(w, 10);
    check_errors(w);
  });
}
