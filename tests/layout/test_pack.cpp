#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <optional>
#include <string>

#include "layout/canonical.hpp"
#include "layout/pack.hpp"
#include "layout/parallel_pack.hpp"
#include "layout/random_layouts.hpp"
#include "layout/reference.hpp"

using namespace layout_test;

namespace {

using Bytes = std::vector<std::byte>;

/// Memory for a layout, with guards before and after; byte i of it is what no neighbor is.
class Memory {
 public:
  Memory(const Layout& layout, unsigned salt)
      : first_(layout->begin() - guard),
        bytes_(static_cast<std::size_t>(layout->end() - layout->begin() + 2 * guard)) {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      bytes_[i] = static_cast<std::byte>((i * 2654435761u + salt * 40503u) >> 11);
  }
  std::byte* base() { return bytes_.data() - first_; }  // where the layout's offsets count from
  const Bytes& bytes() const { return bytes_; }

 private:
  static constexpr Offset guard = 64;
  Offset first_;
  Bytes bytes_;
};

bool overlaps(std::vector<Offset> offsets) {
  std::ranges::sort(offsets);
  return std::ranges::adjacent_find(offsets) != offsets.end();
}

/// What is wrong with copies of this layout; empty if nothing.
class Check {
 public:
  Check(const Layout& layout, RandomLayouts& random, const Kernels& kernels)
      : layout_(layout),
        plan_(canonical(layout)),
        size_(layout->size()),
        random_(random),
        kernels_(kernels) {}

  std::string problem() {
    if (plan_.size() != size_ ||
        (size_ > 0 && (plan_.begin() != layout_->begin() || plan_.end() != layout_->end())))
      return "size or bounds";
    const Offset a = random_.between(0, size_), b = random_.between(0, size_);
    for (const DataRange range : {DataRange{0, size_}, DataRange{std::min(a, b), std::max(a, b)}})
      if (!packs(range)) return "pack" + text_of(range);
    if (overlaps(byte_offsets(layout_))) return "";
    for (const DataRange range : {DataRange{0, size_}, DataRange{std::min(a, b), std::max(a, b)}})
      if (!unpacks(range)) return "unpack" + text_of(range);
    return gives_back_what_it_packed() ? "" : "pack, then unpack";
  }

 private:
  static std::string text_of(DataRange range) {
    return " of [" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
  }

  bool packs(DataRange range) {
    Memory memory(layout_, 1);
    Memory expected(dense(range.end - range.begin), 2), got(dense(range.end - range.begin), 2);
    reference_copy(dense(size_), expected.base() - range.begin, layout_, memory.base(), range.begin,
                   range.end);
    pack(plan_, memory.base(), got.base(), range, kernels_);
    return got.bytes() == expected.bytes();
  }

  bool unpacks(DataRange range) {
    Memory packed(dense(range.end - range.begin), 3), expected(layout_, 4), got(layout_, 4);
    reference_copy(layout_, expected.base(), dense(size_), packed.base() - range.begin, range.begin,
                   range.end);
    unpack(plan_, got.base(), packed.base(), range, kernels_);
    return got.bytes() == expected.bytes();
  }

  bool gives_back_what_it_packed() {
    Memory memory(layout_, 5), packed(dense(size_), 6);
    const Bytes before = memory.bytes();
    pack(plan_, memory.base(), packed.base(), {0, size_}, kernels_);
    each_block(layout_, 0,
               [&](Offset at, Offset bytes) { std::fill_n(memory.base() + at, bytes, std::byte{0}); });
    unpack(plan_, memory.base(), packed.base(), {0, size_}, kernels_);
    return memory.bytes() == before;
  }

  const Layout& layout_;
  PackPlan plan_;
  Offset size_;
  RandomLayouts& random_;
  const Kernels& kernels_;
};

}  // namespace

