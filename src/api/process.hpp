// Wherry in a program that calls it by name: one runtime per process, from the first collective to MPI_Finalize.
#pragma once

#include <string_view>

#include "host/layout_messages.hpp"
#include "host/runtime.hpp"
#include "mpi/api.hpp"

namespace wherry::api {

/// The functions of the MPI library that the program is linked to. Ends the process if it is of another ABI than this
/// library.
const mpi::Api& library();

/// How Wherry waits for its own requests, by WHERRY_WAIT. Between MPI_Init and MPI_Finalize.
run::Waiting waiting();

/// Messages and packing by the kernels. Never destroyed: exit handlers may still communicate.
run::LayoutMessages& messages();

/// Made when first asked for between MPI_Init and MPI_Finalize; nullptr without MPI_Init.
run::Runtime* runtime();

/// The settings of the process, from when runtime() is there; else nullptr.
const Settings* settings_in_use();

/// What ran in this thread's last collective. A thread's own, like errno: communicators of several threads must not
/// mix.
class LastStrategy {
 public:
  /// name: of static storage, ended by a null character, as the registry's are.
  static void set(std::string_view name);
  static const char* get();
};

}  // namespace wherry::api
