// One line of progress on the user's terminal, rewritten in place.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace apps {

/// terminal: where the ranks find the user's terminal; error_output: there, whatever it is; nowhere.
enum class ShowProgress { terminal, error_output, nowhere };

class Progress {
 public:
  Progress(std::string program, ShowProgress where);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// "what: done of total". Cheap: the line changes a few times a second.
  void show(const std::string& what, int done, int total);

 private:
  void write(const std::string& text);

  std::string program_;
  std::FILE* terminal_ = nullptr;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace apps
