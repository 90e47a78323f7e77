#include "nbody/team.hpp"

#include <algorithm>
#include <iterator>

#include "nbody/threads.hpp"

namespace nbody {
namespace {

constexpr std::size_t rows_at_a_time = 8;

/// What schedule(static, 8) over the rows gives to a thread.
Work rows_in_turn(const Work& work, std::size_t thread, std::size_t threads) {
  Work mine;
  for (const Piece& piece : work)
    for (std::size_t row = piece.rows.begin + thread * rows_at_a_time; row < piece.rows.end;
         row += threads * rows_at_a_time) {
      const Range rows{row, std::min(row + rows_at_a_time, piece.rows.end)};
      if (piece.is_triangle()) {
        mine.push_back({rows, rows});
        mine.push_back({rows, {rows.end, piece.columns.end}});
      } else {
        mine.push_back({rows, piece.columns});
      }
    }
  std::erase_if(mine, [](const Piece& piece) { return piece.pairs() == 0; });
  return mine;
}

Work dealt(Deal deal, const Work& work, std::size_t thread, std::size_t threads) {
  return deal == Deal::fair ? share(work, thread, threads) : rows_in_turn(work, thread, threads);
}

void add(std::span<const double> values, std::span<double> to, Range range) {
  for (std::size_t i = range.begin; i < range.end; ++i) to[i] += values[i];
}

std::size_t end_of(const Work& work) {
  std::size_t end = 0;
  for (const Piece& piece : work) end = std::max({end, piece.rows.end, piece.columns.end});
  return end;
}

}  // namespace

bool has_threads() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

Team::Team(const Kernel& kernel, const InstructionSet& set, double eps2, int threads, Deal deal)
    : kernel_(&kernel),
      set_(&set),
      eps2_(eps2),
      threads_(threads),
      deal_(deal),
      partial_(static_cast<std::size_t>(threads - 1)) {}

void Team::both(const Points& points, const Work& work, const Sums& sums) {
  if (threads_ == 1) return run(points, work, sums);
  const auto team = static_cast<std::size_t>(threads_);
  const std::size_t bodies = end_of(work);
  on_threads(threads_, [&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    const Work mine = dealt(deal_, work, t, team);
    if (t == 0) return run(points, mine, sums);
    // Made by the thread that uses it, so that it lies in that thread's memory.
    partial_[t - 1] = Vectors(bodies);
    run(points, mine, partial_[t - 1].sums());
  });
  on_threads(threads_, [&](int thread) {
    const Range range = part_of({0, bodies}, static_cast<std::size_t>(thread), team);
    for (const Vectors& partial : partial_) {
      add(partial[0], {sums.x, bodies}, range);
      add(partial[1], {sums.y, bodies}, range);
      add(partial[2], {sums.z, bodies}, range);
    }
  });
}

void Team::run(const Points& points, const Work& work, const Sums& sums) const {
  for (const Piece& piece : work) {
    if (piece.is_triangle()) kernel_->within(points, piece.rows, eps2_, sums);
    else kernel_->between(points, piece.rows, points, piece.columns, eps2_, sums, sums);
  }
}

void Team::onto(const Points& points, Range rows, Range columns, const Sums& sums) {
  on_threads(threads_, [&](int thread) {
    const Range mine = part_of(rows, static_cast<std::size_t>(thread), static_cast<std::size_t>(threads_));
    kernel_->onto(points, mine, points, columns, eps2_, sums);
  });
}

void Team::potential(const Points& points, Range rows, std::size_t bodies, double* potentials) {
  Vectors unused(std::max(rows.end, bodies));
  on_threads(threads_, [&](int thread) {
    const Range mine = part_of(rows, static_cast<std::size_t>(thread), static_cast<std::size_t>(threads_));
    set_->field.onto(points, mine, {0, bodies}, eps2_, unused.sums(), potentials);
  });
}

}  // namespace nbody
