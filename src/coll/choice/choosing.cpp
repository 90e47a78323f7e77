#include "coll/choice/choosing.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <span>

#include "base/floating_point.hpp"
#include "base/machine_name.hpp"
#include "coll/prepared/prepared_algorithm.hpp"
#include "coll/state/choices.hpp"
#include "coll/state/neighborhood.hpp"
#include "model/machine_constants.hpp"
#include "schedule/segments/segment_operation.hpp"
#include "tuning/shortlist.hpp"
#include "tuning/trials.hpp"

namespace wherry::run {

namespace {

/// Of the collective's name in the tuning file.
std::string_view suffix_of(Limit limit) {
  constexpr std::string_view suffixes[] = {"", ":in_place", ":in_order"};
  return suffixes[static_cast<std::size_t>(limit)];
}

std::optional<Algorithm> algorithm_of(std::span<const EstimatedAlgorithm> estimated, std::string_view name) {
  const auto found = std::ranges::find_if(
      estimated, [=](const EstimatedAlgorithm& estimate) { return estimate.algorithm.name() == name; });
  return found == estimated.end() ? std::nullopt : std::optional(found->algorithm);
}

/// Now, so that no candidate's first trial pays for its schedule.
void prepare(Communicator& c, std::span<const std::optional<Algorithm>> algorithms, const CellKey& key,
             int root) {
  for (const std::optional<Algorithm>& algorithm : algorithms) {
    if (algorithm) PreparedAlgorithm(c, *algorithm, key, root);
  }
}

/// Where the ranks are, and in a neighborhood who sends to whom.
unsigned long long placement_of(const Communicator& c, const CellKey& key) {
  const unsigned long long placement = c.placement().signature();
  return is_neighborhood(key.collective) ? placement ^ neighborhood_of(c)->graph().signature() : placement;
}

// Bytes of a block from which on a single trial may cost more than a short program can win.
constexpr long long least_limited_bytes = 64 << 10;

tuning::LearnerOptions options_for(const Communicator& c, const CellKey& key,
                                   const std::vector<tuning::Candidate>& candidates, bool is_simulated) {
  if (!c.agreement().learning) return tuning::no_trials;
  const bool are_long = tuning::are_long(candidates, c.placement(), machine_of(c));
  tuning::LearnerOptions options = are_long ? tuning::of_long_calls : tuning::LearnerOptions{};
  if (is_simulated) {
    // By a simulated machine's own constants fewer candidates hold the best one; each costs a call.
    options.exact = true;
    options.most_tried = 5;
  } else if (largest(key) >= least_limited_bytes) {
    options.affordable_s = 0;
  }
  return options;
}

}  // namespace

Choosing::Choosing(const Settings& settings, const mpi::Api& api,
                   std::shared_ptr<AlgorithmCandidates> candidates, Staging& staging,
                   const std::optional<model::Machine>& simulated, double (*now)())
    : settings_(settings),
      api_(api),
      machine_(machine_name()),
      library_(mpi::library_name(api)),
      candidates_(std::move(candidates)),
      staging_(staging),
      simulated_(simulated),
      now_(now),
      budget_(now) {}

Choice& Choosing::choice(Communicator& c, const CellKey& key, int root) {
  Choices& choices = c.state<Choices>();
  RecentChoice& recent = choices.recent[index_of(key.collective)];
  if (recent.choice == nullptr || recent.key != key) {
    std::unique_ptr<Choice>& entry = choices.learned[key];
    if (entry == nullptr) entry = first_choice(c, key, root);
    recent = {key, entry.get()};
  }
  return *recent.choice;
}

bool Choosing::reserve(Communicator& c, long long bytes) {
  // What whole elements need beyond even cuts is small; and calls that grow slowly must not ask each time.
  constexpr std::size_t least = std::size_t{64} << 10;
  if (static_cast<std::size_t>(bytes) <= c.reserved_staging()) return true;
  const std::size_t wanted =
      std::max(least, std::min(std::bit_ceil(static_cast<std::size_t>(bytes)), c.agreement().staging_max));
  const int mine = staging_.reserve(wanted);
  int all = 0;
  const int code = api_.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, c.channel().comm());
  if (code == MPI_SUCCESS && all != 0) return c.reserve_staging(wanted), true;
  c.limit_staging();
  for (FastPaths& paths : c.state<Choices>().fast_paths) paths.clear();  // their calls may be native now
  return false;
}

