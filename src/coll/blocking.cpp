#include "coll/blocking.hpp"

#include <cmath>

#include "base/floating_point.hpp"
#include "coll/prepared/prepared_algorithm.hpp"
#include "profile/record.hpp"

namespace wherry::run {

namespace {

std::uint64_t nanoseconds(double seconds) {
  return computed([=] { return std::isfinite(seconds) ? static_cast<std::uint64_t>(seconds * 1e9) : 0; });
}

}  // namespace

int Running::run(Communicator& c, MPI_Comm comm, const Described& call, Arguments& arguments,
                 const Native& native, double reading_s) const {
  const CellKey& key = call.key;
  const Instruction& asked = context_.instructions.of(key.collective);
  Choice* const choice =
      asked.kind == Instruction::Kind::learn ? &context_.choosing.choice(c, key, call.root) : nullptr;
  const std::optional<Algorithm> algorithm =
      choice != nullptr ? choice->algorithms[choice->cell.begin()] : asked_for(c, key, asked);

  const CallTimer watch(context_.now,
                        is_timed_for_observer() || (choice != nullptr && choice->cell.wants_time()));
  const int code =
      algorithm
          ? PreparedAlgorithm(c, *algorithm, key, call.root).perform_now(c, arguments, key, context_.staging)
          : native();
  const double took = watch.seconds();

  if (choice != nullptr) {
    choice->cell.end(algorithm ? computed([=] { return reading_s + took; }) : took);
    report_decisions(comm, key, choice->cell.learner());
    report_trial(comm, c.state<Choices>().trial);
  }
  report_use(comm, key, algorithm ? algorithm->name() : native_name, call.bytes, watch, took);
  // The library has called the error handler for its own failures.
  if (code != MPI_SUCCESS && algorithm) context_.api.Comm_call_errhandler(comm, code);
  return code;
}

int Running::run_native(MPI_Comm comm, const CellKey& key, std::uint64_t bytes, const Native& native) const {
  const CallTimer watch(context_.now, is_timed_for_observer());
  const int code = native();
  report_use(comm, key, native_name, bytes, watch, watch.seconds());
  return code;
}

Described Running::describe_exchange(Communicator& c, Collective collective, const Blocks& blocks) const {
  return {.key = key_of(blocks, collective, bucket(c, collective, blocks)),
          .bytes = context_.observer != nullptr ? static_cast<std::uint64_t>(blocks.bytes_sent()) : 0};
}

/// The algorithm that the user named; none where it cannot run.
std::optional<Algorithm> Running::asked_for(Communicator& c, const CellKey& key,
                                            const Instruction& asked) const {
  if (asked.kind == Instruction::Kind::native) return std::nullopt;
  NamedAlgorithm& last = c.state<Choices>().named[key];
  if (last.name != asked.name) {
    const auto [algorithm, problem] = context_.choosing.named(c, key, asked.name);
    last = {asked.name, algorithm, problem};
  }
  context_.fall_back(key.collective, last.problem);
  return last.algorithm;
}

/// The agreed size class of this all-to-all.
std::uint32_t Running::bucket(Communicator& c, Collective collective, const Blocks& blocks) const {
  if (collective == Collective::alltoall) return bucket_of(blocks);
  SizeWatch& watch = c.state<Choices>().watches[{collective, blocks.in_place}];
  return watch.follow(blocks.bytes_sent() / c.size(), c.channel());
}

/// took: what the watch showed when the call had ended.
void Running::report_use(MPI_Comm comm, const CellKey& key, std::string_view name, std::uint64_t bytes,
                         const CallTimer& watch, double took) const {
  Observer* const observer = context_.observer;
  if (observer == nullptr) return;
  if (watch.is_wanted()) return observer->used(comm, key, name, bytes, nanoseconds(took));
  const std::uint32_t use = observer->use_of(comm, key, name);
  if (use != Observer::no_use) observer->ran(use, bytes);
  else observer->used(comm, key, name, bytes, 0);
}

void Running::report_trial(MPI_Comm comm, tuning::ControlledTrial& trial) const {
  if (context_.observer == nullptr || !trial.drain_news()) return;
  context_.observer->compared(comm, computed([&] { return trial.claim(); }));
}

void Running::report_decisions(MPI_Comm comm, const CellKey& key, tuning::Learner& learner) const {
  if (context_.observer == nullptr) return;
  constexpr profile::Reason reasons[] = {profile::Reason::trial, profile::Reason::kept,
                                         profile::Reason::dropped, profile::Reason::loaded,
                                         profile::Reason::changed};
  const auto recorded = [](std::optional<double> seconds) { return seconds ? nanoseconds(*seconds) : 0; };
  for (const tuning::Event& e : learner.drain_events())
    context_.observer->decided(
        comm, key, static_cast<std::uint32_t>(e.call), learner.candidates()[e.candidate].name,
        reasons[static_cast<std::size_t>(e.reason)], recorded(e.seconds), recorded(e.native_seconds));
}

}  // namespace wherry::run
