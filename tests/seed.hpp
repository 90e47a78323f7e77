// Where the random data of a test begin.
#pragma once

#include <cstdlib>

namespace wherry::test {

/// WHERRY_TEST_SEED; else always the same.
inline unsigned seed_from_environment() {
  const char* const text = std::getenv("WHERRY_TEST_SEED");
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 20261122U;
}

}  // namespace wherry::test
