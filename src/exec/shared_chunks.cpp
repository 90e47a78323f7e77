#include "exec/shared_chunks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_space.hpp"
#include "base/own_errno.hpp"
#include "mpi/ranks.hpp"

namespace wherry::run {

namespace {

constexpr unsigned not_executable = 8;  // MFD_NOEXEC_SEAL, of Linux 6.3

/// Differs from that of every other memory that a process of the same number may have made.
std::uint64_t new_proof(const void* at) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return (static_cast<std::uint64_t>(now) ^ (static_cast<std::uint64_t>(::getpid()) << 40) ^
          reinterpret_cast<std::uintptr_t>(at)) *
         0x9e3779b97f4a7c15;
}

std::array<char, 32> name_of(std::uint64_t proof) {
  std::array<char, 32> name;
  std::snprintf(name.data(), name.size(), "wherry-%016llx", static_cast<unsigned long long>(proof));
  return name;
}

/// Whether the descriptor of another process, by its path, is that memory. Others are not even opened.
bool is_named(const char* path, std::uint64_t proof) {
  std::array<char, 128> target;
  const ssize_t length = ::readlink(path, target.data(), target.size());
  if (length <= 0) return false;
  const std::string expected = std::string("/memfd:") + name_of(proof).data();
  return std::string_view(target.data(), static_cast<std::size_t>(length)).starts_with(expected);
}

}  // namespace

/// Takes the descriptor over.
std::unique_ptr<SharedChunks> SharedChunks::mapped(int descriptor) {
  void* const at = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at != MAP_FAILED) {
    if (auto* const made = new (std::nothrow) SharedChunks(static_cast<Memory*>(at), descriptor))
      return std::unique_ptr<SharedChunks>(made);
    ::munmap(at, sizeof(Memory));
  }
  ::close(descriptor);
  return nullptr;
}

std::unique_ptr<SharedChunks> SharedChunks::make() {
  if (mpi::ranks_take_turns) return nullptr;
  const OwnErrno own;
  const std::uint64_t proof = new_proof(&own);
  int descriptor = ::memfd_create(name_of(proof).data(), MFD_CLOEXEC | not_executable);
  if (descriptor < 0) descriptor = ::memfd_create(name_of(proof).data(), MFD_CLOEXEC);
  if (descriptor < 0) return nullptr;
  if (reserve_in_file(descriptor, 0, sizeof(Memory)) != 0) {
    ::close(descriptor);
    return nullptr;
  }
  std::unique_ptr<SharedChunks> made = mapped(descriptor);
  if (made != nullptr) made->memory_->proof = proof;
  return made;
}

std::unique_ptr<SharedChunks> SharedChunks::open(const SharedKey& key) {
  const OwnErrno own;
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/%lld/fd/%d", static_cast<long long>(key.process),
                key.descriptor);
  if (!is_named(path.data(), key.proof)) return nullptr;
  const int descriptor = ::open(path.data(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  std::unique_ptr<SharedChunks> opened = mapped(descriptor);
  if (opened == nullptr) return nullptr;
  opened->close();
  return opened->memory_->proof == key.proof ? std::move(opened) : nullptr;
}

SharedChunks::~SharedChunks() {
  const OwnErrno own;
  close();
  ::munmap(memory_, sizeof(Memory));
}

SharedKey SharedChunks::key() const { return {::getpid(), descriptor_, memory_->proof}; }

void SharedChunks::close() {
  const OwnErrno own;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

SharedConnections::~SharedConnections() {
  for (const auto& [rank, connection] : to_) left_ += connection.chunks != nullptr ? 1 : 0;
}

SharedConnections::Connection* SharedConnections::to(int rank) {
  try {
    const auto [at, is_new] = to_.try_emplace(rank);
    Connection& connection = at->second;
    if (is_new) {
      if (left_-- > 0) connection.chunks = SharedChunks::make();
      if (connection.chunks == nullptr) ++left_;
    }
    return connection.chunks != nullptr ? &connection : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void SharedConnections::answered(Connection& connection, bool has_it) {
  connection.chunks->close();
  connection.is_open = has_it;
  if (has_it) return;
  connection.chunks.reset();
  ++left_;
}

SharedChunks* SharedConnections::from(int rank) {
  const auto at = from_.find(rank);
  return at != from_.end() ? at->second.get() : nullptr;
}

SharedChunks* SharedConnections::open(int rank, const SharedKey& key) {
  try {
    return (from_[rank] = SharedChunks::open(key)).get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace wherry::run
