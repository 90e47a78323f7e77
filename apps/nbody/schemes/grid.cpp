// Force decomposition: the ranks form a grid. A rank knows the bodies of its row of ranks and of its column, and
// computes pairs of the two, so that it exchanges with about 2 sqrt(p) ranks only (Plimpton, Fast parallel algorithms
// for short-range molecular dynamics, Journal of Computational Physics 117, 1995).
//
// A body of rank P and one of rank Q meet on two ranks: in P's row and Q's column, and in Q's row and P's column. Each
// of these two computes half of the pairs of P and Q, for both bodies.
#include <algorithm>

#include "nbody/packing.hpp"
#include "nbody/schemes/schemes.hpp"
#include "support/mpi/comm.hpp"

namespace nbody {
namespace {

/// The ranks of one row, or of one column, of the grid, with their blocks of bodies.
class Line {
 public:
  /// group: a number above 0 of this line alone.
  Line(MPI_Comm comm, int group, int key, std::size_t capacity) : group_(group), capacity_(3 * capacity) {
    MPI_Comm_split(comm, group, key, &comm_);
    packed_.resize(capacity_ * static_cast<std::size_t>(apps::size_of(comm_)));
    block_.resize(capacity_);
  }
  ~Line() { MPI_Comm_free(&comm_); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  int group() const { return group_; }
  std::span<double> block(std::size_t number) {
    return std::span(packed_).subspan(number * capacity_, capacity_);
  }
  std::span<double> own() { return block_; }

  /// own() of every rank into its block.
  const char* gather(const Exchanges& with) {
    const int count = static_cast<int>(capacity_);
    with.allgather(block_.data(), count, MPI_DOUBLE, packed_.data(), count, MPI_DOUBLE, comm_);
    return with.strategy();
  }
  /// The sum over the ranks of each block into its rank's own().
  const char* sum(const Exchanges& with) {
    with.reduce_scatter_block(packed_.data(), block_.data(), static_cast<int>(capacity_), MPI_DOUBLE, MPI_SUM,
                              comm_);
    return with.strategy();
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int group_;
  std::size_t capacity_;
  std::vector<double> block_, packed_;
};

class Grid : public Scheme {
 public:
  Grid(MPI_Comm comm, Team& team, std::size_t bodies)
      : team_(team),
        bodies_(bodies),
        ranks_(static_cast<std::size_t>(apps::size_of(comm))),
        rank_(apps::rank_of(comm)),
        shape_(grid_shape(apps::size_of(comm))),
        capacity_((bodies + ranks_ - 1) / ranks_),
        row_(comm, 1 + rank_ / shape_.columns, rank_ % shape_.columns, capacity_),
        column_(comm, 1 + shape_.rows + rank_ % shape_.columns, rank_ / shape_.columns, capacity_) {
    for (int c = 0; c < shape_.columns; ++c)
      row_ranks_.push_back(rank_ / shape_.columns * shape_.columns + c);
    for (int r = 0; r < shape_.rows; ++r)
      column_ranks_.push_back(r * shape_.columns + rank_ % shape_.columns);
    for (const int p : row_ranks_)
      for (const int q : column_ranks_) std::ranges::copy(meeting(p, q), std::back_inserter(work_));
  }

  Range owned() const override { return block(rank_); }

  void accelerate(System& system, const Exchanges& with, Diary& diary) override {
    Vectors& sums = system.accelerations;
    gather(row_, row_ranks_, system.bodies.place, with, diary);
    gather(column_, column_ranks_, system.bodies.place, with, diary);
    diary.compute(static_cast<double>(pairs(work_)), [&] {
      std::ranges::fill(sums.all(), 0.0);
      team_.both(system.bodies.points(), work_, sums.sums());
    });
    sum(row_, row_ranks_, sums, with, diary);
    // What was found for the own bodies has gone into the row's sum.
    clear_own(sums);
    sum(column_, column_ranks_, sums, with, diary);
    clear_own(sums);
    unpack_adding(row_.own(), capacity_, owned(), sums);
    unpack_adding(column_.own(), capacity_, owned(), sums);
  }

 private:
  Range block(int rank) const {
    const auto number = static_cast<std::size_t>(rank);
    return {std::min(number * capacity_, bodies_), std::min((number + 1) * capacity_, bodies_)};
  }

  /// This rank's half of the pairs of the bodies of p, in its row, and of q, in its column.
  Work meeting(int p, int q) const {
    if (p == q) return {Piece{block(p), block(p)}};
    return share(Piece{block(std::min(p, q)), block(std::max(p, q))}, p < q ? 0 : 1, 2);
  }

  void gather(Line& line, const std::vector<int>& ranks, Vectors& place, const Exchanges& with,
              Diary& diary) {
    const auto gather_line = [&] {
      pack(place, owned(), capacity_, line.own());
      diary.note(line.gather(with));
      for (std::size_t i = 0; i < ranks.size(); ++i) unpack(line.block(i), capacity_, block(ranks[i]), place);
    };
    diary.exchange(Doing::gather, gather_line, line.group());
  }

  void sum(Line& line, const std::vector<int>& ranks, const Vectors& sums, const Exchanges& with,
           Diary& diary) {
    const auto sum_line = [&] {
      for (std::size_t i = 0; i < ranks.size(); ++i) pack(sums, block(ranks[i]), capacity_, line.block(i));
      diary.note(line.sum(with));
    };
    diary.exchange(Doing::reduce, sum_line, line.group());
  }

  void clear_own(Vectors& sums) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      std::ranges::fill(sums[axis].subspan(owned().begin, owned().size()), 0.0);
  }

  Team& team_;
  std::size_t bodies_, ranks_;
  int rank_;
  GridShape shape_;
  std::size_t capacity_;  // bodies in a block
  Line row_, column_;
  std::vector<int> row_ranks_, column_ranks_;
  Work work_;
};

}  // namespace

GridShape grid_shape(int ranks) {
  int rows = 1;
  for (int divisor = 1; divisor * divisor <= ranks; ++divisor)
    if (ranks % divisor == 0) rows = divisor;
  return {rows, ranks / rows};
}

std::unique_ptr<Scheme> grid(MPI_Comm comm, Team& team, std::size_t bodies) {
  return std::make_unique<Grid>(comm, team, bodies);
}

}  // namespace nbody
