// Steps: work that may have to wait for other ranks, and can be left meanwhile.
#pragma once

namespace wherry::run {

/// Something that goes on until it has to wait, and is asked again.
class Step {
 public:
  virtual ~Step() = default;
  /// Goes on as far as possible. True: it is over, and must not be asked again.
  virtual bool advance() = 0;
  /// Once it is over: MPI_SUCCESS or the first error.
  virtual int code() const = 0;
};

}  // namespace wherry::run
