// A vector that takes 16 bytes in an object and two on the wire, for the short lists that particles carry.
//
// std::vector's interface; what differs: size and capacity are of size_type, which has 16 bits unless you say
// otherwise, and growing beyond what that counts throws std::length_error. Knows no MPI.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace wherry {

/// T: any movable type. SizeType: an unsigned integer; max_size() is its largest value.
template <class T, class SizeType = std::uint16_t, class Allocator = std::allocator<T>>
class compact_vector {
  static_assert(std::is_unsigned_v<SizeType>, "compact_vector counts in an unsigned integer");
  using Traits = std::allocator_traits<Allocator>;
  static_assert(std::is_same_v<typename Traits::value_type, T> && std::is_pointer_v<typename Traits::pointer>,
                "compact_vector takes allocators of T with ordinary pointers");

 public:
  using value_type = T;
  using allocator_type = Allocator;
  using size_type = SizeType;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  compact_vector() noexcept(noexcept(Allocator())) = default;
  explicit compact_vector(const Allocator& allocator) noexcept : allocator_(allocator) {}
  explicit compact_vector(std::size_t n, const Allocator& allocator = Allocator()) : allocator_(allocator) {
    guarded([&] { resize(n); });
  }
  compact_vector(std::size_t n, const T& value, const Allocator& allocator = Allocator())
      : allocator_(allocator) {
    guarded([&] { resize(n, value); });
  }
  template <std::input_iterator I>
  compact_vector(I first, I last, const Allocator& allocator = Allocator()) : allocator_(allocator) {
    guarded([&] { append(first, last); });
  }
  compact_vector(std::initializer_list<T> values, const Allocator& allocator = Allocator())
      : compact_vector(values.begin(), values.end(), allocator) {}
  compact_vector(const compact_vector& other)
      : compact_vector(other.begin(), other.end(),
                       Traits::select_on_container_copy_construction(other.allocator_)) {}
  compact_vector(const compact_vector& other, const Allocator& allocator)
      : compact_vector(other.begin(), other.end(), allocator) {}
  compact_vector(compact_vector&& other) noexcept : allocator_(std::move(other.allocator_)) { take(other); }
  compact_vector(compact_vector&& other, const Allocator& allocator) : allocator_(allocator) {
    if (allocator_ == other.allocator_) take(other);
    else guarded([&] { append(std::move_iterator(other.begin()), std::move_iterator(other.end())); });
  }
  ~compact_vector() { release(); }

  compact_vector& operator=(const compact_vector& other) {
    if (this == &other) return *this;
    if constexpr (Traits::propagate_on_container_copy_assignment::value) {
      if (allocator_ != other.allocator_) release();
      allocator_ = other.allocator_;
    }
    assign(other.begin(), other.end());
    return *this;
  }
  compact_vector& operator=(compact_vector&& other) noexcept(
      Traits::propagate_on_container_move_assignment::value || Traits::is_always_equal::value) {
    if (this == &other) return *this;
    constexpr bool propagates = Traits::propagate_on_container_move_assignment::value;
    if (propagates || allocator_ == other.allocator_) {
      release();
      if constexpr (propagates) allocator_ = std::move(other.allocator_);
      take(other);
    } else assign(std::move_iterator(other.begin()), std::move_iterator(other.end()));
    return *this;
  }
  compact_vector& operator=(std::initializer_list<T> values) {
    assign(values);
    return *this;
  }

  template <std::input_iterator I>
  void assign(I first, I last) {
    if constexpr (std::forward_iterator<I>) {
      const auto n = static_cast<std::size_t>(std::distance(first, last));
      reserve(n);
      const std::size_t kept = std::min(n, std::size_t{size_});
      for (std::size_t i = 0; i < kept; ++i, ++first) begin_[i] = *first;
      shrink(kept);
    } else clear();
    append(first, last);
  }
  void assign(std::size_t n, const T& value) {
    const T copy(value);  // it may be one of those that go
    clear();
    resize(n, copy);
  }
  void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

