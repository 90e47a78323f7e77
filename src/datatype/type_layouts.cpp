#include "datatype/type_layouts.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "datatype/contents.hpp"
#include "datatype/decode.hpp"
#include "layout/canonical.hpp"
#include "mpi/errors_returned.hpp"

namespace wherry::datatype {

PlanPtr TypeLayouts::plan(MPI_Datatype type, layout::Offset count) {
  if (count < 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const Kept found = known(type);
  return found->element == nullptr ? nullptr : repeated(*found, count);
}

TypeLayouts::Kept TypeLayouts::known(MPI_Datatype type) {
  if (const auto found = predefined_.find(type); found != predefined_.end()) return found->second;
  if (Kept found = kept_.find(type)) return found;
  // What the library refuses to tell is no error of the program.
  const run::ErrorsReturned world(MPI_COMM_WORLD, api_), self(MPI_COMM_SELF, api_);
  if (!is_committed(type)) return std::make_shared<TypeLayout>();  // not for long
  const TypeEnvelope envelope = envelope_of(api_, type);
  Kept made = decoded(type);
  if (envelope.readable && is_predefined(envelope.combiner))
    return predefined_.emplace(type, made).first->second;
  kept_.keep(type, made);
  return made;
}

/// MPI has no function that tells: by what the library says to a message that goes nowhere.
bool TypeLayouts::is_committed(MPI_Datatype type) const {
  MPI_Request request = MPI_REQUEST_NULL;
  const char nothing = 0;
  const int code = api_.Isend(&nothing, 1, type, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
  return code == MPI_SUCCESS && api_.Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

TypeLayouts::Kept TypeLayouts::decoded(MPI_Datatype type) {
  auto made = std::make_shared<TypeLayout>();
  MPI_Aint lower = 0, extent = 0;
  const std::optional<layout::Layout> layout = decode(api_, type);
  if (!layout || api_.Type_get_extent(type, &lower, &extent) != MPI_SUCCESS) return made;
  made->extent = extent;
  made->element = made->last = shared(layout::canonical(*layout));
  return made;
}

PlanPtr TypeLayouts::shared(const layout::PlacedLayout& form) {
  const std::uint64_t hash = layout::hash_of(form);
  const auto [begin, end] = plans_.equal_range(hash);
  for (auto at = begin; at != end; ++at)
    if (PlanPtr plan = at->second.lock(); plan != nullptr && plan->form() == form) return plan;
  if (plans_.size() >= swept_at_) {
    std::erase_if(plans_, [](const auto& entry) { return entry.second.expired(); });
    swept_at_ = 2 * std::max<std::size_t>(plans_.size(), 32);
  }
  PlanPtr made(
      new layout::PackPlan(form));  // apart from its count, so that what still counts it keeps no layout
  plans_.emplace(hash, made);
  return made;
}

PlanPtr TypeLayouts::repeated(TypeLayout& type, layout::Offset count) {
  if (count == 1) return type.element;
  if (count == type.last_count) return type.last;
  try {
    type.last = shared(layout::repeated(count, type.extent, type.element->form()));
    type.last_count = count;
    return type.last;
  } catch (const usage_error&) {
    return nullptr;  // more bytes than 64 bits can count
  }
}

}  // namespace wherry::datatype
