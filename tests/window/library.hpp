// A stand-in for the MPI library within one process: ranks are blocks of memory, and operations happen as late as MPI
// allows, in any order. What a real library does seldom is the rule here.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "datatype/byte_blocks.hpp"
#include "mpi/api.hpp"

namespace window_test {

using wherry::datatype::ByteBlock;
using wherry::datatype::ByteBlocks;

/// Some elements of a type, at an address or at a displacement in bytes.
struct Data {
  std::int64_t at;
  int count;
  MPI_Datatype type;
};
Data data_at(const void* address, int count, MPI_Datatype type);

/// One at a time: the functions of api() know which. Thread-safe.
class Library {
 public:
  Library(std::size_t ranks, std::size_t bytes, unsigned seed);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  /// Those that Wherry needs for windows; the others are nullptr.
  static wherry::mpi::Api api();

  /// Its lower bound is where the first byte is; extent: 0 for as much as the blocks span.
  MPI_Datatype make_type(const ByteBlocks& blocks, std::int64_t extent);
  void free_type(MPI_Datatype type);
  /// In the order of the type map, for each byte of data its offset.
  std::vector<std::int64_t> offsets(const Data& data);

  int get(const Data& here, int rank, const Data& there, MPI_Request* request = nullptr);
  int put(const Data& here, int rank, const Data& there);
  /// Adds 1 to each byte.
  int increment(int rank, const Data& there);
  int flush(int rank);
  int flush_all();
  void wait(MPI_Request request);
  /// Another rank writes, and it is there at once.
  void write(int rank, std::int64_t at, std::byte byte);
  std::byte read(int rank, std::int64_t at);

  /// Gets fail from now on.
  void fail_gets(bool fail) { failing_ = fail; }
  long gets() const { return gets_; }
  std::size_t types() const { return types_.size(); }

 private:
  friend struct Entries;
  struct Type {
    ByteBlocks blocks;
    std::int64_t lower, extent;
    bool predefined;
    void* attribute;
  };
  struct Operation {
    int rank;
    std::uintptr_t request;
    std::function<void()> perform;
  };

  int start(int rank, std::function<void()> perform, MPI_Request* request);
  void perform_some(const std::function<bool(const Operation&)>& which);
  std::byte* place(int rank, std::int64_t at);
  std::vector<std::int64_t> offsets_of(const Data& data) const;
  std::vector<std::byte*> places_here(const Data& data) const;
  std::vector<std::byte*> places_there(int rank, const Data& data);

  std::mutex mutex_;
  std::mt19937 random_;
  std::vector<std::vector<std::byte>> memory_;
  std::map<MPI_Datatype, Type> types_;
  std::uintptr_t next_type_ = 0x10000;
  std::vector<Operation> under_way_;
  std::uintptr_t next_request_ = 0x20000;
  void (*forget_)(void*) = nullptr;
  bool failing_ = false;
  long gets_ = 0;
};

}  // namespace window_test