  allocator_type get_allocator() const noexcept { return allocator_; }

  reference operator[](std::size_t i) { return begin_[i]; }
  const_reference operator[](std::size_t i) const { return begin_[i]; }
  reference at(std::size_t i) { return begin_[checked(i)]; }
  const_reference at(std::size_t i) const { return begin_[checked(i)]; }
  reference front() { return begin_[0]; }
  const_reference front() const { return begin_[0]; }
  reference back() { return begin_[size_ - 1]; }
  const_reference back() const { return begin_[size_ - 1]; }
  pointer data() noexcept { return begin_; }
  const_pointer data() const noexcept { return begin_; }

  iterator begin() noexcept { return begin_; }
  const_iterator begin() const noexcept { return begin_; }
  const_iterator cbegin() const noexcept { return begin_; }
  iterator end() noexcept { return begin_ + size_; }
  const_iterator end() const noexcept { return begin_ + size_; }
  const_iterator cend() const noexcept { return begin_ + size_; }
  reverse_iterator rbegin() noexcept { return reverse_iterator(end()); }
  const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
  reverse_iterator rend() noexcept { return reverse_iterator(begin()); }
  const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  size_type size() const noexcept { return size_; }
  size_type capacity() const noexcept { return capacity_; }
  static constexpr size_type max_size() noexcept { return std::numeric_limits<size_type>::max(); }

  /// Throws std::length_error if n is more than size_type counts.
  void reserve(std::size_t n) {
    if (n > capacity_) reallocate(checked_size(n));
  }
  void shrink_to_fit() {
    if (size_ < capacity_) reallocate(size_);
  }
  void clear() noexcept { shrink(0); }
  void resize(std::size_t n) {
    resize_by(n, [&](T* at) { Traits::construct(allocator_, at); });
  }
  void resize(std::size_t n, const T& value) {
    if (n <= size_) return shrink(n);
    const T copy(value);  // it may be one of those that move
    resize_by(n, [&](T* at) { Traits::construct(allocator_, at, copy); });
  }

  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  template <class... Argument>
  reference emplace_back(Argument&&... argument) {
    if (size_ == capacity_) return grow_by(std::forward<Argument>(argument)...);
    Traits::construct(allocator_, begin_ + size_, std::forward<Argument>(argument)...);
    return begin_[size_++];
  }
  void pop_back() { shrink(std::size_t{size_} - 1); }

