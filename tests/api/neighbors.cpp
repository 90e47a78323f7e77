// Neighborhood collectives in C and C++, waited for and as plans, on grids and a graph: against what follows from the
// topology alone, which this program works out itself. Prints "ran COLLECTIVE NAME", of plans "ran COLLECTIVE_plan
// NAME".
//
// What two ranks send each other does not depend on which of several edges it takes: in that libraries differ.
#include <wherry/neighbors.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "world.hpp"

namespace {

using test::World;
using wherry::Plan;

constexpr int nobody = -1, untouched = -77, rounds = 3;

int value(int round, int from, int to, int k) { return ((round * 16 + from) * 16 + to) * 4096 + k; }

/// The ranks next to this one in a grid of these extents, numbered with the last dimension fastest: below and above in
/// each.
std::vector<int> next_in_grid(int rank, const std::vector<int>& extents, const std::vector<int>& periods) {
  std::vector<int> next;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    int stride = 1;
    for (std::size_t e = d + 1; e < extents.size(); ++e) stride *= extents[e];
    const int extent = extents[d], at = rank / stride % extent;
    for (const int step : {-1, 1}) {
      const int there = (at + step + extent) % extent;
      const bool falls_off = periods[d] == 0 && there != at + step;
      next.push_back(falls_off ? nobody : rank + (there - at) * stride);
    }
  }
  return next;
}

struct Near {
  std::string name;
  MPI_Comm comm;
  std::vector<int> sources, targets;
};

Near grid(const World& w, int dimensions, const std::vector<int>& periods) {
  std::vector<int> extents(static_cast<std::size_t>(dimensions), 0);
  MPI_Dims_create(w.ranks, dimensions, extents.data());
  Near near{std::to_string(dimensions) + " dimensions, periods " + std::to_string(periods.front()),
            MPI_COMM_NULL,
            next_in_grid(w.rank, extents, periods),
            {}};
  near.targets = near.sources;
  MPI_Cart_create(w.comm, dimensions, extents.data(), periods.data(), 0, &near.comm);
  return near;
}

/// Every rank sends to itself, twice to the next one, and to the one after that.
Near graph(const World& w) {
  Near near{"graph", MPI_COMM_NULL, {}, {}};
  for (const int step : {1, 0, 1, 2}) {
    near.targets.push_back((w.rank + step) % w.ranks);
    near.sources.push_back((w.rank + 2 * w.ranks - step) % w.ranks);
  }
  MPI_Dist_graph_create_adjacent(w.comm, 4, near.sources.data(), MPI_UNWEIGHTED, 4, near.targets.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &near.comm);
  return near;
}

/// A block for each neighbor, one after the other, with a hole between them where their sizes differ.
struct Side {
  std::vector<int> counts, begins;
  std::vector<MPI_Aint> bytes;
  std::vector<MPI_Datatype> types;
  std::vector<int> data;
};

using Lengths = std::function<int(int from, int to)>;
using Values = std::function<int(int round, int from, int to, int k)>;

Side side(std::size_t blocks, const std::function<int(std::size_t)>& length) {
  Side made;
  int at = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    made.counts.push_back(length(i));
    made.begins.push_back(at);
    made.bytes.push_back(at * static_cast<MPI_Aint>(sizeof(int)));
    made.types.push_back(MPI_INT);
    at += length(i);
  }
  made.data.resize(static_cast<std::size_t>(at));
  return made;
}

/// One collective on one topology: what it moves, and how it is called.
struct Case {
  const char* name;
  bool is_shared;  // one block goes to all
  Lengths length;
  std::function<void(Case&)> run;
  std::function<Plan(Case&)> make;
  Side out = {}, in = {};

  int sent(int round, int from, int to, int k) const { return value(round, from, is_shared ? 0 : to, k); }
};

template <class Maker, class... Arguments>
Plan in_c(World& w, Maker* maker, const Arguments&... arguments) {
  wherry_plan* made = nullptr;
  w.checks.that(maker(arguments..., &made) == MPI_SUCCESS && made != nullptr, "a maker failed");
  return Plan(made);
}

