#include "window/fetch_plan.hpp"

#include <utility>

#include "cache/coalesce.hpp"

namespace wherry::window {
namespace {

constexpr std::size_t most_parts = 64;  // that are told apart in one get

}  // namespace

bool FetchPlan::note(cache::Answer answer, const cache::TargetRange& range, std::byte* to) {
  note_copies(answer, range, to);
  const bool waits_here = waits(answer);
  if (answer == cache::Answer::missing) note_missing(range, to);
  return waits_here;
}

/// What was copied, or will be; or nothing.
void FetchPlan::note_copies(cache::Answer answer, const cache::TargetRange& range, const std::byte* to) {
  if (waits(answer)) return common_.overlaps.note_coming(range, to, common_.operations.target(range).issued);
  const bool nothing =
      answer == cache::Answer::missing && common_.cache->missing().front().bytes == range.bytes;
  if (!nothing) common_.overlaps.note_written(range, to);
}

void FetchPlan::note_missing(const cache::TargetRange& range, std::byte* to) {
  for (const cache::Missing& each : common_.cache->missing()) {
    const MissingPart part{
        {range.target, range.displacement + each.offset, each.bytes}, to + each.offset, each.ticket};
    if (!found_on_node(part)) parts_.push_back(part);
  }
}

/// Then it is in its place, and in this rank's own cache.
bool FetchPlan::found_on_node(const MissingPart& part) {
  if (!common_.sharing.finds(common_.operations.target(part.range), part)) return false;
  common_.overlaps.note_written(part.range, part.to);
  if (part.ticket != 0) common_.cache->filled(part.ticket, part.to);
  return true;
}

bool FetchPlan::asks_for_all(std::uint64_t bytes) const {
  return parts_.size() > most_parts || (bytes_of(parts_) == bytes && !common_.options.coalesces);
}

/// Notes that something is fetched of a target for a get of so many bytes, and gives that a number.
SequenceNumber FetchPlan::begin(Target& target, int rank, std::uint64_t bytes) {
  target.cost_benefit.missed(bytes);
  ++fetched_;
  target.cost_benefit.settle(common_.options.bypass);
  target.reread |= target.written > target.completed;
  return common_.operations.issue(rank);
}

/// What has been asked for will come with the completion of its operation, unless that could not be started.
void FetchPlan::await(Target& target, const MissingPart& part, SequenceNumber sequence, int code) {
  if (code != MPI_SUCCESS) {
    if (part.ticket != 0) common_.cache->abandoned(part.ticket);
    return;
  }
  common_.sharing.expect(target, part, sequence);
  target.fetched.push_back({sequence, part.ticket, part.range, part.to});
  common_.overlaps.expect(part.to, part.range.bytes);
}

/// The get begins first: room for the data is made while they are coming.
int FetchPlan::fetch_absent(Target& target, const cache::TargetRange& range, std::byte* to, float score,
                            const Native& native) {
  const SequenceNumber sequence = begin(target, static_cast<int>(range.target), range.bytes);
  const int code = run_timed(target, range.bytes, native);
  // After an error, too, which is as rare as an entry that makes room for nothing.
  common_.cache->ask(range, score);
  await(target, {range, to, common_.cache->missing().front().ticket}, sequence, code);
  return code;
}

int FetchPlan::fetch(int rank, std::uint64_t bytes, const Native& native, bool all) {
  Target& target = common_.operations.target(rank);
  const SequenceNumber sequence = begin(target, rank, bytes);
  int code = MPI_SUCCESS;
  if (all) code = run_timed(target, bytes, native);
  else if (common_.options.coalesces) target.held.insert(target.held.end(), parts_.begin(), parts_.end());
  else
    code = run_timed(target, bytes_of(parts_),
                     [&] { return common_.library.get_parts(parts_, target.memory.unit); });
  for (const MissingPart& part : parts_) await(target, part, sequence, code);
  return code;
}

void FetchPlan::count_request(Target& target, std::uint64_t bytes) {
  target.cost_benefit.missed(bytes);
  ++fetched_;
}

int HeldFetches::send(int rank) {
  if (!common_.operations.is_rank(rank)) return MPI_SUCCESS;
  Target& target = common_.operations.target(rank);
  const int code = target.held.empty() ? MPI_SUCCESS : send_held(target);
  return code == MPI_SUCCESS && common_.overlaps.any() ? serve_waiters(target) : code;
}

int HeldFetches::send_all() {
  int code = MPI_SUCCESS;
  for (const int rank : common_.operations.open())
    if (const int sent = send(rank); sent != MPI_SUCCESS) code = sent;
  return code;
}

int HeldFetches::send_held(Target& target) {
  const std::vector<MissingPart> held = std::exchange(target.held, {});
  return run_timed(
      target, bytes_of(held), [&] { return send_joined(held, target.memory.unit); }, held.size());
}

/// With one get for what is adjacent.
int HeldFetches::send_joined(std::span<const MissingPart> held, std::int64_t unit) {
  std::vector<cache::Wanted> wanted;
  for (const MissingPart& part : held) wanted.push_back({part.range, wanted.size()});
  int code = MPI_SUCCESS;
  const auto send = [&](std::span<const MissingPart> parts) {
    if (code == MPI_SUCCESS) code = common_.library.get_parts(parts, unit);
  };
  for (const cache::CoalescedRange& joined : cache::coalesce(wanted)) {
    std::vector<MissingPart> parts;
    std::uint64_t bytes = 0;
    for (std::size_t i = joined.first; i < joined.first + joined.count; ++i) {
      parts.push_back(held[wanted[i].number]);
      bytes += parts.back().range.bytes;
    }
    // What overlaps was asked for several times, and goes to several places.
    if (bytes == joined.range.bytes && bytes <= most_bytes) send(parts);
    else
      for (const MissingPart& part : parts) send({&part, 1});
  }
  return code;
}

/// Who waits for what comes to a place where others write, too, asks for it himself.
int HeldFetches::serve_waiters(const Target& target) {
  int code = MPI_SUCCESS;
  for (const Fetched& each : target.fetched) {
    if (!each.aliased || each.ticket == 0) continue;
    common_.cache->release(each.ticket, [&](std::uint64_t skip, std::uint64_t bytes, std::byte* to) {
      const MissingPart part{{each.range.target, each.range.displacement + skip, bytes}, to, 0};
      if (code == MPI_SUCCESS) code = common_.library.get_parts({&part, 1}, target.memory.unit);
    });
  }
  return code;
}

}  // namespace wherry::window
