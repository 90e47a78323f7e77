// The binding of segment schedules: one contiguous buffer, scratch memory, and perhaps an operation.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "arguments/segment_call.hpp"
#include "comm/channel.hpp"
#include "exec/reduction.hpp"
#include "schedule/segment_schedule.hpp"
#include "schedule/segments/packing.hpp"

namespace wherry::run {

/// Segments of bytes. A transfer of one range goes straight between the buffers; several are packed. What is to be
/// combined lands in scratch memory and is combined when its phase is over, in the order that the schedule asks for.
class SegmentBinding {
 public:
  /// Bytes of working memory that a rank needs.
  static std::size_t working_bytes(const schedule::SegmentSchedule& schedule,
                                   const schedule::SegmentLayout& layout, const Cut& cut);

  /// source, buffer: where segment 0 would begin, of what is sent and of what arrives; only segments that the schedule
  /// names are touched. They differ only if the rank sends nothing but its own. working: working_bytes().
  /// reduction: nullptr if the schedule combines nothing.
  SegmentBinding(const schedule::SegmentSchedule& schedule, const schedule::SegmentLayout& layout,
                 const Cut& cut, const std::byte* source, std::byte* buffer, std::byte* working,
                 const Reduction* reduction);

  std::optional<Piece> outgoing(const schedule::Transfer& t);
  std::optional<Piece> incoming(const schedule::Transfer& t);
  int arrived(const schedule::Transfer& t);
  int phase_over();

 private:
  long long bytes_of(const schedule::Transfer& t) const;
  std::optional<Piece> of_no_bytes(const schedule::Transfer& t) const;
  std::byte* packed(const std::vector<schedule::Transfer>& all, const std::vector<int>& offsets,
                    const schedule::Transfer& t) const;
  std::byte* slot_of(const schedule::Transfer& t) const;
  int combine_after(const schedule::Transfer& t, std::byte* with);
  int combine_before(const schedule::Transfer& t);

  const schedule::SegmentSchedule& schedule_;
  const schedule::SegmentLayout& layout_;
  const Cut& cut_;
  const std::byte* source_;
  std::byte* buffer_;
  std::byte* slots_;   // one of cut.largest() bytes per slot
  std::byte* packed_;  // messages of the current phase
  const Reduction* reduction_;
  std::vector<const schedule::Transfer*> landed_;  // to be combined, in the order of the schedule
};

}  // namespace wherry::run