TEST_CASE("layout: random layouts are packed and unpacked as the reference does") {
  constexpr std::uint64_t seed = 4711;
  RandomLayouts random(seed);
  const auto all = runnable_kernels();
  const int cases = number_of_cases();
  int overlapping = 0, empty = 0;
  for (int i = 0; i < cases; ++i) {
    const Layout layout = random.any(static_cast<int>(random.between(0, 5)));
    const Kernels& kernels = *all[static_cast<std::size_t>(i) % all.size()];
    overlapping += overlaps(byte_offsets(layout)) ? 1 : 0;
    empty += layout->size() == 0 ? 1 : 0;
    if (const std::string problem = Check(layout, random, kernels).problem(); !problem.empty())
      FAIL("seed " << seed << ", case " << i << ", " << std::string(kernels.instructions) << ": " << problem
                   << " of " << text(layout));
  }
  CHECK(overlapping > cases / 50);
  CHECK(overlapping < cases / 2);
  CHECK(empty > cases / 100);
  CHECK(empty < cases / 2);
}

TEST_CASE("layout: many consecutive ranges are the whole") {
  constexpr std::uint64_t seed = 99;
  RandomLayouts random(seed);
  for (int i = 0; i < 2000; ++i) {
    CAPTURE(seed);
    CAPTURE(i);
    const Layout layout = random.any(3);
    const PackPlan plan(canonical(layout));
    Memory memory(layout, 1), whole(dense(layout->size()), 2), pieces(dense(layout->size()), 2);
    pack(plan, memory.base(), whole.base(), {0, plan.size()});
    for (Offset at = 0; at < plan.size();) {
      const Offset end = std::min(plan.size(), at + random.between(1, 40));
      pack(plan, memory.base(), pieces.base() + at, {at, end});
      at = end;
    }
    REQUIRE(pieces.bytes() == whole.bytes());
  }
}

TEST_CASE("layout: any number of threads gives the bytes that the reference gives") {
  constexpr std::uint64_t seed = 1729;
  RandomLayouts random(seed);
  for (int i = 0; i < 500; ++i) {
    CAPTURE(seed);
    CAPTURE(i);
    const Layout layout = strided(random.between(1, 40), random.between(600, 9000), random.any(3));
    const PackPlan plan(canonical(layout));
    const Offset a = random.between(0, plan.size()), b = random.between(0, plan.size());
    const DataRange range{std::min(a, b), std::max(a, b)};
    const int threads = static_cast<int>(random.between(1, 4));
    CAPTURE(threads);
    const Layout part = dense(range.end - range.begin);
    Memory memory(layout, 1), expected(part, 2), packed(part, 2);
    reference_copy(dense(plan.size()), expected.base() - range.begin, layout, memory.base(), range.begin,
                   range.end);
    pack(plan, memory.base(), packed.base(), range, threads);
    REQUIRE(packed.bytes() == expected.bytes());
    if (overlaps(byte_offsets(layout))) continue;
    Memory to(layout, 4), expected_there(layout, 4);
    reference_copy(layout, expected_there.base(), dense(plan.size()), packed.base() - range.begin,
                   range.begin, range.end);
    unpack(plan, to.base(), packed.base(), range, threads);
    REQUIRE(to.bytes() == expected_there.bytes());
  }
}

TEST_CASE("layout: pieces are the range, one after the other, and none is empty") {
  for (const Offset bytes : {0, 1, 63, 64, 65, 1000, 4096, 123457})
    for (const int wanted : {1, 2, 3, 16, 1000}) {
      const Pieces pieces({7, 7 + bytes}, wanted);
      CHECK(pieces.count() <= wanted);
      Offset at = 7;
      for (int i = 0; i < pieces.count(); ++i) {
        CHECK(pieces[i].begin == at);
        CHECK(pieces[i].end > at);
        at = pieces[i].end;
      }
      CHECK(at == 7 + bytes);
    }
}

