#include "coll/fast_path.hpp"

namespace wherry::run {

void QuietCalls::end(Quiet& quiet) {
  if (quiet.made > 0) quiet.choice->cell.learner().skip(quiet.made);
  quiet.made = quiet.left = 0;
}

void QuietCalls::grow(Communicator& c, const Likeness& like, const Described& call) const {
  Quiet& quiet = c.quiet[index_of(call.key.collective)];
  if (quiet.like != like) {
    quiet = Quiet{};
    quiet.like = like;
    return;
  }
  if (!is_learning(call.key.collective)) return;
  if (!quiet.lasts) quiet.lasts = is_lasting(parts_.api, like);
  if (!*quiet.lasts) return;
  Choice& choice = parts_.choosing.choice(c, call.key, call.root);
  const tuning::Learner& learner = choice.cell.learner();
  if (learner.quiet() == 0 || choice.ways[learner.winner()]) return;
  quiet.left = learner.quiet();
  quiet.choice = &choice;
  quiet.key = call.key;
  quiet.bytes = call.bytes;
}

}  // namespace wherry::run
