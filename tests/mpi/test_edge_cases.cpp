// Arguments and lives of communicators at the edges of what MPI allows, and errors: Wherry must behave as the library.
//
// Every case runs with several strategies forced, and with the learner. Runs under mpiexec at any number of ranks.
// ranks: 1 2 3 5
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "run/runtime.hpp"

namespace {

using namespace wherry;

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &made);
  return made;
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/// A runtime under test and what was found wrong.
struct Bench {
  run::Runtime& runtime;
  std::string label;
  long failures = 0;

  void expect(bool holds, const char* what) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "rank %d, %s: %s\n", rank_of(MPI_COMM_WORLD), label.c_str(), what);
  }

  int alltoall(const run::Alltoall& c) const {
    return runtime.alltoall(c, [&] {
      return MPI_Alltoall(c.sendbuf, static_cast<int>(c.sendcount), c.sendtype, c.recvbuf,
                          static_cast<int>(c.recvcount), c.recvtype, c.comm);
    });
  }
  int alltoallv(const void* sendbuf, const std::vector<int>& sendcounts, const std::vector<int>& sdispls,
                MPI_Datatype sendtype, void* recvbuf, const std::vector<int>& recvcounts,
                const std::vector<int>& rdispls, MPI_Datatype recvtype, MPI_Comm comm) const {
    return runtime.alltoallv({sendbuf, sendcounts.data(), sdispls.data(), sendtype, recvbuf,
                              recvcounts.data(), rdispls.data(), recvtype, comm},
                             [&] {
                               return MPI_Alltoallv(sendbuf, sendcounts.data(), sdispls.data(), sendtype,
                                                    recvbuf, recvcounts.data(), rdispls.data(), recvtype,
                                                    comm);
                             });
  }
  int alltoallw(const void* sendbuf, const std::vector<int>& sendcounts, const std::vector<int>& sdispls,
                const std::vector<MPI_Datatype>& sendtypes, void* recvbuf, const std::vector<int>& recvcounts,
                const std::vector<int>& rdispls, const std::vector<MPI_Datatype>& recvtypes,
                MPI_Comm comm) const {
    return runtime.alltoallw({sendbuf, sendcounts.data(), sdispls.data(), sendtypes.data(), recvbuf,
                              recvcounts.data(), rdispls.data(), recvtypes.data(), comm},
                             [&] {
                               return MPI_Alltoallw(sendbuf, sendcounts.data(), sdispls.data(),
                                                    sendtypes.data(), recvbuf, recvcounts.data(),
                                                    rdispls.data(), recvtypes.data(), comm);
                             });
  }

  /// One plain exchange: every rank tells every other a number of its own.
  void talk(MPI_Comm comm, int salt = 0) {
    const int rank = rank_of(comm), size = size_of(comm);
    std::vector<int> out(static_cast<std::size_t>(size)), in(out.size(), -1);
    for (int r = 0; r < size; ++r) out[static_cast<std::size_t>(r)] = salt + 1000 * rank + r;
    const int code = alltoall({out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm});
    bool right = code == MPI_SUCCESS;
    for (int r = 0; r < size; ++r) right = right && in[static_cast<std::size_t>(r)] == salt + 1000 * r + rank;
    expect(right, "a plain exchange went wrong");
  }
};

/// The same for every rank.
template <class Value>
std::vector<Value> all(int size, Value value) {
  return std::vector<Value>(static_cast<std::size_t>(size), value);
}

void repeat(int times, const std::function<void()>& body) {
  for (int i = 0; i < times; ++i) body();
}

constexpr int before_and_after = 4;  // calls: Wherry joins at the second

// ---- arguments ----

