#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "support/columns.hpp"
#include "support/report.hpp"

using namespace apps;

namespace {

/// Without the line breaks between its values, and what they are indented by.
std::string on_one_line(std::string json) {
  for (auto at = json.find('\n'); at != std::string::npos; at = json.find('\n', at))
    json.erase(at, json.find_first_not_of(' ', at + 1) - at);
  return json;
}

const Measurement keys = {.name = "2048 B",
                          .metric = "keys",
                          .message_bytes = 2048,
                          .plain_s = {3e-3, 1e-3, 2e-3},
                          .wherry_s = {1e-3, 0.5e-3, 1.5e-3, 9},
                          .strategies = {"mesh", "native"}};

}  // namespace

TEST_CASE("the statistic is the median") {
  CHECK(median(keys.plain_s) == 2e-3);
  CHECK(median(keys.wherry_s) == 1.25e-3);
  CHECK(std::isnan(median({})));
  CHECK(ratio(keys) == doctest::Approx(1.6));
}

TEST_CASE("times have three digits and a unit") {
  CHECK(seconds_text(1.234e-9) == "0.00 us");
  CHECK(seconds_text(1.236e-6) == "1.24 us");
  CHECK(seconds_text(0.0456) == "45.6 ms");
  CHECK(seconds_text(123.4) == "123 s");
  CHECK(seconds_text(std::nan("")) == "-");
}

TEST_CASE("one is not many") {
  CHECK(counted(0, "body", "bodies") == "0 bodies");
  CHECK(counted(1, "body", "bodies") == "1 body");
  CHECK(counted(2, "body", "bodies") == "2 bodies");
}

TEST_CASE("the table has a line for each measurement, in columns") {
  CHECK(table(std::vector{
            keys,
            Measurement{
                .name = "whole", .metric = "sort", .plain_s = {1}, .wherry_s = {2}, .strategies = {}}}) ==
        "case    timed  message  plain MPI   Wherry  ratio  ran\n"
        "2048 B  keys    2048 B    2.00 ms  1.25 ms   1.60  mesh, native\n"
        "whole   sort               1.00 s   2.00 s   0.50\n");
  CHECK(table(std::vector{
            Measurement{.name = "a", .metric = "b", .plain_s = {}, .wherry_s = {2}, .strategies = {"c"}}}) ==
        "case  timed  message  plain MPI  Wherry  ratio  ran\n"
        "a     b                       -  2.00 s      -  c\n");
}

TEST_CASE("the records are JSON whatever the library is called") {
  const Machine machine = {
      .application = "radix_sort", .mpi = "A \"B\"\\\n\xff", .host = "h", .wherry = "0.1.0", .ranks = 8};
  const Measurement infinite = {
      .name = "a", .metric = "b", .plain_s = {INFINITY}, .wherry_s = {0.1}, .strategies = {}};
  const std::string text = on_one_line(json(machine, std::vector{keys, infinite}));
  CHECK(text.find(R"("mpi": "A \"B\"\\\u000a\ufffd")") != text.npos);
  CHECK(text.find(R"("value": 0.00125,"baseline": 0.002,"ratio": 1.6)") != text.npos);
  CHECK(text.find(R"("strategies": ["mesh","native"])") != text.npos);
  CHECK(text.find(
            R"("samples": [{"launch": 0,"native": [0.003,0.001,0.002],"wherry": [0.001,5e-04,0.0015,9]}])") !=
        text.npos);
  CHECK(text.find(R"("baseline": null,"ratio": null)") != text.npos);
  CHECK(json(machine, {}) == "[]\n");
}
