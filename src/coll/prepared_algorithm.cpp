#include "coll/prepared_algorithm.hpp"

#include "coll/blocks/block_collectives.hpp"
#include "coll/neighborhood/neighborhood_collectives.hpp"
#include "coll/segments/segment_collectives.hpp"

namespace wherry::run {

namespace {

bool is_uniform(const CellKey& key) { return key.collective == Collective::alltoall; }

std::variant<OnSegments, OnBlocks> prepared_on(Communicator& c, const Algorithm& algorithm, int root) {
  if (algorithm.segments != nullptr)
    return OnSegments{&c.prepared(*algorithm.segments, algorithm.depth, root)};
  if (algorithm.neighbors != nullptr)
    return OnBlocks{algorithm.hops(), &c.neighborhood->prepared(*algorithm.neighbors),
                    &large_block_schedule(*c.neighborhood)};
  return OnBlocks{algorithm.hops(), &c.prepared(*algorithm.exchange), &large_block_schedule(c)};
}

}  // namespace

PreparedAlgorithm::PreparedAlgorithm(Communicator& c, const Algorithm& algorithm, int root)
    : family_(prepared_on(c, algorithm, root)) {}

std::size_t OnSegments::staging_bytes(const Arguments& call, const CellKey&) const {
  return segment_staging(call.segments, *schedule);
}

Work OnSegments::perform(const Task& task, Arguments& call, const CellKey&, std::byte* staging) const {
  return segment_collective(task, call.segments, *schedule, staging);
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
