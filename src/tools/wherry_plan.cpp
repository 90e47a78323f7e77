// wherry-plan: answers questions about schedules, as JSON on stdout. It needs no MPI.
//
// Exit codes: 0 answered; 1 a schedule is invalid, or the answer could not be written; 2 wrong usage.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "tools/commands.hpp"

namespace wherry::tools {
namespace {

constexpr const char* usage = R"(usage: wherry-plan COMMAND ...
  strategies                                    all strategies of all operations
  explain [--op OPERATION] -n RANKS [PLACE] [--root RANK] -m BYTES [CONSTANTS]
                                                what would run, and what each would cost, cheapest first
  draw [OPERATION] STRATEGY -n RANKS [PLACE] [--root RANK] [--depth SEGMENTS] [--format FORMAT]
                                                a picture, FORMAT svg (default) or text
  schedule [OPERATION] STRATEGY -n RANKS [PLACE] [--root RANK] [--depth SEGMENTS] --rank RANK
                                                what one rank does
  verify [--max RANKS] [--op OPERATION] [--strategy STRATEGY]
                                                proves schedules for 1 to RANKS (default 128) ranks
  fit [--tuning FILE --machine NAME --mpi LIBRARY]
                                                constants of the cost model from samples, as lines on
                                                stdin: PROBE WHERE BYTES FLOWS VALUE; keeps them in FILE
OPERATION: alltoall (default), alltoallv, alltoallw, allgather, bcast, ...: MPI's name in small letters
neighbor_alltoall and its like take --grid EXTENTS [--reach STEPS] instead of -n: ranks on a grid such as
4x4x4, which wraps around, with all neighbors up to so many steps (default 1) away
CONSTANTS: --tuning FILE [--mpi LIBRARY]  this machine's constants of the cost model, from a tuning file
           --constants L                  a list such as alpha_between=8e-6,latency_between=4e-5
PLACE: --nodes K     consecutive ranks on K nodes, as even as possible
       --node-of L   rank r on the r-th node of the list, such as 0,0,1,1
       neither       every rank on a node of its own
BYTES: of a block (alltoall, allgather, gather, scatter, reduce_scatter_block), else of the whole buffer
)";

struct Command {
  std::string_view name;
  int (*run)(Words);
};

constexpr Command commands[] = {{"strategies", list_strategies}, {"explain", explain}, {"draw", draw},
                                {"schedule", show_schedule},     {"verify", verify},   {"fit", fit}};

int run(Words words) {
  if (words.empty()) throw usage_error("no command given; see `wherry-plan --help`");
  if (words[0] == "--help" || words[0] == "-h") {
    std::cout << usage;
    return 0;
  }
  std::vector<std::string_view> known;
  for (const Command& c : commands) {
    if (c.name == words[0]) return c.run(words.subspan(1));
    known.push_back(c.name);
  }
  throw usage_error("unknown command '" + words[0] + "'" + did_you_mean(words[0], known) +
                    " (see `wherry-plan --help`)");
}

int guarded(Words words) {
  try {
    const int code = run(words);
    std::cout.flush();
    if (std::cout) return code;
    std::cerr << "wherry-plan: cannot write to standard output; is its disk full or its reader gone?\n";
    return 1;
  } catch (const usage_error& error) {
    std::cerr << "wherry-plan: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "wherry-plan: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace
}  // namespace wherry::tools

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + std::max(argc, 1));
  return wherry::tools::guarded(words);
}
