// Messages whose ends are both Wherry's: random types of all constructors go round a ring, as bytes or as elements on
// either side, of sizes around what comes with the first message and around chunks. Each byte arrives where the type
// map says, and none between. Then by two threads at once, and with types of which the library does not tell enough, so
// that it has to pack them.
//
// ranks: 1 2 3 8
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/layout_messages.hpp"
#include "mpi/api.hpp"
#include "random_elements.hpp"

namespace {

using namespace wherry;
using namespace wherry::test;
std::atomic<long> failures = 0, moved = 0;

void expect(bool is, const std::string& what) {
  if (is) return;
  if (++failures <= 10) std::fprintf(stderr, "failed: %s\n", what.c_str());
}

unsigned char value(int origin, std::size_t i) {
  return static_cast<unsigned char>(static_cast<std::size_t>(origin) * 31 + i * 7 + i / 256);
}

struct Ring {
  int rank = 0, size = 0;
  run::LayoutMessages& messages;
  int tag = 3;
  bool has_wildcards = true;  // no other thread's messages are under way

  int to() const { return (rank + 1) % size; }
  int from() const { return (rank + size - 1) % size; }

  int exchange(const run::MessageEnd& out, const run::MessageEnd& in, MPI_Status* status) const {
    return messages.exchange(out, in, MPI_COMM_WORLD, status, [] {
      expect(false, "the message was native");
      return MPI_ERR_OTHER;
    });
  }
};

/// as_elements: of sender and receiver; else they have bytes.
void check(const Ring& ring, const RandomType& x, int count, const Elements& elements,
           std::pair<bool, bool> as_elements, bool any) {
  Reach out(elements), in(elements);
  const std::size_t bytes = elements.places.size();
  Bytes sent(bytes), received(bytes, poison);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (as_elements.first) out.byte(i) = value(ring.rank, i);
    else sent[i] = value(ring.rank, i);
  }
  if (as_elements.first)  // of bytes that are sent twice, the last value
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = out.byte(i);
  const int all = static_cast<int>(bytes);
  const run::Endpoint next{ring.to(), ring.tag},
      previous{any ? MPI_ANY_SOURCE : ring.from(), any ? MPI_ANY_TAG : ring.tag};
  const run::MessageEnd from = as_elements.first ? run::MessageEnd{out.data(), count, x.type, next}
                                                 : run::MessageEnd{sent.data(), all, MPI_BYTE, next};
  const run::MessageEnd to = as_elements.second ? run::MessageEnd{in.data(), count, x.type, previous}
                                                : run::MessageEnd{received.data(), all, MPI_BYTE, previous};
  MPI_Status status;
  const std::string what = x.text + " x " + std::to_string(count);
  expect(ring.exchange(from, to, &status) == MPI_SUCCESS, "no success: " + what);
  MPI_Count got = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &got);
  expect(status.MPI_SOURCE == ring.from() && status.MPI_TAG == ring.tag && got == all, "status: " + what);
  // What the rank before has sent; it has the same type.
  Reach theirs(elements);
  for (std::size_t i = 0; i < bytes; ++i) theirs.byte(i) = value(ring.from(), i);
  bool right = true;
  for (std::size_t i = 0; i < bytes; ++i) {
    const unsigned char due = as_elements.first ? theirs.byte(i) : value(ring.from(), i);
    right &= (as_elements.second ? in.byte(i) : received[i]) == due;
  }
  expect(right, "wrong bytes: " + what);
  if (as_elements.second) {
    for (std::size_t i = 0; i < bytes; ++i) in.byte(i) = poison;
    expect(std::ranges::count(in.memory, poison) == std::ssize(in.memory), "written between: " + what);
  }
  ++moved;
}

void check_types(const Ring& ring, std::uint64_t seed, int number) {
  const long before = failures;
  RandomTypes types(seed);  // alike on all ranks
  for (int i = 0; i < number; ++i) {
    RandomType x = types.any(1 + i % 4);
    if (is_fit(x)) {
      MPI_Type_commit(&x.type);
      const bool receivable = !overlap(x.map.bytes);
      const Long sizes[] = {1, 1, 8 << 10, (8 << 10) + 1, 32 << 10, 33 << 10, 300 << 10};
      const Long wanted = sizes[types.below(std::size(sizes))];
      const int count = static_cast<int>(std::max<Long>(1, wanted / std::ssize(x.map.bytes)));
      const bool several = count == 1 || !overlap([&] {
                             TypeMap both;
                             both.add(x.map, std::min(count, 8), 0);
                             return both.bytes;
                           }());
      const bool as_elements = receivable && several;
      const Elements elements(x.map, count);
      for (const auto& ends : {std::pair{true, false}, std::pair{false, true}, std::pair{true, true}})
        if (!ends.second || as_elements)
          check(ring, x, count, elements, ends, ring.has_wildcards && i % 3 == 0);
    }
    if (!x.predefined) MPI_Type_free(&x.type);
  }
  if (failures != before) std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
}

const char* no_environment(const char*) { return nullptr; }

Ring ring_of(run::LayoutMessages& messages) {
  Ring ring{.messages = messages};
  MPI_Comm_rank(MPI_COMM_WORLD, &ring.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ring.size);
  return ring;
}

void check_threads(run::LayoutMessages& messages) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 2; ++number)
    threads.emplace_back([&messages, number] {
      Ring ring = ring_of(messages);
      ring.tag = 10 + number;
      ring.has_wildcards = false;
      check_types(ring, 100 + static_cast<std::uint64_t>(number), 60);
    });
  for (std::thread& thread : threads) thread.join();
}

int beyond_the_data(MPI_Datatype type, MPI_Aint* begin, MPI_Aint* extent) {
  const int code = PMPI_Type_get_true_extent(type, begin, extent);
  ++*extent;
  return code;
}

/// Where the bounds are not those of the type map, no type has a layout.
void check_packed_by_the_library() {
  mpi::Api api = mpi::linked_api();
  api.Type_get_true_extent = beyond_the_data;
  run::LayoutMessages messages(api, run::Waiting::yielding, no_environment);
  const long before = moved;
  check_types(ring_of(messages), 7, 60);
  expect(moved - before > 40, "few types were packed by the library");
}

}  // namespace

int main(int argc, char** argv) {
  // Elements are made anew for every message: else a quarter of the time goes to page faults.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  {
    run::LayoutMessages messages(mpi::linked_api(), run::Waiting::library, no_environment);
    const Ring ring = ring_of(messages);
    const std::uint64_t seeds = ring.size <= 3 ? 2 : 1;  // on more ranks the messages are alike
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) check_types(ring, seed, 150);
    if (level == MPI_THREAD_MULTIPLE) check_threads(messages);
  }
  check_packed_by_the_library();
  expect(moved > 200, "few types were fit");
  long all = failures;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
