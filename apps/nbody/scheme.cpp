#include "nbody/scheme.hpp"

#include <cmath>

#include "nbody/schemes/schemes.hpp"

namespace nbody {
namespace {

using Cost = SchemeRow::Cost;

constexpr double body_bytes = 3 * sizeof(double);

double triangle(double n) { return n * n / 2; }
double rounds(double p) { return std::ceil(std::log2(p)); }

/// What a rank sends in an allreduce of three numbers for each body: a reduce-scatter and an allgather.
double allreduce_bytes(double n, double p) { return 2 * body_bytes * n * (p - 1) / p; }
double gather_bytes(double n, double p) { return body_bytes * n * (p - 1) / p; }

Cost equal_cost(double n, double p) {
  // Rank 0 has the longest rows: n/p of them, n - n/(2p) long.
  return {n / p * (n - n / (2 * p)), allreduce_bytes(n, p) + gather_bytes(n, p), (2 + p) * rounds(p)};
}
Cost balanced_cost(double n, double p) {
  return {triangle(n) / p, allreduce_bytes(n, p) + gather_bytes(n, p), (2 + p) * rounds(p)};
}
Cost replicated_cost(double n, double p) { return {triangle(n) / p, allreduce_bytes(n, p), 2 * rounds(p)}; }
Cost overlapped_cost(double n, double p) {
  // An eighth of the bytes is not behind any computation, but for every block the processor starts a reduction.
  return {triangle(n) / p, allreduce_bytes(n, p) / 8, 2 * 8 * rounds(p)};
}
Cost allgathered_cost(double n, double p) {
  // Newton's third law saves less than half (18 of 22 instructions stay for one of two sides).
  return {18.0 / 22 * n * n / p, gather_bytes(n, p), rounds(p)};
}
Cost half_ring_cost(double n, double p) {
  return {triangle(n) / p, 2 * body_bytes * n / p * std::floor(p / 2), p};
}
Cost grid_cost(double n, double p) {
  const GridShape shape = grid_shape(static_cast<int>(p));
  const double across = shape.columns, down = shape.rows;
  const double block = body_bytes * n / p;
  return {triangle(n) / p, 2 * block * (across - 1 + down - 1), 2 * (rounds(across) + rounds(down))};
}

}  // namespace

const std::vector<SchemeRow>& schemes() {
  static const std::vector<SchemeRow> all = {
      {"equal", "as many rows of the triangle to each rank; an allreduce; places broadcast", false,
       equal_shares, equal_cost},
      {"balanced", "as many pairs to each rank; an allreduce; places broadcast", false, balanced_shares,
       balanced_cost},
      {"replicated", "as many pairs to each rank; an allreduce; every rank moves all bodies", false,
       replicated, replicated_cost},
      {"overlapped", "replicated, with the allreduce in blocks while the ranks compute", false, overlapped,
       overlapped_cost},
      {"allgather", "every rank pulls its own bodies only; places gathered", true, allgathered,
       allgathered_cost},
      {"ring", "blocks of bodies meet going half round a ring", false, half_ring, half_ring_cost},
      {"grid", "rows of ranks meet columns of ranks", false, grid, grid_cost},
  };
  return all;
}

}  // namespace nbody
