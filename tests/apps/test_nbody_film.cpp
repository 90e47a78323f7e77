// Frames of a film against a decoder written from the format's description (GIF89a, appendix F).
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "nbody/film.hpp"

using namespace nbody;

namespace {

constexpr std::uint32_t clear = 128, end = 129;

/// The bytes of blocks, each behind its length; nullopt unless an empty one is the last.
std::optional<std::string> joined(const std::string& blocks) {
  std::string bytes;
  for (std::size_t at = 0; at < blocks.size();) {
    const auto length = static_cast<unsigned char>(blocks[at]);
    if (length == 0) return at + 1 == blocks.size() ? std::optional(bytes) : std::nullopt;
    bytes += blocks.substr(at + 1, length);
    at += 1 + std::size_t{length};
  }
  return std::nullopt;
}

/// Codes of a growing number of bits, the lowest bit first.
class BitReader {
 public:
  explicit BitReader(std::string bytes) : bytes_(std::move(bytes)) {}
  std::optional<std::uint32_t> code(int bits) {
    if (at_ + static_cast<std::size_t>(bits) > 8 * bytes_.size()) return std::nullopt;
    std::uint32_t code = 0;
    for (int bit = 0; bit < bits; ++bit, ++at_)
      code |= (static_cast<unsigned char>(bytes_[at_ / 8]) >> at_ % 8 & 1U) << bit;
    return code;
  }
  bool has_a_byte_left() const { return 8 * bytes_.size() - at_ >= 8; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

/// As strict as can be: the code for the end is as wide as the table then is, and nothing comes after it.
std::optional<Picture> decoded(const std::string& blocks) {
  const std::optional<std::string> bytes = joined(blocks);
  if (!bytes) return std::nullopt;
  BitReader reader(*bytes);
  Picture picture;
  std::vector<Picture> table;
  Picture last;
  int bits = 8;
  while (const std::optional<std::uint32_t> code = reader.code(bits)) {
    if (*code == end) return reader.has_a_byte_left() ? std::nullopt : std::optional(picture);
    if (*code == clear) {
      table.assign(130, {});
      for (std::uint8_t colour = 0; colour < 128; ++colour) table[colour] = {colour};
      last.clear();
      bits = 8;
      continue;
    }
    if (*code > table.size() || (*code == table.size() && last.empty())) return std::nullopt;
    Picture next = *code < table.size() ? table[*code] : last;
    if (*code == table.size()) next.push_back(last.front());
    picture.insert(picture.end(), next.begin(), next.end());
    if (!last.empty() && table.size() < 4096) {
      last.push_back(next.front());
      table.push_back(last);
      if (table.size() == std::size_t{1} << bits && bits < 12) ++bits;
    }
    last = std::move(next);
  }
  return std::nullopt;
}

Picture noise(std::size_t pixels, std::uint32_t shades) {
  std::mt19937 draw(3);
  Picture picture(pixels);
  for (std::uint8_t& pixel : picture) pixel = static_cast<std::uint8_t>(draw() % shades);
  return picture;
}

}  // namespace

TEST_CASE("a frame decodes to its picture, wherever its last code falls in the table of codes") {
  for (const std::size_t least : {1UL, 4400UL})  // there a code gets longer; here the table is full
    for (std::size_t pixels = least; pixels < least + 600; ++pixels) {
      CAPTURE(pixels);
      const Picture picture = noise(pixels, 128);
      REQUIRE(decoded(compressed(picture)) == picture);
    }
}

TEST_CASE("whole frames of one shade, of two and of all decode to their pictures") {
  for (const std::uint32_t shades : {1U, 2U, 128U}) {
    CAPTURE(shades);
    const Picture picture = noise(Film::side * Film::side, shades);
    REQUIRE(decoded(compressed(picture)) == picture);
  }
}
