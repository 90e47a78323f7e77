#include "progress/operation.hpp"

#include "coll/blocks/block_collectives.hpp"

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

void NonblockingOperation::prepare(const Algorithm& algorithm, const CellKey& key, Staging& staging) {
  Communicator& c = *communicator_;
  algorithm_ = algorithm;
  key_ = key;
  staging_ = &staging;
  prepared_.emplace(c, algorithm, key, arguments.segments.root);
  staging_bytes_ = prepared_->staging_bytes(arguments, key);
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
    work_.emplace(prepared_->perform(task(), arguments, key_, *place));
  }
  return work_->advance();
}

Task NonblockingOperation::task() {
  return {*communicator_, {&communicator_->channel(), tag(), Patience::test}, requests_};
}

void NonblockingOperation::complete() {
  const int code = first_error(work_->code(), argument_error_);
  work_.reset();
  close(code);
}

}  // namespace wherry::run