  template <class... Argument>
  iterator emplace(const_iterator before, Argument&&... argument) {
    const difference_type at = before - begin_;
    emplace_back(std::forward<Argument>(argument)...);
    std::rotate(begin_ + at, end() - 1, end());
    return begin_ + at;
  }
  iterator insert(const_iterator before, const T& value) { return emplace(before, value); }
  iterator insert(const_iterator before, T&& value) { return emplace(before, std::move(value)); }
  template <std::input_iterator I>
  iterator insert(const_iterator before, I first, I last) {
    const difference_type at = before - begin_, old = size_;
    append(first, last);
    std::rotate(begin_ + at, begin_ + old, end());
    return begin_ + at;
  }
  iterator insert(const_iterator before, std::initializer_list<T> values) {
    return insert(before, values.begin(), values.end());
  }
  iterator erase(const_iterator at) { return erase(at, at + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const iterator to = begin_ + (first - begin_);
    if (first != last) {
      const iterator new_end = std::move(begin_ + (last - begin_), end(), to);
      shrink(static_cast<std::size_t>(new_end - begin_));
    }
    return to;
  }

  void swap(compact_vector& other) noexcept {
    if constexpr (Traits::propagate_on_container_swap::value) std::swap(allocator_, other.allocator_);
    std::swap(begin_, other.begin_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  friend void swap(compact_vector& a, compact_vector& b) noexcept { a.swap(b); }

  friend bool operator==(const compact_vector& a, const compact_vector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend auto operator<=>(const compact_vector& a, const compact_vector& b)
    requires std::three_way_comparable<T>
  {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static size_type checked_size(std::size_t n) {
    if (n > max_size())
      throw std::length_error("compact_vector: " + std::to_string(n) + " elements are more than the " +
                              std::to_string(max_size()) +
                              " that its size_type counts; give it a wider size_type");
    return static_cast<size_type>(n);
  }
  std::size_t checked(std::size_t i) const {
    if (i >= size_)
      throw std::out_of_range("compact_vector: element " + std::to_string(i) + " of " +
                              std::to_string(size_));
    return i;
  }

  /// Of a constructor: no destructor will run if it throws.
  template <class Fill>
  void guarded(Fill fill) {
    try {
      fill();
    } catch (...) {
      release();
      throw;
    }
  }

  void take(compact_vector& other) noexcept {
    begin_ = std::exchange(other.begin_, nullptr);
    size_ = std::exchange(other.size_, size_type{0});
    capacity_ = std::exchange(other.capacity_, size_type{0});
  }
  void release() noexcept {
    clear();
    if (begin_ != nullptr) Traits::deallocate(allocator_, begin_, capacity_);
    begin_ = nullptr;
    capacity_ = 0;
  }
  void shrink(std::size_t n) noexcept {
    while (size_ > n) Traits::destroy(allocator_, begin_ + --size_);
  }

  template <class Construct>
  void resize_by(std::size_t n, Construct construct) {
    if (n <= size_) return shrink(n);
    reserve(n);
    for (; size_ < n; ++size_) construct(begin_ + size_);
  }
  /// What follows what is there. The range is not of this vector.
  template <std::input_iterator I>
  void append(I first, I last) {
    if constexpr (std::forward_iterator<I>) {
      const std::size_t wanted = size_ + static_cast<std::size_t>(std::distance(first, last));
      const bool grows = size_ > 0 && wanted > capacity_;  // again and again, maybe
      reserve(grows ? std::max(wanted, std::min<std::size_t>(2 * std::size_t{capacity_}, max_size()))
                    : wanted);
    }
    for (; first != last; ++first) emplace_back(*first);
  }

  /// Twice as many, as far as size_type counts; what is constructed may refer to an element.
  template <class... Argument>
  reference grow_by(Argument&&... argument) {
    const std::size_t least = std::size_t{size_} + 1;
    const std::size_t doubled = std::min<std::size_t>(2 * std::size_t{capacity_}, max_size());
    const size_type capacity = checked_size(std::max({least, doubled, std::size_t{4}}));
    T* const memory = Traits::allocate(allocator_, capacity);
    try {
      Traits::construct(allocator_, memory + size_, std::forward<Argument>(argument)...);
      try {
        move_to(memory, capacity);
      } catch (...) {
        Traits::destroy(allocator_, memory + size_);
        throw;
      }
    } catch (...) {
      Traits::deallocate(allocator_, memory, capacity);
      throw;
    }
    return begin_[size_++];
  }
  void reallocate(size_type capacity) {
    if (capacity == 0) return release();
    T* const memory = Traits::allocate(allocator_, capacity);
    try {
      move_to(memory, capacity);
    } catch (...) {
      Traits::deallocate(allocator_, memory, capacity);
      throw;
    }
  }
  /// The elements to other memory, which replaces this one. If a copy throws, everything stays.
  void move_to(T* memory, size_type capacity) {
    size_type moved = 0;
    try {
      for (; moved < size_; ++moved)
        Traits::construct(allocator_, memory + moved, std::move_if_noexcept(begin_[moved]));
    } catch (...) {
      while (moved > 0) Traits::destroy(allocator_, memory + --moved);
      throw;
    }
    const size_type size = size_;
    release();
    begin_ = memory;
    size_ = size;
    capacity_ = capacity;
  }

  T* begin_ = nullptr;
  size_type size_ = 0, capacity_ = 0;
  [[no_unique_address]] Allocator allocator_;
};

}  // namespace wherry
