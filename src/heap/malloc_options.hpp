// What glibc's malloc does with memory that the program frees.
//
// glibc maps blocks above a threshold and unmaps them when they are freed, and gives the top of the heap back when more
// than another threshold of it is free; each of these pages is faulted anew when it is needed again. Both thresholds
// rise by themselves with the largest block freed so far, until one of them is set: from then on they stay as they are.
#pragma once

#include <cstddef>
#include <string_view>

namespace wherry::heap {

class MallocOptions {
 public:
  /// Why malloc's options are not Wherry's to change; empty if they are. `environment`: NULL-terminated "NAME=value".
  static std::string_view why_not(const char* const* environment);
  /// Why what is kept might be missed, by limits that may change while the program runs; empty if it will not.
  static std::string_view limited();

  /// Lets malloc keep up to `bytes` of freed memory; blocks above 32 MiB are mapped as ever. False: malloc refused.
  bool keep(std::size_t bytes);
  /// Sets the thresholds that held before keep(), as far as they can be known; `trim`: and gives back what is kept.
  void take_back(bool trim);

 private:
  std::size_t threshold_ = 0;  // for mapping, before keep()
};

}  // namespace wherry::heap