std::vector<Case> cases(World& w, const Near& near, int count) {
  const MPI_Comm comm = near.comm;
  const Lengths equal = [=](int, int) { return count; };
  const Lengths by_pair = [=](int from, int to) { return (from + 2 * to) % 3 * count; };
  const Lengths by_source = [=](int from, int) { return from % 3 * count; };
  return {
      {"neighbor_alltoall", false, equal,
       [=](Case& c) { wherry::neighbor_alltoall(c.out.data, c.in.data, comm); },
       [=](Case& c) { return wherry::neighbor_alltoall_plan(c.out.data, c.in.data, comm); }},
      {"neighbor_alltoallv", false, by_pair,
       [=](Case& c) { wherry::neighbor_alltoallv(c.out.data, c.out.counts, c.in.data, c.in.counts, comm); },
       [=](Case& c) {
         return wherry::neighbor_alltoallv_plan(c.out.data, c.out.counts, c.in.data, c.in.counts, comm);
       }},
      {"neighbor_alltoallw", false, by_pair,
       [=, &w](Case& c) {
         w.checks.that(wherry_neighbor_alltoallw(c.out.data.data(), c.out.counts.data(), c.out.bytes.data(),
                                                 c.out.types.data(), c.in.data.data(), c.in.counts.data(),
                                                 c.in.bytes.data(), c.in.types.data(), comm) == MPI_SUCCESS,
                       "wherry_neighbor_alltoallw failed");
       },
       [=, &w](Case& c) {
         return in_c(w, wherry_neighbor_alltoallw_plan, c.out.data.data(), c.out.counts.data(),
                     c.out.bytes.data(), c.out.types.data(), c.in.data.data(), c.in.counts.data(),
                     c.in.bytes.data(), c.in.types.data(), comm);
       }},
      {"neighbor_allgather", true, equal,
       [=](Case& c) { wherry::neighbor_allgather(c.out.data, c.in.data, comm); },
       [=](Case& c) { return wherry::neighbor_allgather_plan(c.out.data, c.in.data, comm); }},
      {"neighbor_allgatherv", true, by_source,
       [=, &w](Case& c) {
         w.checks.that(
             wherry_neighbor_allgatherv(c.out.data.data(), c.out.counts.front(), MPI_INT, c.in.data.data(),
                                        c.in.counts.data(), c.in.begins.data(), MPI_INT, comm) == MPI_SUCCESS,
             "wherry_neighbor_allgatherv failed");
       },
       [=, &w](Case& c) {
         return in_c(w, wherry_neighbor_allgatherv_plan, c.out.data.data(), c.out.counts.front(), MPI_INT,
                     c.in.data.data(), c.in.counts.data(), c.in.begins.data(), MPI_INT, comm);
       }}};
}

void lay_out(const World& w, const Near& near, Case& c) {
  const auto length = [&](int from, int to) {
    return from == nobody || to == nobody ? c.length(0, 0) : c.length(from, to);
  };
  const auto target = [&](std::size_t i) { return c.is_shared ? w.rank : near.targets[i]; };
  c.out =
      side(c.is_shared ? 1 : near.targets.size(), [&](std::size_t i) { return length(w.rank, target(i)); });
  c.in = side(near.sources.size(), [&](std::size_t i) { return length(near.sources[i], w.rank); });
}

void fill(const World& w, const Near& near, Case& c, int round) {
  for (std::size_t i = 0; i < c.out.counts.size(); ++i)
    for (int k = 0; k < c.out.counts[i]; ++k)
      c.out.data[static_cast<std::size_t>(c.out.begins[i] + k)] =
          c.sent(round, w.rank, c.is_shared ? 0 : near.targets[i], k);
  std::ranges::fill(c.in.data, untouched);
}

