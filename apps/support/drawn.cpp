#include "support/drawn.hpp"

#include <utility>

namespace apps {

Option Drawn::option(Option option) {
  option.set = [this, name = option.name, set = std::move(option.set)](const std::string& text) {
    set(text);
    last_ = name;
  };
  return option;
}

void Drawn::check(const std::string& file_option, const std::string& file) const {
  if (last_.empty() || file.empty()) return;
  throw usage_error(last_ + " is for input that is drawn, and " + file_option +
                    " names a file instead; leave one out");
}

}  // namespace apps
