// wherry_sparse_exchange and wherry::sparse_exchange: what every rank knows that it must get, who owns it, and errors.
#include <wherry/sparse_exchange.hpp>

#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "world.hpp"

namespace {

using test::World;

struct Particle {
  double position[3];
  std::int16_t charge;
  bool operator==(const Particle& o) const { return position[0] == o.position[0] && charge == o.charge; }
};

using Particles = std::vector<Particle>;

/// What a rank sends in a step, which all ranks can compute: destination and particles.
std::vector<std::pair<int, Particles>> drawn(int step, int rank, int ranks) {
  std::minstd_rand random(static_cast<unsigned>(1000 * step + rank + 1));
  random.discard(3);
  std::vector<std::pair<int, Particles>> parcels(random() % 5);
  for (auto& [destination, particles] : parcels) {
    destination = static_cast<int>(random() % static_cast<unsigned>(ranks));
    particles.resize(random() % 200);
    for (Particle& p : particles) p = {{double(random() % 100), 0, 0}, std::int16_t(rank)};
  }
  return parcels;
}

std::vector<std::pair<int, Particles>> due(int step, int rank, int ranks) {
  std::vector<std::pair<int, Particles>> all;
  for (int source = 0; source < ranks; ++source)
    for (auto& [destination, particles] : drawn(step, source, ranks))
      if (destination == rank) all.emplace_back(source, particles);
  return all;
}

void check_particles(World& w, int step) {
  const auto parcels = drawn(step, w.rank, w.ranks);
  std::vector<wherry::Outgoing<Particle>> sends;
  for (const auto& [destination, particles] : parcels) sends.push_back({destination, particles});
  wherry::Inbox<Particle> first = wherry::sparse_exchange(sends, w.comm);
  const wherry::Inbox<Particle> inbox = std::move(first);
  std::vector<std::pair<int, Particles>> got;
  for (const auto& [source, particles] : inbox)
    got.emplace_back(source, Particles(particles.begin(), particles.end()));
  w.checks.that(got == due(step, w.rank, w.ranks), "wherry::sparse_exchange brings something else");
  w.checks.that(inbox.size() == got.size() && first.empty(), "an inbox that was moved from");
}

bool is(const wherry_message& m, int peer, std::string_view text) {
  return m.peer == peer && m.bytes == text.size() &&
         (text.empty() || std::memcmp(m.data, text.data(), m.bytes) == 0);
}

/// Every rank says two things to the next one, and nothing to itself.
void check_c(World& w) {
  const int next = (w.rank + 1) % w.ranks, before = (w.rank + w.ranks - 1) % w.ranks;
  const wherry_message sends[] = {{next, "first", 5}, {next, nullptr, 0}, {w.rank, "self", 4}};
  wherry_inbox* inbox = nullptr;
  const int code = wherry_sparse_exchange(sends, 3, w.comm, &inbox);
  w.checks.that(code == MPI_SUCCESS && inbox != nullptr, "wherry_sparse_exchange failed");
  const wherry_message* const got = wherry_inbox_messages(inbox);
  w.checks.that(wherry_inbox_count(inbox) == 3, "not three messages");
  const int self = w.rank < before ? 0 : 2, others = w.rank < before ? 1 : 0;
  const bool alone = w.ranks == 1;
  w.checks.that(alone || is(got[self], w.rank, "self"), "not what it said to itself");
  w.checks.that(is(got[alone ? 0 : others], before, "first"), "not the first that was said");
  w.checks.that(is(got[alone ? 1 : others + 1], before, ""), "not the second that was said");
  for (int i = 0; i < 3; ++i)
    w.checks.that(reinterpret_cast<std::uintptr_t>(got[i].data) % alignof(std::max_align_t) == 0,
                  "not aligned");
  wherry_inbox_free(&inbox);
  w.checks.that(inbox == nullptr, "a freed inbox is not NULL");
  wherry_inbox_free(&inbox);
  wherry_inbox_free(nullptr);
  w.checks.that(wherry_inbox_count(nullptr) == 0 && wherry_inbox_messages(nullptr) == nullptr, "NULL");
}

int handled = 0;
void count_error(MPI_Comm*, int*, ...) { ++handled; }

int class_of(int code) {
  int value = MPI_SUCCESS;
  MPI_Error_class(code, &value);
  return value;
}

/// The last rank's list is wrong: it alone hears of it, and the others get what they are due.
void check_wrong_list(World& w, const wherry_message* wrong, int count, int expected) {
  const bool last = w.rank == w.ranks - 1;
  const wherry_message sound{0, "x", 1};
  const wherry_message* const sends = last ? wrong : &sound;
  wherry_inbox* inbox = nullptr;
  handled = 0;
  const int code = wherry_sparse_exchange(sends, last ? count : 1, w.comm, &inbox);
  w.checks.that(class_of(code) == (last ? expected : MPI_SUCCESS), "another class of error");
  w.checks.that(handled == last, "the error handler was not called once");
  w.checks.that((inbox == nullptr) == last, "an inbox after an error, or none without");
  if (w.rank == 0 && !last)
    w.checks.that(wherry_inbox_count(inbox) >= w.ranks - 1, "sound messages are missing");
  wherry_inbox_free(&inbox);
}

void check_errors(World& w) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(w.comm, handler);
  MPI_Errhandler_free(&handler);
  const wherry_message nowhere[] = {{0, "x", 1}, {w.ranks, "y", 1}}, nothing{0, nullptr, 3};
  check_wrong_list(w, nowhere, 2, MPI_ERR_RANK);
  check_wrong_list(w, &nothing, 1, MPI_ERR_BUFFER);
  check_wrong_list(w, nullptr, 1, MPI_ERR_ARG);
  check_wrong_list(w, nowhere, -1, MPI_ERR_COUNT);
  handled = 0;
  w.checks.that(class_of(wherry_sparse_exchange(nullptr, 0, w.comm, nullptr)) == MPI_ERR_ARG && handled == 1,
                "no room for the inbox");
  wherry_inbox* none = nullptr;
  w.checks.that(class_of(wherry_sparse_exchange(nowhere, 1, MPI_COMM_NULL, &none)) == MPI_ERR_COMM && !none,
                "no communicator");
  MPI_Comm_set_errhandler(w.comm, MPI_ERRORS_RETURN);
  bool thrown = false;
  try {
    const int value = 1;
    wherry::sparse_exchange<int>({{-1, {&value, 1}}}, w.comm);
  } catch (const wherry::mpi_error& error) {
    thrown = error.error_class() == MPI_ERR_RANK;
  }
  w.checks.that(thrown, "no mpi_error for a rank that there is not");
}

