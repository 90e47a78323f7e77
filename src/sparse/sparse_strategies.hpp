// The algorithms of a sparse exchange, in which no rank knows who sends to it: a table that can be read.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "comm/channel.hpp"
#include "schedule/blocks/block_strategy.hpp"
#include "sparse/inbox.hpp"
#include "topology/placement.hpp"

namespace wherry::run {

/// What a rank brings to one exchange.
struct SparseCall {
  const Channel& channel;
  int size;                              // ranks
  std::span<const SparseMessage> sends;  // all sound, none to this rank
  bool odd;                              // every second exchange on the channel; alike on all ranks
  Inbox& inbox;                          // what arrives is added, in any order of sources
};

/// One that sends every message straight to its destination. Collective over the channel; returns an MPI code. No rank
/// returns before all have entered: the tags rely on it (docs/design/0005-sparse-exchange.md).
struct SparseStrategy {
  std::string_view name;
  std::string_view summary;
  int (*perform)(const SparseCall& call);
};

/// How an exchange runs. One of the two is set, or neither: by native collectives.
struct SparseAlgorithm {
  const SparseStrategy* straight = nullptr;
  const schedule::Strategy* combining = nullptr;  // over the routes of a strategy for all-to-alls

  bool is_native() const { return straight == nullptr && combining == nullptr; }
  std::string_view name() const;
};

/// All that can be asked for.
std::vector<std::string_view> sparse_strategy_names();

/// What the setting asks for on such ranks: a name, or "auto". Native where there is no such algorithm. Pure: alike on
/// all ranks.
SparseAlgorithm sparse_algorithm(std::string_view asked, const topology::Placement& placement);

// Tags of sparse exchanges on Wherry's channel; no other messages have them.

inline constexpr int combined_records_tag = 8;
inline constexpr int further_records_tag = 9;
inline constexpr int by_itself_tag = 10;

/// Where any rank may send, a rank that is done must not disturb one that is not: exchanges take turns.
constexpr int straight_tag(bool odd) { return odd ? 12 : 11; }

// Census: a reduction tells every rank how many messages it will get; then it receives so many, from anybody.
// The personalized census of Hoefler, Siebert and Lumsdaine, PPoPP 2010. The reduction carries a number per rank.

int census(const SparseCall& call);

// NBX: messages are sent synchronously; when all of a rank's have been taken it enters a nonblocking barrier, and when
// that ends nothing is under way any more. No rank ever looks at all others.
// After Hoefler, Siebert and Lumsdaine, Scalable communication protocols for dynamic sparse data exchange, PPoPP 2010.

int nbx(const SparseCall& call);

}  // namespace wherry::run
