// What does the cache make of a trace, and what could be made of it? No MPI; counts, the same on every machine.
//
//   bench_cache_replay --zipf 0.8 --shares 5,10,25
//   bench_cache_replay --trace lcc.trace --storages 64,1024 --entries 256,4096
// With --shares: hits with so many percent of the working set for entries, beside LRU's and two bounds for those who
// know the trace beforehand. With --storages (KiB) and --entries: hits from each of these settings, fixed and adaptive.
// Prints a JSON object a line. Exit code 2: wrong usage.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "replay/offline.hpp"
#include "replay/recorded.hpp"
#include "replay/simulation.hpp"

namespace {

using namespace wherry::cache;
using wherry::usage_error;

constexpr std::size_t epoch = 16;  // references between flushes, as lcc has them

/// Values by name.
class Options {
 public:
  Options(int argc, char** argv) {
    for (int i = 1; i < argc; i += 2) {
      const auto known = values_.find(argv[i]);
      if (known == values_.end()) throw usage_error(std::string("unknown option '") + argv[i] + "'");
      if (i + 1 == argc) throw usage_error(std::string(argv[i]) + " stands without its value");
      known->second = argv[i + 1];
    }
  }

  const std::string& text(const char* name) const { return values_.at(name); }
  bool has(const char* name) const { return !text(name).empty(); }
  double real(const char* name) const { return number(name, text(name)); }
  std::size_t whole(const char* name) const { return static_cast<std::size_t>(real(name)); }
  std::vector<double> list(const char* name) const {
    std::vector<double> all;
    std::istringstream words(text(name));
    for (std::string word; std::getline(words, word, ',');) all.push_back(number(name, word));
    return all;
  }

 private:
  static double number(const char* name, const std::string& word) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (word.empty() || *end != '\0' || !(value >= 0) || value > 1e9)
      throw usage_error(std::string(name) + ": '" + word + "' is not a number from 0 to 1e9");
    return value;
  }

  std::map<std::string, std::string, std::less<>> values_ = {
      {"--trace", ""}, {"--zipf", ""},   {"--normal", "0"},  {"--keys", "5000"},    {"--length", "60000"},
      {"--seed", "1"}, {"--shares", ""}, {"--storages", ""}, {"--entries", "4096"}, {"--ceiling", "65536"},
  };
};

replay::Trace trace_of(const Options& options) {
  if (options.has("--trace")) return replay::recorded(options.text("--trace"));
  const std::size_t keys = options.whole("--keys"), length = options.whole("--length");
  const auto seed = static_cast<unsigned>(options.whole("--seed"));
  if (keys == 0 || length == 0) throw usage_error("--keys and --length are at least 1");
  if (options.has("--zipf")) return replay::zipf("zipf", keys, options.real("--zipf"), length, 0, seed);
  if (options.real("--normal") > 0) return replay::normal("normal", keys, length, seed);
  throw usage_error("which trace? give --trace FILE, --zipf SKEW or --normal 1");
}

void at_share(const replay::Trace& trace, double percent) {
  constexpr std::size_t least = 4096;  // no storage is smaller, so neither are the others
  const std::size_t all = replay::working_set(trace);
  const std::size_t capacity =
      std::max(least, static_cast<std::size_t>(percent / 100 * static_cast<double>(all)));
  std::printf(
      "{\"share\": %g, \"bytes\": %zu, \"working_set\": %zu, \"references\": %zu, \"hits\": %zu, \"lru\": "
      "%zu, "
      "\"constant\": %.1f, \"foresight\": %.1f}\n",
      percent, capacity, all, trace.references.size(), replay::hits(trace, capacity),
      replay::least_recently_used(trace, capacity), replay::best_constant_contents(trace, capacity),
      replay::best_with_foresight(trace, capacity));
}

void from_setting(const replay::Trace& trace, const CacheOptions& options) {
  Cache cache(options);
  replay::simulate(cache, trace, epoch);
  const Statistics& s = cache.statistics();
  std::printf(
      "{\"storage_bytes\": %zu, \"index_entries\": %zu, \"adaptive\": %s, \"references\": %zu, \"hits\": "
      "%llu, "
      "\"evictions\": %llu, \"conflicts\": %llu, \"refused\": %llu, \"adjustments\": %llu, "
      "\"storage_bytes_at_end\": %zu, \"entries_at_end\": %zu, \"index_slots_at_end\": %zu, "
      "\"bytes_at_end\": %zu}\n",
      options.storage_bytes, options.index_entries, options.adaptive ? "true" : "false",
      trace.references.size(), static_cast<unsigned long long>(s.full_hits),
      static_cast<unsigned long long>(s.evictions), static_cast<unsigned long long>(s.conflicts),
      static_cast<unsigned long long>(s.refused), static_cast<unsigned long long>(s.adjustments),
      cache.storage_bytes(), cache.entries(), cache.index_slots(), cache.bytes());
}

void from_settings(const replay::Trace& trace, const Options& options) {
  const std::size_t ceiling = options.whole("--ceiling") << 10;
  for (const double kib : options.list("--storages"))
    for (const double entries : options.list("--entries"))
      for (const bool adaptive : {false, true})
        from_setting(trace, {.mode = Mode::always_cache,
                             .ceiling_bytes = ceiling,
                             .storage_bytes = static_cast<std::size_t>(kib) << 10,
                             .index_entries = static_cast<std::size_t>(entries),
                             .adaptive = adaptive});
}

void run(const Options& options) {
  if (!options.has("--shares") && !options.has("--storages"))
    throw usage_error("what is asked? give --shares LIST or --storages LIST");
  const replay::Trace trace = trace_of(options);
  for (const double percent : options.list("--shares")) at_share(trace, percent);
  from_settings(trace, options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(Options(argc, argv));
  } catch (const usage_error& error) {
    std::fprintf(stderr, "bench_cache_replay: %s\n", error.what());
    return 2;
  }
  return 0;
}
