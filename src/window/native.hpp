// The library's own call with the program's own arguments, to be made if it is needed.
#pragma once

namespace wherry::window {

/// Refers to a callable that outlives it: a hit does not call it, and must not pay for a copy of the arguments.
class Native {
 public:
  template <class Call>
  explicit(false) Native(const Call& call)
      : call_(&call), run_([](const void* made) -> int { return (*static_cast<const Call*>(made))(); }) {}

  int operator()() const { return run_(call_); }

 private:
  const void* call_;
  int (*run_)(const void*);
};

}  // namespace wherry::window
