#include "run/segments/perform.hpp"

namespace wherry::run {

namespace {

constexpr int segments_tag = 4;

}  // namespace

PreparedSegments prepare(const plan::SegmentStrategy& strategy, const plan::Shape& shape, int rank,
                         const plan::Parameters& parameters) {
  PreparedSegments made;
  made.schedule = plan::schedule(strategy, shape, rank, parameters);
  made.layout = layout_of(made.schedule);
  return made;
}

int perform_segments(const Channel& channel, const PreparedSegments& prepared, const Cut& cut,
                     std::byte* buffer, const Reduction* reduction, Requests& requests, Staging& staging) {
  const Staging::Lease working =
      staging.lease(SegmentBinding::working_bytes(prepared.schedule, prepared.layout, cut));
  if (working.data() == nullptr) return MPI_ERR_NO_MEM;
  SegmentBinding binding(prepared.schedule, prepared.layout, cut, buffer, working.data(), reduction);
  return execute(prepared.schedule, binding, channel, segments_tag, requests);
}

}  // namespace wherry::run
