// How long do the exchanges of a radix sort take with plain MPI and with Wherry?
//
// Kumar's table (An Optimization Framework for Collective Communication, Charm++ Workshop 2003) sorts on 1024
// processors of Lemieux with messages of 2, 4 and 8 KB from each to each.
#include <algorithm>
#include <array>

#include "radix_sort/sorter.hpp"
#include "support/mpi/application.hpp"
#include "support/mpi/comm.hpp"

namespace {

using namespace radix_sort;

const std::vector<std::string> key_kinds = {"uniform", "few", "ordered"};  // as in Keys

struct Settings {
  apps::Common common;
  std::vector<int> sizes = {2048, 4096, 8192};
  int digit_bits = 0;  // 0: default_digit_bits
  Keys keys = Keys::uniform;
};

constexpr int key_bytes = sizeof(Key);
constexpr int most_bytes = 1 << 20;  // with 16,384 ranks, an int still counts the keys of one

std::vector<apps::Option> options_of(Settings& settings) {
  std::vector<apps::Option> options = {
      {"--sizes", "LIST", "bytes of keys from each rank to each, on average (default 2048,4096,8192)",
       [&](const std::string& text) { settings.sizes = apps::whole_numbers(text, key_bytes, most_bytes); }},
      {"--digit-bits", "N", "least bits of a digit (default 8, and enough for a value per rank)",
       [&](const std::string& text) { settings.digit_bits = apps::whole_number(text, 1, most_digit_bits); }},
      {"--keys", "KIND", "uniform, few (sixteen different keys) or ordered (default uniform)",
       [&](const std::string& text) { settings.keys = static_cast<Keys>(apps::one_of(text, key_kinds)); }},
  };
  std::ranges::move(apps::common_options(settings.common), std::back_inserter(options));
  return options;
}

void validate(const Settings& settings, int ranks) {
  for (const int size : settings.sizes)
    if (size % key_bytes != 0)
      throw apps::usage_error("--sizes: " + std::to_string(size) + " bytes are no whole number of keys of " +
                              std::to_string(key_bytes) + " bytes; write a multiple");
  constexpr int most_ranks = 1 << 14;
  if (ranks > most_ranks)
    throw apps::usage_error(std::to_string(ranks) + " ranks are too many for digits of " +
                            std::to_string(most_digit_bits) + " bits; start at most " +
                            std::to_string(most_ranks));
}

/// One side of the comparison.
struct Side {
  Side(const apps::Collectives& collectives, MPI_Comm comm) : with(collectives), passes(comm), sort(comm) {}
  const apps::Collectives& with;
  PassTimings passes;
  apps::Timings sort;
};

/// Sorts of one size, by both sides in turns.
class Comparison {
 public:
  Comparison(MPI_Comm comm, const Settings& settings, int message_bytes)
      : comm_(comm),
        message_bytes_(message_bytes),
        keys_(draw_mine(comm, settings.keys, message_bytes)),
        before_(all_contents(keys_, comm)),
        sorter_(comm, bits_of(settings, apps::size_of(comm)), keys_.size()),
        sides_{Side(apps::plain_mpi, comm), Side(apps::wherrys, comm)} {}

  /// Wherry learns; not timed.
  void train() {
    Side unused(apps::wherrys, comm_);
    sort(unused);
  }

  /// Which side comes first changes, so that what one leaves in the caches helps both alike.
  void turn(int number) {
    sort(sides_[static_cast<std::size_t>(number % 2)]);
    sort(sides_[static_cast<std::size_t>((number + 1) % 2)]);
  }

  std::vector<apps::Measurement> measurements() const {
    const auto& [plain, wherry] = sides_;
    const std::string name = std::to_string(message_bytes_) + " B";
    return {apps::measured(name, "counts", sizeof(int), plain.passes.counts, wherry.passes.counts),
            apps::measured(name, "keys", message_bytes_, plain.passes.keys, wherry.passes.keys),
            apps::measured(name, "whole sort", 0, plain.sort, wherry.sort)};
  }

  const std::string& problem() const { return problem_; }
  int passes() const { return sorter_.passes(); }

 private:
  static int bits_of(const Settings& settings, int ranks) {
    return settings.digit_bits > 0 ? settings.digit_bits : default_digit_bits(ranks);
  }

  static std::vector<Key> draw_mine(MPI_Comm comm, Keys kind, int message_bytes) {
    const auto count =
        static_cast<std::size_t>(message_bytes / key_bytes) * static_cast<std::size_t>(apps::size_of(comm));
    return draw(kind, static_cast<std::uint64_t>(apps::rank_of(comm)) * count, count);
  }

  void sort(Side& side) {
    std::vector<Key> keys = keys_;
    side.sort.time([&] { sorter_.sort(keys, side.with, side.passes); });
    if (problem_.empty()) problem_ = problem_of(keys, before_, comm_);
  }

  MPI_Comm comm_;
  int message_bytes_;
  std::vector<Key> keys_;
  Contents before_;
  Sorter sorter_;
  std::array<Side, 2> sides_;
  std::string problem_;
};

void run(Comparison& comparison, const apps::Common& common, const std::string& name,
         apps::Progress& progress) {
  for (int i = 0; i < common.train; ++i) {
    progress.show(name + ", learning", i, common.train);
    comparison.train();
  }
  for (int i = 0; i < common.turns; ++i) {
    progress.show(name + ", sorting", i, common.turns);
    comparison.turn(i);
  }
}

apps::Results work(const Settings& settings, MPI_Comm comm, apps::Progress& progress) {
  apps::Results results;
  for (const int size : settings.sizes) {
    Comparison comparison(comm, settings, size);
    run(comparison, settings.common, std::to_string(size) + " B", progress);
    std::ranges::move(comparison.measurements(), std::back_inserter(results.measurements));
    results.head = "radix sort of 64-bit keys in " + std::to_string(comparison.passes()) + " passes";
    if (!comparison.problem().empty()) {
      results.wrong = std::to_string(size) + " B: " + comparison.problem();
      return results;
    }
  }
  results.right = "after every sort, the keys of all ranks are in order and the same as before";
  return results;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  const apps::Application application = {
      .manual = {.program = "radix_sort",
                 .summary =
                     "Sorts 64-bit keys on all ranks with plain MPI and with Wherry, in turns, checks the "
                     "result and\n"
                     "prints how long the all-to-alls of a pass take: how many keys go where, and the keys.",
                 .examples = {"mpiexec -n 8 radix_sort",
                              "mpiexec -n 8 radix_sort --sizes 2048 --json sort.json",
                              "mpiexec -n 8 radix_sort --keys few --turns 5 --train 0"}},
      .options = options_of(settings),
      .common = settings.common,
      .validate = [&](int ranks) { validate(settings, ranks); },
      .work = [&](MPI_Comm comm, apps::Progress& progress) { return work(settings, comm, progress); },
  };
  return apps::run(argc, argv, application);
}
