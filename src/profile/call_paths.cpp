#include "profile/call_paths.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "profile/stack.hpp"

namespace wherry::profile {
namespace {

constexpr std::size_t script_lines = 3;

/// Whether a module calls the program's main(), or starts its threads.
bool starts_programs(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file.starts_with("libc.so") || file.starts_with("libpthread") || file.starts_with("ld-linux");
}

}  // namespace

/// The gap to the next is drawn uniformly below twice a power of two, which is about that share of the calls seen so far,
/// and less where calls are long.
std::uint64_t PathSampling::sample(SampledSite& place, bool affordable) {
  const std::uint64_t mean_ns = place.time_ns / place.seen;
  const std::uint64_t worth = std::max<std::uint64_t>(ns_each_ / std::max<std::uint64_t>(mean_ns, 1), 1);
  const std::uint64_t usual = std::bit_floor(std::min({place.seen / share + 1, worth, largest_gap}));
  const std::uint64_t gap = affordable ? usual : std::min(16 * usual, largest_gap);
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  place.left = random_ % (2 * gap - 1);
  return std::exchange(place.waiting, 0);
}

void CallPaths::find_interpreter() {
  python_.find();
  if (python_.is_there()) sampling_.set_cost(ns_each_of_script);
}

std::span<const PathFrame> CallPaths::path(std::uint32_t place) {
  const std::uint64_t where = python_.is_there() ? python_.where() : 0;
  if (where == 0) {
    find(place, path_);
    return {path_.frames.data(), path_.count};
  }
  KnownPath& known = known_[(where ^ place) % known_.size()];
  if (known.where != where || known.place != place || known.uses == KnownPath::most_uses) {
    known = {.where = where, .place = place, .uses = 0, .path = {}};
    find(place, known.path);
  }
  ++known.uses;
  return {known.path.frames.data(), known.path.count};
}

void CallPaths::find(std::uint32_t place, Path& path) {
  const Place site = sites_.place(place);
  const std::uint64_t base = site.module == ~0U ? 0 : sites_.modules()[site.module].base;
  const auto* const address = reinterpret_cast<const void*>(base + site.offset);
  std::array<const void*, deepest> callers;
  const std::size_t most = python_.is_there() ? deepest : path_frames;
  const std::span<const void* const> found(callers.data(),
                                           callers_of(address, {callers.data(), most}, python_.code()));
  path.count = 0;
  std::array<ScriptLine, script_lines> lines;
  const std::size_t script = python_.lines(lines);
  if (script == 0) add_native(path, found, path_frames, ~0U);
  else add_native(path, found, path_frames - script, site.module);
  for (std::size_t i = 0; i < script; ++i)
    add(path, {lines[i].line, sites_.script(lines[i].file), FrameKind::script_line});
}

/// Up to what calls main().
void CallPaths::add_native(Path& path, std::span<const void* const> callers, std::size_t most,
                           std::uint32_t but_module) {
  for (const void* const caller : callers) {
    if (path.count == most) return;
    const Place place = sites_.place(sites_.find(caller));
    if (place.module == ~0U) continue;
    const Module& module = sites_.modules()[place.module];
    if (starts_programs(module.path)) return;
    if (place.module != but_module) add(path, {place.offset, place.module, FrameKind::native});
  }
}

void CallPaths::add(Path& path, const PathFrame& frame) {
  if (path.count < path.frames.size()) path.frames[path.count++] = frame;
}

}  // namespace wherry::profile
