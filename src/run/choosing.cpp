#include "run/choosing.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <span>

#include "choose/shortlist.hpp"
#include "run/machine.hpp"

namespace wherry::run {

namespace {

/// Of the collective's name in the tuning file.
std::string_view suffix_of(Limit limit) {
  constexpr std::string_view suffixes[] = {"", ":in_place", ":in_order"};
  return suffixes[static_cast<std::size_t>(limit)];
}

/// Barriers where the model expects every candidate to take much longer than one.
Trials trials_for(const plan::Shape& shape, const std::vector<choose::Candidate>& candidates) {
  constexpr double much = 20;
  const plan::Machine machine;
  const double latency_s = shape.nodes() > 1 ? machine.latency_between_s : machine.latency_within_s;
  const double barrier_s = latency_s * std::bit_width(static_cast<unsigned>(shape.size() - 1));
  const auto is_long = [&](const choose::Candidate& c) { return c.predicted_s > much * barrier_s; };
  const bool all_long = std::all_of(candidates.begin() + 1, candidates.end(), is_long);
  return all_long ? Trials::after_barriers : Trials::as_they_come;
}

std::optional<Way> way_of(std::span<const Offered> offered, std::string_view name) {
  const auto found = std::ranges::find_if(offered, [=](const Offered& o) { return o.way.name() == name; });
  return found == offered.end() ? std::nullopt : std::optional(found->way);
}

/// Now, so that no candidate's first trial pays for its schedule.
void prepare(Communicator& c, std::span<const std::optional<Way>> ways, int root) {
  for (const std::optional<Way>& way : ways) {
    if (way && way->exchange != nullptr) c.prepared(*way->exchange);
    if (way && way->segments != nullptr) c.prepared(*way->segments, way->depth, root);
  }
}

choose::LearnerOptions options_for(const Communicator& c, const std::vector<choose::Candidate>& candidates) {
  if (!c.terms().learning) return choose::no_trials;
  // The agreement after a look costs next to nothing beside long calls: they need not save on looks.
  constexpr std::uint64_t soon = 64;
  choose::LearnerOptions options;
  if (trials_for(c.shape(), candidates) == Trials::after_barriers) options.look_first = soon;
  return options;
}

}  // namespace

Choosing::Choosing(const Settings& settings, const mpi::Api& api, std::shared_ptr<Offers> offers)
    : settings_(settings),
      api_(api),
      machine_(machine_name()),
      library_(library_name(api)),
      offers_(std::move(offers)) {}

Choice& Choosing::choice(Communicator& c, const CellKey& key, int root) {
  std::unique_ptr<Choice>& entry = c.choices[key];
  if (entry) return *entry;
  const std::vector<Offered> offered = offers_->of(c, key);
  std::vector<choose::Candidate> priced;
  for (const Offered& o : offered) priced.push_back({std::string(o.way.name()), o.predicted_s});
  choose::Learner made = learner(c, key, choose::shortlist(std::move(priced)));
  std::vector<std::optional<Way>> ways;
  for (const choose::Candidate& candidate : made.candidates())
    ways.push_back(way_of(offered, candidate.name));
  prepare(c, ways, root);
  const Trials trials = trials_for(c.shape(), made.candidates());
  entry.reset(new Choice{Cell(std::move(made), c.channel(), c.size(), trials), std::move(ways)});
  return *entry;
}

choose::TuningKey Choosing::tuning_key(Communicator& c, const CellKey& key) const {
  return {.machine = machine_,
          .mpi = library_,
          .ranks = c.size(),
          .placement = c.shape().signature(),
          .operation = std::string(name_of(key.collective)) + std::string(suffix_of(key.limit)),
          .bucket = key.bucket};
}

const choose::TuningRow* Choosing::remembered(const choose::TuningKey& key) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(loaded_, true) && !settings_.tuning_file.empty())
    known_ = choose::load_or_complain(settings_.tuning_file);
  return known_.find(key);  // the table does not change any more
}

/// What rank 0 knows from earlier runs becomes what all ranks know. Collective.
choose::Learner Choosing::learner(Communicator& c, const CellKey& key, std::vector<choose::Candidate> list) {
  double known[3] = {-1, 0, 0};  // index among the candidates, seconds, native seconds
  const choose::TuningRow* const row =
      c.terms().tuning && c.rank() == 0 ? remembered(tuning_key(c, key)) : nullptr;
  if (row != nullptr) {
    const auto at = std::ranges::find(list, row->strategy, &choose::Candidate::name);
    if (at != list.end()) known[0] = static_cast<double>(at - list.begin());
    known[1] = row->seconds;
    known[2] = row->native_seconds;
  }
  if (c.terms().tuning) api_.Bcast(known, 3, MPI_DOUBLE, 0, c.channel().comm());
  const choose::LearnerOptions options = options_for(c, list);
  if (known[0] >= 0)
    return choose::Learner::settled_on(std::move(list), static_cast<std::size_t>(known[0]), known[1],
                                       known[2], options);
  return c.terms().learning ? choose::Learner(std::move(list), options)
                            : choose::Learner::by_model(std::move(list));
}

void Choosing::note(Communicator& c) {
  if (c.rank() != 0 || !c.terms().tuning) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, choice] : c.choices) {
    const choose::Learner& l = choice->cell.learner();
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
    choose::save_or_complain(settings_.tuning_file, learned_);
}

}  // namespace wherry::run
