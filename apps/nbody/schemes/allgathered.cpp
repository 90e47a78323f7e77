// Every rank computes all that pulls its own bodies: twice the pairs, but only places are exchanged. A body's sum does
// not depend on who computes it.
#include <algorithm>

#include "nbody/packing.hpp"
#include "nbody/schemes/schemes.hpp"
#include "support/mpi/comm.hpp"

namespace nbody {
namespace {

class Allgathered : public Scheme {
 public:
  Allgathered(MPI_Comm comm, Team& team, std::size_t bodies)
      : comm_(comm),
        team_(team),
        all_{0, bodies},
        ranks_(static_cast<std::size_t>(apps::size_of(comm))),
        room_((bodies + ranks_ - 1) / ranks_),
        mine_(3 * room_),
        everybodys_(3 * room_ * ranks_) {}

  Range owned() const override { return block(static_cast<std::size_t>(apps::rank_of(comm_))); }

  void accelerate(System& system, const Exchanges& with, Diary& diary) override {
    diary.exchange(Doing::gather, [&] { gather(system.bodies.place, with); });
    diary.note(with.strategy());
    const double pairs = static_cast<double>(owned().size()) * static_cast<double>(all_.size());
    diary.compute(one_sided * pairs, [&] {
      std::ranges::fill(system.accelerations.all(), 0.0);
      team_.onto(system.bodies.points(), owned(), all_, system.accelerations.sums());
    });
  }

 private:
  Range block(std::size_t rank) const {
    return {std::min(rank * room_, all_.end), std::min((rank + 1) * room_, all_.end)};
  }

  void gather(Vectors& place, const Exchanges& with) {
    const int count = static_cast<int>(mine_.size());
    pack(place, owned(), room_, mine_);
    with.allgather(mine_.data(), count, MPI_DOUBLE, everybodys_.data(), count, MPI_DOUBLE, comm_);
    const std::span<const double> packed = everybodys_;
    for (std::size_t rank = 0; rank < ranks_; ++rank)
      unpack(packed.subspan(rank * mine_.size(), mine_.size()), room_, block(rank), place);
  }

  MPI_Comm comm_;
  Team& team_;
  Range all_;
  std::size_t ranks_, room_;
  std::vector<double> mine_, everybodys_;
};

}  // namespace

std::unique_ptr<Scheme> allgathered(MPI_Comm comm, Team& team, std::size_t bodies) {
  return std::make_unique<Allgathered>(comm, team, bodies);
}

}  // namespace nbody
