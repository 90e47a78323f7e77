#include "interpose/cached_windows.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <vector>

#include "base/floating_point.hpp"
#include "window/window_statistics.hpp"

namespace wherry::interpose {
namespace {

void tell(const std::string& problem) { std::fprintf(stderr, "wherry: %s\n", problem.c_str()); }

profile::Caching caching_of(const window::Windows::Known& known) {
  if (const window::Window* cached = known.window())
    return static_cast<profile::Caching>(cached->options().cache.mode);
  switch (known.why_not().value_or(window::Uncached::off)) {
    case window::Uncached::shared_memory: return profile::Caching::shared_memory;
    case window::Uncached::dynamic: return profile::Caching::dynamic;
    case window::Uncached::one_rank: return profile::Caching::one_rank;
    case window::Uncached::accelerator: return profile::Caching::accelerator;
    case window::Uncached::info: return profile::Caching::info;
    case window::Uncached::no_memory: return profile::Caching::no_memory;
    case window::Uncached::off: break;
  }
  return profile::Caching::off;
}

/// Of a window that is not cached the record says nothing if nobody reads it, nor if that was asked for, as Wherry's
/// own library does for its windows.
bool is_recorded(const window::Windows::Known& known) {
  return known.window() != nullptr || (known.passed() > 0 && known.why_not() != window::Uncached::off);
}

/// What a window has done, as far as the window itself knows.
profile::WindowRecord record_of(const window::WindowStatistics& s, profile::Caching caching) {
  profile::WindowRecord record{};
  record.caching = caching;
  window::tell(s, record);
  std::ranges::copy(s.cache.misses, record.misses);
  record.passed = s.passed;
  record.bypassed = s.bypassed;
  record.saved_ns = computed([&] { return static_cast<std::uint64_t>(s.seconds_saved * 1e9); });
  return record;
}

window::WindowStatistics statistics_of(const window::Windows::Known& known) {
  window::WindowStatistics s;
  if (known.window() != nullptr) s = known.window()->statistics();
  else s.passed = known.passed();
  return s;
}

/// What was not cached, by reason.
void book_not_cached(profile::Recorder& recorder, std::uint32_t row,
                     const window::WindowStatistics& statistics) {
  for (std::uint32_t why = 0; why < window::not_cached_reasons; ++why)
    if (const window::Amount& part = statistics.not_cached[why]; part.count > 0)
      recorder.not_cached({.window = row, .reason = why, .count = part.count, .bytes = part.bytes});
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

std::uint32_t missed_millionths(double part) {
  return computed([=] { return static_cast<std::uint32_t>(1e6 * part + 0.5); });
}

void book_course(profile::Recorder& recorder, std::uint32_t row, const Course& course) {
  for (const auto& [lookups, hits, bytes] : course.timeline)
    recorder.window_point(
        {.window = row, .reserved = 0, .lookups = lookups, .hits = hits, .storage_bytes = bytes});
  for (const auto& [bytes, missed] : course.curve)
    recorder.window_curve({.window = row, .missed_millionth = missed_millionths(missed), .bytes = bytes});
}

}  // namespace

window::Windows& CachedWindows::make() {
  window::Windows* made = get();
  if (made != nullptr) return *made;
  static std::mutex making;
  const std::lock_guard lock(making);
  made = get();
  if (made == nullptr)
    windows_.store(made = new window::Windows(patient_api_, tell), std::memory_order_release);
  return *made;
}

int CachedWindows::add(MPI_Win win, MPI_Comm comm, MPI_Info info, const window::TargetMemory& own) {
  window::Options options = window::options_of(settings_);
  window::read_info(api_, info, options);
  return make().add(win, comm, own, options);
}

void CachedWindows::note_strange_info(const std::string& value) {
  if (strange_info_told_.test_and_set()) return;
  tell("the info key wherry_cache of MPI_Win_set_info is '" + value.substr(0, 60) +
       "', which is neither 'invalidate' nor the window's mode; what was read is forgotten; give the mode "
       "when the window is made");
}

// ---- What windows have done, as the record has it ----

/// The window is asked before the lock is taken, for which other threads spin.
void CachedWindows::book(const window::Windows::Known& known) {
  if (!activity_.recording || !is_recorded(known)) return;
  const window::WindowStatistics statistics = statistics_of(known);
  profile::WindowRecord record = record_of(statistics, caching_of(known));
  const Course course(known.window());
  const std::lock_guard guard(recording_.lock);
  if (!recording_.is_ready()) return;
  const WinFacts* const facts = recording_.handles.window(known.win());
  record.comm = facts == nullptr ? profile::none : facts->comm;
  const std::uint32_t row = recording_.recorder.window(record);
  if (row == profile::none) return;
  book_not_cached(recording_.recorder, row, statistics);
  book_course(recording_.recorder, row, course);
}

}  // namespace wherry::interpose