/// What all ranks have the memory for. At the second turn none is asked for that is not there.
Choosing::Shortlist Choosing::shortlist(Communicator& c, const CellKey& key) {
  for (;;) {
    Shortlist made{.estimated = candidates_->of(c, key), .candidates = {}};
    std::vector<tuning::Candidate> estimates;
    for (const EstimatedAlgorithm& estimate : made.estimated)
      estimates.push_back({std::string(estimate.algorithm.name()), expected_seconds(estimate)});
    made.candidates = computed([&] { return tuning::shortlist_for(key.collective, std::move(estimates)); });
    long long needed = 0;
    for (const EstimatedAlgorithm& estimate : made.estimated)
      if (std::ranges::find(made.candidates, estimate.algorithm.name(), &tuning::Candidate::name) !=
          made.candidates.end())
        needed = std::max(needed, estimate.staging_bytes);
    if (reserve(c, needed)) return made;
  }
}

std::unique_ptr<Choice> Choosing::first_choice(Communicator& c, const CellKey& key, int root) {
  settle_machine(c);
  auto [estimated, list] = shortlist(c, key);
  const Timing timing = computed([&] {
    return tuning::timing_for(schedule::segment_operation(key.collective), list, c.placement(),
                              machine_of(c));
  });
  tuning::Learner made = learner(c, key, std::move(list));
  std::vector<std::optional<Algorithm>> algorithms;
  for (const tuning::Candidate& candidate : made.candidates())
    algorithms.push_back(algorithm_of(estimated, candidate.name));
  prepare(c, algorithms, key, root);
  tuning::TrialBudget* const budget = made.is_limited() ? &budget_ : nullptr;
  const Comparison comparison = c.agreement().trial && made.is_watched()
                                    ? Comparison{&c.state<Choices>().trial, &budget_, now_}
                                    : Comparison{};
  return std::unique_ptr<Choice>(new Choice{
      Cell(std::move(made), c.channel(), c.size(), timing, budget, comparison), std::move(algorithms)});
}

bool Choosing::is_within(const Communicator& c, const CellKey& key, const Algorithm& algorithm,
                         const Limits& limits) {
  return candidates_->staging_bytes(c, key, algorithm, limits.unit_bytes) <=
         static_cast<long long>(limits.staging_max);
}

std::optional<Algorithm> Choosing::best_without_asking(Communicator& c, const CellKey& key,
                                                       const Limits& limits) {
  const OwnArithmetic arithmetic;
  const auto within = [&](const std::optional<Algorithm>& algorithm) {
    return !algorithm || is_within(c, key, *algorithm, limits);
  };
  Choices& choices = c.state<Choices>();
  const auto found = choices.learned.find(key);
  if (found != choices.learned.end() && found->second->cell.learner().settled())
    if (const std::optional<Algorithm>& won =
            found->second->algorithms[found->second->cell.learner().winner()];
        within(won))
      return won;
  const auto [entry, is_new] = choices.modelled.try_emplace({key, limits.staging_max});
  if (is_new) {
    const std::vector<EstimatedAlgorithm> estimated = candidates_->of(c, key, limits.staging_max);
    const auto best = std::ranges::min_element(
        estimated, {}, [this](const EstimatedAlgorithm& estimate) { return expected_seconds(estimate); });
    if (best != estimated.end()) entry->second = best->algorithm;
  }
  return within(entry->second) ? entry->second : std::nullopt;
}

std::pair<std::optional<Algorithm>, std::string_view> Choosing::named_without_asking(const Communicator& c,
                                                                                     const CellKey& key,
                                                                                     std::string_view name,
                                                                                     const Limits& limits) {
  const auto named = candidates_->named(c, key, name);
  if (!named.first || is_within(c, key, *named.first, limits)) return named;
  return {std::nullopt, "the strategy asked for may need more memory than every rank has reserved"};
}

