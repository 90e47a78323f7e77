// What the core (libwherry.so, knows no MPI) and a backend (built for one MPI ABI) tell each other.
//
// Symbols are numbered as in the generated symbols.inc: MPI_Send, PMPI_Send, MPI_Send_c, PMPI_Send_c, ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace wherry::interpose {

inline constexpr std::uint32_t core_version = 2;

enum class BackendMode : std::uint32_t {
  full,          // settings decide what is wrapped
  pass_through,  // wrap nothing; only stand in for what the library lacks
};

struct Core {
  std::uint32_t version;  // core_version; a backend refuses another
  BackendMode mode;
  const char* abi;        // "openmpi", "mpich", "abi"
  std::uint32_t symbols;  // how many slots
  void** slots;           // where a call of each symbol goes; the backend writes them
  void** next;            // each symbol's definition after ours: the library's or another tool's; null: none
  void** control;         // where Wherry's own MPI_Pcontrol messages go; null until set
  void* (*find)(const char* name);     // a symbol of the MPI library
  std::ptrdiff_t fortran_site_offset;  // of what take_fortran_site() takes: bytes from the thread pointer
};

/// What the offsets of thread-local variables count from, in the model initial-exec the same ones in all threads.
[[gnu::always_inline]] inline char* thread_pointer() {
  char* thread;
  asm("mov %%fs:0, %0" : "=r"(thread));
  return thread;
}

/// Where this thread last called a Fortran name; forgets it. offset: of Core.
[[gnu::always_inline]] inline const void* take_fortran_site(std::ptrdiff_t offset) {
  return std::exchange(*reinterpret_cast<const void**>(thread_pointer() + offset), nullptr);
}

/// Fills every slot. Returns nullptr, or why it cannot.
using BackendEntry = const char* (*)(const Core*);

}  // namespace wherry::interpose