/// Every rank sends its number to all of the other group.
void check_intercommunicator(World& w) {
  if (w.ranks < 3) return;
  const bool low = w.rank < 2;
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, low, w.rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 2 : 0, 5, &inter);
  const int others = low ? w.ranks - 2 : 2;
  std::vector<wherry::Outgoing<int>> sends;
  for (int to = 0; to < others; ++to) sends.push_back({to, {&w.rank, 1}});
  const wherry::Inbox<int> inbox = wherry::sparse_exchange(sends, inter);
  w.checks.that(static_cast<int>(inbox.size()) == others, "not one from each of the other group");
  for (const auto& [source, values] : inbox)
    w.checks.that(values.size() == 1 && values[0] == source + (low ? 2 : 0), "intercommunicator");
  w.checks.that(std::string_view(wherry_last_strategy()) == "native", "not native");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

void check_all(World& w) {
  // Where errors of no communicator are raised.
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int step = 0; step < 20; ++step) {
    check_particles(w, step);
    check_c(w);
    if (step == 0) check_errors(w);
  }
  w.ran.insert(wherry_last_strategy());
  check_errors(w);
  check_intercommunicator(w);
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0;
  wherry_inbox* kept = nullptr;
  const int code = test::run(argc, argv, [&](World& w) {
    check_all(w);
    rank = w.rank;
    const wherry_message message{rank, "late", 4};
    wherry_sparse_exchange(&message, 1, w.comm, &kept);
  });
  const bool lives = wherry_inbox_count(kept) == 1 && is(*wherry_inbox_messages(kept), rank, "late");
  wherry_inbox_free(&kept);
  return lives ? code : 1;
}
