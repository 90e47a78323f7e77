#include "coll/segments/segment_collectives.hpp"

#include <algorithm>
#include <cstring>

#include "exec/block_bindings.hpp"
#include "exec/segment_binding.hpp"
#include "schedule/segments/ranges.hpp"

namespace wherry::run {

namespace {

/// Bytes of the collective's buffer, from first to end.
struct Span {
  long long first = 0;
  long long end = 0;
  long long bytes() const { return end - first; }
  bool holds(const Span& other) const {
    return other.bytes() == 0 || (first <= other.first && other.end <= end);
  }
};

Span hull(const Span& a, const Span& b) {
  if (a.bytes() == 0) return b;
  if (b.bytes() == 0) return a;
  return {std::min(a.first, b.first), std::max(a.end, b.end)};
}

Span common(const Span& a, const Span& b) {
  const long long first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.end, b.end))};
}

Span span_of(const Cut& cut, const schedule::SegmentRange& range) {
  return {cut.begin(range.first), cut.begin(range.end())};
}

Span span_of(const SegmentCall& call, const Side& side) {
  return {call.begin_of(side.first), call.begin_of(side.first + side.blocks)};
}

/// Where the buffer would begin if the side's memory were a piece of it.
std::byte* start_of(const SegmentCall& call, const Side& side) {
  return static_cast<std::byte*>(const_cast<void*>(side.piece(0).address)) - call.begin_of(side.first);
}

/// Bytes of a piece by the call's own measure.
long long bytes_due(const SegmentCall& call, const Side& side, int piece) {
  return side.whole ? span_of(call, side).bytes() : call.bytes_of(side.first + piece);
}

/// Whether the side's memory is as good as a piece of the buffer.
bool is_straight(const SegmentCall& call, const Side& side) {
  if (!side.facts.dense) return false;
  if (!call.differ) return side.piece_bytes(0) == call.block_bytes;
  const std::byte* const start = start_of(call, side);
  for (int i = 0; i < side.pieces(); ++i)
    if (bytes_due(call, side, i) > 0 && side.piece(i).address != start + call.begin_of(side.first + i))
      return false;
  return true;
}

/// Whose memory the schedule works on.
enum class Home {
  result,
  source,
  both,  // what leaves is the source's, what arrives the result's
  staging,
};

/// Whether the source keeps what is sent while results arrive. In place it does only where both lie alike, as pieces of
/// the buffer: then what arrives is none of what is sent.
bool source_stays_whole(const SegmentCall& call) {
  return call.in.piece(0).address != call.out.piece(0).address || call.in.first == call.out.first;
}

/// The result's, if it holds all that the schedule touches; the source's, if moreover nothing arrives there; both,
/// where a rank sends only what it had and gets only what it keeps, as in a reduce-scatter of one step.
Home home_of(const SegmentCall& call, const PreparedSegments& prepared, const Cut& cut) {
  const Span in = span_of(call, call.in), out = span_of(call, call.out);
  const Span touched = span_of(cut, prepared.reach);
  const bool has_out = call.out.blocks > 0 && is_straight(call, call.out);
  if (has_out && out.holds(touched) && out.holds(in)) return Home::result;
  const bool has_in = call.in.blocks > 0 && is_straight(call, call.in);
  if (!has_in || !in.holds(touched)) return Home::staging;
  if (prepared.schedule.receives.empty()) return Home::source;
  const bool is_split = has_out && prepared.sends_its_own && out.holds(span_of(cut, prepared.received));
  return is_split && source_stays_whole(call) ? Home::both : Home::staging;
}

/// Puts the blocks of `in` where they belong in the buffer.
int load(BlockPacker& packer, const SegmentCall& call, std::byte* buffer) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < call.in.pieces(); ++i) {
    std::byte* const to = buffer + call.begin_of(call.in.first + i);
    const datatype::Region from = call.in.piece(i);
    if (from.address == to) continue;  // in place
    code = first_error(code, packer.pack(from, call.in.facts.dense, to, call.in.piece_bytes(i)));
  }
  return code;
}

