// Packing, unpacking, and copies from layout to layout, of any range of the data.
#pragma once

#include <cstddef>

#include "layout/kernels.hpp"
#include "layout/pack_plan.hpp"

namespace wherry::layout {

/// Bytes [begin, end) of the data in type map order; 0 <= begin <= end <= size.
struct DataRange {
  Offset begin, end;
};

/// `memory`: the address that the layout's offsets count from. `packed` gets byte range.begin first. Nothing is
/// allocated or thrown. Memory between the data may be read where it cannot fault (Kernels::loops); it is never
/// written.
void pack(const PackPlan& plan, const std::byte* memory, std::byte* packed, DataRange range,
          const Kernels& kernels = layout::kernels());

/// The reverse. Where data overlap it is not said which byte wins (MPI forbids that).
void unpack(const PackPlan& plan, std::byte* memory, const std::byte* packed, DataRange range,
            const Kernels& kernels = layout::kernels());

/// Byte i of the data of `from` to byte i of those of `to`, for all i < the smaller size. Memory is read and written
/// once: both are nested strides that fit, or 4 KiB at a time go through the first-level cache. The two may not
/// overlap.
void copy(const PackPlan& to_plan, std::byte* to, const PackPlan& from_plan, const std::byte* from,
          const Kernels& kernels = layout::kernels());

}  // namespace wherry::layout
