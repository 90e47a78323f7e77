// The record's call paths.
#include "profile/recorder.hpp"

namespace wherry::profile {
namespace {

constexpr std::uint32_t paths_max = 1024;

/// 64 mixed bits stand for a path, as for a use.
std::uint64_t key_of_path(const PathEvent& event, std::span<const PathFrame> frames) {
  std::uint64_t key = mix(std::uint64_t{event.place} << 32 | event.function);
  for (const PathFrame& frame : frames)
    key = mix(mix(key ^ frame.at) + (std::uint64_t{frame.module} << 1 | (frame.kind != FrameKind::native)));
  return key;
}

}  // namespace

void Recorder::path(const PathEvent& event, std::span<const PathFrame> frames) {
  if (!is_open()) return;
  const std::uint64_t key = key_of_path(event, frames);
  const std::uint32_t* known = paths_.find(key);
  if (known == nullptr && file_.used(Table::paths) >= paths_max) return file_.drop(Table::paths);
  if (known == nullptr) known = &paths_.insert(key, add_path(event, frames));
  if (*known == none) return file_.drop(Table::paths);
  auto& record = file_.at<PathRecord>(Table::paths, *known);
  record.calls += event.calls;
  record.time_ns += event.time_ns;
  ++record.samples;
}

std::uint32_t Recorder::add_path(const PathEvent& event, std::span<const PathFrame> frames) {
  copy_modules();
  const std::uint32_t modules = file_.used(Table::modules);
  const Place& place = sites_.place(event.place);
  if (std::ranges::any_of(frames, [&](const PathFrame& frame) { return frame.module >= modules; }))
    return none;
  auto* record = file_.append<PathRecord>(Table::paths);
  if (record == nullptr) return none;
  record->function = event.function;
  record->module = place.module < modules ? place.module : none;
  record->site = place.offset;
  record->frames = static_cast<std::uint32_t>(std::min(frames.size(), path_frames));
  std::copy_n(frames.begin(), record->frames, record->frame);
  return file_.used(Table::paths) - 1;
}

}  // namespace wherry::profile
