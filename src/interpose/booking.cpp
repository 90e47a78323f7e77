// What windows have done, as the record has it.
#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "interpose/backend.hpp"
#include "window/window_statistics.hpp"
#include "window/windows.hpp"

namespace wherry::interpose {

namespace {

/// nullopt: of such a window the record says nothing.
std::optional<profile::Caching> caching_of(const window::Windows::Known& known) {
  if (const window::Window* cached = known.window())
    return static_cast<profile::Caching>(cached->options().cache.mode);
  const std::optional<window::Uncached> why = known.why_not();
  if (why == window::Uncached::shared_memory) return profile::Caching::shared_memory;
  if (why == window::Uncached::dynamic) return profile::Caching::dynamic;
  return std::nullopt;
}

/// What a window has done, as far as the window itself knows.
profile::WindowRecord record_of(const window::Windows::Known& known, profile::Caching caching) {
  window::Statistics s;
  if (known.window() != nullptr) s = known.window()->statistics();
  else s.passed = known.passed();
  profile::WindowRecord record{};
  record.caching = caching;
  window::tell(s, record);
  std::ranges::copy(s.cache.misses, record.misses);
  record.passed = s.passed;
  record.bypassed = s.bypassed;
  record.saved_ns = static_cast<std::uint64_t>(s.seconds_saved * 1e9);
  return record;
}

/// How it came to that; of a window that is not cached nothing.
struct Course {
  explicit Course(const window::Window* window) {
    if (window == nullptr) return;
    timeline = window->timeline();
    curve = window->miss_ratio_curve();
  }
  std::vector<cache::Timeline::Point> timeline;
  std::vector<cache::MissRatioCurve::Point> curve;
};

void book_course(profile::Recorder& recorder, std::uint32_t row, const Course& course) {
  for (const auto& [lookups, hits, bytes] : course.timeline)
    recorder.window_point(
        {.window = row, .reserved = 0, .lookups = lookups, .hits = hits, .storage_bytes = bytes});
  for (const auto& [bytes, missed] : course.curve)
    recorder.window_curve(
        {.window = row, .missed_millionth = static_cast<std::uint32_t>(1e6 * missed + 0.5), .bytes = bytes});
}

}  // namespace

/// The window is asked before the lock is taken, for which other threads spin.
void Backend::book(const window::Windows::Known& known) {
  const std::optional<profile::Caching> caching = caching_of(known);
  if (!recording_ || !caching) return;
  profile::WindowRecord record = record_of(known, *caching);
  const Course course(known.window());
  const std::lock_guard guard(lock);
  if (!is_ready()) return;
  const WinFacts* const facts = handles.window(known.win());
  record.comm = facts == nullptr ? profile::none : facts->comm;
  const std::uint32_t row = recorder.window(record);
  if (row != profile::none) book_course(recorder, row, course);
}

}  // namespace wherry::interpose
