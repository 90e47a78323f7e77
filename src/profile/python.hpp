// The lines of a Python script that this thread executes, if CPython is in the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "profile/stack.hpp"

namespace wherry::profile {

struct ScriptLine {
  std::string file;
  std::uint32_t line = 0;
};

/// Reads CPython's own data, for versions whose layout is known (3.11 to 3.14, with a global lock): all else has no
/// lines.
///
/// mpi4py gives the lock of the interpreter back around MPI calls, and to ask for it might make two threads wait for
/// each other. So nothing is made, counted or locked there. A thread's frames, and the code that they hold, change only
/// while it runs Python, which it does not inside of MPI. What a pointer leads to is read by the kernel, which refuses
/// where there is no memory, until a line was read; and the type of each object is looked at before anything of it is
/// used.
class Python {
 public:
  /// Looks whether CPython is in the process: once MPI is initialized, as it looks symbols up.
  void find();
  bool is_there() const { return thread_state_ != nullptr; }
  /// Where the interpreter lies; empty if there is none.
  AddressRange code() const { return code_; }

  /// The innermost lines first; how many there are.
  std::size_t lines(std::span<ScriptLine> lines);
  /// A number for where the innermost frames stand, without reading their code or lines; 0: not known, as before a line
  /// was read.
  std::uint64_t where();

 private:
  bool find_functions();
  void find_layout(const char* version);
  std::optional<std::uintptr_t> read(std::uintptr_t address) const;
  bool is_of_type(std::uintptr_t object, std::uintptr_t type) const;
  std::uintptr_t current_frame();
  std::uintptr_t frame_at(std::uintptr_t thread_state, std::size_t offset) const;
  std::uintptr_t code_of(std::uintptr_t frame) const;
  bool read_line(std::uintptr_t frame, std::uintptr_t code, ScriptLine& line) const;
  std::string text_of(std::uintptr_t unicode) const;

  void* (*thread_state_)() = nullptr;                // PyGILState_GetThisThreadState
  int (*line_at_)(void*, int) = nullptr;             // PyCode_Addr2Line
  long (*length_)(void*) = nullptr;                  // PyUnicode_GetLength
  std::uint32_t (*char_at_)(void*, long) = nullptr;  // PyUnicode_ReadChar
  std::uintptr_t code_type_ = 0, text_type_ = 0;
  AddressRange code_;
  bool is_proven_ = false;            // the layout, by a line that was read
  bool has_c_frame_ = false;          // between thread state and frame
  std::size_t frame_at_ = 0;          // the frame, of a C frame
  std::size_t code_at_ = 0;           // of a frame
  std::size_t before_at_ = 0;         // the frame before, of a frame
  std::size_t first_ = 0, last_ = 0;  // where the frame may be, of a thread state
  std::uint64_t code_bytes_ = 0;      // from an object of code to its first instruction
};

}  // namespace wherry::profile
