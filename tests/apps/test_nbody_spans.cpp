// Spans of time: what of a collective was waiting, and the file.
#include <doctest/doctest.h>

#include "nbody/spans.hpp"

using namespace nbody;

TEST_CASE("a collective is waiting until the last rank of its group comes") {
  const std::vector<Spans> ranks = {
      {{Doing::compute, everybody, 0, 1}, {Doing::reduce, everybody, 1, 5}, {Doing::reduce, everybody, 5, 7}},
      {{Doing::compute, everybody, 0, 4},
       {Doing::reduce, everybody, 4, 5},
       {Doing::reduce, everybody, 6, 7}}};
  const std::vector<Spans> split = with_waits(ranks);
  CHECK(split[0] == Spans{{Doing::compute, everybody, 0, 1},
                          {Doing::wait, everybody, 1, 4},
                          {Doing::reduce, everybody, 4, 5},
                          {Doing::wait, everybody, 5, 6},
                          {Doing::reduce, everybody, 6, 7}});
  CHECK(split[1] == ranks[1]);
}

TEST_CASE("collectives of other groups and kinds are waited for by nobody") {
  const std::vector<Spans> ranks = {{{Doing::gather, 1, 0, 3}, {Doing::reduce, 1, 3, 4}},
                                    {{Doing::gather, 2, 2, 3}, {Doing::reduce, 2, 3, 4}}};
  CHECK(with_waits(ranks) == ranks);
}

TEST_CASE("a rank that leaves before the last one comes has waited for nobody beyond its own end") {
  const std::vector<Spans> split =
      with_waits({{{Doing::gather, everybody, 0, 1}}, {{Doing::gather, everybody, 3, 4}}});
  CHECK(split[0] == Spans{{Doing::wait, everybody, 0, 1}});
}

TEST_CASE("sends and waits for messages stay what they are") {
  const std::vector<Spans> ranks = {{{Doing::send, everybody, 0, 1}, {Doing::wait, everybody, 1, 2}},
                                    {{Doing::send, everybody, 3, 4}}};
  CHECK(with_waits(ranks) == ranks);
}

TEST_CASE("a trace file has a process for each rank, and microseconds") {
  const std::string text = chrome_trace(
      {{{Doing::compute, everybody, 0, 0.5}}, {{Doing::reduce, everybody, 0.25, 0.5}}}, "two \"ranks\"");
  CHECK(text ==
        R"({"displayTimeUnit": "ms", "otherData": {"title": "two \"ranks\""},
"traceEvents": [
{"name": "process_name", "ph": "M", "pid": 0, "tid": 0, "args": {"name": "rank 0"}},
{"name": "compute", "cat": "compute", "ph": "X", "ts": 0.000, "dur": 500000.000, "pid": 0, "tid": 0},
{"name": "process_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": "rank 1"}},
{"name": "reduce", "cat": "mpi", "ph": "X", "ts": 250000.000, "dur": 250000.000, "pid": 1, "tid": 0}
]}
)");
}
