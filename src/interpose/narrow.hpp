// Large counts for a library that takes int: what MPI_X_c becomes where only MPI_X exists (Open MPI up to 5.0).
#pragma once

#include <mpi.h>

#include <climits>
#include <list>
#include <vector>

namespace wherry::interpose {

/// The numbers of one call, converted. They live as long as this object, or until a request completes.
class Narrow {
 public:
  int number(MPI_Count value) {
    if (value > INT_MAX || value < INT_MIN) fits_ = false;
    return static_cast<int>(value);
  }

  template <class Wide>
  const int* array(const Wide values[], int n) {
    if (values == nullptr) return nullptr;
    std::vector<int>& copy = copies_.emplace_back(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) copy[static_cast<std::size_t>(i)] = number(values[i]);
    return copy.data();
  }

  /// A number that the call reads and writes; the program has the new one once this object is gone.
  class BothWays {
   public:
    BothWays(MPI_Count* wide, int number) : wide_(wide), number_(number) {}
    BothWays(const BothWays&) = delete;
    BothWays& operator=(const BothWays&) = delete;
    ~BothWays() {
      if (wide_ != nullptr && number_ != first_) *wide_ = number_;
    }
    operator int*() const { return wide_ == nullptr ? nullptr : &number_; }

   private:
    MPI_Count* wide_;
    mutable int number_;
    const int first_ = number_;
  };
  BothWays both_ways(MPI_Count* value) { return {value, value == nullptr ? 0 : number(*value)}; }

  /// False: a number was too large, so the call must not be made.
  bool fits() const { return fits_; }

  /// For a nonblocking call that returned `code`: keeps the arrays until the library gives out the same request again,
  /// by when the old one has completed. The library recycles requests, so this is bounded.
  int keep_until(const MPI_Request* request, int code);

 private:
  bool fits_ = true;
  std::list<std::vector<int>> copies_;
};

/// MPI_ERR_COUNT, after telling the error handler.
int refuse(MPI_Comm comm);
int refuse_window(MPI_Win win);

}  // namespace wherry::interpose
