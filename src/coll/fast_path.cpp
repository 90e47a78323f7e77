#include "coll/fast_path.hpp"

#include <limits>

namespace wherry::run {

int FastPathCalls::run_observed(FastPath& fast_path, MPI_Comm comm, const Native& native) const {
  if (!fast_path.use) fast_path.use = context_.observer->use_of(comm, fast_path.key, native_name);
  if (*fast_path.use == Observer::no_use)
    return running_.run_native(comm, fast_path.key, fast_path.bytes, native);
  context_.observer->begins(*fast_path.use, fast_path.bytes);
  return native();
}

void FastPathCalls::end(FastPath& fast_path) {
  if (fast_path.made > 0 && fast_path.choice != nullptr)
    fast_path.choice->cell.learner().skip(fast_path.made);
  fast_path.made = fast_path.left = 0;
}

void FastPathCalls::grow(Communicator& c, const CallSignature& like, const Described& call) const {
  FastPath& fast_path = c.fast_path[index_of(call.key.collective)];
  if (fast_path.like != like) {
    fast_path = FastPath{};
    fast_path.like = like;
    return;
  }
  const Instruction::Kind asked = context_.instructions.of(call.key.collective).kind;
  if (asked == Instruction::Kind::named) return;
  if (!fast_path.lasts) fast_path.lasts = is_lasting(context_.api, like);
  if (!*fast_path.lasts) return;
  fast_path.is_learned = asked == Instruction::Kind::learn;
  if (fast_path.is_learned) grow_learned(c, fast_path, call);
  else stay_native(fast_path);
  if (fast_path.key != call.key) fast_path.use.reset();
  fast_path.key = call.key;
  fast_path.bytes = call.bytes;
}

void FastPathCalls::stay_native(FastPath& fast_path) {
  fast_path.left = std::numeric_limits<std::uint64_t>::max();
  fast_path.choice = nullptr;
  fast_path.trial = nullptr;
}

/// As long as native is the choice, or runs in the winner's place, and nothing is due.
void FastPathCalls::grow_learned(Communicator& c, FastPath& fast_path, const Described& call) const {
  Choice& choice = context_.choosing.choice(c, call.key, call.root);
  const tuning::Learner& learner = choice.cell.learner();
  const bool is_native = !choice.algorithms[learner.winner()];
  fast_path.trial = choice.cell.deciding_trial();
  fast_path.choice = &choice;
  fast_path.left = is_native || fast_path.trial != nullptr ? learner.calls_until_decision() : 0;
}

}  // namespace wherry::run
