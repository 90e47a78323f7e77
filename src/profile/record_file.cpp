#include "profile/record_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file_space.hpp"
#include "base/own_errno.hpp"

namespace wherry::profile {
namespace {

struct Extent {
  Table table;
  std::uint32_t record_bytes;
  std::uint32_t capacity;  // to begin with; enough for most programs, 0.5 MiB in all
};

constexpr Extent extents[] = {
    {Table::functions, sizeof(FunctionRecord), 256},
    {Table::calls, sizeof(CallRecord), 1024},
    {Table::peers, sizeof(PeerRecord), 256},
    {Table::comms, sizeof(CommRecord), 64},
    {Table::modules, sizeof(ModuleRecord), 32},
    {Table::uses, sizeof(UseRecord), 128},
    {Table::decisions, sizeof(DecisionRecord), 256},
    {Table::misses, sizeof(MissRecord), 32},
    {Table::arrivals, sizeof(ArrivalRecord), 8192},
    {Table::types, sizeof(TypeRecord), 32},
    {Table::windows, sizeof(WindowRecord), 16},
    {Table::window_points, sizeof(WindowPointRecord), 256},
    {Table::window_curves, sizeof(WindowCurveRecord), 256},
    {Table::memory, sizeof(MemoryRecord), 16},
    {Table::gains, sizeof(GainRecord), 16},
    {Table::paths, sizeof(PathRecord), 64},
    {Table::not_cached, sizeof(NotCachedRecord), 64},
    {Table::wait_trials, sizeof(WaitTrialRecord), 1},
};
static_assert(std::size(extents) == table_count && sizeof(Header) <= 4096);

constexpr std::uint64_t round_up(std::uint64_t bytes) {
  constexpr std::uint64_t page = 4096;
  return (bytes + page - 1) / page * page;
}

std::uint64_t first_size() {
  std::uint64_t bytes = sizeof(Header);
  for (const Extent& e : extents) bytes += std::uint64_t{e.record_bytes} * e.capacity;
  return round_up(bytes);
}

int create(const std::string& path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
}

}  // namespace

RecordFile::~RecordFile() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
  if (fixed_ != nullptr) ::munmap(fixed_, sizeof(Header));
}

std::string RecordFile::fail(const char* what, int error) {
  const std::string text = std::string(what) + " " + path_ + ": " + std::strerror(error);
  if (file_ >= 0) {
    ::close(file_);
    ::unlink(path_.c_str());
  }
  file_ = -1;
  return text;
}

std::string RecordFile::open(const std::string& directory, const std::string& name) {
  std::error_code ignored;
  const std::string folder = std::filesystem::absolute(directory, ignored).string();
  path_ = folder + "/" + name + ".wrec";
  file_ = create(path_);
  if (file_ < 0 && errno == EEXIST) {
    path_ = folder + "/" + name + "." + std::to_string(::getpid()) + ".wrec";
    file_ = create(path_);
  }
  if (file_ < 0) return fail("cannot create", errno);
  const std::uint64_t bytes = first_size();
  if (const int error = reserve_in_file(file_, 0, bytes)) return fail("no space for", error);
  void* const fixed = ::mmap(nullptr, sizeof(Header), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (fixed == MAP_FAILED) return fail("cannot map", errno);
  fixed_ = static_cast<Header*>(fixed);
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (base == MAP_FAILED) return fail("cannot map", errno);
  base_ = static_cast<char*>(base);
  bytes_ = bytes;
  struct stat made{};
  ::fstat(file_, &made);
  device_ = made.st_dev;
  inode_ = made.st_ino;
  ::close(std::exchange(file_, -1));
  lay_out();
  return {};
}

/// -1 where the path no longer leads to the file that is mapped.
int RecordFile::open_again() const {
  const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  struct stat found{};
  if (file < 0 || (::fstat(file, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_))
    return file;
  ::close(file);
  return -1;
}

void RecordFile::lay_out() {
  Header& h = header();
  h.version = record_version;
  h.tables = table_count;
  std::uint64_t offset = sizeof(Header);
  for (const Extent& e : extents) {
    info(e.table) = {offset, e.record_bytes, e.capacity, 0, 0};
    offset += std::uint64_t{e.record_bytes} * e.capacity;
  }
  std::memcpy(h.magic, record_magic, sizeof h.magic);
}

void* RecordFile::append_bytes(Table table) {
  if (info(table).used == info(table).capacity && !grow(table)) {
    drop(table);
    return nullptr;
  }
  TableInfo& t = info(table);
  void* record = base_ + t.offset + std::uint64_t{t.record_bytes} * t.used;
  std::memset(record, 0, t.record_bytes);
  ++t.used;
  return record;
}

void RecordFile::truncate(Table table, std::uint32_t used) { info(table).used = used; }

/// Moves the table to the end of the file with twice the capacity. The old place stays unused: what is lost so is
/// less than the size of the table.
bool RecordFile::grow(Table table) {
  const TableInfo old = info(table);
  const std::uint64_t offset = bytes_;
  if (!extend(round_up(std::uint64_t{old.record_bytes} * old.capacity * 2))) return false;
  std::memcpy(base_ + offset, base_ + old.offset, std::uint64_t{old.record_bytes} * old.used);
  info(table).offset = offset;
  info(table).capacity = 2 * old.capacity;
  return true;
}

bool RecordFile::extend(std::uint64_t bytes) {
  if (full_) return false;
  full_ = true;
  const OwnErrno own;
  const int file = open_again();
  if (file < 0) return false;
  const int error = reserve_in_file(file, bytes_, bytes);
  ::close(file);
  if (error != 0) return false;
  void* base = ::mremap(base_, bytes_, bytes_ + bytes, MREMAP_MAYMOVE);
  if (base == MAP_FAILED) return false;
  base_ = static_cast<char*>(base);
  bytes_ += bytes;
  full_ = false;
  return true;
}

}  // namespace wherry::profile
