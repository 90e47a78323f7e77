// A non-blocking collective under way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "run/staging.hpp"
#include "run/started/held_types.hpp"
#include "run/started/outcome.hpp"
#include "run/task.hpp"
#include "run/way.hpp"
#include "run/work.hpp"

namespace wherry::run {

/// Has all that one call needs until it is over, whatever the program frees meanwhile.
class Started {
 public:
  explicit Started(std::shared_ptr<Communicator> c)
      : communicator_(std::move(c)), types_(communicator_->channel().api()) {}
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  ~Started();

  // The arguments, to be read into these first.
  Blocks blocks;
  SegmentCall segments;

  /// Why the call cannot be left and taken up again, alike on all ranks; empty: it can.
  std::string_view problem() const;

  /// Says how the call will be performed, and lets go of the program's handles. key: of its cell.
  void prepare(const Way& way, const CellKey& key, Staging& staging);
  /// Makes the program's request. Returns an MPI code. Collective in its order: takes a tag.
  int open(MPI_Request* request);

  /// Goes on as far as possible. True: it is over; complete() must follow.
  bool advance();
  /// Completes the program's request.
  void complete();

  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }

 private:
  void hold_counts(Side& side);
  Task task();
  Work work();

  const std::shared_ptr<Communicator> communicator_;
  HeldTypes types_;
  std::vector<std::int64_t> counts_, displacements_;  // the program's, where blocks differ
  Requests requests_;
  std::optional<Tags::Number> number_;
  std::optional<Work> work_;
  Way way_;
  CellKey key_{};
  Staging* staging_ = nullptr;
  // Looked up when the call starts: later, another thread may be looking.
  const Prepared* prepared_ = nullptr;
  const Prepared* large_ = nullptr;
  const PreparedSegments* prepared_segments_ = nullptr;
  int judged_ = MPI_SUCCESS;  // what the library says to the arguments
  MPI_Request request_ = MPI_REQUEST_NULL;
  Outcome* outcome_ = nullptr;
};

}  // namespace wherry::run
