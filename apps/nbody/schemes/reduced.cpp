// Every rank computes a share of the triangle for all bodies; a reduction adds them up.
#include <algorithm>

#include "nbody/packing.hpp"
#include "nbody/schemes/schemes.hpp"
#include "support/mpi/comm.hpp"

namespace nbody {
namespace {

enum class Moves { own, all };  // which bodies a rank moves

class Reduced : public Scheme {
 public:
  Reduced(MPI_Comm comm, Team& team, std::size_t bodies, Work work, Moves moves)
      : comm_(comm), team_(team), all_{0, bodies}, work_(std::move(work)), moves_(moves) {}

  Range owned() const override { return moves_ == Moves::all ? all_ : part(apps::rank_of(comm_)); }

  void accelerate(System& system, const Exchanges& with, Diary& diary) override {
    if (moves_ == Moves::own)
      diary.exchange(Doing::gather, [&] { broadcast_places(system.bodies.place, with); });
    Vectors& sums = system.accelerations;
    diary.compute(static_cast<double>(pairs(work_)), [&] {
      std::ranges::fill(sums.all(), 0.0);
      team_.both(system.bodies.points(), work_, sums.sums());
    });
    diary.exchange(Doing::reduce, [&] {
      with.allreduce(MPI_IN_PLACE, sums.all().data(), static_cast<int>(sums.all().size()), MPI_DOUBLE,
                     MPI_SUM, comm_);
    });
    diary.note(with.strategy());
  }

 private:
  Range part(int rank) const {
    return part_of(all_, static_cast<std::size_t>(rank), static_cast<std::size_t>(apps::size_of(comm_)));
  }

  void broadcast_places(Vectors& place, const Exchanges& with) {
    for (int root = 0; root < apps::size_of(comm_); ++root) {
      const Range range = part(root);
      packed_.resize(3 * range.size());
      pack(place, range, range.size(), packed_);
      with.bcast(packed_.data(), static_cast<int>(packed_.size()), MPI_DOUBLE, root, comm_);
      unpack(packed_, range.size(), range, place);
    }
  }

  MPI_Comm comm_;
  Team& team_;
  Range all_;
  Work work_;
  Moves moves_;
  std::vector<double> packed_;
};

std::size_t part_number(MPI_Comm comm) { return static_cast<std::size_t>(apps::rank_of(comm)); }
std::size_t parts(MPI_Comm comm) { return static_cast<std::size_t>(apps::size_of(comm)); }

Work balanced(MPI_Comm comm, std::size_t bodies) {
  return share(Piece{{0, bodies}, {0, bodies}}, part_number(comm), parts(comm));
}

}  // namespace

std::unique_ptr<Scheme> equal_shares(MPI_Comm comm, Team& team, std::size_t bodies) {
  return std::make_unique<Reduced>(comm, team, bodies, equal_rows(bodies, part_number(comm), parts(comm)),
                                   Moves::own);
}

std::unique_ptr<Scheme> balanced_shares(MPI_Comm comm, Team& team, std::size_t bodies) {
  return std::make_unique<Reduced>(comm, team, bodies, balanced(comm, bodies), Moves::own);
}

std::unique_ptr<Scheme> replicated(MPI_Comm comm, Team& team, std::size_t bodies) {
  return std::make_unique<Reduced>(comm, team, bodies, balanced(comm, bodies), Moves::all);
}

}  // namespace nbody