TEST_CASE("layout: threads only for much data, and only for cores that are free") {
  constexpr Offset mib = 1 << 20;
  for (const int free_cores : {0, 1, 2, 3, 7, 100}) {
    CHECK(threads_for(0, free_cores) == 1);
    CHECK(threads_for(16 * mib - 1, free_cores) == 1);
    for (const Offset bytes : {16 * mib, 64 * mib, 4096 * mib}) {
      CHECK(threads_for(bytes, free_cores) <= free_cores + 1);
      CHECK(threads_for(bytes, free_cores) <= bytes / (8 * mib));
      CHECK(threads_for(bytes, free_cores) <= threads_for(2 * bytes, free_cores));
    }
  }
  CHECK(threads_for(16 * mib, 1) == 2);
  CHECK(threads_for(1024 * mib, 100) == 4);
}

TEST_CASE("layout: copies from layout to layout are those of the reference") {
  constexpr std::uint64_t seed = 31;
  RandomLayouts random(seed);
  const auto all = runnable_kernels();
  int direct = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Layout to = random.any(static_cast<int>(random.between(0, 4)));
    const Layout from = i % 2 == 0 ? random.any(static_cast<int>(random.between(0, 4)))
                                   : strided(to->size(), random.between(-3, 3), dense(1));
    if (overlaps(byte_offsets(to))) continue;
    const Offset size = std::min(to->size(), from->size());
    Memory source(from, 1), expected(to, 2), got(to, 2);
    reference_copy(to, expected.base(), from, source.base(), 0, size);
    const PackPlan to_plan(canonical(to)), from_plan(canonical(from));
    copy(to_plan, got.base(), from_plan, source.base(), *all[static_cast<std::size_t>(i) % all.size()]);
    direct += std::holds_alternative<Nest>(to_plan.step().kind) &&
              std::holds_alternative<Nest>(from_plan.step().kind);
    if (got.bytes() != expected.bytes())
      FAIL("seed " << seed << ", case " << i << ": from " << text(from) << " to " << text(to));
  }
  CHECK(direct > 1000);
}

namespace {

/// A layout that is larger than those of the random tests, on all kernels.
void check_large(const Layout& layout) {
  constexpr std::uint64_t seed = 5;
  RandomLayouts random(seed);
  for (const Kernels* kernels : runnable_kernels())
    for (int i = 0; i < 4; ++i) {
      const std::string problem = Check(layout, random, *kernels).problem();
      CHECK_MESSAGE(problem.empty(), std::string(kernels->instructions)
                                         << ": " << problem << " of " << layout->size() << " bytes");
    }
}

}  // namespace

TEST_CASE("layout: every block length, stride and count") {
  for (Offset bytes = 1; bytes <= 72; ++bytes)
    for (const Offset gap : {bytes, 2 * bytes, 3 * bytes, Offset{7}})
      for (const Offset count : {1, 3, 31, 67}) check_large(strided(count, bytes + gap, dense(bytes)));
  for (const Offset bytes : {100, 200, 1000, 1024, 1025, 5000})
    check_large(strided(5, bytes + 13, dense(bytes)));
}

TEST_CASE("layout: transposes of all shapes") {
  for (const Offset bytes : {1, 2, 3, 4, 8, 12, 16, 24, 32})
    for (const Offset rows : {1, 4, 5, 17, 33})
      for (const Offset columns : {3, 4, 8, 19, 70}) {
        check_large(strided(columns, bytes, strided(rows, columns * bytes, dense(bytes))));
        check_large(strided(columns, -bytes, strided(rows, (columns + 1) * bytes, dense(bytes))));
      }
  check_large(strided(5, 8, strided(6, 5 * 8, strided(7, 5 * 6 * 8, dense(8)))));
  check_large(strided(5, 8, strided(7, 5 * 6 * 8, strided(6, 5 * 8, dense(8)))));
}

