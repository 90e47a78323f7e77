#include "p2p/known_types.hpp"

#include <algorithm>
#include <limits>

#include "datatype/contents.hpp"

namespace wherry::p2p {
namespace {

constexpr std::uint64_t most_needed = 256;

}  // namespace

void KnownTypes::note(MPI_Datatype type) {
  Slot& slot_of_type = slot(type);
  if (slot_of_type.type.load(std::memory_order_relaxed) != type) {
    slot_of_type.type.store(MPI_DATATYPE_NULL, std::memory_order_release);
    slot_of_type.known = nullptr;
    slot_of_type.uses_seen = 0;
    slot_of_type.native_below.store(0, std::memory_order_relaxed);
    for (Passed& passed : slot_of_type.passed) passed.calls.store(0, std::memory_order_relaxed);
    slot_of_type.type.store(type, std::memory_order_release);
  }
  if (slot_of_type.known == nullptr && ++slot_of_type.uses_seen >= needed_.load(std::memory_order_relaxed))
    fill(slot_of_type, type);
}

void KnownTypes::fill(Slot& slot_of_type, MPI_Datatype type) {
  slot_of_type.uses_seen = 0;
  slot_of_type.used.store(false, std::memory_order_relaxed);
  slot_of_type.known = describe(type);
  if (slot_of_type.known == nullptr) return;
  const Offset bytes = slot_of_type.known->bytes;
  const Offset least =
      slot_of_type.known->native ? std::numeric_limits<Offset>::max() : (least_bytes_ + bytes - 1) / bytes;
  slot_of_type.native_below.store(least, std::memory_order_relaxed);
}

void KnownTypes::pass(MPI_Datatype type, Offset count, Direction direction, int calls) {
  Passed& passed = slot(type).passed[static_cast<std::size_t>(direction)];
  passed.count.store(count, std::memory_order_relaxed);
  passed.calls.store(calls, std::memory_order_relaxed);
}

/// Predefined types get no attribute, and are never freed.
std::shared_ptr<KnownType> KnownTypes::describe(MPI_Datatype type) {
  const datatype::TypeEnvelope envelope = datatype::envelope_of(api_, type);
  auto made = std::make_shared<KnownType>();
  made->native = true;
  if (envelope.readable && datatype::is_predefined(envelope.combiner)) return made;
  if (std::shared_ptr<KnownType> known = kept_.find(type)) return known;
  MPI_Count size = 0;
  MPI_Aint lower = 0, extent = 0;
  made->native = !envelope.readable || api_.Type_size_x(type, &size) != MPI_SUCCESS || size <= 0 ||
                 api_.Type_get_extent(type, &lower, &extent) != MPI_SUCCESS;
  made->bytes = size;
  for (const MPI_Count part :
       {static_cast<MPI_Count>(envelope.combiner), envelope.integers, envelope.addresses,
        envelope.large_counts, envelope.types, size, static_cast<MPI_Count>(extent)})
    made->signature = hashed(made->signature ^ static_cast<std::uint64_t>(part));
  return kept_.keep(type, made) ? made : nullptr;
}

datatype::PlanPtr KnownTypes::plan(KnownType& known, MPI_Datatype type, Offset count) {
  if (known.planned == count) return known.plan;
  known.plan = layouts_.plan(type, count);
  known.planned = count;
  // `count` elements may be several blocks where one is one; of one that is a block in its own place, all repetitions
  // are a block.
  known.native = known.plan == nullptr || known.plan->is_block();
  if (known.native)
    slot(type).native_below.store(std::numeric_limits<Offset>::max(), std::memory_order_relaxed);
  return known.plan;
}

void KnownTypes::on_free(MPI_Datatype type, KnownType& known, void* self) {
  auto& types = *static_cast<KnownTypes*>(self);
  types.native_.forget(number_of(type));
  MPI_Datatype freed = type;
  Slot& slot_of_type = types.slot(type);
  const bool had_place = slot_of_type.type.compare_exchange_strong(freed, MPI_DATATYPE_NULL);
  const bool used = known.uses > 0 || (had_place && slot_of_type.used.load(std::memory_order_relaxed));
  const std::uint64_t needed = types.needed_.load(std::memory_order_relaxed);
  types.needed_.store(used ? 2 : std::min(2 * needed, most_needed), std::memory_order_relaxed);
}

}  // namespace wherry::p2p
