// The layouts of the program's datatypes, decoded once for each, and their plans, made once for each map.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "datatype/type_attribute.hpp"
#include "layout/pack_plan.hpp"
#include "mpi/api.hpp"

namespace wherry::datatype {

using PlanPtr = std::shared_ptr<const layout::PackPlan>;

/// What is known of one datatype.
struct TypeLayout {
  PlanPtr element;                // null: cannot be expressed, and so stays native
  layout::Offset extent = 0;      // distance between two elements
  layout::Offset last_count = 1;  // the repetition that was asked for last, as calls repeat their counts
  PlanPtr last;
};

/// Thread-safe.
class TypeLayouts {
 public:
  explicit TypeLayouts(const mpi::Api& api) : api_(api), kept_(api) {}

  /// The plan for `count` elements; null if the type cannot be expressed or is not committed, or count is negative.
  /// Stays valid when the type is freed. Types with equal maps share a plan. The type must not be MPI_DATATYPE_NULL.
  PlanPtr plan(MPI_Datatype type, layout::Offset count);
  bool is_committed(MPI_Datatype type) const;

 private:
  using Kept = std::shared_ptr<TypeLayout>;

  Kept known(MPI_Datatype type);
  Kept decoded(MPI_Datatype type);
  PlanPtr shared(const layout::PlacedLayout& form);
  PlanPtr repeated(TypeLayout& type, layout::Offset count);

  const mpi::Api& api_;
  std::mutex mutex_;
  TypeAttribute<TypeLayout> kept_;
  std::map<MPI_Datatype, Kept> predefined_;
  std::unordered_multimap<std::uint64_t, std::weak_ptr<const layout::PackPlan>>
      plans_;                  // by hash of the form
  std::size_t swept_at_ = 64;  // entries above which those of plans that are gone are dropped
};

}  // namespace wherry::datatype
