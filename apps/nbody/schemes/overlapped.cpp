// The reduction goes on while the ranks compute: columns are done in blocks from the last to the first. When a block
// and all those after it are done, nothing is added to its bodies any more, and its sum over the ranks can start.
#include <algorithm>
#include <map>

#include "nbody/packing.hpp"
#include "nbody/schemes/schemes.hpp"
#include "support/mpi/comm.hpp"

namespace nbody {
namespace {

/// Only the reduction of the last block cannot be hidden: of eight an eighth of the bytes, behind a sixty-fourth of the
/// pairs.
constexpr double most_blocks = 8;
/// A block's reduction should not be all latency. Pairs: of a rank, in the middle of all blocks.
constexpr double least_bodies = 64, least_pairs = 100000;
/// Between polls of the reductions under way: from tenths of a millisecond to some milliseconds, by the processor; and
/// enough to be worth filling a tile of columns.
constexpr std::uint64_t pairs_between_polls = 1'000'000;

class ColumnBlock {
 public:
  ColumnBlock(Range columns, std::vector<Work> steps)
      : columns_(columns), steps_(std::move(steps)), sums_(3 * columns.size()) {}

  /// To be done one after the other.
  const std::vector<Work>& steps() const { return steps_; }

  void start(const Vectors& accelerations, const Exchanges& with, MPI_Comm comm) {
    pack(accelerations, columns_, columns_.size(), sums_);
    // Made once for each side, for it may agree with the other ranks.
    std::unique_ptr<StartedSum>& sum = sums_of_[&with];
    if (!sum) sum = with.started_sum(sums_, comm);
    sum->start();
    is_over_ = false;
  }
  void poll(const Exchanges& with) {
    if (!is_over_) is_over_ = sums_of_.at(&with)->poll();
  }
  void finish(Vectors& accelerations, const Exchanges& with) {
    sums_of_.at(&with)->wait();
    unpack(sums_, columns_.size(), columns_, accelerations);
  }

 private:
  Range columns_;
  std::vector<Work> steps_;
  std::vector<double> sums_;
  bool is_over_ = true;
  std::map<const Exchanges*, std::unique_ptr<StartedSum>> sums_of_;
};

class Overlapped : public Scheme {
 public:
  Overlapped(std::size_t count, MPI_Comm comm, Team& team, std::size_t bodies, std::uint64_t pairs_between)
      : comm_(comm), team_(team), all_{0, bodies} {
    const auto rank = static_cast<std::size_t>(apps::rank_of(comm)),
               ranks = static_cast<std::size_t>(apps::size_of(comm));
    for (std::size_t k = count; k > 0; --k) {
      const Range columns = part_of(all_, k - 1, count);
      const Work work = share(column_block(columns), rank, ranks);
      // While the first is computed there is nothing to look at.
      blocks_.emplace_back(columns, blocks_.empty() ? std::vector<Work>{work} : steps(work, pairs_between));
    }
  }

  Range owned() const override { return all_; }

  void accelerate(System& system, const Exchanges& with, Diary& diary) override {
    Vectors& sums = system.accelerations;
    diary.compute(0, [&] { std::ranges::fill(sums.all(), 0.0); });
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      compute(k, system, with, diary);
      diary.exchange(Doing::send, [&] { blocks_[k].start(sums, with, comm_); });
    }
    diary.exchange(Doing::wait, [&] {
      for (ColumnBlock& block : blocks_) block.finish(sums, with);
    });
    diary.note("started");
  }

 private:
  void compute(std::size_t block, System& system, const Exchanges& with, Diary& diary) {
    for (const Work& step : blocks_[block].steps()) {
      diary.compute(static_cast<double>(pairs(step)),
                    [&] { team_.both(system.bodies.points(), step, system.accelerations.sums()); });
      diary.exchange(Doing::send, [&] {
        for (std::size_t under_way = 0; under_way < block; ++under_way) blocks_[under_way].poll(with);
      });
    }
  }

  MPI_Comm comm_;
  Team& team_;
  Range all_;
  std::vector<ColumnBlock> blocks_;
};

}  // namespace

std::size_t overlapped_blocks(std::size_t bodies, std::size_t ranks) {
  const auto n = static_cast<double>(bodies), pairs = n * n / 2 / static_cast<double>(ranks);
  return static_cast<std::size_t>(
      std::clamp(std::min(n / least_bodies, pairs / least_pairs), 1.0, most_blocks));
}

std::unique_ptr<Scheme> overlapped_in(std::size_t blocks, MPI_Comm comm, Team& team, std::size_t bodies,
                                      std::uint64_t pairs_between) {
  return std::make_unique<Overlapped>(blocks, comm, team, bodies, pairs_between);
}

std::unique_ptr<Scheme> overlapped(MPI_Comm comm, Team& team, std::size_t bodies) {
  const std::size_t blocks = overlapped_blocks(bodies, static_cast<std::size_t>(apps::size_of(comm)));
  return overlapped_in(blocks, comm, team, bodies, pairs_between_polls);
}

}  // namespace nbody
