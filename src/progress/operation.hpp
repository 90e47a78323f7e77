// A nonblocking operation: a collective that is begun, left, and resumed later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "coll/prepared/prepared_algorithm.hpp"
#include "coll/state/task.hpp"
#include "comm/staging.hpp"
#include "datatype/held_types.hpp"
#include "exec/coroutine.hpp"

namespace wherry::run {

/// The arguments of one collective, bound to the algorithm that performs it, and its execution while one is under way.
/// Has all that an execution needs until it is over, whatever the program frees meanwhile.
class NonblockingOperation {
 public:
  explicit NonblockingOperation(std::shared_ptr<Communicator> c)
      : communicator_(std::move(c)), types_(communicator_->channel().api()) {}
  NonblockingOperation(const NonblockingOperation&) = delete;
  NonblockingOperation& operator=(const NonblockingOperation&) = delete;
  virtual ~NonblockingOperation() = default;

  Arguments arguments;  // to be read first

  /// Says how the call will be performed, and lets go of the program's handles. key: of its cell.
  void prepare(const schedule::Algorithm& algorithm, const CellKey& key, Staging& staging);
  /// Takes the memory of all executions, once it is prepared; false: it could not be had.
  bool take_memory();
  const schedule::Algorithm& algorithm() const { return *algorithm_; }
  const CellKey& key() const { return key_; }

  /// Begins an execution; none may be under way. Returns an MPI code; after an error nothing has begun.
  int begin() { return open(); }
  /// Progresses as far as possible. True: it is over; complete() must follow.
  bool advance();
  /// Says so to whoever waits for it.
  void complete();

  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }

 protected:
  /// Of the memory that was taken.
  std::byte* taken() const { return memory_.data(); }
  void give_back_memory() { memory_ = {}; }
  std::size_t staging_bytes() const { return staging_bytes_; }

 private:
  /// Makes what an execution needs besides; an MPI code.
  virtual int open() = 0;
  virtual int tag() const = 0;
  /// Whether its tag is its own by now.
  virtual bool has_tag() const { return true; }
  /// Its memory, which may be of no bytes; nothing: it has none yet.
  virtual std::optional<std::byte*> memory() const { return taken(); }
  /// code: of the execution, which is over. Whoever it tells may begin the next at once.
  virtual void close(int code) = 0;

  void hold_counts(Side& side);
  void hold_types();
  Task task();

  const std::shared_ptr<Communicator> communicator_;
  datatype::HeldTypes types_;
  std::vector<std::int64_t> counts_, displacements_;  // the program's, where blocks differ
  Requests requests_;
  std::optional<Work> work_;
  std::optional<schedule::Algorithm> algorithm_;
  CellKey key_{};
  Staging* staging_ = nullptr;
  std::size_t staging_bytes_ = 0;  // that an execution takes
  Staging::Lease memory_;
  // Looked up when the call is prepared: later, another thread may be looking.
  std::optional<PreparedAlgorithm> prepared_;
  int argument_error_ = MPI_SUCCESS;  // what the library says to the arguments
};

}  // namespace wherry::run
