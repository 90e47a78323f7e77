#include "run/started/started.hpp"

#include "run/perform.hpp"
#include "run/segments/perform.hpp"

namespace wherry::run {

Started::~Started() {
  if (number_) communicator_->tags.give_back(*number_);
}

std::string_view Started::problem() const {
  const bool user = segments.reduces == Operator::user || segments.reduces == Operator::user_ordered;
  return user ? "the operation is the program's own, which may be freed before the call is over" : "";
}

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

int Started::open(MPI_Request* request) {
  int code = MPI_SUCCESS;
  outcome_ = Outcome::begin(communicator_->channel().api(), &request_, &code);
  if (outcome_ == nullptr) return code;
  *request = request_;
  number_ = communicator_->tags.take();
  work_.emplace(work());
  return MPI_SUCCESS;
}

Task Started::task() {
  const Lane lane{&communicator_->channel(), communicator_->tags.tag(*number_), Patience::test};
  return {*communicator_, lane, requests_};
}

Work Started::work() {
  if (prepared_segments_ != nullptr)
    return segment_collective(task(), segments, *prepared_segments_, *staging_);
  if (key_.collective == Collective::alltoall)
    return uniform_exchange(task(), blocks, *way_.exchange, *prepared_, *staging_);
  return irregular_exchange(task(), blocks, *way_.exchange, *prepared_, *large_, combined_limit(key_.bucket),
                            *staging_);
}

bool Started::advance() { return communicator_->tags.is_free(*number_) && work_->advance(); }

void Started::complete() {
  const mpi::Api& api = communicator_->channel().api();
  outcome_->code = first_error(work_->code(), judged_);
  api.Grequest_complete(request_);  // the outcome may be gone now
}

}  // namespace wherry::run
