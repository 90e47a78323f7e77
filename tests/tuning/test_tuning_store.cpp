// The table and its text.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>

#include "tuning/tuning_store.hpp"

using namespace wherry::tuning;

namespace {

TuningRow row(std::string machine, unsigned bucket, std::string strategy = "mesh") {
  return {.key = {.machine = std::move(machine),
                  .mpi = "Open MPI v5.0.11",
                  .ranks = 8,
                  .placement = 0xfedcba9876543210u,
                  .operation = "MPI_Alltoall",
                  .bucket = bucket},
          .strategy = std::move(strategy),
          .seconds = 1.0 / 3,
          .native_seconds = 1e-7,
          .trials = 4};
}

/// Constants that a machine can have; some are not known.
wherry::model::Constants some_constants(double scale = 1) {
  wherry::model::Constants constants = wherry::model::constants_of({});
  for (double& value : constants) value *= scale;
  constants[1] = constants[3] = wherry::model::not_known;
  return constants;
}

TuningTable sample() {
  TuningTable table;
  table.put(MachineRow{{"a CPU", "Open MPI v5.0.11"}, some_constants()});
  table.put(MachineRow{{"-", ""}, wherry::model::nothing_known});
  for (unsigned bucket = 0; bucket < 5; ++bucket) table.put(row("a \"quoted\" CPU\n@ 2%", bucket));
  table.put(row("", 3, ""));
  table.put(row("-", 3, "native"));
  return table;
}

bool same(const TuningRow& a, const TuningRow& b) {
  return a.key == b.key && a.strategy == b.strategy && a.seconds == b.seconds &&
         a.native_seconds == b.native_seconds && a.trials == b.trials;
}

bool same(const MachineRow& a, const MachineRow& b) { return a.key == b.key && a.constants == b.constants; }

bool same(const TuningTable& a, const TuningTable& b) {
  const auto equal = [](const MachineRow& x, const MachineRow& y) { return same(x, y); };
  if (a.rows().size() != b.rows().size() || !std::ranges::equal(a.machines(), b.machines(), equal))
    return false;
  for (std::size_t i = 0; i < a.rows().size(); ++i)
    if (!same(a.rows()[i], b.rows()[i])) return false;
  return true;
}

std::string random_text(std::mt19937_64& random) {
  std::string text;
  for (std::size_t n = random() % 12; n > 0; --n) text += static_cast<char>(random());
  return text;
}

TuningRow random_row(std::mt19937_64& random) {
  TuningRow r = row(random_text(random), static_cast<unsigned>(random()), random_text(random));
  r.key.mpi = random_text(random);
  r.key.ranks = static_cast<int>(random());
  r.key.placement = random();
  r.key.operation = random_text(random);
  r.seconds = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 150);
  if (random() % 4 == 0) r.native_seconds.reset();
  return r;
}

}  // namespace

TEST_CASE("put replaces the row with the same key; rows are in the order of keys") {
  TuningTable table;
  table.put(row("b", 1));
  table.put(row("a", 2));
  table.put(row("b", 1, "bruck"));
  REQUIRE(table.rows().size() == 2);
  CHECK(table.rows()[0].key.machine == "a");
  REQUIRE(table.find(row("b", 1).key) != nullptr);
  CHECK(table.find(row("b", 1).key)->strategy == "bruck");
  CHECK(table.find(row("b", 2).key) == nullptr);
}

TEST_CASE("merge prefers the newer rows and keeps the others") {
  TuningTable old = sample(), newer;
  newer.put(row("-", 3, "bruck"));
  newer.put(row("new", 1));
  old.merge(newer);
  CHECK(old.rows().size() == sample().rows().size() + 1);
  CHECK(old.find(row("-", 3).key)->strategy == "bruck");
}

TEST_CASE("a table survives being text") {
  CHECK(same(parse(format(sample())).table, sample()));
  const TuningRead empty = parse(format({}));
  CHECK(empty.state == TuningState::good);
  CHECK(empty.table.rows().empty());
}

TEST_CASE("the text is readable") {
  TuningTable table;
  table.put({.key = {"a CPU", "MPICH 5", 8, 0x2a, "MPI_Alltoall", 7},
             .strategy = "mesh",
             .seconds = 0.25,
             .native_seconds = std::nullopt,
             .trials = 4});
  const std::string text = format(table);
  CHECK(text.starts_with("wherry-tuning 2\nrow a%20CPU MPICH%205 8 2a MPI_Alltoall 7 mesh 0.25 - 4\nend "));
  CHECK(text.ends_with("\n"));
}

TEST_CASE("any text and any number survives") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    TuningTable table;
    for (std::size_t n = random() % 4; n > 0; --n) table.put(random_row(random));
    for (std::size_t n = random() % 3; n > 0; --n)
      table.put(MachineRow{{random_text(random), random_text(random)},
                           some_constants(1 + static_cast<double>(random() % 1000) / 7000)});
    const TuningRead read = parse(format(table));
    CAPTURE(i);
    CHECK(read.state == TuningState::good);
    CHECK(same(read.table, table));
  }
}

