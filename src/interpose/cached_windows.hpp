// The program's windows, as the preload caches them.
#pragma once

#include <mpi.h>

#include <atomic>
#include <string>

#include "base/settings.hpp"
#include "interpose/process_state.hpp"
#include "interpose/recording.hpp"
#include "mpi/api.hpp"
#include "window/windows.hpp"

namespace wherry::interpose {

class CachedWindows {
 public:
  /// api: how Wherry reads what the program gives; patient_api: how it calls the library where that waits.
  CachedWindows(const Settings& settings, const Activity& activity, const mpi::Api& api,
                const mpi::Api& patient_api, Recording& recording)
      : settings_(settings),
        activity_(activity),
        api_(api),
        patient_api_(patient_api),
        recording_(recording) {}

  /// The windows that are known; nullptr as long as there was none.
  window::Windows* get() const { return windows_.load(std::memory_order_acquire); }
  window::Windows& make();
  /// Caches a window that was made, as its info and the settings say. Collective over comm. MPI's code.
  int add(MPI_Win win, MPI_Comm comm, MPI_Info info, const window::TargetMemory& own);
  /// Tells once that what a program has said to a window is not what it can say there.
  void note_strange_info(const std::string& value);
  /// Books what a window has done. Takes the record's lock.
  void book(const window::Windows::Known& known);

 private:
  const Settings& settings_;
  const Activity& activity_;
  const mpi::Api &api_, &patient_api_;
  Recording& recording_;
  std::atomic<window::Windows*> windows_ = nullptr;
  std::atomic_flag strange_info_told_;
};

}  // namespace wherry::interpose
