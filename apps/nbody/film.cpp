#include "nbody/film.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace nbody {
namespace {

constexpr int colour_bits = 7;
constexpr int colours = 1 << colour_bits;
constexpr int hundredths_per_frame = 5;

void put(std::string& to, int byte) { to.push_back(static_cast<char>(byte)); }
void put_word(std::string& to, std::size_t word) {
  put(to, static_cast<int>(word & 255));
  put(to, static_cast<int>(word >> 8));
}

/// From black over red and yellow to white.
void put_colours(std::string& to) {
  for (int c = 0; c < colours; ++c)
    for (int channel = 0; channel < 3; ++channel)
      put(to, std::clamp(c * 3 * 255 / (colours - 1) - channel * 255, 0, 255));
}

/// The value at this place when they are in order.
double ordered(std::vector<double> values, double place) {
  const auto at = values.begin() + static_cast<long>(place);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Codes of a growing number of bits, put together to bytes, the lowest bit first.
class BitWriter {
 public:
  void put_code(std::uint32_t code, int bits) {
    waiting_ |= std::uint64_t{code} << count_;
    for (count_ += bits; count_ >= 8; count_ -= 8, waiting_ >>= 8)
      put(bytes_, static_cast<int>(waiting_ & 255));
  }
  std::string finish() {
    if (count_ > 0) put(bytes_, static_cast<int>(waiting_ & 255));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  std::uint64_t waiting_ = 0;
  int count_ = 0;
};

/// Blocks of at most 255 bytes, each behind its length; an empty one ends them.
std::string in_blocks(const std::string& bytes) {
  constexpr std::size_t most = 255;
  std::string blocks;
  for (std::size_t begin = 0; begin < bytes.size(); begin += most) {
    const std::string_view block = std::string_view(bytes).substr(begin, most);
    put(blocks, static_cast<int>(block.size()));
    blocks += block;
  }
  put(blocks, 0);
  return blocks;
}

}  // namespace

std::string compressed(const Picture& picture) {
  constexpr std::uint32_t clear = colours, end = colours + 1, first_free = colours + 2, most_codes = 4096;
  constexpr int first_bits = colour_bits + 1;
  BitWriter writer;
  std::unordered_map<std::uint32_t, std::uint32_t> known;  // a code and what follows it: another code
  std::uint32_t next = first_free, prefix = picture.front();
  int bits = first_bits;
  // The reader knows a code one later than the writer.
  const auto widen = [&] {
    if (next == std::uint32_t{1} << bits && next < most_codes) ++bits;
  };
  writer.put_code(clear, bits);
  for (std::size_t i = 1; i < picture.size(); ++i) {
    const std::uint32_t longer = prefix << 8 | picture[i];
    if (const auto found = known.find(longer); found != known.end()) {
      prefix = found->second;
      continue;
    }
    writer.put_code(prefix, bits);
    prefix = picture[i];
    if (next == most_codes) {
      writer.put_code(clear, bits);
      known.clear();
      next = first_free;
      bits = first_bits;
      continue;
    }
    widen();
    known.emplace(longer, next++);
  }
  writer.put_code(prefix, bits);
  widen();
  writer.put_code(end, bits);
  return in_blocks(writer.finish());
}

Film::Film(const Bodies& first) {
  constexpr double nearly_all = 0.95, margin = 1.25;
  double half = 0;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::span<const double> values = first.place[axis];
    const std::vector<double> places(values.begin(), values.end());
    const double last = static_cast<double>(places.size() - 1);
    const double least = ordered(places, std::floor((1 - nearly_all) * last)),
                 most = ordered(places, std::ceil(nearly_all * last));
    centre_[axis] = (least + most) / 2;
    half = std::max(half, margin * (most - least) / 2);
  }
  half_ = half > 0 ? half : 1;
}

std::array<long, 2> Film::pixel(const Bodies& bodies, std::size_t body) const {
  const auto along = [&](std::size_t axis) {
    const double part = (bodies.place[axis][body] - centre_[axis]) / half_;
    // Far out is far out: the number must fit.
    return std::lround(std::floor((std::clamp(part, -2.0, 2.0) + 1) / 2 * static_cast<double>(side)));
  };
  return {along(0), static_cast<long>(side) - 1 - along(1)};
}

void Film::add(const Bodies& bodies) {
  std::vector<int> counts(side * side);
  const auto seen = [](long at) { return at >= 0 && at < static_cast<long>(side); };
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto [x, y] = pixel(bodies, i);
    // Two by two pixels each: single ones are hard to see.
    for (const long column : {x, x + 1})
      for (const long row : {y, y + 1})
        if (seen(column) && seen(row))
          ++counts[static_cast<std::size_t>(row) * side + static_cast<std::size_t>(column)];
  }
  // One body is as bright as can be seen well; brightness grows with the logarithm.
  constexpr double one = 64, doubled = 16;
  Picture picture(counts.size());
  std::ranges::transform(counts, picture.begin(), [](int count) {
    const double brightness = count == 0 ? 0 : one + doubled * std::log2(count);
    return static_cast<std::uint8_t>(std::min(brightness, double{colours - 1}));
  });
  coded_ += std::string_view("\x21\xf9\x04\x00", 4);  // how this frame is shown
  put_word(coded_, hundredths_per_frame);
  coded_ += std::string_view("\0\0\x2c\0\0\0\0", 7);  // no transparent colour; the frame, from the corner on
  put_word(coded_, side);
  put_word(coded_, side);
  coded_ += std::string_view("\0", 1);
  put(coded_, colour_bits);
  coded_ += compressed(picture);
  ++frames_;
}

std::string Film::gif() const {
  std::string file = "GIF89a";
  put_word(file, side);
  put_word(file, side);
  put(file, 0x80 | (colour_bits - 1) << 4 | (colour_bits - 1));  // one table of colours for all frames
  put(file, 0);
  put(file, 0);
  put_colours(file);
  file += std::string_view("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);  // again and again
  return file + coded_ + ";";
}

}  // namespace nbody
