#include "coll/fast_path.hpp"

namespace wherry::run {

int FastPathCalls::run_observed(FastPath& fast_path, MPI_Comm comm, const Native& native) const {
  if (!fast_path.use) fast_path.use = context_.observer->use_of(comm, fast_path.key, native_name);
  if (*fast_path.use == Observer::no_use)
    return running_.run_native(comm, fast_path.key, fast_path.bytes, native);
  context_.observer->begins(*fast_path.use, fast_path.bytes);
  return native();
}

void FastPathCalls::open(Communicator& c, FastPath& fast_path, const Described& call) const {
  const Instruction::Kind asked = context_.instructions.of(call.key.collective).kind;
  if (asked == Instruction::Kind::named) return;
  if (!fast_path.lasts) fast_path.lasts = is_lasting(context_.api, fast_path.like);
  if (!*fast_path.lasts) return;
  fast_path.is_open = true;
  fast_path.is_learned = asked == Instruction::Kind::learn;
  fast_path.cell = nullptr;
  if (fast_path.is_learned) {
    Choice& choice = context_.choosing.choice(c, call.key, call.root);
    choice.cell.let_pass(!choice.algorithms[choice.cell.learner().winner()]);
    fast_path.cell = &choice.cell;
  }
  if (fast_path.key != call.key) fast_path.use.reset();
  fast_path.key = call.key;
  fast_path.bytes = call.bytes;
}

}  // namespace wherry::run
