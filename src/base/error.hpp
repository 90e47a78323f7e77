// The errors that pure code throws, and how it states what it needs.
//
// Messages say the problem, why it is one, and what to do. Pure code throws before it changes anything;
// src/run and src/interpose turn errors into MPI codes, so that none leaves through a C function.
#pragma once

#include <stdexcept>
#include <string>

namespace wherry {

/// The caller asked for something that cannot be: wrong arguments, unreadable or unwritable files.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A schedule breaks a law: it loses a block, sends one it does not hold, or waits for what never comes.
struct schedule_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A law inside Wherry does not hold: a defect of Wherry, not of its caller.
struct contract_error : std::logic_error {
  using std::logic_error::logic_error;
};

/// States what a caller must have given. Prefer a literal: a string is built even when all is well.
inline void require(bool holds, const char* message) {
  if (!holds) throw usage_error(message);
}
inline void require(bool holds, const std::string& message) {
  if (!holds) throw usage_error(message);
}

/// States what must hold whatever the caller gave.
inline void ensure(bool holds, const char* law) {
  if (!holds) throw contract_error(std::string("broken contract: ") + law + "; please report this");
}

}  // namespace wherry
