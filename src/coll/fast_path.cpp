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
  look_at_types(fast_path);
  fast_path.is_open = fast_path.lasts != Lasting::never;
  if (!fast_path.is_open) return;
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

/// A program whose types are freed after each call gains nothing by having them watched.
void FastPathCalls::look_at_types(FastPath& fast_path) const {
  const std::uint64_t freed = context_.types.freed();
  const bool is_stale = fast_path.lasts == Lasting::watched && fast_path.freed_types != freed;
  if (is_stale) {
    fast_path.lasts = FastPaths::is_kept(fast_path) ? Lasting::unknown : Lasting::never;
    FastPaths::renew(fast_path);
  }
  if (fast_path.lasts == Lasting::unknown)
    fast_path.lasts = lasting(context_.api, context_.types, fast_path.like);
  fast_path.freed_types = freed;
}

}  // namespace wherry::run
