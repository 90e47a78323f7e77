#include "coll/fast_path.hpp"

namespace wherry::run {

void FastPathCalls::end(FastPath& fast_path) {
  if (fast_path.made > 0) fast_path.choice->cell.learner().skip(fast_path.made);
  fast_path.made = fast_path.left = 0;
}

void FastPathCalls::grow(Communicator& c, const CallSignature& like, const Described& call) const {
  FastPath& fast_path = c.fast_path[index_of(call.key.collective)];
  if (fast_path.like != like) {
    fast_path = FastPath{};
    fast_path.like = like;
    return;
  }
  if (!is_learning(call.key.collective)) return;
  if (!fast_path.lasts) fast_path.lasts = is_lasting(context_.api, like);
  if (!*fast_path.lasts) return;
  Choice& choice = context_.choosing.choice(c, call.key, call.root);
  const tuning::Learner& learner = choice.cell.learner();
  if (learner.quiet() == 0 || choice.algorithms[learner.winner()]) return;
  fast_path.left = learner.quiet();
  fast_path.choice = &choice;
  fast_path.key = call.key;
  fast_path.bytes = call.bytes;
}

}  // namespace wherry::run
