// Views of arrays and the messages of wherry_send: every index of every view has its value after a message, and nothing
// else has changed; statuses, wildcards, errors.
#include <wherry/arrays.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using wherry::ArrayView;
using Cube = ArrayView<double, 3>;

constexpr double poison = -7;

/// What std::mdspan with layout_stride offers, which compilers do not have yet.
struct Mdspan {
  using element_type = double;
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t i) const { return i == 0 ? 3 : 4; }
  std::ptrdiff_t stride(std::size_t i) const { return i == 0 ? 10 : 2; }
  double* data_handle() const { return data; }
  double* data;
};

struct Particle {
  char kind;
  double position[3];
  int id;
};

struct Ring {
  int rank = 0, size = 1;
  Ring() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  int next() const { return (rank + 1) % size; }
  int previous() const { return (rank + size - 1) % size; }
};

double value(int origin, std::size_t i, std::size_t j, std::size_t k) {
  return 1e6 * origin + 1e4 * static_cast<double>(i) + 100 * static_cast<double>(j) + static_cast<double>(k);
}

/// A view of these extents with its dimensions in any order in memory, gaps between, some backwards.
struct Field {
  Field(const Cube::Extents& extents, std::minstd_rand& random) {
    std::array<std::size_t, 3> order{0, 1, 2};
    std::ranges::shuffle(order, random);
    Cube::Strides strides{};
    std::ptrdiff_t stride = 1, first = 0;
    for (const std::size_t d : order) {
      stride *= 1 + static_cast<std::ptrdiff_t>(random() % 3);
      strides[d] = stride;
      stride *= static_cast<std::ptrdiff_t>(extents[d]);
    }
    memory.assign(static_cast<std::size_t>(stride) + 2, poison);
    for (std::size_t d = 0; d < 3; ++d)
      if (random() % 4 == 0) {
        first += strides[d] * static_cast<std::ptrdiff_t>(extents[d] - 1);
        strides[d] = -strides[d];
      }
    view.emplace_back(memory.data() + 1 + first, extents, strides);
  }
  const Cube& cube() const { return view.front(); }
  template <class Use>
  void each(Use use) {
    for (std::size_t i = 0; i < cube().extents()[0]; ++i)
      for (std::size_t j = 0; j < cube().extents()[1]; ++j)
        for (std::size_t k = 0; k < cube().extents()[2]; ++k) use(cube()(i, j, k), i, j, k);
  }
  std::vector<double> memory;
  std::vector<Cube> view;
};

/// Round the ring: even ranks send first.
template <class Send, class Receive>
void in_turns(const Ring& ring, Send send, Receive receive) {
  const bool first = ring.rank % 2 == 0 && ring.rank + 1 != ring.size;
  if (first) send();
  receive();
  if (!first) send();
}

void check_views(test::Checks& check, const Ring& ring) {
  std::minstd_rand shapes(7), random(static_cast<unsigned>(ring.rank) + 1);
  for (int trial = 0; trial < 40; ++trial) {
    const auto extent = [&] { return std::size_t{1} + shapes() % (trial % 5 == 0 ? 40 : 12); };
    const Cube::Extents extents{extent(), extent(), extent()};
    Field sent(extents, random), received(extents, random);
    sent.each([&](double& x, std::size_t i, std::size_t j, std::size_t k) { x = value(ring.rank, i, j, k); });
    if (ring.size == 1) {  // to itself, both at once
      const auto a = wherry::layout_of(sent.cube()), b = wherry::layout_of(received.cube());
      check.that(wherry_sendrecv(sent.cube().data(), 1, a.type(), 0, 5, received.cube().data(), 1, b.type(),
                                 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS,
                 "a message to itself");
    } else {
      in_turns(
          ring, [&] { wherry::send(sent.cube(), ring.next(), 5, MPI_COMM_WORLD); },
          [&] { wherry::receive(received.cube(), ring.previous(), 5, MPI_COMM_WORLD); });
    }
    bool right = true;
    received.each([&](double& x, std::size_t i, std::size_t j, std::size_t k) {
      right &= x == value(ring.previous(), i, j, k);
      x = poison;
    });
    check.that(right, "an element is wrong");
    check.that(std::ranges::count(received.memory, poison) == std::ssize(received.memory), "written between");
    std::vector<double> packed(sent.cube().size()), expected;
    sent.each([&](double& x, std::size_t, std::size_t, std::size_t) { expected.push_back(x); });
    wherry::pack(sent.cube(), packed);
    check.that(packed == expected, "packed otherwise");
    wherry::unpack(packed, received.cube());
    packed.clear();
    received.each([&](double& x, std::size_t, std::size_t, std::size_t) { packed.push_back(x); });
    check.that(packed == expected, "unpacked otherwise");
  }
}

void check_shapes(test::Checks& check) {
  std::vector<double> memory(60);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i);
  const auto c = wherry::row_major(memory.data(), 3, 4, 5), f = wherry::column_major(memory.data(), 3, 4, 5);
  check.that(c(2, 1, 3) == 2 * 20 + 5 + 3 && f(2, 1, 3) == 2 + 3 + 3 * 12, "orders of C and Fortran");
  check.that(c.transposed()(3, 1, 2) == c(2, 1, 3), "transposed");
  const auto part = c.part({1, 2, 0}, {2, 2, 5});
  check.that(part(1, 0, 4) == c(2, 2, 4) && part.size() == 20, "a part");
  const auto thin = c.every({2, 3, 2});
  check.that(thin(1, 1, 2) == c(2, 3, 4) && thin.size() == 2 * 2 * 3, "every second");
  const ArrayView view(Mdspan{memory.data()});
  check.that(view(2, 3) == 26 && view.size() == 12, "a view like std::mdspan");
  std::vector<double> none;
  wherry::pack(c.part({3, 0, 0}, {0, 4, 5}), none);
  wherry::unpack(none, c.part({3, 0, 0}, {0, 4, 5}));
  bool thrown = false;
  try {
    c.part({1, 2, 0}, {2, 3, 5});
  } catch (const wherry::usage_error&) {
    thrown = true;
  }
  check.that(thrown, "a part that lies outside");
}

