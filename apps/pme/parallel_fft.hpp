// A three-dimensional FFT of real values that lie on all ranks.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "pme/exchange.hpp"

namespace pme {

/// One transpose of a decomposition, in one direction.
struct Move {
  std::string name;  // "x slabs to y slabs"
  double message_bytes;
};

/// Timings of the moves: those of the forward transform in their order, then those of the backward one in theirs.
using MoveTimings = std::vector<apps::Timings>;

class ParallelFft {
 public:
  /// Collective over comm, which must have as many ranks as the decomposition.
  ParallelFft(MPI_Comm comm, const Decomposition& decomposition);

  /// From real() to spectrum(), without a factor. Collective, as is backward().
  void forward(const apps::Collectives& with, MoveTimings& timings);
  /// From spectrum() to real(), which is multiplied by the number of points.
  void backward(const apps::Collectives& with, MoveTimings& timings);

  std::vector<double>& real() { return real_; }
  std::vector<Complex>& spectrum() { return values_.back(); }
  const std::vector<Move>& moves() const { return moves_; }

 private:
  void add_transforms(const Layout& layout, const Box& box, std::vector<Complex>& values);
  void add_moves(const Decomposition& decomposition);

  MPI_Comm comm_;
  int rank_;
  std::vector<double> real_;
  std::vector<std::vector<Complex>> values_;                // of each layout
  std::vector<Transform> along_z_;                          // forward, backward
  std::vector<std::vector<Transform>> forward_, backward_;  // of each layout
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Exchange> exchanges_;  // as in MoveTimings
  std::vector<Move> moves_;
};

}  // namespace pme