void nothing_to_send(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const int n = size_of(comm);
  int here = 7;
  repeat(before_and_after, [&] {
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

/// Ranks that have nothing to say to each other need no datatype.
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
  // Open MPI refuses it.
  if (MPI_Alltoallw(&out, counts.data(), places.data(), types.data(), &in, counts.data(), places.data(),
                    types.data(), reference) == MPI_SUCCESS)
    repeat(before_and_after, [&] {
      in = -1;
      b.alltoallw(&out, counts, places, types, &in, counts, places, types, comm);
      b.expect(in == (partner < n ? partner : -1), "no type for empty blocks");
    });
  MPI_Comm_free(&reference);
  MPI_Comm_free(&comm);
}

/// A receive count that is larger than what comes: not legal, and some libraries forgive it.
void room_for_more(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD), reference = duplicate(MPI_COMM_WORLD);
  for (const MPI_Comm c : {comm, reference}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  const int n = size_of(comm);
  std::vector<int> out = all(n, 1), in = all(2 * n, -1);
  const int native = MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 2, MPI_INT, reference);
  repeat(before_and_after, [&] {
    const int code = b.alltoall({out.data(), 1, MPI_INT, in.data(), 2, MPI_INT, comm});
    b.expect(class_of(code) == class_of(native), "a larger receive count");
  });
  MPI_Comm_free(&reference);
  MPI_Comm_free(&comm);
}

/// Only rank 0 sends anything, to the last rank.
void one_block_only(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const int n = size_of(comm), rank = rank_of(comm), last = n - 1;
  for (const int length : {1, 3, 100, 30000}) {
    repeat(before_and_after, [&] {
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
  repeat(before_and_after, [&] {
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
  repeat(before_and_after, [&] {
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

/// Sizes that change from call to call, around what travels combined.
void changing_sizes(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const int n = size_of(comm), rank = rank_of(comm);
  for (const int length : {1, 5000, 2, 70, 63, 64, 65, 40000, 1}) {
    const auto block = static_cast<std::size_t>(length);
    std::vector<int> out(block * static_cast<std::size_t>(n), rank), in(out.size(), -1);
    std::vector<int> places = all(n, 0);
    for (int r = 0; r < n; ++r) places[static_cast<std::size_t>(r)] = r * length;
    b.alltoallv(out.data(), all(n, length), places, MPI_INT, in.data(), all(n, length), places, MPI_INT,
                comm);
    for (int r = 0; r < n; ++r) {
      const auto first = static_cast<std::size_t>(r) * block;
      b.expect(in[first] == r && in[first + block - 1] == r, "sizes that change");
    }
    in.assign(in.size(), rank);
    b.alltoall({MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in.data(), length, MPI_INT, comm});
    b.expect(in.front() == 0 && in.back() == n - 1, "sizes that change, in place");
  }
  MPI_Comm_free(&comm);
}

// ---- communicators ----

void short_lived(Bench& b) {
  for (int uses = 0; uses < 12; ++uses) {
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    repeat(uses, [&] { b.talk(comm, uses); });
    MPI_Comm_free(&comm);
  }
}

void duplicates_of_joined(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  repeat(3, [&] { b.talk(comm); });
  MPI_Comm copy = duplicate(comm);
  MPI_Comm_free(&comm);
  repeat(3, [&] { b.talk(copy); });
  MPI_Comm_free(&copy);
}

void halves(Bench& b) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) % 2, -rank_of(MPI_COMM_WORLD), &half);
  repeat(before_and_after + rank_of(MPI_COMM_WORLD) % 2, [&] { b.talk(half); });
  MPI_Comm_free(&half);
}

void between_groups(Bench& b) {
  const int rank = rank_of(MPI_COMM_WORLD), n = size_of(MPI_COMM_WORLD);
  if (n < 2) return;
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 3, &inter);
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  repeat(before_and_after, [&] {
    std::vector<int> out = all(others, rank), in = all(others, -1);
    b.alltoall({out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, inter});
    for (int r = 0; r < others; ++r)
      b.expect(in[static_cast<std::size_t>(r)] == 2 * r + (rank % 2 == 0 ? 1 : 0), "intercommunicator");
  });
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/// Libraries run out of communicators: Wherry's own must leave the program enough.
void many_at_once(Bench& b) {
  if (size_of(MPI_COMM_WORLD) != 2) return;
  std::vector<MPI_Comm> comms(1100, MPI_COMM_NULL);
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    repeat(3, [&] { b.talk(comm); });
  }
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

int copies = 0, deletions = 0;
int count_copy(MPI_Comm, int, void*, void* value, void* copy, int* flag) {
  ++copies;
  *static_cast<void**>(copy) = value;
  *flag = 1;
  return MPI_SUCCESS;
}
int count_deletion(MPI_Comm, int, void*, void*) {
  ++deletions;
  return MPI_SUCCESS;
}

void attributes_untouched(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(count_copy, count_deletion, &keyval, nullptr);
  MPI_Comm_set_attr(comm, keyval, &keyval);
  copies = deletions = 0;
  repeat(before_and_after, [&] { b.talk(comm); });
  b.expect(copies == 0 && deletions == 0, "the program's attribute callbacks ran");
  MPI_Comm_free(&comm);
  b.expect(copies == 0 && deletions == 1, "the program's attribute was not deleted once");
  MPI_Comm_free_keyval(&keyval);
}

/// Collectives of the program that are under way on the same communicator.
void others_under_way(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  const int n = size_of(comm);
  repeat(before_and_after, [&] {
    int one = 1, sum = 0;
    std::vector<int> out = all(n, rank_of(comm)), in = all(n, -1);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ialltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm, &requests[1]);
    b.talk(comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    b.expect(sum == n && in[0] == 0 && in.back() == n - 1, "a non-blocking collective went wrong");
  });
  MPI_Comm_free(&comm);
}

// ---- errors ----

/// Wrong arguments give the library's own class of error, on all ranks or on one that calls alone, and do no harm.
void wrong_arguments(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD), reference = duplicate(MPI_COMM_WORLD);
  for (const MPI_Comm c : {comm, reference}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  const int n = size_of(comm), rank = rank_of(comm);
  std::vector<int> out = all(n, 1), in = all(n, -1);
  const auto calls = [&](MPI_Comm c, bool ours, int which) {
    const int count = which == 0 ? -1 : 1;
    MPI_Datatype type = MPI_INT;
    if (which == 1) type = MPI_DATATYPE_NULL;
    if (ours && which == 2)
      return b.alltoallv(out.data(), all(n, -1), all(n, 0), MPI_INT, in.data(), all(n, 1), all(n, 0), MPI_INT,
                         c);
    if (which == 2)
      return MPI_Alltoallv(out.data(), all(n, -1).data(), all(n, 0).data(), MPI_INT, in.data(),
                           all(n, 1).data(), all(n, 0).data(), MPI_INT, c);
    return ours ? b.alltoall({out.data(), count, type, in.data(), 1, MPI_INT, c})
                : MPI_Alltoall(out.data(), count, type, in.data(), 1, MPI_INT, c);
  };
  repeat(before_and_after, [&] {
    for (int which = 0; which < 3; ++which)
      if (rank <= which) {
        const int expected = class_of(calls(reference, false, which)),
                  got = class_of(calls(comm, true, which));
        b.expect(expected == got && got != MPI_SUCCESS,
                 "a wrong argument was not refused as the library does");
      }
    MPI_Barrier(MPI_COMM_WORLD);  // those who called wrongly must not wait for those who did not
    b.talk(comm);
  });
  MPI_Comm_free(&reference);
  MPI_Comm_free(&comm);
}

int handled = 0;
void count_error(MPI_Comm*, int*, ...) { ++handled; }

void error_handler_called_once(Bench& b) {
  MPI_Comm comm = duplicate(MPI_COMM_WORLD);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  int value = 0;
  repeat(before_and_after, [&] {
    handled = 0;
    b.alltoall({&value, -1, MPI_INT, &value, 1, MPI_INT, comm});
    b.expect(handled == 1, "the error handler was not called exactly once");
    b.talk(comm);
  });
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

// ---- threads ----

/// Threads with a communicator each, in another order on every rank.
void threads(Bench& b) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) return;
  constexpr int count = 2;
  std::vector<MPI_Comm> comms(count, MPI_COMM_NULL);
  for (MPI_Comm& comm : comms) comm = duplicate(MPI_COMM_WORLD);
  std::vector<Bench> benches(count, Bench{b.runtime, b.label, 0});
  std::vector<std::thread> workers;
  for (int i = 0; i < count; ++i) {
    const auto mine = static_cast<std::size_t>((i + rank_of(MPI_COMM_WORLD)) % count);
    workers.emplace_back([&, mine] {
      for (int call = 0; call < 8; ++call) benches[mine].talk(comms[mine], call);
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (const Bench& bench : benches) b.failures += bench.failures;
  MPI_Comm_free(&comms[0]);  // finalize() frees what belongs to the others
}

// ---- all of it ----

struct Case {
  const char* name;
  void (*run)(Bench&);
};

constexpr Case cases[] = {
    {"nothing to send", nothing_to_send},
    {"no type for nothing", no_type_for_nothing},
    {"room for more", room_for_more},
    {"one block only", one_block_only},
    {"negative places", negative_places},
    {"absolute addresses", absolute_addresses},
    {"changing sizes", changing_sizes},
    {"short-lived communicators", short_lived},
    {"duplicates of joined communicators", duplicates_of_joined},
    {"halves", halves},
    {"intercommunicator", between_groups},
    {"attributes", attributes_untouched},
    {"other collectives under way", others_under_way},
    {"wrong arguments", wrong_arguments},
    {"error handler", error_handler_called_once},
    {"threads", threads},
};

long run_cases(const char* strategy, std::span<const Case> chosen) {
  Settings settings;
  settings.features.tuning = false;
  run::Runtime runtime(settings, mpi::linked_api(), nullptr);
  runtime.force(strategy);
  long failures = 0;
  for (const Case& c : chosen) {
    Bench bench{runtime, std::string(strategy) + ", " + c.name};
    c.run(bench);
    failures += bench.failures;
  }
  runtime.finalize();
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  long failures = 0, sum = 0;
  for (const char* strategy : {"auto", "pairwise", "bruck2"}) failures += run_cases(strategy, cases);
  constexpr Case many[] = {{"many communicators", many_at_once}};
  failures += run_cases("auto", many);
  MPI_Allreduce(&failures, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank_of(MPI_COMM_WORLD) == 0) std::printf("edge cases: %ld failures\n", sum);
  MPI_Finalize();
  return sum != 0;
}