TEST_CASE("layout: short rows, records and lists") {
  for (const Offset rows : {2, 3, 7})
    for (const Offset bytes : {4, 8, 20}) check_large(strided(500, 400, strided(rows, 40, dense(bytes))));
  check_large(strided(700, 32, indexed({{0, 8}, {9, 1}, {16, 4}})));
  check_large(strided(700, -32, indexed({{0, 8}, {9, 1}, {16, 4}})));
  std::vector<Offset> displacements;
  std::vector<ByteBlock> blocks;
  RandomLayouts random(3);
  for (Offset i = 0; i < 500; ++i) displacements.push_back((i * 7919 % 1009) * 64);
  for (Offset i = 0; i < 500; ++i) blocks.push_back({(i * 7919 % 1009) * 64, random.between(1, 60)});
  for (const Offset bytes : {1, 4, 8, 11, 24, 40, 64})
    check_large(indexed_block(displacements, dense(bytes)));
  check_large(indexed(blocks));
  check_large(strided(3, 100'000, indexed(blocks)));
  check_large(concat({{0, indexed(blocks)}, {100'000, strided(300, 24, dense(8))}}));
  check_large(indexed_block({0, 70'000, 200'000}, strided(100, 32, strided(5, 5, dense(3)))));
}

namespace {

/// Address space of which only what is touched becomes memory.
class Reserved {
 public:
  explicit Reserved(std::size_t bytes, int protection)
      : bytes_(bytes),
        address_(mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  ~Reserved() {
    if (address_ != MAP_FAILED) munmap(address_, bytes_);
  }
  bool ok() const { return address_ != MAP_FAILED; }
  std::byte* base() const { return static_cast<std::byte*>(address_); }

 private:
  std::size_t bytes_;
  void* address_;
};

void check_there_and_back(const Layout& layout, std::byte* base) {
  const PackPlan plan(canonical(layout));
  Bytes data(static_cast<std::size_t>(plan.size())), got(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 37 + 11);
  unpack(plan, base, data.data(), {0, plan.size()});
  std::size_t i = 0;
  bool right = true;
  each_block(layout, 0, [&](Offset at, Offset bytes) {
    for (Offset k = 0; k < bytes; ++k) right = right && base[at + k] == data[i++];
  });
  CHECK(right);
  pack(plan, base, got.data(), {0, plan.size()});
  CHECK(got == data);
}

}  // namespace

TEST_CASE("layout: offsets beyond 2^32") {
  constexpr Offset giga = Offset{1} << 30;
  const Reserved memory(static_cast<std::size_t>(24 * giga), PROT_READ | PROT_WRITE);
  if (!memory.ok()) {
    MESSAGE("no 24 GiB of address space; nothing tested");
    return;
  }
  check_there_and_back(strided(5, 4 * giga + 3, dense(9)), memory.base());
  check_there_and_back(strided(5, -4 * giga, dense(8)), memory.base() + 20 * giga);
  check_there_and_back(indexed_block({20 * giga, 3, 7 * giga, 5 * giga + 1}, dense(24)), memory.base());
  check_there_and_back(indexed({{20 * giga, 3}, {1, 70}, {7 * giga, 8}}), memory.base());
  check_there_and_back(strided(12, 64, indexed({{0, 8}, {6 * giga, 4}})), memory.base());
  check_there_and_back(strided(8, 8, strided(5, 3 * giga, dense(8))), memory.base());
}

TEST_CASE("layout: pages without data are not touched") {
  constexpr Offset page = 4096;
  const Reserved memory(64 * page, PROT_NONE);
  REQUIRE(memory.ok());
  for (Offset i = 0; i < 64; i += 2)
    REQUIRE(mprotect(memory.base() + i * page, page, PROT_READ | PROT_WRITE) == 0);
  for (const Offset bytes : {1, 8, 24, 64, 4096}) {
    check_there_and_back(strided(32, 2 * page, dense(bytes)), memory.base() + page - bytes);
    check_there_and_back(strided(32, 2 * page, dense(bytes)), memory.base());
  }
  for (const Offset bytes : {1, 2, 4, 8})
    for (const Offset every : {2, 3, 4}) {
      const Offset count = page / (bytes * every), span = ((count - 1) * every + 1) * bytes;
      check_there_and_back(strided(count, every * bytes, dense(bytes)), memory.base() + page - span);
      check_there_and_back(strided(16, 2 * page, strided(count, every * bytes, dense(bytes))),
                           memory.base() + page - span);
    }
}
