// The record as a file mapped into memory: a header and tables that grow.
#pragma once

#include <cstdint>
#include <string>

#include "profile/record.hpp"

namespace wherry::profile {

/// Owns one record file while it is written.
///
/// Space is reserved before it is touched, so that a full disk makes append() return nullptr (and count a dropped
/// event) instead of killing the program with SIGBUS. No descriptor stays open: they are the program's, which may close
/// them all and use their numbers for files of its own. Not thread-safe. Pointers to records are valid until the next
/// append.
class RecordFile {
 public:
  RecordFile() = default;
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Makes <directory>/<name>.wrec, or <directory>/<name>.<pid>.wrec if that exists (several worlds, one directory).
  /// Returns an empty text, or problem, reason and path; then the file is closed and nothing is left on disk.
  std::string open(const std::string& directory, const std::string& name);
  bool is_open() const { return base_ != nullptr; }
  const std::string& path() const { return path_; }

  /// The header where it never moves; nullptr before open().
  Header* fixed_header() { return fixed_; }
  Header& header() { return *reinterpret_cast<Header*>(base_); }

  /// A new record, all zero, at the end of its table; nullptr if there is no space for it.
  template <class Record>
  Record* append(Table table) {
    return static_cast<Record*>(append_bytes(table));
  }
  template <class Record>
  Record& at(Table table, std::uint32_t index) {
    return reinterpret_cast<Record*>(base_ + info(table).offset)[index];
  }
  std::uint32_t used(Table table) { return info(table).used; }
  std::uint32_t capacity(Table table) { return info(table).capacity; }
  void drop(Table table) { ++info(table).dropped; }
  /// Forgets the records of a table from `used` on.
  void truncate(Table table, std::uint32_t used);

 private:
  TableInfo& info(Table table) { return header().table[static_cast<std::uint32_t>(table)]; }
  void* append_bytes(Table table);
  bool grow(Table table);
  bool extend(std::uint64_t bytes);
  int open_again() const;
  std::string fail(const char* what, int error);
  void lay_out();

  int file_ = -1;  // open only while the file is made or grows
  std::uint64_t device_ = 0, inode_ = 0;
  char* base_ = nullptr;
  Header* fixed_ = nullptr;  // the same header, mapped for itself
  std::uint64_t bytes_ = 0;
  bool full_ = false;  // the disk refused once; do not ask at every event
  std::string path_;   // absolute: the program may change its folder
};

}  // namespace wherry::profile
