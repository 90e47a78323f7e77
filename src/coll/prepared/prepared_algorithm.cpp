#include "coll/prepared/prepared_algorithm.hpp"

#include "coll/blocks/block_collectives.hpp"
#include "coll/segments/segment_collectives.hpp"
#include "coll/state/neighborhood.hpp"

namespace wherry::run {

namespace {

bool is_uniform(const CellKey& key) { return key.collective == Collective::alltoall; }

OnEdges on_edges(Communicator& c, const schedule::Strategy& strategy) {
  Neighborhood& n = *neighborhood_of(c);
  return {{strategy.hops, &n.prepared(strategy), &n.large_block_schedule()}};
}

OnBlocks on_blocks(Communicator& c, const schedule::Strategy& strategy, const CellKey& key) {
  const Prepared& made = prepared(c, strategy);
  const bool combines = strategy.hops == schedule::Hops::several && !is_uniform(key);
  return {strategy.hops, &made, combines ? &large_block_schedule(c) : &made};
}

std::variant<OnSegments, OnBlocks, OnEdges> prepared_on(Communicator& c, const schedule::Algorithm& algorithm,
                                                        const CellKey& key, int root) {
  using Family = std::variant<OnSegments, OnBlocks, OnEdges>;
  return algorithm.visit(
      [&](const schedule::Strategy& s) -> Family {
        if (is_neighborhood(key.collective)) return on_edges(c, s);
        return on_blocks(c, s, key);
      },
      [&](const schedule::SegmentStrategy& s, int depth) -> Family {
        return OnSegments{&prepared(c, s, depth, root)};
      });
}

}  // namespace

PreparedAlgorithm::PreparedAlgorithm(Communicator& c, const schedule::Algorithm& algorithm,
                                     const CellKey& key, int root)
    : family_(prepared_on(c, algorithm, key, root)) {}

int OnSegments::perform_now(Communicator& c, Arguments& call, const CellKey&, Staging& staging) const {
  return perform_segments(c, *schedule, call.segments, staging);
}

std::size_t OnSegments::staging_bytes(const Arguments& call, const CellKey&) const {
  return segment_staging(call.segments, *schedule);
}

Work OnSegments::perform(const Task& task, Arguments& call, const CellKey&, std::byte* staging) const {
  return segment_collective(task, call.segments, *schedule, staging);
}

int OnBlocks::perform_now(Communicator& c, Arguments& call, const CellKey& key, Staging& staging) const {
  if (is_uniform(key)) return perform_uniform(c, call.blocks, hops, *schedule, staging);
  return perform_irregular(c, call.blocks, hops, *schedule, *large, key.bucket, staging);
}

int OnEdges::perform_now(Communicator& c, Arguments& call, const CellKey& key, Staging& staging) const {
  const Ports& ports = neighborhood_of(c)->ports(key.collective);
  const Joined joined(c.channel().api(), call.neighbors, ports, c.size(), c.rank(), call.blocks);
  const int code = exchange_irregular(blocking_task(c), call.blocks, hops, *schedule, *large,
                                      combined_limit(key.bucket), staging);
  return first_error(joined.code(), code);
}

std::size_t OnBlocks::staging_bytes(const Arguments& call, const CellKey& key) const {
  return is_uniform(key) ? uniform_staging(call.blocks, hops, *schedule)
                         : irregular_staging(hops, *schedule, combined_limit(key.bucket));
}

Work OnBlocks::perform(const Task& task, Arguments& call, const CellKey& key, std::byte* staging) const {
  if (is_uniform(key)) return uniform_exchange(task, call.blocks, hops, *schedule, staging);
  return irregular_exchange(task, call.blocks, hops, *schedule, *large, combined_limit(key.bucket), staging);
}

}  // namespace wherry::run
