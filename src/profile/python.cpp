#include "profile/python.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/own_errno.hpp"
#include "profile/flat_map.hpp"

namespace wherry::profile {
namespace {

// Of every object, and of code and frames in all versions from 3.11 to 3.14.
constexpr std::size_t type_at = 8, size_of_type_at = 32, file_of_code_at = 112, instruction_at = 56;
constexpr std::size_t longest_file = 4096;
constexpr int most_frames = 64;  // looked at, as some are no script's
constexpr int frames_of_where = 12;

/// One word, wherever that is; nullopt: there is no memory, or the kernel does not say.
std::optional<std::uintptr_t> ask_kernel(std::uintptr_t address) {
  const OwnErrno own;
  std::uintptr_t word = 0;
  const iovec here{&word, sizeof word}, there{reinterpret_cast<void*>(address), sizeof word};
  if (::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) != sizeof word) return std::nullopt;
  return word;
}

template <class Function>
bool find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

/// From the first to the last of its segments.
AddressRange module_that_holds(std::uintptr_t address) {
  struct Search {
    std::uintptr_t address;
    AddressRange found;
  } search{address, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) -> int {
        auto& s = *static_cast<Search*>(data);
        AddressRange range{~std::uintptr_t{0}, 0};
        for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum))
          if (segment.p_type == PT_LOAD) {
            const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
            range = {std::min(range.begin, begin), std::max(range.end, begin + segment.p_memsz)};
          }
        if (s.address < range.begin || s.address >= range.end) return 0;
        s.found = range;
        return 1;
      },
      &search);
  return search.found;
}

void append_utf8(std::string& text, std::uint32_t c) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) return void(text += static_cast<char>(c));
  if (c < 0x800) text += static_cast<char>(0xc0 | c >> 6);
  else if (c < 0x10000) text += static_cast<char>(0xe0 | c >> 12), tail(6);
  else text += static_cast<char>(0xf0 | c >> 18), tail(12), tail(6);
  tail(0);
}

}  // namespace

std::optional<std::uintptr_t> Python::read(std::uintptr_t address) const {
  constexpr std::uintptr_t first_page = 4096;
  if (address < first_page) return std::nullopt;
  return is_proven_ ? *reinterpret_cast<const std::uintptr_t*>(address) : ask_kernel(address);
}

bool Python::is_of_type(std::uintptr_t object, std::uintptr_t type) const {
  return read(object + type_at) == type;
}

void Python::find() {
  const char* (*version)() = nullptr;
  void* (*thread_state)() = nullptr;
  if (!profile::find(thread_state, "PyGILState_GetThisThreadState") ||
      !profile::find(version, "Py_GetVersion") || !find_functions())
    return;
  find_layout(version());
  if (last_ == 0) return;
  code_ = module_that_holds(reinterpret_cast<std::uintptr_t>(thread_state));
  thread_state_ = thread_state;
}

bool Python::find_functions() {
  code_type_ = reinterpret_cast<std::uintptr_t>(::dlsym(RTLD_DEFAULT, "PyCode_Type"));
  text_type_ = reinterpret_cast<std::uintptr_t>(::dlsym(RTLD_DEFAULT, "PyUnicode_Type"));
  if (code_type_ == 0 || text_type_ == 0) return false;
  code_bytes_ = read(code_type_ + size_of_type_at).value_or(0);
  return code_bytes_ != 0 && profile::find(line_at_, "PyCode_Addr2Line") &&
         profile::find(length_, "PyUnicode_GetLength") && profile::find(char_at_, "PyUnicode_ReadChar");
}

/// Where 3.13 and later keep the frame is looked for: its code has the type of code.
void Python::find_layout(const char* version) {
  char* rest = nullptr;
  const long major = std::strtol(version, &rest, 10), minor = *rest == '.' ? std::atol(rest + 1) : 0;
  if (major != 3 || minor < 11 || minor > 14 || std::strstr(version, "free-threading") != nullptr) return;
  has_c_frame_ = minor <= 12;
  frame_at_ = minor == 11 ? 8 : 0;
  code_at_ = minor == 11 ? 32 : 0;
  before_at_ = minor == 11 ? 48 : 8;
  first_ = has_c_frame_ ? 56 : 64;
  last_ = has_c_frame_ ? 56 : 96;
}

std::uintptr_t Python::frame_at(std::uintptr_t thread_state, std::size_t offset) const {
  const std::uintptr_t frame = read(thread_state + offset).value_or(0);
  return has_c_frame_ ? read(frame + frame_at_).value_or(0) : frame;
}

std::uintptr_t Python::current_frame() {
  const auto thread_state = reinterpret_cast<std::uintptr_t>(thread_state_());
  if (thread_state == 0) return 0;
  for (std::size_t offset = first_; offset <= last_; offset += 8)
    if (const std::uintptr_t frame = frame_at(thread_state, offset); code_of(frame) != 0)
      return first_ = last_ = offset, frame;
  return 0;
}

/// 0: what the frame holds is no code. 3.14 marks references in their lowest bits.
std::uintptr_t Python::code_of(std::uintptr_t frame) const {
  const std::uintptr_t code = read(frame + code_at_).value_or(0) & ~std::uintptr_t{7};
  return code != 0 && is_of_type(code, code_type_) ? code : 0;
}

std::string Python::text_of(std::uintptr_t unicode) const {
  std::string text;
  if (!is_of_type(unicode, text_type_)) return text;
  auto* const object = reinterpret_cast<void*>(unicode);
  const long length = length_(object);
  if (length <= 0 || length > static_cast<long>(longest_file)) return text;
  for (long i = 0; i < length; ++i) append_utf8(text, char_at_(object, i));
  return text;
}

bool Python::read_line(std::uintptr_t frame, std::uintptr_t code, ScriptLine& line) const {
  const std::uintptr_t instruction = read(frame + instruction_at).value_or(0);
  const std::uintptr_t begin = code + code_bytes_;
  constexpr std::uintptr_t longest_code = 1U << 30;
  if (instruction < begin || instruction - begin > longest_code) return false;
  line.file = text_of(read(code + file_of_code_at).value_or(0));
  if (line.file.empty() || line.file.front() == '<') return false;  // "<frozen importlib._bootstrap>"
  const int number = line_at_(reinterpret_cast<void*>(code), static_cast<int>(instruction - begin));
  line.line = number > 0 ? static_cast<std::uint32_t>(number) : 0;
  return number > 0;
}

std::size_t Python::lines(std::span<ScriptLine> lines) {
  if (!is_there()) return 0;
  std::size_t found = 0;
  std::uintptr_t frame = current_frame();
  for (int looked_at = 0; frame != 0 && found < lines.size() && looked_at < most_frames; ++looked_at) {
    const std::uintptr_t code = code_of(frame);
    if (code != 0 && read_line(frame, code, lines[found])) ++found;
    frame = read(frame + before_at_).value_or(0);
  }
  is_proven_ |= found > 0;
  return found;
}

std::uint64_t Python::where() {
  if (!is_proven_) return 0;
  std::uint64_t place = 0;
  std::uintptr_t frame = current_frame();
  for (int i = 0; frame != 0 && i < frames_of_where; ++i) {
    place = mix(place ^ read(frame + instruction_at).value_or(0));
    frame = read(frame + before_at_).value_or(0);
  }
  return place;
}

}  // namespace wherry::profile
