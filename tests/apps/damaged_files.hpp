// What fuzzing of files has in common: whole files that are damaged from a fixed seed, and read.
#pragma once

#include <doctest/doctest.h>

#include <random>
#include <span>
#include <string>
#include <string_view>

namespace fuzz {

using Random = std::mt19937_64;

/// Cut, insert, repeat, erase or flip, a few times. letters: what is inserted.
inline void damage(std::string& text, std::string_view letters, Random& random) {
  for (std::size_t n = 1 + random() % 4; n > 0; --n) {
    const std::size_t at = random() % (text.size() + 1);
    switch (random() % 5) {
      case 0: text.resize(at); break;
      case 1: text.insert(at, 1, letters[random() % letters.size()]); break;
      case 2: text.insert(at, text.substr(random() % (text.size() + 1), random() % 40)); break;
      case 3: text.erase(at, random() % 20); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    }
  }
}

/// The whole files first, then damaged ones.
inline void check_damaged(unsigned seed, std::span<const std::string_view> files, std::string_view letters,
                          bool (*reads_safely)(std::string_view)) {
  INFO("seed " << seed);
  Random random(seed);
  for (const std::string_view file : files) REQUIRE(reads_safely(file));
  for (int i = 0; i < 20'000; ++i) {
    std::string text(files[random() % files.size()]);
    damage(text, letters, random);
    CAPTURE(text);
    REQUIRE(reads_safely(text));
  }
}

}  // namespace fuzz
