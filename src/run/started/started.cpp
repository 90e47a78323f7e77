#include "run/started/started.hpp"

#include "run/perform.hpp"
#include "run/segments/perform.hpp"

namespace wherry::run {

/// Programs free the arrays while the call is under way, although they should not (MPI 4.1, 6.12): mpi4py does.
void Started::hold_counts(Side& side) {
  if (side.counts.empty()) return;
  for (int i = 0; i < side.pieces(); ++i) {
    counts_.push_back(side.counts[i]);
    displacements_.push_back(side.displacements[i]);
  }
  side.counts = counts_.data();
  side.displacements = displacements_.data();
}

void Started::prepare(const Way& way, const CellKey& key, Staging& staging) {
  Communicator& c = *communicator_;
  way_ = way;
  key_ = key;
  staging_ = &staging;
  if (way.exchange != nullptr) {
    prepared_ = &c.prepared(*way.exchange);
    large_ = &large_block_schedule(c);
  } else {
    prepared_segments_ = &c.prepared(*way.segments, way.depth, segments.root);
  }
  judged_ = judge(c.channel().api(), blocks);
  hold_counts(segments.out);  // no other side has blocks that differ
  for (Share& share : blocks.send) types_.hold(share.region.type);
  for (Share& share : blocks.receive) types_.hold(share.region.type);
  for (MPI_Datatype* type : {&segments.in.type, &segments.out.type, &segments.type}) types_.hold(*type);
}

int Started::begin() {
  const int code = open();
  if (code == MPI_SUCCESS) work_.emplace(work());
  return code;
}

Task Started::task() {
  return {*communicator_, {&communicator_->channel(), tag(), Patience::test}, requests_};
}

Work Started::work() {
  if (prepared_segments_ != nullptr)
    return segment_collective(task(), segments, *prepared_segments_, *staging_);
  if (key_.collective == Collective::alltoall)
    return uniform_exchange(task(), blocks, *way_.exchange, *prepared_, *staging_);
  return irregular_exchange(task(), blocks, way_.exchange->hops, *prepared_, *large_,
                            combined_limit(key_.bucket), *staging_);
}

void Started::complete() {
  const int code = first_error(work_->code(), judged_);
  work_.reset();  // gives the staging back
  close(code);
}

}  // namespace wherry::run
