#include "host/sparse_call.hpp"

#include <climits>
#include <vector>

#include "sparse/exchange.hpp"

namespace wherry::run {

namespace {

int validate(const SparseMessage& m, int ranks) {
  if (m.peer < 0 || m.peer >= ranks) return MPI_ERR_RANK;
  if (m.bytes > static_cast<std::size_t>(LLONG_MAX) / 2) return MPI_ERR_COUNT;
  return m.data == nullptr && m.bytes > 0 ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

/// What can be sent, in its order, and the error of the first that cannot.
struct Sound {
  Sound(std::span<const SparseMessage> all, int ranks) {
    for (const SparseMessage& m : all) {
      const int found = validate(m, ranks);
      code = first_error(code, found);
      if (found == MPI_SUCCESS) messages.push_back(m);
    }
  }
  std::vector<SparseMessage> messages;
  int code = MPI_SUCCESS;
};

/// Whatever this rank's messages are: it takes part.
Communicator* enabled(CommunicatorRegistry* registry, MPI_Comm comm) {
  std::string_view refusal;
  return registry == nullptr ? nullptr : registry->enabled(comm, Weight::full, [] { return true; }, &refusal);
}

SparseAlgorithm algorithm_on(Communicator* c, std::string_view asked) {
  if (c == nullptr) return {};
  std::optional<SparseAlgorithm>& algorithm = c->state<SparseState>().algorithm;
  if (!algorithm) algorithm = sparse_algorithm(asked, c->placement());
  return *algorithm;
}

}  // namespace

int sparse_exchange(const mpi::Api& api, CommunicatorRegistry* registry, std::string_view asked,
                    const SparseExchange& exchange, std::string_view* ran) {
  int ranks = 0;
  // The library calls the error handler that is right for an invalid communicator.
  if (const int code = destinations(api, exchange.comm, &ranks); code != MPI_SUCCESS) return code;
  const Sound sound(exchange.messages, ranks);
  Communicator* const c = enabled(registry, exchange.comm);
  const SparseAlgorithm algorithm = algorithm_on(c, asked);
  *ran = algorithm.name();
  bool handled = false;
  int code = algorithm.is_native()
                 ? exchange_natively(api, exchange.comm, sound.messages, exchange.inbox, &handled)
                 : exchange_sparsely(sparse_context(*c), algorithm, sound.messages, exchange.inbox);
  if (handled) return code;
  code = first_error(exchange.code, first_error(sound.code, code));
  if (code != MPI_SUCCESS) api.Comm_call_errhandler(exchange.comm, code);
  return code;
}

}  // namespace wherry::run
