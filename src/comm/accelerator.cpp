#include "comm/accelerator.hpp"

#include <link.h>

#include <cstring>
#include <string_view>

namespace wherry::run {

namespace {

int find_accelerator(dl_phdr_info* info, std::size_t, void* found) {
  const char* const slash = std::strrchr(info->dlpi_name, '/');
  const std::string_view file = slash == nullptr ? info->dlpi_name : slash + 1;
  for (const std::string_view runtime : {"libcuda.so", "libamdhip64.so", "libze_loader.so"})
    if (file.starts_with(runtime)) *static_cast<bool*>(found) = true;
  return 0;
}

/// The first library tells how many have been loaded.
int count_loads(dl_phdr_info* info, std::size_t, void* loads) {
  *static_cast<unsigned long long*>(loads) = info->dlpi_adds;
  return 1;
}

}  // namespace

bool accelerator_loaded() {
  bool found = false;
  dl_iterate_phdr(find_accelerator, &found);
  return found;
}

bool AcceleratorWatch::loaded() {
  unsigned long long libraries = 0;
  dl_iterate_phdr(count_loads, &libraries);
  if (libraries != libraries_.load(std::memory_order_acquire)) {
    loaded_.store(accelerator_loaded(), std::memory_order_relaxed);
    libraries_.store(libraries, std::memory_order_release);
  }
  return loaded_.load(std::memory_order_relaxed);
}

}  // namespace wherry::run
