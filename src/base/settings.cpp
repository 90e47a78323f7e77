#include "base/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/nearest.hpp"

namespace wherry {
namespace {

constexpr std::string_view prefix = "WHERRY_";

constexpr Variable plain_variables[] = {
    {"WHERRY_DISABLE", "1: Wherry does nothing at all"},
    {"WHERRY_NO_PROFILE", "1: record no calls, sizes or times"},
    {"WHERRY_NO_COLLECTIVES", "1: every collective stays native"},
    {"WHERRY_NONBLOCKING", "1: perform nonblocking and persistent collectives too"},
    {"WHERRY_PROGRESS", "what progresses these: calls (of MPI; the default), or a thread as well"},
    {"WHERRY_NO_LEARNING", "1: follow the cost model and the tuning file, try nothing out"},
    {"WHERRY_NO_TRIAL", "1: no native stretches to compare with, and no gain claimed"},
    {"WHERRY_NO_TUNING", "1: neither read nor write the tuning file"},
    {"WHERRY_OUTPUT", "directory for the record of each rank; none: nothing is recorded"},
    {"WHERRY_TUNING_FILE", "what was learned; default wherry/tuning in the user's cache directory"},
    {"WHERRY_STAGING_MAX", "most bytes of staging per collective, with K, M or G, 4K to 1024G; default 256M"},
    {"WHERRY_SPARSE_EXCHANGE",
     "how sparse exchanges run: nbx, census, a strategy, native or auto (the default)"},
    {"WHERRY_CACHE",
     "what gets remember: transparent (the default), always, user (until invalidated) or off"},
    {"WHERRY_CACHE_CURVE",
     "ranges of each cached window that are followed for its miss-ratio curve in the record, to 1048576; "
     "default 0"},
    {"WHERRY_CACHE_CEILING", "most bytes of memory per cached window, with K, M or G, from 64K; default 64M"},
    {"WHERRY_CACHE_NODE",
     "bytes of memory that the ranks of a node share per cached window, with K, M or G, from 64K; default 0: "
     "none"},
    {"WHERRY_LAYOUT",
     "who packs derived datatypes: auto (the default; whoever is faster), native (the library) or wherry"},
    {"WHERRY_MEMORY",
     "memory that the program frees: auto (the default; malloc keeps it where page faults cost much), keep "
     "or leave"},
    {"WHERRY_REPRODUCIBLE", "1: reductions whose result depends on the order stay native"},
    {"WHERRY_WAIT",
     "how blocking calls wait: spin (in the library), yield (poll, give the core away) or auto (the "
     "default)"},
    {"WHERRY_RANKS_PER_NODE", "assume nodes of so many consecutive ranks; 0: ask MPI (the default)"},
    {"WHERRY_VERBOSE", "0: silent (the default); 1: say what was found; 2: say every decision"},
};

/// These, and one for each collective.
constexpr std::array known_variables = [] {
  std::array<Variable, std::size(plain_variables) + collectives> all{};
  auto* const rest = std::ranges::copy(plain_variables, all.begin()).out;
  std::ranges::transform(collective_names, rest, [](const CollectiveName& each) {
    return Variable{each.variable, "strategy of this collective: a name, native or auto (the default)"};
  });
  return all;
}();

/// Quotes a value from the environment for a message: cut to a readable length, with no control characters.
std::string quoted(std::string_view value) {
  constexpr std::size_t most = 60;
  std::string text = "'";
  for (const char c : value.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return text + (value.size() > most ? "...'" : "'");
}

std::optional<bool> parse_switch(std::string_view text) {
  for (const std::string_view on : {"1", "yes", "true", "on"})
    if (text == on) return true;
  for (const std::string_view off : {"0", "no", "false", "off"})
    if (text == off) return false;
  return std::nullopt;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The power of two that a size's suffix stands for; 0 if it has none.
int suffix_shift(std::string_view text) {
  switch (text.empty() ? '\0' : text.back()) {
    case 'K':
    case 'k': return 10;
    case 'M':
    case 'm': return 20;
    case 'G':
    case 'g': return 30;
    default: return 0;
  }
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const int shift = suffix_shift(text);
  if (shift != 0) text.remove_suffix(1);
  const std::optional<std::uint64_t> value = parse_number(text);
  if (!value || *value > UINT64_MAX >> shift) return std::nullopt;
  return *value << shift;
}

/// "a, b, c"
std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// Reads single variables and notes what cannot be understood. A variable that is set to nothing counts as
/// not set.
class Reader {
 public:
  Reader(const VariableReader& variable, std::vector<std::string>& problems)
      : variable_(variable), problems_(problems) {}

  std::string text(const char* name, std::string fallback = {}) const {
    const char* value = variable_ ? variable_(name) : nullptr;
    return value == nullptr || *value == '\0' ? std::move(fallback) : std::string(value);
  }

  bool flag(const char* name) {
    const std::string value = text(name, "0");
    const std::optional<bool> on = parse_switch(value);
    if (!on) note(name, value, "is neither 1 nor 0", "it counts as 0", "set it to 1 or unset it");
    return on.value_or(false);
  }

  std::size_t bytes(const char* name, std::size_t least, std::size_t most, std::size_t fallback) {
    const std::string value = text(name);
    if (value.empty()) return fallback;
    const std::optional<std::uint64_t> parsed = parse_bytes(value);
    // The default may be outside: it means none.
    if (parsed && (*parsed == fallback || (*parsed >= least && *parsed <= most)))
      return static_cast<std::size_t>(*parsed);
    note(name, value,
         parsed ? "is not between " + std::to_string(least) + " and " + std::to_string(most) + " bytes"
                : std::string("is not a size"),
         "the default of " + std::to_string(fallback) + " bytes is used",
         "write a whole number with K, M or G, such as 64M");
    return fallback;
  }

  std::string choice(const char* name, std::span<const std::string_view> values) {
    const std::string value = text(name, std::string(values.front()));
    if (std::ranges::find(values, value) != values.end()) return value;
    const std::string near(nearest(value, values)), usual(values.front());
    note(name, value, "is none of " + listed(values), usual + " is used",
         near.empty() ? "write one of these or unset it" : "did you mean '" + near + "'?");
    return usual;
  }

  ProgressBy progress(const char* name) {
    const std::string value = text(name, "calls");
    if (value != "calls" && value != "thread")
      note(name, value, "is neither calls nor thread", "it counts as calls", "set it to thread or unset it");
    return value == "thread" ? ProgressBy::thread : ProgressBy::calls;
  }

  WaitMode waits(const char* name) {
    constexpr std::string_view words[] = {"auto", "spin", "yield"};
    const std::string value = choice(name, words);
    return static_cast<WaitMode>(std::ranges::find(words, value) - std::begin(words));
  }

  MemoryLever memory(const char* name) {
    constexpr std::string_view values[] = {"auto", "keep", "leave"};
    const std::string value = choice(name, values);
    return value == "keep"    ? MemoryLever::keep
           : value == "leave" ? MemoryLever::leave
                              : MemoryLever::automatic;
  }

  LayoutLever layout(const char* name) {
    constexpr std::string_view words[] = {"auto", "native", "wherry"};
    const std::string value = choice(name, words);
    return static_cast<LayoutLever>(std::ranges::find(words, value) - std::begin(words));
  }

  int number(const char* name, int most) {
    const std::string value = text(name, "0");
    const std::optional<std::uint64_t> parsed = parse_number(value);
    if (parsed && *parsed <= static_cast<std::uint64_t>(most)) return static_cast<int>(*parsed);
    note(name, value, "is not a number from 0 to " + std::to_string(most), "0 is used",
         "write such a number or unset it");
    return 0;
  }

 private:
  void note(std::string_view name, std::string_view value, const std::string& why, const std::string& used,
            const std::string& instead) {
    problems_.push_back(std::string(name) + "=" + quoted(value) + " " + why + "; " + used + "; " + instead);
  }

  const VariableReader& variable_;
  std::vector<std::string>& problems_;
};

bool is_absolute(std::string_view path) { return !path.empty() && path.front() == '/'; }

/// The user's own file, by the XDG base directory rules: a cache directory that is not absolute is ignored.
std::string default_tuning_file(const Reader& read) {
  if (const std::string cache = read.text("XDG_CACHE_HOME"); is_absolute(cache))
    return cache + "/wherry/tuning";
  if (const std::string home = read.text("HOME"); is_absolute(home)) return home + "/.cache/wherry/tuning";
  return {};
}

Features read_features(Reader& read) {
  return {.profile = !read.flag("WHERRY_NO_PROFILE"),
          .collectives = !read.flag("WHERRY_NO_COLLECTIVES"),
          .learning = !read.flag("WHERRY_NO_LEARNING"),
          .trial = !read.flag("WHERRY_NO_TRIAL"),
          .nonblocking = read.flag("WHERRY_NONBLOCKING"),
          .tuning = !read.flag("WHERRY_NO_TUNING")};
}

constexpr Features no_features = {.profile = false,
                                  .collectives = false,
                                  .learning = false,
                                  .trial = false,
                                  .nonblocking = false,
                                  .tuning = false};

/// The WHERRY_* name of an entry "NAME=value", or empty.
std::string_view wherry_name(std::string_view entry) {
  const std::string_view name = entry.substr(0, entry.find('='));
  return name.starts_with(prefix) ? name : std::string_view{};
}

}  // namespace

Settings read_settings(const VariableReader& variable, bool secure) {
  Settings settings;
  if (secure) {
    settings.enabled = false;
    settings.features = no_features;
    return settings;
  }
  constexpr std::size_t least_staging = std::size_t{4} << 10;
  constexpr std::size_t most_staging = std::size_t{1} << 40;
  constexpr std::size_t least_cache = std::size_t{64} << 10;
  constexpr int most_ranks_per_node = 1 << 20;
  Reader read(variable, settings.problems);
  settings.enabled = !read.flag("WHERRY_DISABLE");
  settings.features = settings.enabled ? read_features(read) : no_features;
  settings.output = read.text("WHERRY_OUTPUT");
  settings.tuning_file = read.text("WHERRY_TUNING_FILE", default_tuning_file(read));
  settings.staging_max = read.bytes("WHERRY_STAGING_MAX", least_staging, most_staging, settings.staging_max);
  settings.reproducible = read.flag("WHERRY_REPRODUCIBLE");
  for (std::size_t i = 0; i < collectives; ++i)
    settings.strategies[i] = read.text(collective_names[i].variable.data(), settings.strategies[i]);
  settings.sparse_exchange = read.text("WHERRY_SPARSE_EXCHANGE", settings.sparse_exchange);
  settings.progress = read.progress("WHERRY_PROGRESS");
  constexpr std::string_view modes[] = {"transparent", "always", "user", "off"};
  settings.cache = read.choice("WHERRY_CACHE", modes);
  settings.cache_ceiling =
      read.bytes("WHERRY_CACHE_CEILING", least_cache, most_staging, settings.cache_ceiling);
  settings.cache_node = read.bytes("WHERRY_CACHE_NODE", least_cache, most_staging, settings.cache_node);
  settings.cache_curve = read.number("WHERRY_CACHE_CURVE", 1 << 20);
  settings.wait = read.waits("WHERRY_WAIT");
  settings.layout = read.layout("WHERRY_LAYOUT");
  settings.memory = read.memory("WHERRY_MEMORY");
  settings.ranks_per_node = read.number("WHERRY_RANKS_PER_NODE", most_ranks_per_node);
  settings.verbose = read.number("WHERRY_VERBOSE", 2);
  return settings;
}

std::span<const Variable> variables() { return known_variables; }

std::vector<std::string> unknown_variables(const char* const* environment) {
  std::vector<std::string_view> names;
  std::ranges::transform(known_variables, std::back_inserter(names), &Variable::name);
  std::vector<std::string> unknown;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view name = wherry_name(*environment);
    if (name.empty() || std::ranges::find(names, name) != names.end()) continue;
    unknown.push_back("unknown variable " + quoted(name) + " has no effect" + did_you_mean(name, names));
  }
  return unknown;
}

}  // namespace wherry
