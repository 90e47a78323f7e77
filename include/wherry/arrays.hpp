// Wherry for C++20: parts of arrays of any dimension, sent, received and packed where they lie.
//
//   wherry::ArrayView field = wherry::row_major(values.data(), 128, 64, 32);
//   wherry::send(field.part({0, 0, 31}, {128, 64, 1}), right, tag, comm);    // its last layer
//   wherry::receive(field.part({0, 0, 0}, {128, 64, 1}), left, tag, comm);
//
//   wherry::send(wherry::row_major(a.data(), m, n), 1, tag, comm);           // an array of C ...
//   wherry::receive(wherry::column_major(b.data(), m, n), 0, tag, comm);     // ... becomes one of Fortran
//
//   const wherry::Layout places = wherry::layout_of<wherry::Subset<Particle, &Particle::position>>(
//       wherry::row_major(particles.data(), n));                            // a member of each; made once
//   wherry::send(particles.data(), places, 1, tag, comm);
//
// A view owns no memory. Elements are sent in the order of their indices, the last of which varies fastest: what one
// view sends, another of the same extents receives at the same indices, however it lies in memory. What wherry.h says
// of wherry_send and wherry_recv holds here; element types are those of types.hpp. Errors: usage_error (local, before
// any message), mpi_error.
#pragma once

#include <mpi.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

#include "wherry/plan.hpp"
#include "wherry/ranges.hpp"
#include "wherry/types.hpp"
#include "wherry/wherry.h"

namespace wherry {

/// A multidimensional array as std::mdspan shows it: data_handle(), rank(), extent(i), stride(i).
template <class A>
concept StridedArray = requires(const A& array, std::size_t i) {
  { *array.data_handle() } -> std::convertible_to<typename A::element_type>;
  { A::rank() } -> std::convertible_to<std::size_t>;
  { array.extent(i) } -> std::convertible_to<std::size_t>;
  { array.stride(i) } -> std::convertible_to<std::ptrdiff_t>;
};

/// N extents and strides, in elements of T; strides may be negative.
template <class T, std::size_t N>
class ArrayView {
 public:
  using Extents = std::array<std::size_t, N>;
  using Strides = std::array<std::ptrdiff_t, N>;

  /// data: the element whose indices are all 0.
  constexpr ArrayView(T* data, const Extents& extents, const Strides& strides)
      : data_(data), extents_(extents), strides_(strides) {}
  template <StridedArray A>
    requires(A::rank() == N)
  constexpr explicit ArrayView(const A& array) : data_(array.data_handle()) {
    for (std::size_t i = 0; i < N; ++i) {
      extents_[i] = static_cast<std::size_t>(array.extent(i));
      strides_[i] = static_cast<std::ptrdiff_t>(array.stride(i));
    }
  }

  constexpr T* data() const { return data_; }
  constexpr const Extents& extents() const { return extents_; }
  constexpr const Strides& strides() const { return strides_; }
  constexpr std::size_t size() const {
    std::size_t elements = 1;
    for (const std::size_t extent : extents_) elements *= extent;
    return elements;
  }
  /// Unchecked.
  template <std::convertible_to<std::ptrdiff_t>... I>
    requires(sizeof...(I) == N)
  constexpr T& operator()(I... index) const {
    std::size_t dimension = 0;
    std::ptrdiff_t at = 0;
    ((at += static_cast<std::ptrdiff_t>(index) * strides_[dimension++]), ...);
    return data_[at];
  }

