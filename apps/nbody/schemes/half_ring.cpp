// Rank r meets the bodies of the ranks r + 1, ..., r + p/2, going round: every two ranks meet once. What it finds for them it sends
// back. With an even number of ranks those that face each other both meet, for half of the pairs each.
#include <algorithm>

#include "nbody/packing.hpp"
#include "nbody/schemes/schemes.hpp"
#include "parallel/comm.hpp"

namespace nbody {
namespace {

/// Messages with places that are asked for at once. If all shared the link from the start, the first would come as late as the last; but
/// some three times as many bytes should be under way as a Gigabit link carries in a round trip. Two at least, for where
/// messages get on only while both ranks are inside MPI.
constexpr std::size_t asked_at_once(std::size_t bodies) {
  constexpr std::size_t most_bytes = 36'000;
  const std::size_t bytes = 3 * sizeof(double) * std::max<std::size_t>(bodies, 1);
  return std::max<std::size_t>(2, (most_bytes + bytes - 1) / bytes);
}

class HalfRing : public Scheme {
 public:
  HalfRing(MPI_Comm comm, Team& team, std::size_t bodies)
      : comm_(comm), team_(team), all_{0, bodies}, rank_(apps::rank_of(comm)), ranks_(apps::size_of(comm)) {
    for (int distance = 1; distance <= ranks_ / 2; ++distance)
      meetings_.emplace_back(distance, (rank_ + distance) % ranks_, (rank_ - distance + ranks_) % ranks_);
  }

  Range owned() const override { return block(rank_); }

  void accelerate(System& system, const Exchanges&, Diary& diary) override {
    Vectors& sums = system.accelerations;
    diary.exchange(Doing::send, [&] { post_places(system.bodies.place); });
    const Work own = {Piece{owned(), owned()}};
    diary.compute(static_cast<double>(pairs(own)), [&] {
      std::ranges::fill(sums.all(), 0.0);
      team_.both(system.bodies.points(), own, sums.sums());
    });
    for (std::size_t number = 0; number < meetings_.size(); ++number) meet(number, system, diary);
    diary.exchange(Doing::wait, [&] { collect(sums); });
    diary.note("point to point");
  }

 private:
  struct Meeting {
    Meeting(int distance_, int ahead_, int behind_) : distance(distance_), ahead(ahead_), behind(behind_) {}
    int distance, ahead, behind;  // ranks: I compute with those ahead, those behind with mine
    std::vector<double> places, found_for_ahead, found_for_me;
    MPI_Request arriving = MPI_REQUEST_NULL;
  };
  enum Kind { places = 0, found = 1 };

  Range block(int rank) const {
    return part_of(all_, static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks_));
  }
  static int tag(const Meeting& meeting, Kind kind) { return 2 * meeting.distance + kind; }

  MPI_Request receive(std::vector<double>& into, Range range, int from, int tag) {
    into.resize(3 * range.size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_DOUBLE, from, tag, comm_, &request);
    return request;
  }
  void send(const std::vector<double>& packed, int to, int tag) {
    MPI_Isend(packed.data(), static_cast<int>(packed.size()), MPI_DOUBLE, to, tag, comm_,
              &requests_.emplace_back());
  }

  void ask_for(std::size_t number) {
    if (number >= meetings_.size()) return;
    Meeting& m = meetings_[number];
    m.arriving = receive(m.places, block(m.ahead), m.ahead, tag(m, places));
  }

  /// The first arrive while the own pairs are computed.
  void post_places(const Vectors& place) {
    mine_.resize(3 * owned().size());
    pack(place, owned(), owned().size(), mine_);
    for (Meeting& m : meetings_)
      requests_.push_back(receive(m.found_for_me, owned(), m.behind, tag(m, found)));
    for (std::size_t number = 0; number < asked_at_once(owned().size()); ++number) ask_for(number);
    for (const Meeting& m : meetings_) send(mine_, m.behind, tag(m, places));
  }

  void meet(std::size_t number, System& system, Diary& diary) {
    Meeting& m = meetings_[number];
    const Range theirs = block(m.ahead);
    diary.exchange(Doing::wait, [&] {
      MPI_Wait(&m.arriving, MPI_STATUS_IGNORE);
      ask_for(number + asked_at_once(owned().size()));
      unpack(m.places, theirs.size(), theirs, system.bodies.place);
    });
    const Work work = work_with(m.ahead, m.behind);
    diary.compute(static_cast<double>(pairs(work)),
                  [&] { team_.both(system.bodies.points(), work, system.accelerations.sums()); });
    diary.exchange(Doing::send, [&] {
      m.found_for_ahead.resize(3 * theirs.size());
      pack(system.accelerations, theirs, theirs.size(), m.found_for_ahead);
      send(m.found_for_ahead, m.ahead, tag(m, found));
    });
  }

  Work work_with(int ahead, int behind) const {
    const Range low = block(std::min(rank_, ahead)), high = block(std::max(rank_, ahead));
    const bool facing = ahead == behind;
    return share(Piece{low, high}, facing && rank_ > ahead ? 1 : 0, facing ? 2 : 1);
  }

  /// In a fixed order, so that the sums do not depend on what arrives first.
  void collect(Vectors& sums) {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    for (const Meeting& m : meetings_) unpack_adding(m.found_for_me, owned().size(), owned(), sums);
  }

  MPI_Comm comm_;
  Team& team_;
  Range all_;
  int rank_, ranks_;
  std::vector<Meeting> meetings_;
  std::vector<double> mine_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Scheme> half_ring(MPI_Comm comm, Team& team, std::size_t bodies) {
  return std::make_unique<HalfRing>(comm, team, bodies);
}

}  // namespace nbody
