// How long do the transposes of a particle-mesh FFT take with plain MPI and with Wherry?
//
// In Kumar's NAMD (An Optimization Framework for Collective Communication, Charm++ Workshop 2003) 192 processors
// exchange messages of 900 bytes with 144.
#include <algorithm>
#include <array>
#include <optional>

#include "pme/step.hpp"
#include "support/mpi/application.hpp"
#include "support/mpi/comm.hpp"

namespace {

using namespace pme;

/// How to divide a grid, and the grid that fills 900-byte messages.
struct Layout {
  std::string name;
  Decomposition (*divide)(const Grid& grid, int ranks);
  Grid (*default_grid)(int ranks);
};
const std::array<Layout, 2> decompositions = {
    {{"slab", slabs, default_slab_grid}, {"pencil", pencils, default_pencil_grid}}};
const std::vector<std::string> decomposition_names = {decompositions[0].name, decompositions[1].name};

struct Settings {
  apps::Common common;
  std::size_t layout = 0;
  std::vector<int> grid;  // empty: the layout's own

  Grid grid_for(int ranks) const {
    return grid.empty() ? decompositions[layout].default_grid(ranks) : Grid{grid[0], grid[1], grid[2]};
  }
};

constexpr int most_points_along_axis = 4096;
constexpr std::size_t most_points = 1 << 27;  // rank 0 holds them all twice to check them: 2 GiB

std::vector<int> grid_from(const std::string& text) {
  const std::vector<int> grid = apps::whole_numbers(text, 1, most_points_along_axis);
  if (grid.size() != axes)
    throw apps::usage_error("'" + text + "' has not three numbers; write for example 64,48,110");
  return grid;
}

std::vector<apps::Option> options_of(Settings& settings) {
  std::vector<apps::Option> options = {
      {"--decomposition", "KIND",
       "slab (all ranks exchange) or pencil (rows, then columns of ranks; default slab)",
       [&](const std::string& text) { settings.layout = apps::one_of(text, decomposition_names); }},
      {"--grid", "X,Y,Z", "points of the grid (default: a grid for these ranks with messages of 896 bytes)",
       [&](const std::string& text) { settings.grid = grid_from(text); }},
  };
  std::ranges::move(apps::common_options(settings.common), std::back_inserter(options));
  return options;
}

void validate(const Settings& settings, int ranks) {
  if (whole(settings.grid_for(ranks)).points() > most_points)
    throw apps::usage_error("--grid: more than " + std::to_string(most_points) +
                            " points, which one rank could not check; write a smaller grid");
}

/// One side of the comparison.
struct Side {
  Side(const apps::Collectives& collectives, std::size_t number_of_moves, MPI_Comm comm)
      : with(collectives), moves(number_of_moves, apps::Timings(comm)), step(comm) {}
  const apps::Collectives& with;
  MoveTimings moves;
  apps::Timings step;
};

/// Steps by both sides in turns.
class Comparison {
 public:
  Comparison(MPI_Comm comm, const Decomposition& decomposition)
      : comm_(comm), step_(comm, decomposition), sides_{side(apps::plain_mpi), side(apps::wherrys)} {}

  /// Wherry learns; not timed.
  void train() {
    Side unused = side(apps::wherrys);
    step_.run(unused.with, unused.moves, unused.step);
  }

  /// Which side comes first changes, so that what one leaves in the caches helps both alike.
  void turn(int number) {
    run(sides_[static_cast<std::size_t>(number % 2)]);
    run(sides_[static_cast<std::size_t>((number + 1) % 2)]);
  }

  std::vector<apps::Measurement> measurements(const std::string& name) const {
    const auto& [plain, wherry] = sides_;
    std::vector<apps::Measurement> all;
    for (std::size_t i = 0; i < step_.moves().size(); ++i) {
      const Move& move = step_.moves()[i];
      all.push_back(apps::measured(name, move.name, move.message_bytes, plain.moves[i], wherry.moves[i]));
    }
    all.push_back(apps::measured(name, "whole step", 0, plain.step, wherry.step));
    return all;
  }

  const std::string& problem() const { return problem_; }

 private:
  Side side(const apps::Collectives& with) const { return Side(with, step_.moves().size(), comm_); }

  void run(Side& side) {
    Result result = step_.run(side.with, side.moves, side.step);
    if (!problem_.empty()) return;
    if (!first_) {
      problem_ = step_.problem_of(result);
      first_ = std::move(result);
    } else if (!apps::on_all(result == *first_, comm_)) {
      problem_ = "two steps of the same charges differ";
    }
  }

  MPI_Comm comm_;
  Step step_;
  std::array<Side, 2> sides_;
  std::optional<Result> first_;
  std::string problem_;
};

std::string name_of(const Grid& grid) {
  return std::to_string(grid[0]) + " x " + std::to_string(grid[1]) + " x " + std::to_string(grid[2]);
}

apps::Results work(const Settings& settings, MPI_Comm comm, apps::Progress& progress) {
  const apps::Common& common = settings.common;
  const int ranks = apps::size_of(comm);
  const Layout& layout = decompositions[settings.layout];
  const Grid grid = settings.grid_for(ranks);
  const Decomposition decomposition = layout.divide(grid, ranks);
  Comparison comparison(comm, decomposition);
  for (int i = 0; i < common.train; ++i) {
    progress.show("learning", i, common.train);
    comparison.train();
  }
  for (int i = 0; i < common.turns; ++i) {
    progress.show("steps", i, common.turns);
    comparison.turn(i);
  }
  return {.head = "particle-mesh FFT, " + layout.name + " decomposition of a grid of " + name_of(grid),
          .measurements = comparison.measurements(name_of(grid)),
          .wrong = comparison.problem(),
          .right = "spectrum and potential agree with a serial FFT to 1e-12, and all steps bit by bit"};
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  const apps::Application application = {
      .manual = {.program = "pme",
                 .summary = "Transforms charges on a grid to their potential with plain MPI and with Wherry, "
                            "in turns, checks the\n"
                            "result against a serial FFT and prints how long the transposes take.",
                 .examples = {"mpiexec -n 8 pme", "mpiexec -n 8 pme --decomposition pencil --json pme.json",
                              "mpiexec -n 4 pme --grid 192,144,110 --turns 5 --train 10"}},
      .options = options_of(settings),
      .common = settings.common,
      .validate = [&](int ranks) { validate(settings, ranks); },
      .work = [&](MPI_Comm comm, apps::Progress& progress) { return work(settings, comm, progress); },
  };
  return apps::run(argc, argv, application);
}
