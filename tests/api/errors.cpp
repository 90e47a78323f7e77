// What is wrong is said as MPI says it: codes, error handlers, exceptions; and other arguments are refused before any
// message.
#include <wherry/wherry.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "world.hpp"

namespace {

using test::Checks;

int handled = 0;

void count_error(MPI_Comm*, int*, ...) { ++handled; }

int class_of(int code) {
  int value = MPI_SUCCESS;
  MPI_Error_class(code, &value);
  return value;
}

/// Whether `work` throws E with a message that contains `text`.
template <class E>
bool throws(const std::function<void()>& work, std::string_view text) {
  try {
    work();
  } catch (const E& error) {
    return std::string_view(error.what()).find(text) != std::string_view::npos;
  }
  return false;
}

void check_codes(Checks& checks, MPI_Comm comm, int ranks) {
  std::vector<int> a(static_cast<std::size_t>(ranks)), b(a);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; ++i) {  // before and after Wherry is enabled
    const int native = MPI_Alltoall(a.data(), -1, MPI_INT, b.data(), -1, MPI_INT, comm);
    const int ours = wherry_alltoall(a.data(), -1, MPI_INT, b.data(), -1, MPI_INT, comm);
    checks.that(class_of(ours) == class_of(native) && ours != MPI_SUCCESS, "another class than MPI_Alltoall");
    wherry::alltoall(a, b, comm);
  }
  const bool thrown = throws<wherry::mpi_error>(
      [&] {
        const std::vector<int> counts(a.size(), 0);
        const std::vector<MPI_Datatype> types(a.size(), MPI_DATATYPE_NULL);
        const std::vector<int> ones(a.size(), 1);
        wherry::alltoallw({a.data(), ones, counts, types}, {b.data(), ones, counts, types}, comm);
      },
      "wherry_alltoallw: ");
  checks.that(thrown, "no mpi_error for a null type");
}

void check_handler(Checks& checks, MPI_Comm comm, int ranks) {
  std::vector<int> a(static_cast<std::size_t>(ranks)), b(a);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  handled = 0;
  wherry_alltoall(a.data(), -1, MPI_INT, b.data(), -1, MPI_INT, comm);
  checks.that(handled == 1, "the error handler was not called once");
  MPI_Errhandler_free(&handler);
}

void check_usage(Checks& checks, MPI_Comm comm, int ranks) {
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<int> a(size), b(size), longer(size + 1), ones(size, 1), minus(size, -1), fewer(size - 1, 1);
  using wherry::usage_error;
  checks.that(throws<usage_error>([&] { wherry::alltoall(a, longer, comm); }, "resize receive"),
              "sizes that differ");
  checks.that(
      ranks == 1 || throws<usage_error>([&] { wherry::alltoall(longer, longer, comm); }, "no multiple"),
      "sizes that do not divide");
  checks.that(ranks == 1 || throws<usage_error>([&] { wherry::alltoall(longer, comm); }, "no multiple"),
              "sizes that do not divide, in place");
  checks.that(throws<usage_error>([&] { wherry::alltoallv(a, fewer, b, ones, comm); }, "give one for each"),
              "too few counts");
  checks.that(throws<usage_error>([&] { wherry::alltoallv(a, minus, b, ones, comm); }, "-1 values"),
              "negative counts");
  std::vector<int> shorter(size - 1);
  checks.that(throws<usage_error>([&] { wherry::alltoallv(a, ones, shorter, ones, comm); },
                                  "the receive block of rank " + std::to_string(ranks - 1)),
              "a block beyond the range");
}

/// Calls on intercommunicators are native; counts are per rank of the other group.
void check_intercommunicator(Checks& checks, int rank, int ranks) {
  if (ranks < 3) return;
  const bool low = rank < 2;
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 2 : 0, 5, &inter);
  const auto others = static_cast<std::size_t>(low ? ranks - 2 : 2);
  const std::vector<int> send(others, rank);
  std::vector<int> receive(others, -1), expected;
  for (std::size_t i = 0; i < others; ++i) expected.push_back(static_cast<int>(i) + (low ? 2 : 0));
  for (int i = 0; i < 3; ++i) wherry::alltoall(send, receive, inter);
  checks.that(receive == expected, "alltoall on an intercommunicator");
  checks.that(std::string_view(wherry_last_strategy()) == "native", "not native on an intercommunicator");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  return test::run(argc, argv, [](test::World& w) {
    check_usage(w.checks, w.comm, w.ranks);
    check_codes(w.checks, w.comm, w.ranks);
    check_handler(w.checks, w.comm, w.ranks);
    check_intercommunicator(w.checks, w.rank, w.ranks);
  });
}
