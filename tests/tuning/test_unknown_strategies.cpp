#include "tuning/unknown_strategies.hpp"

#include <doctest/doctest.h>

#include "schedule/registry/algorithm.hpp"
#include "schedule/segments/segment_operation.hpp"

using namespace wherry;
using namespace wherry::tuning;

TEST_CASE(
    "strategies that there are can be asked for, those of another collective and unknown names cannot") {
  Settings settings;
  CHECK(unknown_strategies(settings.strategies).empty());
  for (std::size_t i = 0; i < collectives; ++i)
    for (const schedule::Algorithm& algorithm :
         algorithms_of(schedule::segment_operation(static_cast<Collective>(i)))) {
      Settings fine;
      fine.strategies[i] = algorithm.name();
      CHECK(unknown_strategies(fine.strategies).empty());
    }
  settings.strategies[index_of(Collective::alltoall)] = "brucks2";
  settings.strategies[index_of(Collective::allreduce)] = "xyzzyq";
  CHECK(unknown_strategies(settings.strategies) ==
        std::vector<std::string>{"WHERRY_ALLTOALL: unknown strategy 'brucks2', so the native collective runs "
                                 "instead; did you mean 'bruck2'?",
                                 "WHERRY_ALLREDUCE: unknown strategy 'xyzzyq', so the native collective runs "
                                 "instead"});
}
