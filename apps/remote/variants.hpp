// The methods of reading remote memory that an application compares, plain MPI first.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "remote/block_cache.hpp"
#include "remote/reader.hpp"

namespace remote {

/// Memory that a rank lets all others read.
struct Memory {
  MPI_Comm comm;
  std::span<const std::byte> mine;
};

/// For each rank and window.
struct CacheOptions {
  std::size_t memory_bytes = 4 << 20;             // of the cache; adaptive ones begin with it
  std::optional<std::size_t> ceiling_bytes = {};  // the most that an adaptive one may take; see ceiling_of
  std::size_t entries = 4096;                     // of Wherry's index, at first
  std::size_t block_bytes = 1 << 10;              // of the block cache
  std::size_t ahead_bytes =
      1 << 10;                 // of the blocks that Wherry's caches fetch; 0: no more than is asked for
  std::size_t node_bytes = 0;  // that the ranks of a node share with Wherry's caches; 0: none
  bool bypass = true;          // whether Wherry leaves gets to MPI where these take less time
  bool plain = true;           // whether plain MPI is among the variants
};

/// At least twice the memory of a cache: the ceiling counts more than the entries' bytes.
std::size_t ceiling_of(const CacheOptions& options);

struct Variant {
  std::string name;
  /// Collective over the memory's communicator, and so is its end.
  std::unique_ptr<Reader> (*make)(const Memory& memory, const CacheOptions& options);
};

/// Those that are compared.
std::span<const Variant> variants(const CacheOptions& options);

/// The sum over all ranks, on all of them. Collective.
Statistics sum(const Statistics& mine, MPI_Comm comm);

}  // namespace remote
