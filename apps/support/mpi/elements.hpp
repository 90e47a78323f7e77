// What MPI has to know of elements of any type: how many bytes each has, and where parts of several ranks begin.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace apps {

/// The datatype of an Element, for as long as it lives.
template <class Element>
class ElementType {
  static_assert(std::is_trivially_copyable_v<Element>);

 public:
  ElementType() {
    MPI_Type_contiguous(static_cast<int>(sizeof(Element)), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~ElementType() { MPI_Type_free(&type_); }
  ElementType(const ElementType&) = delete;
  ElementType& operator=(const ElementType&) = delete;
  operator MPI_Datatype() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Where parts of these sizes begin, one after the other; one number more than there are parts. Throws
/// std::length_error, local.
inline std::vector<int> begins(const std::vector<int>& counts) {
  std::vector<int> places(counts.size() + 1);
  std::int64_t next = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    next += counts[i];
    if (next > std::numeric_limits<int>::max())
      throw std::length_error("a rank would send or receive more than 2147483647 elements; start more ranks");
    places[i + 1] = static_cast<int>(next);
  }
  return places;
}

}  // namespace apps
