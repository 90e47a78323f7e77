#include "window/options.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <span>
#include <vector>

namespace wherry::window {
namespace {

using Text = std::optional<std::string>;

Text value_of(const mpi::Api& api, MPI_Info info, const char* key) {
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  if (api.Info_get(info, key, MPI_MAX_INFO_VAL, value, &found) != MPI_SUCCESS || found == 0)
    return std::nullopt;
  return std::string(value);
}

/// The power of two that K, M or G stands for.
int shift_of(char suffix) {
  switch (suffix) {
    case 'K': return 10;
    case 'M': return 20;
    case 'G': return 30;
    default: return 0;
  }
}

std::optional<std::size_t> parsed_number(std::string_view text) {
  const int shift = text.empty() ? 0 : shift_of(text.back());
  if (shift != 0) text.remove_suffix(1);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > SIZE_MAX >> shift)
    return std::nullopt;
  return value << shift;
}

std::string wrong(const char* key, const std::string& value, const char* why) {
  return "the info key " + std::string(key) + " is '" + value.substr(0, 60) + "', " + why;
}

constexpr std::size_t least_block_bytes = 64, most_block_bytes = std::size_t{1} << 20;

struct NumberKey {
  const char* key;
  std::size_t* value;
};

constexpr std::size_t most_memory = std::size_t{1024} << 30;

/// Empty: there may be so much.
std::string check_memory(const char* what, std::size_t bytes, std::size_t least, const char* instead) {
  const bool little = bytes < least;
  if (!little && bytes <= most_memory) return {};
  return std::string(what) + " is " + std::to_string(bytes) +
         (little ? " bytes, too little for a few entries; give at least 64K, or "
                 : " bytes, more than there can be; give at most 1024G, or ") +
         instead;
}

std::string read_numbers(const mpi::Api& api, MPI_Info info, Options& options) {
  for (const NumberKey& each : {NumberKey{"wherry_cache_ceiling", &options.cache.ceiling_bytes},
                                NumberKey{"wherry_cache_storage", &options.cache.storage_bytes},
                                NumberKey{"wherry_cache_entries", &options.cache.index_entries},
                                NumberKey{"wherry_cache_node", &options.node_bytes},
                                NumberKey{"wherry_cache_block", &options.block_bytes}}) {
    const Text text = value_of(api, info, each.key);
    if (!text) continue;
    const std::optional<std::size_t> value = parsed_number(*text);
    if (!value) return wrong(each.key, *text, "which is no number; write a whole one, with K, M or G");
    *each.value = *value;
  }
  if (std::string problem =
          check_memory("the ceiling of a window's cache (wherry_cache_ceiling)", options.cache.ceiling_bytes,
                       cache::least_ceiling, "do without the cache (wherry_cache=off)");
      !problem.empty())
    return problem;
  if (std::string problem = check_memory("the memory that a node shares for a window", options.node_bytes,
                                         options.node_bytes == 0 ? 0 : least_node_bytes,
                                         "0, which is none (wherry_cache_node)");
      !problem.empty())
    return problem;
  if (options.block_bytes != 0 &&
      (!std::has_single_bit(options.block_bytes) || options.block_bytes < least_block_bytes ||
       options.block_bytes > most_block_bytes))
    return "the blocks of a window's cache are " + std::to_string(options.block_bytes) +
           " bytes, which is no power of two from 64 to 1M; write one, or 0 for none (wherry_cache_block)";
  return {};
}

struct Switch {
  const char* key;
  bool* value;
};

std::string read_switches(const mpi::Api& api, MPI_Info info, Options& options) {
  for (const Switch& each : {Switch{"wherry_cache_adaptive", &options.cache.adaptive},
                             Switch{"wherry_cache_bypass", &options.bypass},
                             Switch{"wherry_cache_coalesce", &options.coalesces}}) {
    const Text text = value_of(api, info, each.key);
    if (!text) continue;
    if (*text != "0" && *text != "1")
      return wrong(each.key, *text, "which is neither 0 nor 1; write one of them");
    *each.value = *text == "1";
  }
  return {};
}

struct ModeName {
  std::string_view name;
  cache::Mode mode;
};
constexpr ModeName mode_names[] = {{"transparent", cache::Mode::transparent},
                                   {"always", cache::Mode::always_cache},
                                   {"user", cache::Mode::user_defined}};

/// False: no mode has this name; the options stay.
bool set_mode(Options& options, std::string_view name) {
  const auto* const row = std::ranges::find(mode_names, name, &ModeName::name);
  if (row == std::end(mode_names) && name != "off") return false;
  options.caching = name != "off";
  if (options.caching) options.cache.mode = row->mode;
  return true;
}

std::string read_modes(const mpi::Api& api, MPI_Info info, Options& options) {
  for (const char* key : {"clampi_mode", "wherry_cache"}) {
    const Text mode = value_of(api, info, key);
    if (mode && !set_mode(options, *mode))
      return wrong(key, *mode, "which is no mode; write transparent, always, user or off");
  }
  return {};
}

std::vector<std::string> keys_of(const mpi::Api& api, MPI_Info info) {
  std::vector<std::string> keys;
  int count = 0;
  if (api.Info_get_nkeys(info, &count) != MPI_SUCCESS) return keys;
  for (int i = 0; i < count; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = "";
    if (api.Info_get_nthkey(info, i, key) == MPI_SUCCESS) keys.emplace_back(key);
  }
  return keys;
}

std::string listed(std::span<const std::string_view> keys) {
  std::string text;
  for (const std::string_view key : keys) text += (text.empty() ? "" : ", ") + std::string(key);
  return text;
}

/// Those that look like Wherry's and are not; empty: there are none.
std::string remark_on_keys(const mpi::Api& api, MPI_Info info) {
  std::string remark;
  for (const std::string& key : keys_of(api, info)) {
    const auto is = [&](std::string_view known) { return known == key; };
    const auto begins = [&](std::string_view prefix) { return key.starts_with(prefix); };
    if (std::ranges::none_of(prefixes, begins) || std::ranges::any_of(asked_keys, is) ||
        std::ranges::any_of(told_keys, is))
      continue;
    remark += (remark.empty() ? "" : ", ") + key;
  }
  if (remark.empty()) return remark;
  return "what a window's info says by " + remark + " has no effect; there are " + listed(asked_keys);
}

}  // namespace

const char* name_of(cache::Mode mode) {
  return std::ranges::find(mode_names, mode, &ModeName::mode)->name.data();
}

Options options_of(const Settings& settings) {
  Options options;
  options.cache.ceiling_bytes = settings.cache_ceiling;
  options.cache.curve_samples = static_cast<std::size_t>(settings.cache_curve);
  options.node_bytes = settings.cache_node;
  set_mode(options, settings.cache);
  return options;
}

void read_info(const mpi::Api& api, MPI_Info info, Options& options) {
  if (info == MPI_INFO_NULL) return;
  options.remark = remark_on_keys(api, info);
  for (const auto read : {read_modes, read_numbers, read_switches})
    if (options.problem = read(api, info, options); !options.problem.empty()) return;
}

std::optional<std::string> told(const mpi::Api& api, MPI_Info info) {
  return info == MPI_INFO_NULL ? std::nullopt : value_of(api, info, "wherry_cache");
}

}  // namespace wherry::window