bool is_right(const World& w, const Near& near, const Case& c, int round) {
  bool right = true;
  for (std::size_t i = 0; i < near.sources.size(); ++i)
    for (int k = 0; k < c.in.counts[i]; ++k) {
      const int from = near.sources[i];
      const int expected = from == nobody ? untouched : c.sent(round, from, w.rank, k);
      right &= c.in.data[static_cast<std::size_t>(c.in.begins[i] + k)] == expected;
    }
  return right;
}

/// The second of these enables the communicator.
void join(const World& w, MPI_Comm comm) {
  std::vector<int> send(w.size()), receive(w.size());
  for (int i = 0; i < 2; ++i) wherry::alltoall(send, receive, comm);
}

void check_topology(World& w, const Near& near) {
  join(w, near.comm);
  for (const int count : {0, 1, 5, 900})
    for (Case& c : cases(w, near, count)) {
      const std::string what = near.name + ", " + c.name;
      lay_out(w, near, c);
      for (int round = 0; round < rounds; ++round) {
        fill(w, near, c, round);
        c.run(c);
        w.note(c.name);
        w.checks.that(is_right(w, near, c, round), what.c_str());
      }
      Plan plan = c.make(c);
      w.ran.insert(std::string(c.name) + "_plan " + plan.strategy());
      for (int round = 0; round < rounds; ++round) {
        fill(w, near, c, round);
        plan.start();
        plan.wait();
        w.checks.that(is_right(w, near, c, round), (what + ", as a plan").c_str());
      }
    }
}

/// Why the arguments cannot be; empty if they are taken.
template <class Body>
std::string refusal(const Body& body) {
  try {
    body();
  } catch (const wherry::usage_error& error) {
    return error.what();
  }
  return "";
}

struct Triple {
  int first, second, third;
};

void check_misuse(World& w, const Near& near) {
  std::vector<int> four(4), five(5), eight(8), none;
  std::vector<Triple> triples(8);
  const std::vector<int> counts = {2, 2, 2, 3}, negative = {2, -2, 2, 2};
  const auto is_refused = [&](const auto& body, const char* why) {
    const std::string told = refusal(body);
    w.checks.that(told == why, (std::string("not '") + why + "' but '" + told + "'").c_str());
  };
  is_refused([&] { wherry::neighbor_alltoall(five, eight, near.comm); },
             "send holds 5 values, which is no multiple of 4 neighbors; give every neighbor as many");
  is_refused([&] { wherry::neighbor_alltoall(eight, four, near.comm); },
             "receive holds 4 values, but blocks of 2 on 4 neighbors are 8; resize receive");
  is_refused([&] { wherry::neighbor_alltoallv(eight, counts, eight, counts, near.comm); },
             "the send block of neighbor 3 has 3 values from 6 on, but there are 8; enlarge the range or "
             "correct the counts");
  is_refused([&] { wherry::neighbor_alltoallv(triples, negative, triples, negative, near.comm); },
             "the send block of neighbor 1 has -2 values from 2 on, but there are 8; enlarge the range or "
             "correct the counts");
  is_refused([&] { wherry::neighbor_allgather(five, eight, near.comm); },
             "receive holds 8 values, but blocks of 5 on 4 neighbors are 20; resize receive");
  is_refused([&] { wherry::neighbor_alltoall(none, none, w.comm); },
             "comm has no topology, so its ranks have no neighbors; make one of it by MPI_Cart_create or "
             "MPI_Dist_graph_create_adjacent");
}

void check_all(World& w) {
  std::vector<Near> all = {grid(w, 1, {1}),    grid(w, 1, {0}),       grid(w, 2, {1, 1}),
                           grid(w, 2, {0, 1}), grid(w, 3, {0, 0, 0}), graph(w)};
  for (const Near& near : all) check_topology(w, near);
  check_misuse(w, all.back());
  for (Near& near : all) MPI_Comm_free(&near.comm);
}

}  // namespace

int main(int argc, char** argv) { return test::run(argc, argv, check_all); }
