// The program's errno stays its own.
#pragma once

#include <cerrno>

namespace wherry {

/// Puts errno back at its end.
class OwnErrno {
 public:
  OwnErrno() : programs_(errno) {}
  OwnErrno(const OwnErrno&) = delete;
  OwnErrno& operator=(const OwnErrno&) = delete;
  ~OwnErrno() { errno = programs_; }

 private:
  int programs_;
};

}  // namespace wherry