  /// The elements from `begin` on. Throws usage_error if some lie outside.
  constexpr ArrayView part(const Extents& begin, const Extents& extents) const {
    ArrayView inner(data_, extents, strides_);
    for (std::size_t i = 0; i < N; ++i) {
      if (begin[i] > extents_[i] || extents[i] > extents_[i] - begin[i])
        fail_outside(i, begin[i], extents[i]);
      inner.data_ += static_cast<std::ptrdiff_t>(begin[i]) * strides_[i];
    }
    return inner;
  }
  /// Every steps[i]th element of dimension i, the first among them. Steps are at least 1.
  constexpr ArrayView every(const Extents& steps) const {
    ArrayView thinned(*this);
    for (std::size_t i = 0; i < N; ++i) {
      thinned.extents_[i] = (extents_[i] + steps[i] - 1) / steps[i];
      thinned.strides_[i] = strides_[i] * static_cast<std::ptrdiff_t>(steps[i]);
    }
    return thinned;
  }
  /// The same elements with their indices in the opposite order.
  constexpr ArrayView transposed() const {
    ArrayView turned(*this);
    for (std::size_t i = 0; i < N; ++i) {
      turned.extents_[i] = extents_[N - 1 - i];
      turned.strides_[i] = strides_[N - 1 - i];
    }
    return turned;
  }

 private:
  [[noreturn]] void fail_outside(std::size_t dimension, std::size_t begin, std::size_t extent) const {
    throw usage_error("indices " + std::to_string(begin) + " to " + std::to_string(begin + extent) +
                      " of dimension " + std::to_string(dimension) + " are asked for, but its extent is " +
                      std::to_string(extents_[dimension]) + "; take a part that lies inside");
  }