void check_members(test::Checks& check, const Ring& ring) {
  std::vector<Particle> sent(5000), received(5000, Particle{'q', {poison, poison, poison}, -1});
  for (std::size_t i = 0; i < sent.size(); ++i)
    sent[i] = {'p', {value(ring.rank, i, 0, 0), 1, static_cast<double>(i)}, 7};
  using Places = wherry::Subset<Particle, &Particle::position>;
  const wherry::Layout out = wherry::layout_of<Places>(wherry::row_major(sent.data(), sent.size()));
  const wherry::Layout in = wherry::layout_of<Places>(wherry::row_major(received.data(), received.size()));
  wherry_sendrecv(sent.data(), 1, out.type(), ring.next(), 2, received.data(), 1, in.type(), ring.previous(),
                  2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  bool right = true;
  for (std::size_t i = 0; i < received.size(); ++i)
    right &= received[i].position[0] == value(ring.previous(), i, 0, 0) &&
             received[i].position[2] == static_cast<double>(i) && received[i].kind == 'q' &&
             received[i].id == -1;
  check.that(right, "members of structs");
}

void check_statuses(test::Checks& check, const Ring& ring) {
  std::vector<int> sent(10, ring.rank), received(10, -1);
  MPI_Status status;
  int count = 0;
  wherry_sendrecv(sent.data(), 4, MPI_INT, ring.next(), 9, received.data(), 10, MPI_INT, MPI_ANY_SOURCE,
                  MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  check.that(status.MPI_SOURCE == ring.previous() && status.MPI_TAG == 9 && count == 4, "the status");
  check.that(received[3] == ring.previous() && received[4] == -1, "fewer than there is room for");
  check.that(
      wherry_recv(received.data(), 10, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &status) == MPI_SUCCESS,
      "from nobody");
  MPI_Get_count(&status, MPI_INT, &count);
  check.that(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0,
             "the status of nobody");
  check.that(wherry_send(sent.data(), 10, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD) == MPI_SUCCESS,
             "to nobody");
}

int told = 0;
void count_error(MPI_Comm*, int*, ...) { ++told; }

/// Each error reaches the program's error handler once, whoever found it.
void check_error_handler(test::Checks& check, const Ring& ring, MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  std::vector<int> sent(100'000, 3), received(100'000, -1);
  wherry_sendrecv(sent.data(), 100'000, MPI_INT, ring.next(), 1, received.data(), 99'999, MPI_INT,
                  ring.previous(), 1, comm, MPI_STATUS_IGNORE);
  check.that(told == 1, "too little room is told once");
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(8, 1, 2, MPI_INT, &type);
  told = 0;
  wherry_send(sent.data(), 1, type, ring.next(), 1, comm);
  check.that(told == 1, "a type that is not committed is told once");
  MPI_Type_free(&type);
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

int class_of(int code) {
  int value = MPI_SUCCESS;
  MPI_Error_class(code, &value);
  return value;
}

void check_errors(test::Checks& check, const Ring& ring, MPI_Comm comm) {
  std::vector<int> sent(100'000, 3), received(100'000, -1);
  const auto exchanged = [&](int send, int room) {
    return class_of(wherry_sendrecv(sent.data(), send, MPI_INT, ring.next(), 1, received.data(), room,
                                    MPI_INT, ring.previous(), 1, comm, MPI_STATUS_IGNORE));
  };
  check.that(exchanged(100, 99) == MPI_ERR_TRUNCATE, "too little room");
  check.that(exchanged(100'000, 50'000) == MPI_ERR_TRUNCATE, "too little room for chunks");
  check.that(received[50'000] == -1, "written beyond the room");
  check.that(exchanged(100'000, 100'000) == MPI_SUCCESS && received.back() == 3, "the message after it");
  const auto refused = [&](int count, MPI_Datatype type, int peer, int tag) {
    return class_of(wherry_send(sent.data(), count, type, peer, tag, comm));
  };
  check.that(refused(-1, MPI_INT, 0, 0) == MPI_ERR_COUNT, "a negative count");
  check.that(refused(1, MPI_DATATYPE_NULL, 0, 0) == MPI_ERR_TYPE, "no type");
  check.that(refused(1, MPI_INT, ring.size, 0) == MPI_ERR_RANK, "no such rank");
  check.that(refused(1, MPI_INT, 0, -5) == MPI_ERR_TAG, "no such tag");
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(sent.data(), 30, MPI_INT, ring.next(), 4, comm, &request);
  check.that(class_of(wherry_recv(received.data(), 30, MPI_INT, ring.previous(), 4, comm,
                                  MPI_STATUS_IGNORE)) == MPI_ERR_OTHER,
             "what MPI_Send sent");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// Three executions of one plan, completed in both ways. Every other rank has MPI's own calls instead: what travels is
/// what they send.
void check_plan(test::Checks& check, const Ring& ring, bool all_plans) {
  std::minstd_rand shapes(17), random(static_cast<unsigned>(ring.rank) + 5);
  bool by_kernels = false;
  for (int trial = 0; trial < 12; ++trial) {
    const auto extent = [&] { return std::size_t{2} + shapes() % (trial % 4 == 0 ? 40 : 12); };
    const Cube::Extents extents{extent(), extent(), extent()};
    Field sent(extents, random), received(extents, random);
    const auto out = wherry::layout_of(sent.cube()), in = wherry::layout_of(received.cube());
    wherry::Plan plan = wherry::sendrecv_plan(sent.cube().data(), out, ring.next(), received.cube().data(),
                                              in, ring.previous(), 6, MPI_COMM_WORLD);
    by_kernels |= plan.strategy() == std::string("layout kernels");
    for (int round = 0; round < 3; ++round) {
      sent.each([&](double& x, std::size_t i, std::size_t j, std::size_t k) {
        x = value(ring.rank + 100 * round, i, j, k);
      });
      if (all_plans || ring.rank % 2 == 0) {
        plan.start();
        if (round % 2 == 0) plan.wait();
        else
          while (!plan.test()) {
          }
      } else {
        MPI_Sendrecv(sent.cube().data(), 1, out.type(), ring.next(), 6, received.cube().data(), 1, in.type(),
                     ring.previous(), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      bool right = true;
      received.each([&](double& x, std::size_t i, std::size_t j, std::size_t k) {
        right &= x == value(ring.previous() + 100 * round, i, j, k);
        x = poison;
      });
      check.that(right, "a plan brings other elements");
      check.that(std::ranges::count(received.memory, poison) == std::ssize(received.memory),
                 "a plan writes between");
    }
  }
  check.that(by_kernels, "the kernels pack for no plan");
}

void check_plan_ends(test::Checks& check, const Ring& ring, MPI_Comm comm) {
  std::vector<int> memory(40, -1), values(20, ring.rank);
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_vector(20, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  wherry_plan* plan = nullptr;
  const auto make = [&](int dest, int source) {
    return wherry_sendrecv_plan(values.data(), 20, MPI_INT, dest, 8, memory.data(), 1, every_other, source, 8,
                                comm, &plan);
  };
  check.that(make(MPI_PROC_NULL, MPI_PROC_NULL) == MPI_SUCCESS && wherry_plan_start(plan) == MPI_SUCCESS &&
                 wherry_plan_wait(plan) == MPI_SUCCESS && memory[0] == -1,
             "a plan with nobody at its ends");
  wherry_plan_free(&plan);
  check.that(make(ring.next(), ring.previous()) == MPI_SUCCESS &&
                 std::string(wherry_plan_strategy(plan)) == "native" &&  // as errors return here
                 wherry_plan_start(plan) == MPI_SUCCESS && wherry_plan_start(plan) != MPI_SUCCESS &&
                 wherry_plan_wait(plan) == MPI_SUCCESS && wherry_plan_wait(plan) == MPI_SUCCESS,
             "a plan that is started twice");
  check.that(memory[0] == ring.previous() && memory[1] == -1 && memory[38] == ring.previous(),
             "its elements");
  wherry_plan_free(&plan);
  check.that(plan == nullptr && wherry_plan_free(&plan) == MPI_SUCCESS, "a plan that is gone");
  check.that(make(ring.size, ring.previous()) == MPI_SUCCESS && wherry_plan_start(plan) != MPI_SUCCESS,
             "a plan without its destination");
  wherry_plan_free(&plan);
  MPI_Type_free(&every_other);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test::Checks check;
  const Ring ring;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  check_shapes(check);
  check_views(check, ring);
  check_plan(check, ring, true);
  check_plan(check, ring, false);
  check_plan_ends(check, ring, comm);
  check_members(check, ring);
  check_statuses(check, ring);
  check_errors(check, ring, comm);
  check_error_handler(check, ring, comm);
  MPI_Comm_free(&comm);
  const int code = check.exit_code();
  MPI_Finalize();
  return code;
}
