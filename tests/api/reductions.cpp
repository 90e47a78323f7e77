// The C and the C++ reductions against the MPI call with the same arguments, and against the ranks' data combined one
// after the other, over enough calls that trials go on. WHERRY_TEST_SEED changes the data. Prints "ran COLLECTIVE
// NAME".
#include <wherry/wherry.hpp>

#include <complex>
#include <cstdint>
#include <vector>

#include "world.hpp"

namespace {

using test::World;
namespace op = wherry::op;

constexpr int rounds = 4;

/// What MPI says of one block of `send` for each rank.
template <class T>
struct Expected {
  std::vector<T> all;    // reduced
  std::vector<T> block;  // of this rank
};

template <class T>
Expected<T> expected_of(const World& w, const std::vector<T>& send, MPI_Datatype type, MPI_Op operation) {
  Expected<T> e{std::vector<T>(send.size()), std::vector<T>(send.size() / w.size())};
  const int block = static_cast<int>(e.block.size());
  MPI_Allreduce(send.data(), e.all.data(), block * w.ranks, type, operation, w.comm);
  MPI_Reduce_scatter_block(send.data(), e.block.data(), block, type, operation, w.comm);
  return e;
}

void check_in_c(World& w, int count, int root) {
  const auto send = w.data<int>(w.size() * static_cast<std::size_t>(count));
  const int all = count * w.ranks;
  const Expected<int> e = expected_of(w, send, MPI_INT, MPI_SUM);
  std::vector<int> ours(send.size(), -1), block(e.block.size(), -1);
  int code = wherry_allreduce(send.data(), ours.data(), all, MPI_INT, MPI_SUM, w.comm);
  w.same("allreduce", ours, e.all, "C");
  ours.assign(send.size(), -1);
  code += wherry_reduce(send.data(), ours.data(), all, MPI_INT, MPI_SUM, root, w.comm);
  w.same("reduce", ours, w.rank == root ? e.all : std::vector<int>(send.size(), -1), "C");
  code += wherry_reduce_scatter_block(send.data(), block.data(), count, MPI_INT, MPI_SUM, w.comm);
  w.same("reduce_scatter_block", block, e.block, "C");
  w.checks.that(code == 3 * MPI_SUCCESS, "a reduction failed");
}

/// All forms of the C++ functions.
template <class T, class Op>
void check_forms(World& w, const std::vector<T>& send, Op operation, int root, const Expected<T>& e) {
  std::vector<T> ours(send.size()), at_root(w.rank == root ? send.size() : 0), block(e.block.size());
  wherry::allreduce(send, ours, operation, w.comm);
  w.same("allreduce", ours, e.all, "C++");
  wherry::reduce(send, at_root, operation, root, w.comm);
  w.same("reduce", at_root, w.rank == root ? e.all : at_root, "C++");
  wherry::reduce_scatter_block(send, block, operation, w.comm);
  w.same("reduce_scatter_block", block, e.block, "C++");

  ours = send;
  wherry::allreduce(ours, operation, w.comm);
  w.same("allreduce", ours, e.all, "C++ in place");
  ours = send;
  wherry::reduce(ours, operation, root, w.comm);
  w.same("reduce", ours, w.rank == root ? e.all : send, "C++ in place");
  ours = send;
  const std::span<T> mine = wherry::reduce_scatter_block(ours, operation, w.comm);
  w.same("reduce_scatter_block", std::vector<T>(mine.begin(), mine.end()), e.block, "C++ in place");
}

template <class T, class Op>
void check(World& w, Op operation, MPI_Datatype type, int root) {
  const auto send = w.data<T>(w.size() * 3);
  check_forms(w, send, operation, root, expected_of(w, send, type, operation));
}

/// x -> a x + b. Composing such functions is associative and does not commute.
struct Line {
  std::uint64_t a, b;
  explicit Line(unsigned long n = 0) : a(2 * n + 1), b(n * n) {}
  bool operator==(const Line&) const = default;
};

Line compose(const Line& first, const Line& second) {
  Line both;
  both.a = first.a * second.a;
  both.b = first.b * second.a + second.b;
  return both;
}

int wrong_types = 0;

void compose_all(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  wrong_types += bytes != static_cast<int>(sizeof(Line));
  const auto* first = static_cast<const Line*>(in);
  auto* second = static_cast<Line*>(inout);
  for (int i = 0; i < *count; ++i) second[i] = compose(first[i], second[i]);
}

/// The ranks' data combined here, one rank after the other.
Expected<Line> folded(const World& w, const std::vector<Line>& send) {
  const int bytes = static_cast<int>(send.size() * sizeof(Line));
  std::vector<Line> everything(send.size() * w.size());
  MPI_Allgather(send.data(), bytes, MPI_BYTE, everything.data(), bytes, MPI_BYTE, w.comm);
  Expected<Line> e;
  e.all.assign(everything.begin(), everything.begin() + static_cast<long>(send.size()));
  for (std::size_t i = send.size(); i < everything.size(); ++i) {
    Line& sum = e.all[i % send.size()];
    sum = compose(sum, everything[i]);
  }
  const auto begin = e.all.begin() + w.rank * static_cast<long>(send.size() / w.size());
  e.block.assign(begin, begin + static_cast<long>(send.size() / w.size()));
  return e;
}

/// An operation of the program's own on a type that MPI does not know, and that must not be cut.
void check_own_operation(World& w, int root) {
  MPI_Op operation = MPI_OP_NULL;
  MPI_Op_create(compose_all, 0, &operation);
  const auto send = w.data<Line>(w.size() * 2);
  check_forms(w, send, operation, root, folded(w, send));
  MPI_Op_free(&operation);
  w.checks.that(wrong_types == 0, "the operation got elements of another size");
}

void check_all(World& w, int root) {
  check_in_c(w, 0, root);
  check_in_c(w, 4, root);
  check<double>(w, op::sum{}, MPI_DOUBLE, root);
  check<std::complex<double>>(w, op::sum{}, MPI_C_DOUBLE_COMPLEX, root);
  check<unsigned long>(w, op::prod{}, MPI_UNSIGNED_LONG, root);
  check<float>(w, op::max{}, MPI_FLOAT, root);
  check<short>(w, op::min{}, MPI_SHORT, root);
  check<int>(w, op::land{}, MPI_INT, root);
  check<long long>(w, op::lor{}, MPI_LONG_LONG, root);
  check<unsigned>(w, op::lxor{}, MPI_UNSIGNED, root);
  check<signed char>(w, op::band{}, MPI_SIGNED_CHAR, root);
  check<unsigned char>(w, op::bor{}, MPI_UNSIGNED_CHAR, root);
  check<std::byte>(w, op::bxor{}, MPI_BYTE, root);
  check<double>(w, MPI_SUM, MPI_DOUBLE, root);
  check_own_operation(w, root);
}

// What MPI does not define is not compiled.
template <class Op, class T>
constexpr bool reduces = wherry::Reduces<Op, std::vector<T>>;
static_assert(reduces<op::land, bool> && !reduces<op::sum, bool>);
static_assert(reduces<op::sum, std::complex<float>> && !reduces<op::max, std::complex<float>>);
static_assert(!reduces<op::sum, char> && !reduces<op::sum, Line> && !reduces<op::band, double>);
static_assert(reduces<MPI_Op, Line> && !reduces<int*, int>);

}  // namespace

int main(int argc, char** argv) {
  return test::run(argc, argv, [](World& w) {
    for (int i = 0; i < rounds; ++i) check_all(w, i % w.ranks);
  });
}
