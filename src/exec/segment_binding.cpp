#include "exec/segment_binding.hpp"

#include <cstring>

namespace wherry::run {

namespace {

using schedule::Action;

}  // namespace

std::size_t SegmentBinding::working_bytes(const schedule::SegmentSchedule& schedule,
                                          const schedule::SegmentLayout& layout, const Cut& cut) {
  return static_cast<std::size_t>(schedule.slots + layout.most_segments) *
         static_cast<std::size_t>(cut.largest());
}

SegmentBinding::SegmentBinding(const schedule::SegmentSchedule& schedule,
                               const schedule::SegmentLayout& layout, const Cut& cut, const std::byte* source,
                               std::byte* buffer, std::byte* working, const Reduction* reduction)
    : schedule_(schedule),
      layout_(layout),
      cut_(cut),
      source_(source),
      buffer_(buffer),
      slots_(working),
      packed_(working + schedule.slots * cut.largest()),
      reduction_(reduction) {}

/// A barrier's message says all by coming. Where the counts of the blocks are the arguments of all ranks, none sends an
/// empty one. Else a rank may have another count than the others, by mistake: an empty message keeps them in step.
std::optional<Piece> SegmentBinding::of_no_bytes(const schedule::Transfer& t) const {
  return t.count > 0 && cut_.begins != nullptr ? std::nullopt : std::optional(Piece{});
}

std::optional<Piece> SegmentBinding::outgoing(const schedule::Transfer& t) {
  const long long bytes = bytes_of(t);
  if (bytes == 0) return of_no_bytes(t);
  const std::span<const schedule::SegmentRange> ranges = schedule_.ranges_of(t);
  if (ranges.size() == 1)
    return Piece{const_cast<std::byte*>(source_) + cut_.begin(ranges.front().first), bytes, MPI_BYTE};
  std::byte* const message = packed(schedule_.sends, layout_.send, t);
  std::byte* to = message;
  for (const schedule::SegmentRange& range : ranges) {
    const auto part = static_cast<std::size_t>(cut_.bytes(range));
    std::memcpy(to, source_ + cut_.begin(range.first), part);
    to += part;
  }
  return Piece{message, bytes, MPI_BYTE};
}

std::optional<Piece> SegmentBinding::incoming(const schedule::Transfer& t) {
  const long long bytes = bytes_of(t);
  if (bytes == 0) return of_no_bytes(t);
  if (t.action != Action::replace) return Piece{slot_of(t), bytes, MPI_BYTE};
  const std::span<const schedule::SegmentRange> ranges = schedule_.ranges_of(t);
  if (ranges.size() == 1) return Piece{buffer_ + cut_.begin(ranges.front().first), bytes, MPI_BYTE};
  return Piece{packed(schedule_.receives, layout_.receive, t), bytes, MPI_BYTE};
}

int SegmentBinding::arrived(const schedule::Transfer& t) {
  if (t.action != Action::replace) {
    landed_.push_back(&t);
    return MPI_SUCCESS;
  }
  if (t.count < 2) return MPI_SUCCESS;
  const std::byte* from = packed(schedule_.receives, layout_.receive, t);
  for (const schedule::SegmentRange& range : schedule_.ranges_of(t)) {
    const auto part = static_cast<std::size_t>(cut_.bytes(range));
    std::memcpy(buffer_ + cut_.begin(range.first), from, part);
    from += part;
  }
  return MPI_SUCCESS;
}

int SegmentBinding::phase_over() {
  int code = MPI_SUCCESS;
  std::byte* held = nullptr;
  for (const schedule::Transfer* t : landed_) {
    std::byte* incoming = slot_of(*t);
    if (t->action == Action::combine_before) {
      code = first_error(code, combine_before(*t));
      continue;
    }
    if (held != nullptr) {
      code = first_error(code, reduction_->before(incoming, held, bytes_of(*t)));
      incoming = held;
    }
    held = incoming;
    if (t->action != Action::combine_after) continue;
    code = first_error(code, combine_after(*t, incoming));
    held = nullptr;
  }
  landed_.clear();
  return code;
}

int SegmentBinding::combine_after(const schedule::Transfer& t, std::byte* with) {
  int code = MPI_SUCCESS;
  for (const schedule::SegmentRange& range : schedule_.ranges_of(t)) {
    code = first_error(code, reduction_->after(buffer_ + cut_.begin(range.first), with, cut_.bytes(range)));
    with += cut_.bytes(range);
  }
  return code;
}

int SegmentBinding::combine_before(const schedule::Transfer& t) {
  int code = MPI_SUCCESS;
  std::byte* with = slot_of(t);
  for (const schedule::SegmentRange& range : schedule_.ranges_of(t)) {
    code = first_error(code, reduction_->before(with, buffer_ + cut_.begin(range.first), cut_.bytes(range)));
    with += cut_.bytes(range);
  }
  return code;
}

long long SegmentBinding::bytes_of(const schedule::Transfer& t) const {
  long long sum = 0;
  for (const schedule::SegmentRange& range : schedule_.ranges_of(t)) sum += cut_.bytes(range);
  return sum;
}

std::byte* SegmentBinding::packed(const std::vector<schedule::Transfer>& all, const std::vector<int>& offsets,
                                  const schedule::Transfer& t) const {
  return packed_ + offsets[static_cast<std::size_t>(&t - all.data())] * cut_.largest();
}

std::byte* SegmentBinding::slot_of(const schedule::Transfer& t) const {
  return slots_ + t.slot * cut_.largest();
}

}  // namespace wherry::run