  T* data_;
  Extents extents_{};
  Strides strides_{};
};

template <StridedArray A>
ArrayView(const A&) -> ArrayView<typename A::element_type, A::rank()>;

/// An array whose last index runs fastest, as in C.
template <class T, std::convertible_to<std::size_t>... E>
constexpr ArrayView<T, sizeof...(E)> row_major(T* data, E... extents) {
  const std::array<std::size_t, sizeof...(E)> all{static_cast<std::size_t>(extents)...};
  std::array<std::ptrdiff_t, sizeof...(E)> strides{};
  std::ptrdiff_t stride = 1;
  for (std::size_t i = all.size(); i-- > 0; stride *= static_cast<std::ptrdiff_t>(all[i]))
    strides[i] = stride;
  return {data, all, strides};
}

/// An array whose first index runs fastest, as in Fortran.
template <class T, std::convertible_to<std::size_t>... E>
constexpr ArrayView<T, sizeof...(E)> column_major(T* data, E... extents) {
  const std::array<std::size_t, sizeof...(E)> all{static_cast<std::size_t>(extents)...};
  std::array<std::ptrdiff_t, sizeof...(E)> strides{};
  std::ptrdiff_t stride = 1;
  for (std::size_t i = 0; i < all.size(); stride *= static_cast<std::ptrdiff_t>(all[i++]))
    strides[i] = stride;
  return {data, all, strides};
}

class Layout;

/// Element: what of each T belongs to the layout: all of it (void), or a Subset of its members. Local. Making one takes
/// some microseconds: for what is sent again and again, keep it.
template <class Element = void, class T, std::size_t N>
Layout layout_of(const ArrayView<T, N>& view);

/// Where the elements of a view lie, as a committed MPI datatype, which it owns. To be destroyed before MPI_Finalize.
class Layout {
 public:
  Layout(Layout&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  Layout& operator=(Layout&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  ~Layout() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  /// From the address of the element whose indices are all 0. Owned by the layout.
  MPI_Datatype type() const { return type_; }

 private:
  template <class Element, class T, std::size_t N>
  friend Layout layout_of(const ArrayView<T, N>& view);

  explicit Layout(MPI_Datatype element) { detail::check("MPI_Type_dup", MPI_Type_dup(element, &type_)); }
  void repeat(std::size_t extent, std::ptrdiff_t stride_bytes) {
    MPI_Datatype repeated = MPI_DATATYPE_NULL;
    detail::check("MPI_Type_create_hvector",
                  MPI_Type_create_hvector(detail::mpi_count<std::byte>(extent), 1,
                                          static_cast<MPI_Aint>(stride_bytes), type_, &repeated));
    MPI_Type_free(&type_);
    type_ = repeated;
  }

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

template <class Element, class T, std::size_t N>
Layout layout_of(const ArrayView<T, N>& view) {
  using Sent = std::conditional_t<std::is_void_v<Element>, std::remove_const_t<T>, Element>;
  Layout layout(datatype<Sent>());
  for (std::size_t i = N; i-- > 0;)
    layout.repeat(view.extents()[i], view.strides()[i] * static_cast<std::ptrdiff_t>(sizeof(T)));
  detail::check("MPI_Type_commit", MPI_Type_commit(&layout.type_));
  return layout;
}

/// Sends the elements at `data` to a wherry::receive of rank dest.
template <class T>
void send(const T* data, const Layout& layout, int dest, int tag, MPI_Comm comm) {
  detail::check("wherry_send", wherry_send(data, 1, layout.type(), dest, tag, comm));
}
template <class T, std::size_t N>
void send(const ArrayView<T, N>& view, int dest, int tag, MPI_Comm comm) {
  send(view.data(), layout_of(view), dest, tag, comm);
}

/// Receives as many elements from a wherry::send of rank source, or fewer. The status has source, tag and count.
template <class T>
MPI_Status receive(T* data, const Layout& layout, int source, int tag, MPI_Comm comm) {
  MPI_Status status;
  detail::check("wherry_recv", wherry_recv(data, 1, layout.type(), source, tag, comm, &status));
  return status;
}
template <class T, std::size_t N>
  requires(!std::is_const_v<T>)
MPI_Status receive(const ArrayView<T, N>& view, int source, int tag, MPI_Comm comm) {
  return receive(view.data(), layout_of(view), source, tag, comm);
}

/// A message to rank dest and one from rank source, to be started again and again: both layouts, views and `comm` must
/// be there until the plan is gone. What travels is what MPI would send. Local.
template <class T, class U>
Plan sendrecv_plan(const T* sent, const Layout& sent_layout, int dest, U* received,
                   const Layout& received_layout, int source, int tag, MPI_Comm comm) {
  return detail::plan("wherry_sendrecv_plan", wherry_sendrecv_plan, sent, 1, sent_layout.type(), dest, tag,
                      received, 1, received_layout.type(), source, tag, comm);
}

namespace detail {

inline void check_elements(const char* name, std::size_t values, std::size_t elements) {
  if (values != elements)
    throw usage_error(std::string(name) + " holds " + std::to_string(values) + " values, but the view has " +
                      std::to_string(elements) + " elements; resize " + name);
}

}  // namespace detail

/// Copies the elements, in the order of their indices, to `packed`. Local. Of structs, see pack.hpp.
/// Throws usage_error if there are not as many values as elements.
template <class T, std::size_t N, WritableValues Packed>
  requires detail::Named<std::remove_const_t<T>> &&
           std::same_as<std::ranges::range_value_t<Packed>, std::remove_const_t<T>>
void pack(const ArrayView<T, N>& view, Packed&& packed) {
  detail::check_elements("packed", std::ranges::size(packed), view.size());
  if (view.size() == 0) return;
  int position = 0;
  const int bytes = detail::mpi_count<std::byte>(view.size() * sizeof(T));
  detail::check("wherry_pack", wherry_pack(view.data(), 1, layout_of(view).type(), std::ranges::data(packed),
                                           bytes, &position, MPI_COMM_SELF));
}

/// The opposite: as many values become the elements; what lies between them stays untouched.
template <Values Packed, class T, std::size_t N>
  requires(!std::is_const_v<T>) && detail::Named<T> && std::same_as<std::ranges::range_value_t<Packed>, T>
void unpack(const Packed& packed, const ArrayView<T, N>& view) {
  detail::check_elements("packed", std::ranges::size(packed), view.size());
  if (view.size() == 0) return;
  int position = 0;
  const int bytes = detail::mpi_count<std::byte>(view.size() * sizeof(T));
  detail::check("wherry_unpack", wherry_unpack(std::ranges::data(packed), bytes, &position, view.data(), 1,
                                               layout_of(view).type(), MPI_COMM_SELF));
}

}  // namespace wherry
