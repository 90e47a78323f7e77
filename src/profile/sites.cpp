#include "profile/sites.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <span>

namespace wherry::profile {
namespace {

struct Object {
  std::uintptr_t address = 0;
  bool found = false;
  AddressRange segment;
  std::uint64_t base = 0;
  std::string name;
};

/// The loaded segment of an object in which an address lies; empty: it lies in none.
AddressRange segment_of(const dl_phdr_info& info, std::uintptr_t address) {
  for (const ElfW(Phdr) & segment : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    const std::uintptr_t start = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= start && address - start < segment.p_memsz)
      return {start, start + segment.p_memsz};
  }
  return {};
}

int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto& object = *static_cast<Object*>(data);
  object.segment = segment_of(*info, object.address);
  if (object.segment.begin == object.segment.end) return 0;
  object.found = true;
  object.base = info->dlpi_addr;
  object.name = info->dlpi_name;
  return 1;
}

Object object_at(const void* address) {
  Object object;
  object.address = reinterpret_cast<std::uintptr_t>(address);
  ::dl_iterate_phdr(visit, &object);
  return object;
}

/// The loader gives the program itself no name.
std::string path_of(const char* name) {
  if (*name != '\0') return name;
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string("program");
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return text.starts_with(p); });
}

}  // namespace

AddressRange segment_around(const void* address) { return object_at(address).segment; }

Caller classify(std::string_view path, bool holds_mpi) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (holds_mpi || starts_with_any(file, {"mca_", "libmca_", "libopen-pal", "libopen-rte", "libwherry"}))
    return Caller::library;
  if (starts_with_any(file, {"libmpi_mpifh", "libmpi_usempi", "libmpifort", "libmpichfort", "libfmpich"}))
    return Caller::fortran;
  return Caller::program;
}

Sites::Sites(const void* library) {
  if (library != nullptr) library_base_ = object_at(library).base;
}

std::uint32_t Sites::add(const void* address) {
  const Object object = object_at(address);
  Place place{~0U, Caller::program, reinterpret_cast<std::uintptr_t>(address)};
  if (object.found) {
    place.module = module_of(object.base, object.name.c_str());
    place.caller = modules_[place.module].caller;
    place.offset -= object.base;
  }
  places_.push_back(place);
  return static_cast<std::uint32_t>(places_.size() - 1);
}

std::uint32_t Sites::script(std::string_view path) {
  constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  const auto known = std::ranges::find_if(
      modules_, [&](const Module& module) { return module.base == nowhere && module.path == path; });
  if (known != modules_.end()) return static_cast<std::uint32_t>(known - modules_.begin());
  modules_.push_back({nowhere, std::string(path), Caller::program});
  return static_cast<std::uint32_t>(modules_.size() - 1);
}

std::uint32_t Sites::module_of(std::uint64_t base, const char* name) {
  const auto known =
      std::find_if(modules_.begin(), modules_.end(), [&](const Module& m) { return m.base == base; });
  if (known != modules_.end()) return static_cast<std::uint32_t>(known - modules_.begin());
  std::string path = path_of(name);
  const Caller caller = classify(path, library_base_ != 0 && base == library_base_);
  modules_.push_back({base, std::move(path), caller});
  return static_cast<std::uint32_t>(modules_.size() - 1);
}

}  // namespace wherry::profile
