#include "window/options.hpp"

#include <bit>
#include <charconv>
#include <cstdint>

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

std::optional<std::size_t> number_of(std::string_view text) {
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

struct Number {
  const char* key;
  std::size_t* value;
};

std::string too_little(const char* what, std::size_t bytes, const char* instead) {
  return std::string(what) + " is " + std::to_string(bytes) +
         " bytes, too little for a few entries; give at least 64K, or " + instead;
}

std::string read_numbers(const mpi::Api& api, MPI_Info info, Options& options) {
  for (const Number& each : {Number{"wherry_cache_ceiling", &options.cache.ceiling_bytes},
                             Number{"wherry_cache_storage", &options.cache.storage_bytes},
                             Number{"wherry_cache_entries", &options.cache.index_entries},
                             Number{"wherry_cache_node", &options.node_bytes},
                             Number{"wherry_cache_block", &options.block_bytes}}) {
    const Text text = value_of(api, info, each.key);
    if (!text) continue;
    const std::optional<std::size_t> value = number_of(*text);
    if (!value) return wrong(each.key, *text, "which is no number; write a whole one, with K, M or G");
    *each.value = *value;
  }
  if (options.cache.ceiling_bytes < cache::least_ceiling)
    return too_little("the ceiling of a window's cache", options.cache.ceiling_bytes,
                      "do without the cache (wherry_cache=off)");
  if (options.node_bytes != 0 && options.node_bytes < least_node_bytes)
    return too_little("the memory that a node shares for a window", options.node_bytes,
                      "0, which is none (wherry_cache_node)");
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

}  // namespace

bool set_mode(Options& options, std::string_view mode) {
  struct Row {
    std::string_view name;
    cache::Mode mode;
  };
  constexpr Row rows[] = {{"transparent", cache::Mode::transparent},
                          {"always", cache::Mode::always_cache},
                          {"user", cache::Mode::user_defined}};
  options.caching = mode != "off";
  if (!options.caching) return true;
  for (const Row& row : rows)
    if (row.name == mode) return options.cache.mode = row.mode, true;
  return false;
}

std::string read_info(const mpi::Api& api, MPI_Info info, Options& options) {
  if (info == MPI_INFO_NULL) return {};
  for (const char* key : {"clampi_mode", "wherry_cache"}) {
    const Text mode = value_of(api, info, key);
    if (mode && !set_mode(options, *mode))
      return wrong(key, *mode, "which is no mode; write transparent, always, user or off");
  }
  if (std::string problem = read_numbers(api, info, options); !problem.empty()) return problem;
  return read_switches(api, info, options);
}

bool asks_to_invalidate(const mpi::Api& api, MPI_Info info) {
  return info != MPI_INFO_NULL && value_of(api, info, "wherry_cache") == "invalidate";
}

}  // namespace wherry::window