TEST_CASE("a text that was cut anywhere is damaged") {
  const std::string text = format(sample());
  for (std::size_t size = 0; size < text.size(); ++size) {
    const TuningRead read = parse(text.substr(0, size));
    CAPTURE(size);
    CHECK(read.state == TuningState::damaged);
    CHECK(read.table.rows().empty());
    CHECK_FALSE(read.problem.empty());
  }
}

TEST_CASE("a text with any single bit flipped is refused") {
  const std::string text = format(sample());
  for (std::size_t i = 0; i < text.size() * 8; ++i) {
    std::string changed = text;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
    const TuningRead read = parse(changed);
    CAPTURE(i);
    CHECK(read.state != TuningState::good);
    CHECK(read.table.rows().empty());
  }
}

TEST_CASE("rows that were taken away, doubled or moved are noticed") {
  const std::string text = format(sample());
  const std::size_t row_at = text.find("row"), next = text.find("row", row_at + 1);
  const std::string line = text.substr(row_at, next - row_at);
  for (const std::string& changed :
       {text.substr(0, row_at) + text.substr(next), text.substr(0, row_at) + line + text.substr(row_at),
        text + line, text + text, text + "\n", " " + text})
    CHECK(parse(changed).state != TuningState::good);
}

TEST_CASE("other files and other versions are left alone") {
  for (const char* text :
       {"hello", "wherry-tuning\n", "wherry-tuning one\n", "{\"json\": 1}", "\n\n\n", "wherry-tuning  1\n"}) {
    const TuningRead read = parse(text);
    CAPTURE(text);
    CHECK(read.state == TuningState::foreign);
  }
  for (const char* version : {"0", "3"}) {
    const TuningRead other = parse("wherry-tuning " + std::string(version) + "\nanything\n");
    CHECK(other.state == TuningState::foreign);
    CHECK(other.problem.find("version " + std::string(version)) != std::string::npos);
  }
}

TEST_CASE("a machine's constants that were measured replace those known before; the others stay") {
  TuningTable table, newer;
  table.put(MachineRow{{"a CPU", "MPICH"}, some_constants()});
  MachineRow row{{"a CPU", "MPICH"}, wherry::model::nothing_known};
  row.constants[1] = 5e-6;
  row.constants[2] = 1e-10;
  newer.put(row);
  table.merge(newer);
  wherry::model::Constants expected = some_constants();
  expected[1] = 5e-6;
  expected[2] = 1e-10;
  REQUIRE(table.machines().size() == 1);
  CHECK(same(*table.find(MachineKey{"a CPU", "MPICH"}), {{"a CPU", "MPICH"}, expected}));
  CHECK(table.find(MachineKey{"a CPU", "Open MPI"}) == nullptr);
  CHECK_FALSE(table.empty());
}

namespace {

/// A file with the right last line, as any version of Wherry would write it.
std::string sealed(const std::string& version, const std::string& lines) {
  std::string text = "wherry-tuning " + version + "\n" + lines;
  std::uint64_t state = 0xcbf29ce484222325u;
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  std::ostringstream end;
  end << "end " << std::hex << state << '\n';
  return text + end.str();
}

const std::string a_row = "row a%20CPU MPICH%205 8 2a MPI_Alltoall 7 mesh 0.25 - 4\n";
const std::string a_machine = "machine a%20CPU MPICH%205 1e-06 - 1e-10 - 2e-11 1e-06 - 65536 1.5 0\n";

}  // namespace

TEST_CASE("a file of version 1 is read, and written again as version 2") {
  const TuningRead read = parse(sealed("1", a_row));
  CHECK(read.state == TuningState::good);
  CHECK(read.table.rows().size() == 1);
  CHECK(format(read.table) == sealed("2", a_row));
  CHECK(parse(sealed("1", a_machine)).state == TuningState::damaged);
}

TEST_CASE("rows of machines with constants that no machine has are refused, whatever the checksum") {
  CHECK(format(parse(sealed("2", a_machine + a_row)).table) == sealed("2", a_machine + a_row));
  for (const char* constants :
       {"-1e-06 - - - - - - - - -", "0 - - - - - - - - -", "1e3 - - - - - - - - -", "nan - - - - - - - - -",
        "-1 - - - - - - - - -", "inf - - - - - - - - -", "- - - - - - - - 0.5 -", "- - - - - - - - -",
        "- - - - - - - - - - -", "- - - - - - - - - 1e-6s", ""}) {
    const TuningRead read = parse(sealed("2", a_row + "machine a%20CPU MPICH%205 " + constants + "\n"));
    CAPTURE(std::string(constants));
    CHECK(read.state == TuningState::damaged);
    CHECK(read.problem.find("line 3 is not a row") != std::string::npos);
    CHECK(read.table.empty());
  }
}
