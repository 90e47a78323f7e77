// Room in a file that is mapped: memory that the system lacks when it is touched would end the program.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>

namespace wherry {

/// Reserves so many bytes from there on. Returns an errno; 0: they are there.
inline int reserve_in_file(int descriptor, std::uint64_t from, std::uint64_t bytes) {
  constexpr int interrupted_at_most = 100;  // a program may have a timer
  rlimit limit{};
  // Beyond the limit of the process the kernel would end the program for it.
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < from + bytes) return EFBIG;
  int code = EINTR;
  for (int i = 0; i < interrupted_at_most && code == EINTR; ++i)
    code = ::posix_fallocate(descriptor, static_cast<off_t>(from), static_cast<off_t>(bytes));
  return code;
}

}  // namespace wherry
