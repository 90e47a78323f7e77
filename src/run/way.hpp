// A way to perform a collective with a schedule of Wherry's.
#pragma once

#include "choose/way.hpp"

namespace wherry::run {

using choose::Way;

}  // namespace wherry::run
