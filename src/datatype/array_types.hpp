// The layouts of MPI's two array constructors.
#pragma once

#include "datatype/contents.hpp"
#include "layout/layout.hpp"

namespace wherry::datatype {

/// One element of a datatype: its data, and the distance to the next one.
struct ArrayElement {
  layout::Layout layout;
  layout::Offset extent;

  bool is_dense() const;  // n elements are n * size bytes in order
  layout::Layout times(layout::Offset count) const;
};

/// Throws usage_error if the product does not fit.
layout::Offset scaled(layout::Offset a, layout::Offset b);

/// MPI 4.1, 5.1.3 and 5.1.4. Throw usage_error if the contents are not those of such a type.
layout::Layout subarray_of(const ArrayElement& inner, const Contents& contents);
layout::Layout darray_of(const ArrayElement& inner, const Contents& contents);

}  // namespace wherry::datatype