/// The part of the source that the result keeps, where both are as good as pieces of the buffer.
void copy_kept(const SegmentCall& call) {
  const Span kept = common(span_of(call, call.in), span_of(call, call.out));
  const std::byte* const from = start_of(call, call.in) + kept.first;
  std::byte* const to = start_of(call, call.out) + kept.first;
  if (kept.bytes() > 0 && from != to) std::memcpy(to, from, static_cast<std::size_t>(kept.bytes()));
}

int unload(BlockPacker& packer, const SegmentCall& call, const std::byte* buffer) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < call.out.pieces(); ++i) {
    const std::byte* const from = buffer + call.begin_of(call.out.first + i);
    const Share to{
        .region = call.out.piece(i), .bytes = call.out.piece_bytes(i), .dense = call.out.facts.dense};
    if (to.region.address == from) continue;
    code = first_error(code, packer.deliver(from, bytes_due(call, call.out, i), to));
  }
  return code;
}

Cut cut_of(const SegmentCall& call, int segments) {
  return {.units = call.total_bytes() / call.unit_bytes,
          .unit_bytes = call.unit_bytes,
          .segments = segments,
          .begins = call.differ ? &call.begins : nullptr,
          .widest = call.widest};
}

/// Where everything is.
struct Places {
  Places(const SegmentCall& call, const PreparedSegments& prepared)
      : cut(cut_of(call, prepared.schedule.segments)),
        working(SegmentBinding::working_bytes(prepared.schedule, prepared.layout, cut)) {
    home = home_of(call, prepared, cut);
    if (home != Home::staging) return;
    staged = hull(span_of(cut, prepared.reach), hull(span_of(call, call.in), span_of(call, call.out)));
  }

  Cut cut;
  std::size_t working;  // bytes
  Home home = Home::staging;
  Span staged;  // of the buffer, behind the working memory
};

}  // namespace

std::size_t segment_staging(const SegmentCall& call, const PreparedSegments& prepared) {
  const Places places(call, prepared);
  return places.working + static_cast<std::size_t>(places.staged.bytes());
}

Work segment_collective(Task task, const SegmentCall& call, const PreparedSegments& prepared,
                        std::byte* staging) {
  BlockPacker packer = packer_of(task);
  const Places places(call, prepared);
  const Home home = places.home;
  std::byte* const buffer = home == Home::source    ? start_of(call, call.in)
                            : home == Home::staging ? staging + places.working - places.staged.first
                                                    : start_of(call, call.out);
  const std::byte* const source = home == Home::both ? start_of(call, call.in) : buffer;
  int loaded = MPI_SUCCESS;
  if (home == Home::both) copy_kept(call);
  if (home == Home::result || home == Home::staging) loaded = load(packer, call, buffer);

  const Reduction reduction(task.c.channel().api(), call.op, call.type, call.unit_bytes,
                            commutes_bitwise(call.reduces));
  SegmentBinding binding(prepared.schedule, prepared.layout, places.cut, source, buffer, staging, &reduction);
  Execution execution(prepared.schedule, binding, task.lane, task.requests);
  const int executed = co_await execution;
  const int code = first_error(loaded, executed);
  const bool is_there = home == Home::result || home == Home::both;
  co_return is_there ? code : first_error(code, unload(packer, call, buffer));
}

int perform_segments(Communicator& c, const PreparedSegments& prepared, const SegmentCall& call,
                     Staging& staging) {
  const Staging::Lease lease = staging.lease(segment_staging(call, prepared), Patience::wait);
  if (!lease.is_granted()) return MPI_ERR_NO_MEM;
  return segment_collective(blocking_task(c), call, prepared, lease.data()).run();
}

}  // namespace wherry::run
