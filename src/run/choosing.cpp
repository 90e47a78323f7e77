#include "run/choosing.hpp"

#include <algorithm>
#include <bit>
#include <climits>

#include "run/machine.hpp"
#include "run/perform.hpp"

namespace wherry::run {

namespace {

/// Staging of a combining strategy on any rank; in place the data to send is copied as well.
std::size_t staging_bytes(const Communicator& c, const CellKey& key, const choose::Offer& offer) {
  const int slots = offer.traffic.most_slots;
  if (key.operation != Operation::alltoall) return combined_staging(slots, c.size(), key.bucket);
  const int copies = key.in_place ? c.size() : 0;
  return uniform_staging(slots + copies, c.size(), largest_block(key));
}

/// Whether every rank can run the strategy within its terms.
bool fits(const Communicator& c, const CellKey& key, const choose::Offer& offer) {
  const plan::Strategy& s = *offer.strategy;
  if (key.operation != Operation::alltoall && key.in_place) return s.name == in_place_strategy;
  const bool copies = s.hops == plan::Hops::several || key.in_place;
  if (!copies) return true;
  const std::size_t most = std::min<std::size_t>(c.terms().staging_max, INT_MAX);
  return c.terms().host_memory && key.bucket < 32 && staging_bytes(c, key, offer) <= most;
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

choose::LearnerOptions options_for(const Communicator& c, const std::vector<choose::Candidate>& candidates) {
  if (!c.terms().learning) return choose::no_trials;
  // The agreement after a look costs next to nothing beside long calls: they need not save on looks.
  constexpr std::uint64_t soon = 64;
  choose::LearnerOptions options;
  if (trials_for(c.shape(), candidates) == Trials::after_barriers) options.look_first = soon;
  return options;
}

}  // namespace

long long largest_block(const CellKey& key) { return key.bucket == 0 ? 1 : 1LL << (key.bucket - 1); }

Choosing::Choosing(const Settings& settings, const mpi::Api& api)
    : settings_(settings), api_(api), machine_(machine_name()), library_(library_name(api)) {}

/// What applies to these ranks; communicators of one shape share the counting.
const std::vector<choose::Offer>& Choosing::offers(const Communicator& c) {
  const std::lock_guard lock(mutex_);
  std::vector<choose::Offer>& known = surveys_[{c.size(), c.shape().signature()}];
  if (known.empty()) known = choose::survey(c.shape());
  return known;  // entries of a map stay where they are
}

std::pair<const plan::Strategy*, std::string_view> Choosing::named(Communicator& c, const CellKey& key,
                                                                   const plan::Strategy* strategy) {
  const std::vector<choose::Offer>& known = offers(c);
  const auto offer = std::ranges::find(known, strategy, &choose::Offer::strategy);
  if (offer == known.end())
    return {nullptr, "the strategy asked for does not exist or does not apply to these ranks"};
  if (!fits(c, key, *offer))
    return {nullptr, "the strategy asked for needs more staging than allowed, or host memory"};
  return {offer->strategy, ""};
}

Cell& Choosing::cell(Communicator& c, const CellKey& key) {
  std::unique_ptr<Cell>& entry = c.cells[key];
  if (entry) return *entry;
  choose::Learner made = learner(c, key);
  const Trials trials = trials_for(c.shape(), made.candidates());
  entry = std::make_unique<Cell>(std::move(made), c.channel(), c.size(), trials);
  // Now, so that no candidate's first trial pays for its schedule.
  for (const choose::Candidate& candidate : entry->learner().candidates())
    if (const plan::Strategy* s = plan::find_strategy(candidate.name)) c.prepared(*s);
  return *entry;
}

choose::TuningKey Choosing::tuning_key(Communicator& c, const CellKey& key) const {
  return {.machine = machine_,
          .mpi = library_,
          .ranks = c.size(),
          .placement = c.shape().signature(),
          .operation = std::string(name_of(key.operation)) + (key.in_place ? ":in_place" : ""),
          .bucket = key.bucket};
}

const choose::TuningRow* Choosing::remembered(const choose::TuningKey& key) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(loaded_, true) && !settings_.tuning_file.empty())
    known_ = choose::load_or_complain(settings_.tuning_file);
  return known_.find(key);  // the table does not change any more
}

/// What rank 0 knows from earlier runs becomes what all ranks know. Collective.
choose::Learner Choosing::learner(Communicator& c, const CellKey& key) {
  const auto allowed = [&](const choose::Offer& offer) { return fits(c, key, offer); };
  std::vector<choose::Candidate> list =
      choose::shortlist(offers(c), largest_block(key), plan::Machine{}, allowed);
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
  for (const auto& [key, cell] : c.cells) {
    const choose::Learner& l = cell->learner();
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
