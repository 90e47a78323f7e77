// Errors on one rank: all calls end, on every rank, no request is left behind, and the next calls are right.
//
// Every strategy is forced in turn. The library is watched through the table of its functions: requests are counted,
// and transfers refused on demand.
// ranks: 2 3 5 8
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "edge_bench.hpp"
#include "host/runtime.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "watched_calls.hpp"

namespace {

using namespace wherry;
using test::class_of;

// ---- one strategy on one communicator ----

constexpr int untouched = -77;  // fills receive buffers

int value(int from, int to, int k) { return 100000 * from + 1000 * to + k % 1000; }

class Bench : public test::WatchedCalls {
 public:
  Bench(run::Runtime& runtime, const schedule::Strategy& strategy, long& failures)
      : WatchedCalls(std::string(strategy.name), failures), runtime_(runtime) {
    runtime_.force("native");
    for (int call = 0; call < 2; ++call) talk();  // the second enables it
    forced_ = runtime_.force(strategy.name);
  }

  /// Once a strategy is forced the native call must not be reached: it would be what is tested.
  int alltoall(const run::Alltoall& c) {
    return runtime_.alltoall(c, [&] {
      expect(!forced_, "the call was native");
      return PMPI_Alltoall(c.sendbuf, static_cast<int>(c.sendcount), c.sendtype, c.recvbuf,
                           static_cast<int>(c.recvcount), c.recvtype, c.comm);
    });
  }
  /// Wherry is enabled, so the native call must not be reached: it would run on one rank alone.
  int alltoallv(const run::Alltoallv& c) {
    return runtime_.alltoallv(c, [&] {
      expect(false, "the call was native");
      return MPI_SUCCESS;
    });
  }

  void talk() {
    std::vector<int> out(static_cast<std::size_t>(size)), in(out.size(), untouched);
    for (int r = 0; r < size; ++r) out[static_cast<std::size_t>(r)] = value(rank, r, 0);
    call(MPI_SUCCESS, [&] { return alltoall({out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm()}); });
    for (int r = 0; r < size; ++r)
      expect(in[static_cast<std::size_t>(r)] == value(r, rank, 0), "a plain exchange went wrong");
  }

 private:
  run::Runtime& runtime_;
  bool forced_ = false;
};

/// Blocks of ints one after the other, `gap` ints apart, with guards behind the last.
class Ints {
 public:
  Ints(int blocks, int room) : room_(static_cast<std::size_t>(room)) {
    data_.assign(static_cast<std::size_t>(blocks) * room_ + 4096, untouched);
  }
  int* data() { return data_.data(); }
  int& at(int block, int k) {
    return data_[static_cast<std::size_t>(block) * room_ + static_cast<std::size_t>(k)];
  }
  void fill(int block, int count, int from, int to) {
    for (int k = 0; k < count; ++k) at(block, k) = value(from, to, k);
  }
  friend bool operator==(const Ints&, const Ints&) = default;

 private:
  std::size_t room_;
  std::vector<int> data_;
};

// ---- equal blocks ----

/// Every rank sends `sent` ints to each; the last rank alone, or every rank, has room for `room` ints of each.
void other_room(Bench& b, int sent, int room, bool everywhere, MPI_Datatype type, int stride) {
  const bool odd = everywhere || b.rank == b.size - 1;
  const int count = odd ? room : sent;
  b.label = std::to_string(sent) + " ints sent, room for " + std::to_string(count);
  Ints out(b.size, sent), in(b.size, stride * count), expected(in);
  for (int r = 0; r < b.size; ++r) {
    out.fill(r, sent, b.rank, r);
    for (int k = 0; k < sent && sent <= count; ++k) expected.at(r, stride * k) = value(r, b.rank, k);
  }
  const bool fits = sent <= count;
  b.call(fits ? MPI_SUCCESS : MPI_ERR_TRUNCATE,
         [&] { return b.alltoall({out.data(), sent, MPI_INT, in.data(), count, type, b.comm()}); });
  if (fits) b.expect(in == expected, "wrong data, or written where nothing was sent to");
  for (int k = 0; k < 4096; ++k) b.expect(in.at(b.size, k) == untouched, "written behind the receive buffer");
  b.talk();
}

void other_rooms(Bench& b) {
  MPI_Datatype sparse = MPI_DATATYPE_NULL;  // an int of two
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sparse);
  MPI_Type_commit(&sparse);
  for (const int sent : {3, 20000}) {
    for (const int room : {0, sent - 1, 2 * sent}) {
      other_room(b, sent, room, false, MPI_INT, 1);
      other_room(b, sent, room, false, sparse, 2);
    }
    other_room(b, sent, sent + 1, true, sparse, 2);
  }
  MPI_Type_free(&sparse);
}

// ---- blocks of any size ----

/// Every rank sends `sent` ints to each, but the last rank has room for no more than `room` from rank 0.
void one_too_long(Bench& b, int sent, int room, bool clean) {
  b.label = std::to_string(sent) + " ints from rank 0, room for " + std::to_string(room);
  const bool last = b.rank == b.size - 1;
  std::vector<int> counts(static_cast<std::size_t>(b.size), sent), received(counts), places(counts);
  for (int r = 0; r < b.size; ++r) places[static_cast<std::size_t>(r)] = r * sent;
  if (last) received[0] = room;
  Ints out(b.size, sent), in(b.size, sent), expected(in);
  for (int r = 0; r < b.size; ++r) {
    out.fill(r, sent, b.rank, r);
    expected.fill(r, sent, r, b.rank);
  }
  b.call(last ? MPI_ERR_TRUNCATE : MPI_SUCCESS, [&] {
    return b.alltoallv({out.data(), counts.data(), places.data(), MPI_INT, in.data(), received.data(),
                        places.data(), MPI_INT, b.comm()});
  });
  if (last) {
    for (int k = room; clean && k < sent; ++k) b.expect(in.at(0, k) == untouched, "written beyond the room");
    for (int k = 0; k < sent; ++k) expected.at(0, k) = in.at(0, k);
  }
  b.expect(in == expected, "blocks without fault did not arrive");
  b.talk();
}