std::pair<std::optional<Algorithm>, std::string_view> Choosing::named(Communicator& c, const CellKey& key,
                                                                      std::string_view name) {
  settle_machine(c);
  const std::vector<EstimatedAlgorithm> estimated = candidates_->of(c, key);
  const auto found = std::ranges::find_if(
      estimated, [=](const EstimatedAlgorithm& estimate) { return estimate.algorithm.name() == name; });
  if (found != estimated.end() && !reserve(c, found->staging_bytes))
    return {std::nullopt, "not every rank has the memory that the strategy asked for may need"};
  return candidates_->named(c, key, name);
}

tuning::TuningKey Choosing::tuning_key(Communicator& c, const CellKey& key) const {
  return {.machine = machine_,
          .mpi = library_,
          .ranks = c.size(),
          .placement = placement_of(c, key),
          .operation = std::string(name_of(key.collective)) + std::string(suffix_of(key.limit)),
          .bucket = key.bucket};
}

const tuning::TuningTable& Choosing::tuning_table() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(loaded_, true) && !settings_.tuning_file.empty())
    computed([this] { known_ = tuning::load_or_complain(settings_.tuning_file); });
  return known_;
}

/// The constants that rank 0 knows of this machine become those of all ranks, bit by bit: estimates decide what is
/// tried. Collective at the first call for c.
void Choosing::settle_machine(Communicator& c) {
  std::optional<model::Machine>& machine = c.state<Choices>().machine;
  if (!machine) machine = simulated_;
  if (machine) return;
  model::Constants constants = computed([] { return model::constants_of({}); });
  if (c.agreement().tuning && c.rank() == 0)
    if (const tuning::MachineRow* const row = tuning_table().find(tuning::MachineKey{machine_, library_}))
      constants = computed([&] { return model::constants_of(model::machine_with(row->constants)); });
  if (c.agreement().tuning)
    api_.Bcast(constants.data(), static_cast<int>(constants.size()), MPI_DOUBLE, 0, c.channel().comm());
  machine = computed([&] { return model::machine_with(constants); });
}

/// What rank 0 knows from earlier runs becomes what all ranks know. Collective.
tuning::Learner Choosing::learner(Communicator& c, const CellKey& key, std::vector<tuning::Candidate> list) {
  // Index among the candidates, seconds, native seconds; 0 seconds: not known.
  double earlier[3] = {-1, 0, 0};
  const tuning::TuningRow* const row =
      c.agreement().tuning && c.rank() == 0 ? tuning_table().find(tuning_key(c, key)) : nullptr;
  if (row != nullptr) {
    const auto at = std::ranges::find(list, row->strategy, &tuning::Candidate::name);
    if (at != list.end()) earlier[0] = static_cast<double>(at - list.begin());
    earlier[1] = row->seconds.value_or(0);
    earlier[2] = row->native_seconds.value_or(0);
  }
  if (c.agreement().tuning) api_.Bcast(earlier, 3, MPI_DOUBLE, 0, c.channel().comm());
  const OwnArithmetic arithmetic;
  const tuning::LearnerOptions options = options_for(c, key, list, simulated_.has_value());
  if (earlier[0] >= 0)
    return tuning::Learner::settled_on(std::move(list), static_cast<std::size_t>(earlier[0]), earlier[1],
                                       earlier[2], options);
  return c.agreement().learning ? tuning::Learner(std::move(list), options)
                                : tuning::Learner::by_model(std::move(list));
}

void Choosing::note(Communicator& c) {
  if (c.rank() != 0 || !c.agreement().tuning) return;
  const OwnArithmetic arithmetic;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, choice] : c.state<Choices>().learned) {
    const tuning::Learner& l = choice->cell.learner();
    // A choice from a single call is a guess: the next run had better learn for itself.
    if (!l.settled() || !l.proven()) continue;
    learned_.put({.key = tuning_key(c, key),
                  .strategy = l.candidates()[l.winner()].name,
                  .seconds = l.seconds(l.winner()),
                  .native_seconds = l.seconds(0),
                  .trials = static_cast<unsigned>(l.trials(l.winner()))});
  }
}

void Choosing::save() {
  if (!learned_.rows().empty() && !settings_.tuning_file.empty())
    computed([this] { tuning::save_or_complain(settings_.tuning_file, learned_); });
}

}  // namespace wherry::run
