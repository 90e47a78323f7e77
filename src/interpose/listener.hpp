// Tells the profile what the runtime did.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "host/runtime.hpp"
#include "interpose/recording.hpp"

namespace wherry::interpose {

class Listener : public run::Observer {
 public:
  Listener(Recording& recording, const Activity& activity) : recording_(recording), activity_(activity) {}

  void used(MPI_Comm comm, const run::CellKey& kind, std::string_view strategy, std::uint64_t bytes,
            std::uint64_t time_ns) override;
  std::uint32_t use_of(MPI_Comm comm, const run::CellKey& kind, std::string_view strategy) override;
  bool takes_times() const override { return true; }
  void begins(std::uint32_t use, std::uint64_t bytes) override { current = {use, bytes, true}; }
  void ran(std::uint32_t use, std::uint64_t bytes) override { current = {use, bytes, false}; }
  void decided(MPI_Comm comm, const run::CellKey& kind, std::uint32_t call, std::string_view strategy,
               profile::Reason reason, std::uint64_t time_ns, std::uint64_t native_ns) override;
  void compared(MPI_Comm comm, const tuning::TrialResult& claim) override;
  void fell_back(Collective collective, std::string_view reason) override;
  void made_operation(MPI_Comm comm, const run::CellKey& kind, run::Form form, std::string_view strategy,
                      std::uint64_t bytes) override;
  void not_started(Collective collective, run::Form form, std::string_view reason) override;

  /// What this thread's call turned out to be, for whoever books it.
  struct Use {
    std::uint32_t number = no_use;
    std::uint64_t bytes = 0;
    bool passes = false;  // a native call of which nothing was read
  };
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Use current;
  /// The reason why this thread's call is native; empty: none was told.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local std::string_view fallback;

 private:
  profile::Subject subject_of(MPI_Comm comm, std::uint32_t function, const run::CellKey& kind);

  Recording& recording_;
  const Activity& activity_;
};

}  // namespace wherry::interpose