void too_long(Bench& b, bool clean) {
  one_too_long(b, 5, 3, true);
  one_too_long(b, 300, 1, true);      // travels combined, if anything does
  one_too_long(b, 40000, 20, clean);  // does not travel combined, and would if it fitted
  one_too_long(b, 40000, 39999, clean);
}

/// The last rank has no data and gives no type: it hears what the library says to that, and the others do not wait for
/// it.
void no_type(Bench& b) {
  b.label = "no type for no data";
  int none = 0, nothing[2] = {};
  const int native = class_of(PMPI_Alltoallv(&nothing[0], &none, &none, MPI_DATATYPE_NULL, &nothing[1], &none,
                                             &none, MPI_DATATYPE_NULL, MPI_COMM_SELF));
  const bool last = b.rank == b.size - 1;
  std::vector<int> counts(static_cast<std::size_t>(b.size), last ? 0 : 2), places(counts);
  counts.back() = 0;
  for (int r = 0; r < b.size; ++r) places[static_cast<std::size_t>(r)] = 2 * r;
  Ints out(b.size, 2), in(b.size, 2), expected(in);
  for (int r = 0; r < b.size - 1; ++r) {
    out.fill(r, 2, b.rank, r);
    if (!last) expected.fill(r, 2, r, b.rank);
  }
  const MPI_Datatype type = last ? MPI_DATATYPE_NULL : MPI_INT;
  for (int call = 0; call < 2; ++call)
    b.call(last ? native : MPI_SUCCESS, [&] {
      return b.alltoallv({out.data(), counts.data(), places.data(), type, in.data(), counts.data(),
                          places.data(), type, b.comm()});
    });
  b.expect(in == expected, "wrong data");
  b.talk();
}

// ---- transfers that the library refuses ----

/// Rank 0 sends with a type that is not committed. What the others get from it is not defined.
void uncommitted(Bench& b) {
  b.label = "a type that is not committed";
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  if (b.rank != 0) MPI_Type_commit(&pair);
  Ints out(b.size, 4), in(b.size, 2), expected(in);
  for (int r = 0; r < b.size; ++r)
    for (int k = 0; k < 2; ++k) out.at(r, 2 * k) = value(b.rank, r, k);
  MPI_Datatype whole = MPI_DATATYPE_NULL;  // blocks lie 4 ints apart
  MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &whole);
  if (b.rank != 0) MPI_Type_commit(&whole);
  b.call(b.rank == 0 ? MPI_ERR_TYPE : MPI_SUCCESS,
         [&] { return b.alltoall({out.data(), 1, whole, in.data(), 2, MPI_INT, b.comm()}); });
  for (int r = 1; r < b.size; ++r)
    for (int k = 0; k < 2; ++k)
      b.expect(in.at(r, k) == value(r, b.rank, k), "blocks without fault did not arrive");
  MPI_Type_free(&whole);
  MPI_Type_free(&pair);
  b.talk();
}

void refusals(Bench& b, const std::string& label, const std::function<int()>& exchange) {
  b.refuse_each(label, exchange, [&] { b.talk(); });
}

void refused(Bench& b) {
  const int count = 20000;
  Ints out(b.size, count), in(b.size, count);
  refusals(b, "refused transfers",
           [&] { return b.alltoall({out.data(), count, MPI_INT, in.data(), count, MPI_INT, b.comm()}); });
  refusals(b, "refused transfers in place", [&] {
    return b.alltoall({MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in.data(), count, MPI_INT, b.comm()});
  });
}

/// Only where messages are the caller's own blocks: the arguments of Wherry's own are never refused.
void refused_irregular(Bench& b, bool in_place) {
  const int count = 20000;
  Ints out(b.size, count), in(b.size, count);
  std::vector<int> counts(static_cast<std::size_t>(b.size), count), places(counts);
  for (int r = 0; r < b.size; ++r) places[static_cast<std::size_t>(r)] = r * count;
  const void* from = in_place ? MPI_IN_PLACE : static_cast<const void*>(out.data());
  refusals(b, in_place ? "refused transfers, irregular in place" : "refused transfers, irregular", [&] {
    return b.alltoallv({from, counts.data(), places.data(), MPI_INT, in.data(), counts.data(), places.data(),
                        MPI_INT, b.comm()});
  });
}

// ---- all of it ----

constexpr int ranks_per_node = 2;

void check(const schedule::Strategy& strategy, test::Trials& trials) {
  Settings settings;
  settings.ranks_per_node = ranks_per_node;
  settings.features.tuning = false;
  run::Runtime runtime(settings, trials.api, nullptr);
  {
    Bench b(runtime, strategy, trials.failures);
    other_rooms(b);
    too_long(b, trials.clean);
    no_type(b);
    uncommitted(b);
    refused(b);
    if (strategy.hops == schedule::Hops::single) refused_irregular(b, false);
    if (strategy.name == "pairwise_xor") refused_irregular(b, true);
  }
  runtime.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  test::start_with_errors_returned(argc, argv);
  test::Trials trials(ranks_per_node);
  trials.each(schedule::strategies(), [&](const schedule::Strategy& strategy) { check(strategy, trials); });
  return trials.concluded("failures");
}
