#include "progress/factory.hpp"

#include <utility>

#include "coll/neighborhood/neighborhood_collectives.hpp"
#include "progress/nonblocking.hpp"
#include "schedule/segments/segment_operation.hpp"

namespace wherry::run {

namespace {

/// Of staging. A nonblocking call has what every rank has reserved; for others the ranks make sure of it.
std::size_t staging_max(const Communicator& c, Form form) {
  return form == Form::nonblocking ? c.agreement().reserved_memory : c.agreement().staging_max;
}

/// Whether all ranks say so. Collective over c.
bool all_say(const Communicator& c, bool mine) {
  const int says = mine ? 1 : 0;
  int all = 0;
  const Channel& channel = c.channel();
  return channel.api().Allreduce(&says, &all, 1, MPI_INT, MPI_MIN, channel.comm()) == MPI_SUCCESS && all != 0;
}

}  // namespace

bool OperationFactory::is_on(Form form) const {
  const Features& on = context_.settings.features;
  return !finished_ && context_.settings.enabled && on.collectives && (form == Form::plan || on.nonblocking);
}

/// The library must perform the call. Without a reason there is nothing to tell.
void OperationFactory::left(const AnyCall& call, Form form, std::string_view reason) const {
  if (context_.observer != nullptr && !reason.empty())
    context_.observer->not_started(call.collective, form, reason);
}

/// Why the call cannot be left and taken up again, alike on all ranks; empty: it can.
std::string_view OperationFactory::why_not(const AnyCall& call, const NonblockingOperation& made,
                                           Form form) const {
  const Communicator& c = *made.communicator();
  const Arguments& read = made.arguments;
  if (!c.agreement().host_memory)
    return "an accelerator: only the library can copy its memory, and not at any time";
  if (read.blocks.in_place && call.collective != Collective::alltoall)
    return "in place, of blocks that differ";
  const bool user =
      read.segments.reduces == Operator::user || read.segments.reduces == Operator::user_ordered;
  if (user && form != Form::plan)
    return "the operation is the program's own, which may be freed before the call is over";
  if (is_neighborhood(call.collective))
    return reason_to_leave(*neighborhood_of(c),
                           context_.instructions.of(call.collective).kind == Instruction::Kind::named);
  return schedule::segment_operation(call.collective)
             ? reason_to_stay(context_.settings, c, read.segments, staging_max(c, form))
             : "";
}

/// Of blocks that differ. The ranks of a nonblocking call cannot agree on a size now: it is what blocking calls have
/// agreed on, or blocks of 1 KiB.
std::uint32_t OperationFactory::irregular_bucket(const AnyCall& call, const NonblockingOperation& made,
                                                 long long average_bytes, Form form) const {
  constexpr std::uint32_t usual = 11;
  const Communicator& c = *made.communicator();
  if (form != Form::nonblocking) {
    SizeWatch once;
    once.start(average_bytes, c.channel());
    return once.known_bucket();
  }
  const auto& watches = made.communicator()->state<Choices>().watches;
  const auto watch = watches.find({call.collective, made.arguments.blocks.in_place});
  return watch != watches.end() && watch->second.started() ? watch->second.known_bucket() : usual;
}

/// Of blocks: the size class.
std::uint32_t OperationFactory::bucket(const AnyCall& call, const NonblockingOperation& made,
                                       Form form) const {
  const Communicator& c = *made.communicator();
  const Arguments& read = made.arguments;
  if (call.collective == Collective::alltoall) return bucket_of(read.blocks);
  if (!is_neighborhood(call.collective))
    return irregular_bucket(call, made, read.blocks.bytes_sent() / c.size(), form);
  const Neighborhood& n = *neighborhood_of(c);
  if (const std::optional<std::uint32_t> shown = shown_bucket(n, call.collective, read.neighbors))
    return *shown;
  return irregular_bucket(call, made, average_bytes(n, read.neighbors), form);
}

Described OperationFactory::describe(const AnyCall& call, const NonblockingOperation& made, Form form) const {
  if (schedule::segment_operation(call.collective))
    return run::describe(made.arguments.segments, call.collective);
  const Blocks& blocks = made.arguments.blocks;
  return {.key = key_of(blocks, call.collective, bucket(call, made, form)),
          .bytes = static_cast<std::uint64_t>(blocks.bytes_sent())};
}

std::optional<Algorithm> OperationFactory::algorithm_for(const AnyCall& call,
                                                         const NonblockingOperation& made, const CellKey& key,
                                                         Form form) const {
  Communicator& c = *made.communicator();
  const Limits limits{staging_max(c, form), made.arguments.segments.unit_bytes};
  const Instruction& asked = context_.instructions.of(key.collective);
  if (asked.kind == Instruction::Kind::native) return std::nullopt;
  if (asked.kind == Instruction::Kind::learn) return context_.choosing.best_without_asking(c, key, limits);
  const auto [algorithm, problem] = context_.choosing.named_without_asking(c, key, asked.name, limits);
  left(call, form, problem);
  return algorithm;
}

void OperationFactory::report(const AnyCall& call, const NonblockingOperation& made,
                              const Described& described, Form form) const {
  if (context_.observer != nullptr)
    context_.observer->made_operation(call.comm, described.key, form, made.algorithm().name(),
                                      described.bytes);
}

/// Decides on a call that has been read, alike on all ranks; nothing: the library must perform it.
std::optional<Described> OperationFactory::prepare(const AnyCall& call, NonblockingOperation& made,
                                                   Form form) const {
  if (const std::string_view reason = why_not(call, made, form); !reason.empty())
    return left(call, form, reason), std::nullopt;
  const Described described = describe(call, made, form);
  if (const std::optional<Algorithm> algorithm = algorithm_for(call, made, described.key, form)) {
    made.prepare(*algorithm, described.key, context_.staging);
    return described;
  }
  if (context_.observer != nullptr)
    context_.observer->made_operation(call.comm, described.key, form, native_name, described.bytes);
  return std::nullopt;
}

int OperationFactory::start(const AnyCall& call, const Native& native, MPI_Request* request) {
  constexpr Form form = Form::nonblocking;
  if (!is_on(form)) return native();
  if (!wake_) return left(call, form, nobody_goes_on), native();
  progress_.sweep();
  std::string_view refusal;
  const std::shared_ptr<Communicator> c = context_.registry.known(call.comm, &refusal);
  if (c == nullptr) return left(call, form, refusal), native();
  auto made = std::make_shared<Nonblocking>(c, request);
  const Progress::Coming coming(progress_);
  if (!call.read(*c, made->arguments)) return native();
  const std::optional<Described> described = prepare(call, *made, form);
  if (!described) return native();
  if (const std::string_view reason = wake_(); !reason.empty()) return left(call, form, reason), native();
  report(call, *made, *described, form);
  const int code = progress_.start(std::move(made));
  if (code != MPI_SUCCESS) context_.api.Comm_call_errhandler(call.comm, code);
  return code;
}

/// The tag is taken first, by every rank that makes such a call, whatever becomes of it there. The ranks choose alike:
/// native, if one of them has not got what it needs.
template <class Made>
std::shared_ptr<Made> OperationFactory::lasting(const AnyCall& call, Form form) {
  if (!is_on(form)) return nullptr;
  if (!wake_) return left(call, form, nobody_goes_on), nullptr;
  progress_.sweep();
  std::string_view refusal;
  const std::shared_ptr<Communicator> c = context_.registry.enabled_now(call.comm, call.is_sound, &refusal);
  if (c == nullptr) return left(call, form, refusal), nullptr;
  const std::optional<int> tag = c->lasting_tags().take();
  if (!tag) return left(call, form, "the communicator has no tags left"), nullptr;
  if (is_neighborhood(call.collective)) neighborhood_of(*c, call.comm);
  auto made = std::make_shared<Made>(c, *tag);
  const Progress::Coming coming(progress_);
  if (!all_say(*c, call.read(*c, made->arguments))) return nullptr;
  context_.choosing.settle_machine(*c);
  const std::optional<Described> described = prepare(call, *made, form);
  if (!described) return nullptr;
  std::string_view reason = wake_();
  if (reason.empty() && !made->take_memory()) reason = "this rank has not got the memory that it needs";
  left(call, form, reason);
  if (!all_say(*c, reason.empty())) {
    if (reason.empty()) left(call, form, "another rank cannot take part");
    return nullptr;
  }
  report(call, *made, *described, form);
  return made;
}

int OperationFactory::init(const AnyCall& call, const Native& native, MPI_Request* request) {
  const std::shared_ptr<Persistent> made = lasting<Persistent>(call, Form::persistent);
  if (made == nullptr) return native();
  const int code = made->make(request);
  if (code != MPI_SUCCESS) return context_.api.Comm_call_errhandler(call.comm, code), code;
  const std::lock_guard lock(mutex_);
  persistent_[*request] = made;
  return MPI_SUCCESS;
}

std::shared_ptr<Persistent> OperationFactory::made_here(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = persistent_.find(request);
  return found == persistent_.end() ? nullptr : found->second;
}

void OperationFactory::started(std::span<const MPI_Request> requests) {
  for (const MPI_Request request : requests)
    if (std::shared_ptr<Persistent> call = made_here(request)) begin(std::move(call));
}

std::shared_ptr<const void> OperationFactory::forget(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto found = persistent_.extract(request);
  return found.empty() ? nullptr : found.mapped();
}

std::shared_ptr<Plan> OperationFactory::plan(const AnyCall& call) { return lasting<Plan>(call, Form::plan); }

int OperationFactory::start(const std::shared_ptr<Plan>& plan) { return begin(plan); }

bool OperationFactory::is_over(const Plan& plan) {
  progress_.advance();
  if (plan.is_over()) return true;
  plan.communicator()->channel().progress();
  return plan.is_over();
}

/// The other ranks count on this one's part: should nobody progress it now, somebody will at the next call.
int OperationFactory::begin(std::shared_ptr<NonblockingOperation> call) {
  progress_.sweep();
  const Progress::Coming coming(progress_);
  wake_();
  return progress_.start(std::move(call));
}

void OperationFactory::finish() {
  finished_ = true;
  progress_.abandon();
  progress_.sweep();
  const std::lock_guard lock(mutex_);
  persistent_.clear();
}

}  // namespace wherry::run
