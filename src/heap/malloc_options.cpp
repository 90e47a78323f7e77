#include "heap/malloc_options.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "heap/machine_memory.hpp"

namespace wherry::heap {
namespace {

// Of glibc's malloc.h; another C library need not have them.
constexpr int trim_threshold = -1, mmap_threshold = -3;
constexpr std::size_t least_threshold = std::size_t{128} << 10;
constexpr std::size_t most_threshold = std::size_t{32} << 20;  // more is refused

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

/// The program, and behind it what it has loaded, in the order in which names are looked up.
const link_map* first_object() {
  link_map* first = nullptr;
  void* const program = ::dlopen(nullptr, RTLD_LAZY);
  if (program == nullptr) return nullptr;
  if (::dlinfo(program, RTLD_DI_LINKMAP, static_cast<void*>(&first)) != 0) first = nullptr;
  ::dlclose(program);
  return first;
}

/// Whether an object defines a function. A program that is not position-independent, as Debian's Python, has an address
/// of its own for a function whose address it takes: a jump to the definition, and an undefined symbol.
bool defines(const link_map& object, const char* name) {
  void* const handle = ::dlopen(*object.l_name == '\0' ? nullptr : object.l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  void* const address = ::dlsym(handle, name);
  ::dlclose(handle);
  Dl_info info{};
  void *owner = nullptr, *symbol = nullptr;
  return address != nullptr && ::dladdr1(address, &info, &owner, RTLD_DL_LINKMAP) != 0 && owner == &object &&
         ::dladdr1(address, &info, &symbol, RTLD_DL_SYMENT) != 0 && symbol != nullptr &&
         static_cast<const ElfW(Sym)*>(symbol)->st_shndx != SHN_UNDEF;
}

bool is_libc(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file.starts_with("libc.so.6") || file.starts_with("libc-2.");
}

/// Whether the whole program uses the C library's.
bool is_in_libc(const char* name) {
  for (const link_map* object = first_object(); object != nullptr; object = object->l_next)
    if (defines(*object, name)) return is_libc(object->l_name);
  return false;
}

/// An entry of an object's dynamic section; 0: it has none.
ElfW(Xword) dynamic_entry(const link_map& object, ElfW(Sxword) tag) {
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag) return entry->d_un.d_val;
  return 0;
}

/// Whether an object refers to a name by its relocations in a table of so many bytes.
bool refers_to(const link_map& object, ElfW(Sxword) table, ElfW(Sxword) bytes, std::string_view name) {
  const auto* const relocations = reinterpret_cast<const ElfW(Rela)*>(dynamic_entry(object, table));
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(dynamic_entry(object, DT_SYMTAB));
  const auto* const names = reinterpret_cast<const char*>(dynamic_entry(object, DT_STRTAB));
  if (relocations == nullptr || symbols == nullptr || names == nullptr) return false;
  const std::size_t count = dynamic_entry(object, bytes) / sizeof *relocations;
  return std::any_of(relocations, relocations + count, [&](const ElfW(Rela) & relocation) {
    return name == names + symbols[ELF64_R_SYM(relocation.r_info)].st_name;
  });
}

/// Whether the program itself may call mallopt. Of libraries nobody knows: those of some networks refer to it, and are
/// loaded where there is no such network.
bool program_calls_mallopt() {
  const link_map* const program = first_object();
  return program != nullptr && (refers_to(*program, DT_JMPREL, DT_PLTRELSZ, "mallopt") ||
                                refers_to(*program, DT_RELA, DT_RELASZ, "mallopt"));
}

bool sets_malloc(std::string_view entry) {
  return entry.starts_with("MALLOC_") ||
         (entry.starts_with("GLIBC_TUNABLES=") && entry.find("glibc.malloc") != entry.npos);
}

bool is_limited(int resource) {
  rlimit limit{};
  return ::getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0 &&
         limit.rlim_cur != RLIM_INFINITY;
}

/// From which size on malloc maps memory: asked of malloc itself, by the mark that it leaves before a block. To free
/// what was mapped moves the threshold, so this is for when it is about to be set.
std::size_t current_threshold() {
  const auto allocate = find<void*(std::size_t)>("malloc");
  const auto release = find<void(void*)>("free");
  for (std::size_t bytes = least_threshold; bytes < most_threshold; bytes *= 2) {
    void* const block = allocate(bytes);
    if (block == nullptr) return bytes;
    const bool mapped = (static_cast<const std::size_t*>(block)[-1] & 2) != 0;
    release(block);
    if (mapped) return bytes;
  }
  return most_threshold;
}

}  // namespace

std::string_view MallocOptions::why_not(const char* const* environment) {
  if (find<int(int, int)>("mallopt") == nullptr || find<const char*()>("gnu_get_libc_version") == nullptr)
    return "the C library is not glibc";
  if (!is_in_libc("malloc") || !is_in_libc("free") || !is_in_libc("mallopt"))
    return "the program has an allocator of its own";
  for (; environment != nullptr && *environment != nullptr; ++environment)
    if (sets_malloc(*environment)) return "the environment sets malloc's options";
  if (program_calls_mallopt()) return "the program sets malloc's options (mallopt)";
  return limited();
}

std::string_view MallocOptions::limited() {
  if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA))
    return "the memory of the process is limited (ulimit -v, -d)";
  if (is_locked()) return "the process locks its memory (mlockall)";
  if (overcommit_is_strict()) return "the machine does not overcommit memory (vm.overcommit_memory=2)";
  return {};
}

bool MallocOptions::keep(std::size_t bytes) {
  const auto set = find<int(int, int)>("mallopt");
  if (threshold_ == 0) threshold_ = current_threshold();
  const std::size_t mapped = std::clamp(bytes, threshold_, most_threshold);
  return set(mmap_threshold, static_cast<int>(mapped)) == 1 &&
         set(trim_threshold, static_cast<int>(bytes)) == 1;
}

void MallocOptions::take_back(bool trim) {
  const auto set = find<int(int, int)>("mallopt");
  set(mmap_threshold, static_cast<int>(threshold_));
  set(trim_threshold, static_cast<int>(2 * threshold_));  // as malloc itself has it
  if (trim) find<int(std::size_t)>("malloc_trim")(0);
}

}  // namespace wherry::heap
