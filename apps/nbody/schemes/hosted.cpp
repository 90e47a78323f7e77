// Blocks of bodies meet on hosts (nbody/covers.hpp): a rank is sent the places of some other ranks' bodies, computes
// the pairs of every two blocks that meet on it, and sends back what it found for each guest when all its meetings are
// over.
#include <algorithm>

#include "nbody/covers.hpp"
#include "nbody/packing.hpp"
#include "nbody/schemes/schemes.hpp"
#include "support/mpi/comm.hpp"

namespace nbody {
namespace {

// Places that are asked for at once, in bytes. If all shared the link from the start, the first would come as late as
// the last; but a Gigabit link carries 10 kB in a round trip, and should not wait.
constexpr std::size_t quorum_bytes_ahead = 10'000;
// Where each guest has one short meeting, the link has more to do than the processor.
constexpr std::size_t ring_bytes_ahead = 36'000;

class Hosted : public Scheme {
 public:
  Hosted(MPI_Comm comm, Team& team, std::size_t bodies, const std::vector<int>& cover,
         std::size_t asked_bytes)
      : comm_(comm),
        team_(team),
        all_{0, bodies},
        rank_(apps::rank_of(comm)),
        ranks_(apps::size_of(comm)),
        meetings_(meetings(cover, ranks_)),
        asked_at_once_(asked_at_once(asked_bytes, owned().size())) {
    for (const int distance : cover) guests_.emplace_back(distance, rank_, ranks_);
    for (const Meeting& m : meetings_) guests_[m.first].last = guests_[m.second].last = &m;
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
    std::size_t here = 1;  // guests, with the host
    for (const Meeting& m : meetings_) {
      for (; here <= m.second; ++here) welcome(here, system, diary);
      meet(m, system, diary);
      for (const std::size_t number : {m.first, m.second})
        if (number > 0 && guests_[number].last == &m) send_back(guests_[number], sums, diary);
    }
    diary.exchange(Doing::wait, [&] { collect(sums); });
    diary.note("point to point");
  }

 private:
  /// The first one is the host.
  struct Guest {
    Guest(int distance_, int rank, int ranks)
        : distance(distance_), ahead((rank + distance) % ranks), behind((rank - distance + ranks) % ranks) {}
    int distance, ahead, behind;    // ranks: that whose bodies are guests here, and that where mine are
    const Meeting* last = nullptr;  // after it the bodies' sums are complete
    std::vector<double> places, found, found_for_me;
    MPI_Request arriving = MPI_REQUEST_NULL;
  };
  enum class Kind { places, found };

  /// Two at least, for where messages get on only while both ranks are inside MPI.
  static std::size_t asked_at_once(std::size_t bytes, std::size_t bodies) {
    const std::size_t each = 3 * sizeof(double) * std::max<std::size_t>(bodies, 1);
    return std::max<std::size_t>(2, (bytes + each - 1) / each);
  }

  Range block(int rank) const {
    return part_of(all_, static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks_));
  }
  static int tag(const Guest& guest, Kind kind) { return 2 * guest.distance + static_cast<int>(kind); }

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
    if (number >= guests_.size()) return;
    Guest& g = guests_[number];
    g.arriving = receive(g.places, block(g.ahead), g.ahead, tag(g, Kind::places));
  }

  /// The first arrive while the own pairs are computed.
  void post_places(const Vectors& place) {
    mine_.resize(3 * owned().size());
    pack(place, owned(), owned().size(), mine_);
    const std::span<Guest> guests = std::span(guests_).subspan(1);
    for (Guest& g : guests)
      requests_.push_back(receive(g.found_for_me, owned(), g.behind, tag(g, Kind::found)));
    for (std::size_t number = 1; number <= asked_at_once_; ++number) ask_for(number);
    for (const Guest& g : guests) send(mine_, g.behind, tag(g, Kind::places));
  }

  void welcome(std::size_t number, System& system, Diary& diary) {
    Guest& g = guests_[number];
    diary.exchange(Doing::wait, [&] {
      MPI_Wait(&g.arriving, MPI_STATUS_IGNORE);
      ask_for(number + asked_at_once_);
      const Range theirs = block(g.ahead);
      unpack(g.places, theirs.size(), theirs, system.bodies.place);
    });
  }

  void meet(const Meeting& m, System& system, Diary& diary) {
    const Work work = work_of(m);
    diary.compute(static_cast<double>(pairs(work)),
                  [&] { team_.both(system.bodies.points(), work, system.accelerations.sums()); });
  }

  Work work_of(const Meeting& m) const {
    const int a = guests_[m.first].ahead, b = guests_[m.second].ahead;
    const Piece all{block(std::min(a, b)), block(std::max(a, b))};
    return m.shared ? share(all, 2 * rank_ < ranks_ ? 0 : 1, 2) : Work{all};
  }

  void send_back(Guest& g, const Vectors& sums, Diary& diary) {
    diary.exchange(Doing::send, [&] {
      const Range theirs = block(g.ahead);
      g.found.resize(3 * theirs.size());
      pack(sums, theirs, theirs.size(), g.found);
      send(g.found, g.ahead, tag(g, Kind::found));
    });
  }

  /// In a fixed order, so that the sums do not depend on what arrives first.
  void collect(Vectors& sums) {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    for (const Guest& g : std::span(guests_).subspan(1))
      unpack_adding(g.found_for_me, owned().size(), owned(), sums);
  }

  MPI_Comm comm_;
  Team& team_;
  Range all_;
  int rank_, ranks_;
  std::vector<Meeting> meetings_;
  std::size_t asked_at_once_;  // guests
  std::vector<Guest> guests_;
  std::vector<double> mine_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Scheme> half_ring(MPI_Comm comm, Team& team, std::size_t bodies) {
  return std::make_unique<Hosted>(comm, team, bodies, half_ring_cover(apps::size_of(comm)), ring_bytes_ahead);
}

std::unique_ptr<Scheme> quorum(MPI_Comm comm, Team& team, std::size_t bodies) {
  return std::make_unique<Hosted>(comm, team, bodies, difference_cover(apps::size_of(comm)),
                                  quorum_bytes_ahead);
}

}  // namespace nbody
