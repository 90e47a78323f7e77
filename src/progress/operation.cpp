#include "progress/operation.hpp"

#include "coll/blocks/block_collectives.hpp"
#include "coll/neighborhood/neighborhood_collectives.hpp"
#include "coll/segments/segment_collectives.hpp"

namespace wherry::run {

/// Programs free the arrays while the call is under way, although they should not (MPI 4.1, 6.12): mpi4py does.
void NonblockingOperation::hold_counts(Side& side) {
  if (side.counts.empty()) return;
  for (int i = 0; i < side.pieces(); ++i) {
    counts_.push_back(side.counts[i]);
    displacements_.push_back(side.displacements[i]);
  }
  side.counts = counts_.data();
  side.displacements = displacements_.data();
}

void NonblockingOperation::hold_types() {
  for (Share& share : arguments.blocks.send) types_.hold(share.region.type);
  for (Share& share : arguments.blocks.receive) types_.hold(share.region.type);
  SegmentCall& segments = arguments.segments;
  for (MPI_Datatype* type : {&segments.in.type, &segments.out.type, &segments.type}) types_.hold(*type);
}

void NonblockingOperation::prepare_schedules(Communicator& c) {
  if (algorithm_.segments != nullptr) {
    prepared_segments_ = &c.prepared(*algorithm_.segments, algorithm_.depth, arguments.segments.root);
  } else if (algorithm_.neighbors != nullptr) {
    prepared_ = &c.neighborhood->prepared(*algorithm_.neighbors);
    large_ = &large_block_schedule(*c.neighborhood);
  } else {
    prepared_ = &c.prepared(*algorithm_.exchange);
    large_ = &large_block_schedule(c);
  }
}

schedule::Hops NonblockingOperation::hops() const {
  return algorithm_.neighbors != nullptr ? algorithm_.neighbors->hops : algorithm_.exchange->hops;
}

std::size_t NonblockingOperation::needed_bytes() const {
  if (prepared_segments_ != nullptr) return segment_staging(arguments.segments, *prepared_segments_);
  if (key_.collective == Collective::alltoall) return uniform_staging(arguments.blocks, hops(), *prepared_);
  return irregular_staging(hops(), *prepared_, combined_limit(key_.bucket));
}

void NonblockingOperation::prepare(const Algorithm& algorithm, const CellKey& key, Staging& staging) {
  Communicator& c = *communicator_;
  algorithm_ = algorithm;
  key_ = key;
  staging_ = &staging;
  prepare_schedules(c);
  staging_bytes_ = needed_bytes();
  argument_error_ = validate(c.channel().api(), arguments.blocks);
  if (arguments.joined) argument_error_ = first_error(argument_error_, arguments.joined->code());
  hold_counts(arguments.segments.out);  // no other side has blocks that differ
  hold_types();
}

bool NonblockingOperation::take_memory() {
  memory_ = staging_->lease(staging_bytes_, Patience::test);
  return memory_.is_granted();
}

bool NonblockingOperation::advance() {
  if (!has_tag()) return false;
  if (!work_) {
    const std::optional<std::byte*> place = memory();
    if (!place) return false;
    work_.emplace(work(*place));
  }
  return work_->advance();
}

Task NonblockingOperation::task() {
  return {*communicator_, {&communicator_->channel(), tag(), Patience::test}, requests_};
}

Work NonblockingOperation::work(std::byte* memory) {
  if (prepared_segments_ != nullptr)
    return segment_collective(task(), arguments.segments, *prepared_segments_, memory);
  if (key_.collective == Collective::alltoall)
    return uniform_exchange(task(), arguments.blocks, hops(), *prepared_, memory);
  return irregular_exchange(task(), arguments.blocks, hops(), *prepared_, *large_,
                            combined_limit(key_.bucket), memory);
}

void NonblockingOperation::complete() {
  const int code = first_error(work_->code(), argument_error_);
  work_.reset();
  close(code);
}

}  // namespace wherry::run
