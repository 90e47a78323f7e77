// Call sites: from a return address to the program or library it lies in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/flat_map.hpp"
#include "profile/stack.hpp"

namespace wherry::profile {

/// Who called an MPI function.
enum class Caller : std::uint8_t {
  program,  // the user's code or a library above MPI
  fortran,  // the Fortran bindings of the MPI library: the caller is one frame further up
  library,  // the MPI library itself, which calls its own public names
};

/// What kind of caller a shared object is, from its file name and whether it holds the MPI functions.
Caller classify(std::string_view path, bool holds_mpi);

struct Place {
  std::uint32_t module;  // index into modules(); ~0: in no loaded object (generated code)
  Caller caller;
  std::uint64_t offset;  // from the load address of the module; what addr2line takes
};

struct Module {
  std::uint64_t base;  // of a script ~0
  std::string path;
  Caller caller;
};

/// The segment of a loaded object in which an address lies; empty: in none.
AddressRange segment_around(const void* address);

/// Remembers every site it was asked for. Not thread-safe.
class Sites {
 public:
  /// library: any address inside the MPI library.
  explicit Sites(const void* library = nullptr);

  /// Index of the place that holds the address; the same address gives the same index.
  std::uint32_t find(const void* address) {
    const auto key = reinterpret_cast<std::uintptr_t>(address);
    if (const std::uint32_t* known = known_.find(key)) return *known;
    return known_.insert(key, add(address));
  }
  /// Index of the module that stands for a script.
  std::uint32_t script(std::string_view path);
  const Place& place(std::uint32_t index) const { return places_[index]; }
  const std::vector<Module>& modules() const { return modules_; }

 private:
  std::uint32_t add(const void* address);
  std::uint32_t module_of(std::uint64_t base, const char* name);

  std::uint64_t library_base_ = 0;
  std::vector<Place> places_;
  std::vector<Module> modules_;
  FlatMap<std::uint64_t, std::uint32_t> known_;
};

}  // namespace wherry::profile
