#include "run/sparse/exchange.hpp"

#include <algorithm>
#include <utility>

#include "run/communicator.hpp"

namespace wherry::run {

namespace {

/// What a rank sends to itself never leaves it.
std::vector<SparseMessage> keep_own(int rank, std::span<const SparseMessage> sends, Inbox& inbox) {
  std::vector<SparseMessage> others;
  for (const SparseMessage& m : sends) {
    if (m.peer != rank) others.push_back(m);
    else std::copy_n(static_cast<const std::byte*>(m.data), m.bytes, inbox.add(rank, m.bytes));
  }
  return others;
}

const Forwarding& forwarding_of(Communicator& c, const schedule::Strategy& strategy) {
  return c.sparse.forwarding.try_emplace(&strategy, strategy, c.placement(), c.rank()).first->second;
}

}  // namespace

int exchange_sparsely(Communicator& c, const SparseWay& way, std::span<const SparseMessage> sends,
                      Inbox& inbox) {
  const std::vector<SparseMessage> others = keep_own(c.rank(), sends, inbox);
  const SparseCall call{.channel = c.channel(),
                        .size = c.size(),
                        .sends = others,
                        .odd = std::exchange(c.sparse.odd, !c.sparse.odd),
                        .inbox = inbox};
  const int code = way.straight != nullptr ? way.straight->perform(call)
                                           : combine(forwarding_of(c, *way.combining), call, c.requests);
  inbox.sort();
  return code;
}

}  // namespace wherry::run
