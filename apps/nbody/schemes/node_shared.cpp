// The ranks of a node add up what they found in memory that they share, and one of them speaks for the node: only nodes
// take part in the reduction, and no rank receives what another one of its node could simply read.
#include <algorithm>
#include <utility>

#include "nbody/schemes/schemes.hpp"
#include "support/mpi/comm.hpp"

namespace nbody {
namespace {

/// An array of doubles for each rank of a node, which all of them see.
class SharedArrays {
 public:
  SharedArrays(MPI_Comm node, std::size_t count) : node_(node), count_(count) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    // Each rank's array in its own memory, not all in one piece.
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    double* mine = nullptr;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(count * sizeof(double)), sizeof(double), info, node, &mine,
                            &window_);
    MPI_Info_free(&info);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~SharedArrays() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  SharedArrays(const SharedArrays&) = delete;
  SharedArrays& operator=(const SharedArrays&) = delete;

  std::span<double> of(int rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    double* begin = nullptr;
    MPI_Win_shared_query(window_, rank, &bytes, &unit, &begin);
    return {begin, count_};
  }
  /// What all have written before it all can read after it. Collective over the node.
  void meet() const {
    MPI_Win_sync(window_);
    MPI_Barrier(node_);
    MPI_Win_sync(window_);
  }

 private:
  MPI_Comm node_;
  std::size_t count_;
  MPI_Win window_ = MPI_WIN_NULL;
};

/// A communicator that goes with its owner.
class Split {
 public:
  static Split copy_of(MPI_Comm comm) {
    Split copy;
    MPI_Comm_dup(comm, &copy.comm_);
    return copy;
  }
  /// Of the ranks that are the first of their nodes; none on others.
  static Split firsts_of(MPI_Comm comm, MPI_Comm node) {
    Split firsts;
    MPI_Comm_split(comm, apps::rank_of(node) == 0 ? 0 : MPI_UNDEFINED, apps::rank_of(comm), &firsts.comm_);
    return firsts;
  }
  Split(Split&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  ~Split() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  operator MPI_Comm() const { return comm_; }

 private:
  Split() = default;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

class NodeShared : public Scheme {
 public:
  NodeShared(MPI_Comm comm, MPI_Comm node, Team& team, std::size_t bodies)
      : team_(team),
        all_{0, bodies},
        work_(share(Piece{all_, all_}, static_cast<std::size_t>(apps::rank_of(comm)),
                    static_cast<std::size_t>(apps::size_of(comm)))),
        node_(Split::copy_of(node)),
        firsts_(Split::firsts_of(comm, node_)),
        found_(node_, 3 * bodies) {
    for (int rank = 0; rank < apps::size_of(node_); ++rank) of_ranks_.push_back(found_.of(rank));
  }

  Range owned() const override { return all_; }

  void accelerate(System& system, const Exchanges& with, Diary& diary) override {
    const std::span<double> mine = of_ranks_[static_cast<std::size_t>(apps::rank_of(node_))];
    const std::span<double> nodes = of_ranks_.front();
    diary.compute(static_cast<double>(pairs(work_)), [&] {
      std::ranges::fill(mine, 0.0);
      const std::size_t n = all_.end;
      team_.both(system.bodies.points(), work_, {mine.data(), mine.data() + n, mine.data() + 2 * n});
    });
    diary.exchange(Doing::reduce, [&] {
      found_.meet();
      add_slice(nodes);
      found_.meet();
      add_nodes(nodes, with);
      found_.meet();
      std::ranges::copy(nodes, system.accelerations.all().begin());
      // Until all have read the sums, the next ones must not begin.
      found_.meet();
    });
    diary.note(nodes_take_part() ? with.strategy() : "shared memory");
  }

 private:
  bool nodes_take_part() const { return firsts_ != MPI_COMM_NULL && apps::size_of(firsts_) > 1; }

  /// This rank's part of the numbers: the sum over the node's ranks, in their order.
  void add_slice(std::span<double> sums) const {
    const Range slice =
        part_of({0, sums.size()}, static_cast<std::size_t>(apps::rank_of(node_)), of_ranks_.size());
    for (std::size_t rank = 1; rank < of_ranks_.size(); ++rank)
      for (std::size_t i = slice.begin; i < slice.end; ++i) sums[i] += of_ranks_[rank][i];
  }

  void add_nodes(std::span<double> sums, const Exchanges& with) const {
    if (nodes_take_part())
      with.allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, firsts_);
  }

  Team& team_;
  Range all_;
  Work work_;
  Split node_, firsts_;
  SharedArrays found_;
  std::vector<std::span<double>> of_ranks_;
};

}  // namespace

std::unique_ptr<Scheme> node_shared_among(MPI_Comm comm, MPI_Comm node, Team& team, std::size_t bodies) {
  return std::make_unique<NodeShared>(comm, node, team, bodies);
}

std::unique_ptr<Scheme> node_shared(MPI_Comm comm, Team& team, std::size_t bodies) {
  MPI_Comm node = apps::node_of(comm);
  std::unique_ptr<Scheme> scheme = node_shared_among(comm, node, team, bodies);
  MPI_Comm_free(&node);
  return scheme;
}

}  // namespace nbody
