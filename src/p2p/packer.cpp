#include "p2p/packer.hpp"

#include <bit>

namespace wherry::p2p {

void Packer::copy(const Data& data, const layout::PackPlan& plan) const {
  const layout::DataRange all{0, plan.size()};
  auto* const memory = static_cast<std::byte*>(data.memory);
  auto* const packed = static_cast<std::byte*>(data.packed);
  if (data.direction == Direction::pack) parallel_.pack(plan, memory, packed, all);
  else parallel_.unpack(plan, memory, packed, all);
}

void Packer::begin(const Data& data, Moved& moved) {
  if (data.count <= 0 || data.type == MPI_DATATYPE_NULL) return;
  const KnownTypes::Lookup found = types_.lookup(data.type, data.count, data.direction);
  if (found == KnownTypes::Lookup::native) return;
  moved.type = data.type;
  moved.unknown = found == KnownTypes::Lookup::unknown;
  const datatype::PlanPtr plan = moved.unknown ? nullptr : choose(data, moved);
  if (plan == nullptr) return;
  copy(data, *plan);
  moved.copier = Copier::kernels;
}

/// nullptr: the library is to do it.
datatype::PlanPtr Packer::choose(const Data& data, Moved& moved) {
  const std::lock_guard lock(mutex_);
  KnownType* const known = types_.find(data.type);
  moved.unknown = known == nullptr;
  if (known == nullptr || known->native || data.count > data.room / known->bytes) return nullptr;
  moved.bytes = known->bytes * data.count;
  if (!wants_kernels(data, *known, moved)) return nullptr;
  datatype::PlanPtr plan = types_.plan(*known, data.type, data.count);
  if (plan == nullptr) moved.fallback = "the datatype has no layout that Wherry can express";
  if (!known->native) return plan;
  moved.bytes = 0;
  moved.turn = {};
  return nullptr;
}

bool Packer::wants_kernels(const Data& data, const KnownType& known, Moved& moved) {
  if (data.memory == MPI_BOTTOM) moved.fallback = "MPI_BOTTOM, which some libraries refuse here";
  else if (accelerator_.loaded()) moved.fallback = "an accelerator: only the library can copy its memory";
  if (!moved.fallback.empty()) return false;
  const auto size_class = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(moved.bytes)));
  moved.turn = choices_.next(known.signature + 2 * size_class + static_cast<std::uint64_t>(data.direction));
  if (moved.turn.timed) moved.begun_ns = now_ns();
  else if (moved.turn.choice != nullptr && !moved.turn.is_ours())
    types_.pass(data.type, data.count, data.direction, moved.turn.choice->pass());
  return moved.turn.is_ours();
}

void Packer::end(Moved& moved) {
  const std::uint64_t ended_ns = moved.turn.timed ? now_ns() : 0;
  const std::lock_guard lock(mutex_);
  if (moved.unknown) types_.note(moved.type);
  moved.found = CopierChoices::took(moved.turn, ended_ns - moved.begun_ns);
}

}  // namespace wherry::p2p
