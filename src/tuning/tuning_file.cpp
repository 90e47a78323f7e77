// The file of a tuning table: read whole, written whole, shared by processes.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "base/own_errno.hpp"
#include "tuning/tuning_store.hpp"

namespace wherry::tuning {
namespace {

// A row is about 100 bytes; nobody has tuned for half a million kinds of calls.
constexpr off_t most_file_bytes = off_t{64} << 20;

constexpr auto lock_patience = std::chrono::seconds(3);
constexpr auto lock_pause = std::chrono::milliseconds(5);

std::string reason(int error) { return std::generic_category().message(error); }

std::string problem_with(const std::string& path, const std::string& what) { return path + ": " + what; }

/// A file descriptor that closes itself.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  bool open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  /// Network file systems tell only now that there was no room.
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

/// Appends what is in the file to text; returns errno or 0.
int read_all(int descriptor, std::string& text) {
  char buffer[1 << 14];
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got == 0) return 0;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    else if (errno != EINTR) return errno;
    if (text.size() > static_cast<std::size_t>(most_file_bytes)) return EFBIG;
  }
}

/// Returns errno or 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(descriptor, text.data(), text.size());
    if (put >= 0) text.remove_prefix(static_cast<std::size_t>(put));
    else if (errno != EINTR) return errno;
  }
  return 0;
}

TuningRead unreadable(const std::string& why) {
  return {.table = {},
          .state = TuningState::foreign,
          .problem = "cannot be read as a tuning file: " + why + "; ignored"};
}

TuningRead read_file(const std::string& path) {
  // Not blocking: the name may be that of a pipe without a writer.
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open() && (errno == ENOENT || errno == ENOTDIR))
    return {.table = {}, .state = TuningState::missing, .problem = {}};
  if (!file.open()) return unreadable(reason(errno));
  struct stat status = {};
  if (::fstat(file.descriptor(), &status) != 0) return unreadable(reason(errno));
  if (!S_ISREG(status.st_mode)) return unreadable("it is not a regular file");
  if (status.st_size > most_file_bytes) return unreadable(reason(EFBIG));
  std::string text;
  if (const int error = read_all(file.descriptor(), text)) return unreadable(reason(error));
  return parse(text);
}

/// Keeps other writers out while it lives. The lock is a file of its own, because the tuning file is replaced
/// by each save.
class WriterLock {
 public:
  explicit WriterLock(const std::string& path)
      : file_(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
    error_ = file_.open() ? acquire() : errno;
  }
  /// errno, or 0 if the lock is held. File systems that cannot lock do not stop anyone: at worst a concurrent
  /// process's rows are lost, never the file.
  int error() const { return error_ == ENOLCK || error_ == EOPNOTSUPP || error_ == ENOSYS ? 0 : error_; }

 private:
  int acquire() const {
    const auto deadline = std::chrono::steady_clock::now() + lock_patience;
    while (::flock(file_.descriptor(), LOCK_EX | LOCK_NB) != 0) {
      const bool busy = errno == EWOULDBLOCK || errno == EINTR;
      if (!busy || std::chrono::steady_clock::now() >= deadline) return errno;
      std::this_thread::sleep_for(lock_pause);
    }
    return 0;
  }

  File file_;
  int error_ = 0;
};

/// A new file has the rights of the one it replaces, so that a shared file stays shared.
void keep_rights(int descriptor, const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) (void)!::fchmod(descriptor, status.st_mode & 0777);
}

/// Writes to a temporary file beside `path` and renames it. No fsync: it can take long at the end of every
/// run, and what a power failure leaves is noticed by its checksum. Returns errno or 0.
int replace(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  File file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.open()) return errno;
  keep_rights(file.descriptor(), path);
  int error = write_all(file.descriptor(), text);
  if (!file.close() && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(temporary.c_str());
  return error;
}

/// The file itself, if path is a symbolic link to it: renaming must not replace the link.
std::string followed(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

std::string not_saved(const std::string& path, const std::string& why) {
  return problem_with(path, "what was learned was not saved: " + why +
                                "; make room or rights for it, or name another file in WHERRY_TUNING_FILE");
}

void complain(const std::string& problem) { std::fprintf(stderr, "wherry: %s\n", problem.c_str()); }

}  // namespace

TuningRead load(const std::string& path) {
  TuningRead read = read_file(path);
  if (!read.problem.empty()) read.problem = problem_with(path, read.problem);
  return read;
}

std::string save(const std::string& path, const TuningTable& learned) try {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  if (error) return not_saved(path, "its directory cannot be made: " + error.message());
  const std::string file = followed(path);
  const WriterLock lock(file);
  if (lock.error() == EWOULDBLOCK) return not_saved(path, "another process has locked it for too long");
  if (lock.error() != 0) return not_saved(path, reason(lock.error()));
  TuningRead present = read_file(file);
  if (present.state == TuningState::foreign) return problem_with(path, present.problem);
  present.table.merge(learned);
  const int failure = replace(file, format(present.table));
  return failure == 0 ? std::string{} : not_saved(path, reason(failure));
} catch (const std::exception& e) {
  return not_saved(path, e.what());
}

TuningTable load_or_complain(const std::string& path) {
  const OwnErrno own;
  TuningRead read = load(path);
  if (!read.problem.empty()) complain(read.problem);
  return std::move(read.table);
}

void save_or_complain(const std::string& path, const TuningTable& learned) {
  const OwnErrno own;
  if (const std::string problem = save(path, learned); !problem.empty()) complain(problem);
}

}  // namespace wherry::tuning
