// How many random worlds a test meets: what it asks for, or a share of that.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace wherry::test {

/// WHERRY_TEST_WORLDS, in percent; else all, or as many as sanitizers, which look for other mistakes, can meet in about
/// the same time.
inline int percent_of_worlds() {
#ifdef __SANITIZE_ADDRESS__
  constexpr int usual = 8;
#else
  constexpr int usual = 100;
#endif
  const char* asked = std::getenv("WHERRY_TEST_WORLDS");
  return asked != nullptr ? std::max(1, std::atoi(asked)) : usual;
}

/// So many of a test's worlds; two at least.
inline int random_worlds(int all) { return std::max(2, all * percent_of_worlds() / 100); }

/// Whether there are enough of them to ask what share of them a law holds in; in a few it holds by chance or not.
inline bool are_all_worlds() { return percent_of_worlds() >= 100; }

}  // namespace wherry::test
