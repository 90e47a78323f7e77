#include "support/progress.hpp"

#include <unistd.h>

#include <utility>

namespace apps {
namespace {

std::FILE* error_output() { return ::fdopen(::dup(STDERR_FILENO), "w"); }

/// mpiexec reads the error output of its ranks through a pipe, so a rank asks for its controlling terminal. Open MPI's
/// ranks have that of mpiexec; MPICH's have none.
std::FILE* open_for(ShowProgress where) {
  switch (where) {
    case ShowProgress::terminal:
      return ::isatty(STDERR_FILENO) != 0 ? error_output() : std::fopen("/dev/tty", "w");
    case ShowProgress::error_output: return error_output();
    default: return nullptr;
  }
}

}  // namespace

Progress::Progress(std::string program, ShowProgress where)
    : program_(std::move(program)), terminal_(open_for(where)) {}

Progress::~Progress() {
  if (terminal_ == nullptr) return;
  write("");
  std::fclose(terminal_);
}

void Progress::show(const std::string& what, int done, int total) {
  if (terminal_ == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  write(program_ + ": " + what + ": " + std::to_string(done) + " of " + std::to_string(total));
}

void Progress::write(const std::string& text) {
  std::fprintf(terminal_, "\r%s\x1b[K", text.c_str());
  std::fflush(terminal_);
}

}  // namespace apps
