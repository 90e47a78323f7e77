#include "pme/parallel_fft.hpp"

#include "support/mpi/comm.hpp"

namespace pme {

ParallelFft::ParallelFft(MPI_Comm comm, const Decomposition& decomposition)
    : comm_(comm), rank_(apps::rank_of(comm)), real_(decomposition.real_box(rank_).points()) {
  const auto mine = static_cast<std::size_t>(rank_);
  for (const Layout& layout : decomposition.layouts) values_.emplace_back(layout.boxes[mine].points());
  for (const Direction direction : {Direction::forward, Direction::backward})
    along_z_.emplace_back(decomposition.real_box(rank_), direction, real_.data(), values_.front().data());
  for (std::size_t i = 0; i < values_.size(); ++i)
    add_transforms(decomposition.layouts[i], decomposition.layouts[i].boxes[mine], values_[i]);
  for (const Transpose& transpose : decomposition.transposes)
    groups_.push_back(std::make_unique<Group>(transpose, comm));
  add_moves(decomposition);
}

void ParallelFft::add_transforms(const Layout& layout, const Box& box, std::vector<Complex>& values) {
  forward_.emplace_back();
  backward_.emplace_back();
  for (const int axis : layout.transformed) {
    forward_.back().emplace_back(box, axis, Direction::forward, values.data());
    backward_.back().emplace_back(box, axis, Direction::backward, values.data());
  }
}

void ParallelFft::add_moves(const Decomposition& decomposition) {
  const std::size_t steps = groups_.size();
  const auto add = [&](std::size_t step, const Layout& from, const Layout& to) {
    const Exchange& exchange = exchanges_.emplace_back(*groups_[step], rank_, from, to);
    moves_.push_back({from.name + " to " + to.name, exchange.message_bytes(comm_)});
  };
  for (std::size_t i = 0; i < steps; ++i) add(i, decomposition.layouts[i], decomposition.layouts[i + 1]);
  for (std::size_t i = steps; i-- > 0;) add(i, decomposition.layouts[i + 1], decomposition.layouts[i]);
}

void ParallelFft::forward(const apps::Collectives& with, MoveTimings& timings) {
  along_z_[0].run();
  for (const Transform& transform : forward_.front()) transform.run();
  for (std::size_t i = 0; i + 1 < values_.size(); ++i) {
    exchanges_[i].run(values_[i], values_[i + 1], with, timings[i]);
    for (const Transform& transform : forward_[i + 1]) transform.run();
  }
}

void ParallelFft::backward(const apps::Collectives& with, MoveTimings& timings) {
  std::size_t move = groups_.size();
  for (std::size_t i = values_.size(); --i > 0; ++move) {
    for (const Transform& transform : backward_[i]) transform.run();
    exchanges_[move].run(values_[i], values_[i - 1], with, timings[move]);
  }
  for (const Transform& transform : backward_.front()) transform.run();
  along_z_[1].run();
}

}  // namespace pme
