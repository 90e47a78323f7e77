// What MPI_Sendrecv_replace sends, out of the way of what it receives.
#pragma once

#include <mpi.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <new>

#include "interpose/backend.hpp"

namespace wherry::interpose {

/// The data of a message, packed by the library: it sends them as MPI_PACKED, which matches the type of any receive.
class PackedCopy {
 public:
  PackedCopy(const void* from, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
      : from_(from), count_(count), type_(type), comm_(comm) {}

  /// Packs it. The arguments are known to be right. False: it is refused.
  bool make() {
    const mpi::Api& api = backend().api();
    MPI_Count each = 0;
    api.Type_size_x(type_, &each);
    is_refused_ = each < 0 || count_ > INT_MAX / (each > 0 ? each : 1);
    if (is_refused_) return false;
    const int bytes = static_cast<int>(each * count_);
    data_.reset(new (std::nothrow) char[static_cast<std::size_t>(bytes) + 1]);
    is_refused_ = !data_ || api.Pack(from_, static_cast<int>(count_), type_, data_.get(), bytes, &bytes_,
                                     comm_) != MPI_SUCCESS;
    return !is_refused_;
  }
  /// Whether there was no memory for it, or no int can count its bytes: then nothing has begun.
  bool is_refused() const { return is_refused_; }

  const char* data() const { return data_.get(); }
  int bytes() const { return bytes_; }

 private:
  const void* const from_;
  const MPI_Count count_;
  const MPI_Datatype type_;
  const MPI_Comm comm_;
  std::unique_ptr<char[]> data_;
  int bytes_ = 0;
  bool is_refused_ = false;
};

}  // namespace wherry::interpose
