// Input that is drawn from a seed unless a file is named: the options of the one do not go with the other.
#pragma once

#include <string>

#include "support/options.hpp"

namespace apps {

/// Which options of the drawn input were given.
class Drawn {
 public:
  /// The option, which from now on is noted when it is given. This must outlive it.
  Option option(Option option);

  /// Throws usage_error if the file that `file_option` names is to be read as well; none if its name is empty.
  void check(const std::string& file_option, const std::string& file) const;

 private:
  std::string last_;  // that was given
};

}  // namespace apps
