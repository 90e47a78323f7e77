// One sparse exchange as the program asks for it.
#pragma once

#include <mpi.h>

#include <span>
#include <string_view>

#include "comm/communicator_registry.hpp"
#include "sparse/inbox.hpp"

namespace wherry::run {

/// What this rank sends, in the order of sending, and where it finds what the others sent to it.
struct SparseExchange {
  std::span<const SparseMessage> messages;
  MPI_Comm comm;
  Inbox& inbox;            // empty at first
  int code = MPI_SUCCESS;  // what is wrong with the arguments already: reported when the exchange is over
};

/// What the setting says unless somebody wants otherwise.
inline constexpr std::string_view automatic_algorithm = "auto";

/// registry: nullptr leaves the exchange to native collectives. asked: a strategy's name, "native" or "auto".
/// *ran: what ran. Collective over comm.
///
/// Messages that cannot be sent (no such rank, no data) are left out, and all others exchanged, so that no other rank
/// waits; then their error is reported. Errors have been passed to comm's error handler.
int sparse_exchange(const mpi::Api& api, CommunicatorRegistry* registry, std::string_view asked,
                    const SparseExchange& exchange, std::string_view* ran);

}  // namespace wherry::run
