// A window of MPI that is open to all ranks from its making to its end.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "remote/transport.hpp"

namespace remote {

class Window : public Transport {
 public:
  /// Exposes `mine`, which must outlive it. Collective over comm.
  Window(MPI_Comm comm, std::span<const std::byte> mine);
  /// Collective.
  ~Window() override;

  void start_get(std::span<std::byte> into, int target, std::size_t displacement) override;
  void complete() override;
  void renew() override;
  std::size_t size(int target) const override { return sizes_[static_cast<std::size_t>(target)]; }

 private:
  MPI_Comm comm_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::uint64_t> sizes_;
  bool under_way_ = false;
};

}  // namespace remote
