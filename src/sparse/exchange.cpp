#include "sparse/exchange.hpp"

#include <algorithm>
#include <utility>

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

const Forwarding& forwarding_of(const SparseContext& context, const schedule::Strategy& strategy) {
  return context.state.forwarding.try_emplace(&strategy, strategy, context.placement, context.rank)
      .first->second;
}

}  // namespace

int exchange_sparsely(const SparseContext& context, const SparseAlgorithm& algorithm,
                      std::span<const SparseMessage> sends, Inbox& inbox) {
  const std::vector<SparseMessage> others = keep_own(context.rank, sends, inbox);
  const SparseCall call{.channel = context.channel,
                        .size = context.placement.size(),
                        .sends = others,
                        .odd = std::exchange(context.state.odd, !context.state.odd),
                        .inbox = inbox};
  const int code = algorithm.straight != nullptr
                       ? algorithm.straight->perform(call)
                       : combine(forwarding_of(context, *algorithm.combining), call, context.requests);
  inbox.sort();
  return code;
}

}  // namespace wherry::run
