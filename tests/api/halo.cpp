// Decomposition and ghosts in one to three dimensions, periodic or not, against all images of all particles: who is a
// ghost where, directly and staged, forces with ghosts against all pairs, particles on faces, edges and corners, how
// many messages there are, and what is refused.
#include <wherry/halo.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "check.hpp"

namespace {

using wherry::Route;

constexpr double width = 0.75;
int messages = 0;  // that were begun

template <std::size_t D>
struct Particle {
  std::array<double, D> position{};
  bool marked = false;
  int id = -1;
  std::array<double, D> force{};
  struct Charge {
    char sign = 0;
    double amount = 0;
  } charge;
  std::vector<int> bonds;
};

template <std::size_t D>
using Particles = std::vector<Particle<D>>;

/// The box is this long in each dimension.
template <std::size_t D>
wherry::Box<D> box_of(int code) {
  wherry::Box<D> box;
  for (std::size_t i = 0; i < D; ++i) {
    box.lower[i] = -1;
    box.upper[i] = 7;
    box.periodic[i] = (code >> i & 1) != 0;
  }
  return box;
}

/// All particles of the system, which every rank can compute; the first ones lie on bounds, edges and corners of
/// domains.
template <std::size_t D>
Particles<D> system_of(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  Particles<D> all(count);
  for (std::size_t p = 0; p < count; ++p) {
    all[p].id = static_cast<int>(p);
    all[p].charge = {'+', 1.0 + double(p)};
    all[p].bonds.assign(p % 4, static_cast<int>(p));
    for (std::size_t i = 0; i < D; ++i)
      all[p].position[i] = p < 40 ? -1 + double((p >> i) % 8) : -1 + 8 * (double(random()) / 4294967296.0);
  }
  return all;
}

template <std::size_t D>
Particles<D> share_of(const Particles<D>& all, int rank, int ranks) {
  Particles<D> mine;
  for (std::size_t p = 0; p < all.size(); ++p)
    if (static_cast<int>(p) % ranks == rank) mine.push_back(all[p]);
  return mine;
}

/// f(image, position) for each image of a particle, its own place among them.
template <std::size_t D, class F>
void each_image(const wherry::Box<D>& box, const std::array<double, D>& position, F f) {
  const int images = D == 1 ? 3 : D == 2 ? 9 : 27;
  for (int image = 0; image < images; ++image) {
    std::array<double, D> at = position;
    bool exists = true;
    int code = image;
    for (std::size_t i = 0; i < D; ++i, code /= 3) {
      at[i] += (code % 3 - 1) * (box.upper[i] - box.lower[i]);
      exists &= code % 3 == 1 || box.periodic[i];
    }
    if (exists) f(image == images / 2, at);
  }
}

using Places = std::vector<std::tuple<int, std::vector<double>>>;

template <std::size_t D>
Places expected_ghosts(const wherry::Decomposition<D>& d, const Particles<D>& all) {
  Places places;
  for (const Particle<D>& p : all)
    each_image<D>(d.box(), p.position, [&](bool own_place, const std::array<double, D>& at) {
      bool near = true;
      for (std::size_t i = 0; i < D; ++i) near &= at[i] >= d.lower(i) - width && at[i] <= d.upper(i) + width;
      if (near && !(own_place && d.owner(p.position) == d.rank()))
        places.emplace_back(p.id, std::vector<double>(at.begin(), at.end()));
    });
  std::ranges::sort(places);
  return places;
}

template <std::size_t D>
Places places_of(const Particles<D>& ghosts) {
  Places places;
  for (const Particle<D>& p : ghosts)
    places.emplace_back(p.id, std::vector<double>(p.position.begin(), p.position.end()));
  std::ranges::sort(places);
  return places;
}

/// A smooth force of a to b, zero from the cutoff on.
template <std::size_t D>
std::array<double, D> force_between(const std::array<double, D>& a, const std::array<double, D>& b) {
  std::array<double, D> f{};
  double r2 = 0;
  for (std::size_t i = 0; i < D; ++i) r2 += (a[i] - b[i]) * (a[i] - b[i]);
  if (r2 >= width * width) return f;
  for (std::size_t i = 0; i < D; ++i) f[i] = (a[i] - b[i]) * (width * width - r2);
  return f;
}

template <std::size_t D>
void add(std::array<double, D>& to, const std::array<double, D>& f, double factor) {
  for (std::size_t i = 0; i < D; ++i) to[i] += factor * f[i];
}

template <std::size_t D>
std::array<double, D> force_of_all(const wherry::Box<D>& box, const Particles<D>& all, std::size_t p) {
  std::array<double, D> force{};
  for (std::size_t q = 0; q < all.size(); ++q)
    each_image<D>(box, all[q].position, [&](bool own_place, const std::array<double, D>& at) {
      if (q != p || !own_place) add<D>(force, force_between<D>(all[p].position, at), 1);
    });
  return force;
}

/// Each of the ranks that have a pair computes a part of it, on both particles: the rest comes back with the ghosts.
template <std::size_t D>
void compute_forces(Particles<D>& own, Particles<D>& ghosts, double part) {
  for (Particle<D>& p : own) p.force = {};
  for (Particle<D>& g : ghosts) g.force = {};
  for (std::size_t a = 0; a < own.size(); ++a) {
    for (std::size_t b = 0; b < own.size(); ++b)
      if (a != b) add<D>(own[a].force, force_between<D>(own[a].position, own[b].position), 1);
    for (Particle<D>& g : ghosts) {
      const auto f = force_between<D>(own[a].position, g.position);
      add<D>(own[a].force, f, part);
      add<D>(g.force, f, -part);
    }
  }
}

template <std::size_t D>
bool right_forces(const wherry::Box<D>& box, const Particles<D>& own, const Particles<D>& all) {
  double worst = 0;
  for (const Particle<D>& p : own) {
    const auto expected = force_of_all<D>(box, all, static_cast<std::size_t>(p.id));
    for (std::size_t i = 0; i < D; ++i) worst = std::max(worst, std::abs(p.force[i] - expected[i]));
  }
  return worst <= 1e-12;
}

/// The same small step on every rank.
template <std::size_t D>
void move(Particles<D>& particles) {
  for (Particle<D>& p : particles)
    for (std::size_t i = 0; i < D; ++i) p.position[i] += 1e-3 * std::sin(p.id + double(i));
}

/// Every pair of two ranks is on one of them.
template <std::size_t D>
void check_half_shell(test::Checks& checks, const wherry::Decomposition<D>& d, const Particles<D>& all,
                      Particles<D>& own, Route route) {
  wherry::Ghosts<Particle<D>, &Particle<D>::position, D> exchange(d, width, wherry::Shell::half, route);
  Particles<D> ghosts;
  exchange.migrate(own);
  exchange.template rebuild<&Particle<D>::id>(own, ghosts);
  compute_forces<D>(own, ghosts, 1);
  exchange.template start_return<&Particle<D>::force>(ghosts);
  exchange.progress();
  exchange.template finish_return<&Particle<D>::force>(own);
  checks.that(right_forces<D>(d.box(), own, all), "forces of a half shell differ from those of all pairs");
}

/// Staged, a rank sends one message across each face at most; directly, one to each neighbor at most.
template <std::size_t D>
void check_messages(test::Checks& checks, const wherry::Decomposition<D>& d, Route route, int sent) {
  std::vector<int> ranks;
  for (const wherry::Neighbor<D>& neighbor : d.neighbors())
    if (neighbor.rank != d.rank()) ranks.push_back(neighbor.rank);
  std::ranges::sort(ranks);
  const auto [end, last] = std::ranges::unique(ranks);
  const int most = route == Route::staged ? 2 * static_cast<int>(D) : int(end - ranks.begin());
  checks.that(sent <= most, "more messages than neighbors or faces");
  checks.that(d.neighbors().empty() || ranks.empty() || sent > 0, "no messages were counted");
}

/// Ranks that choose differently wait for each other in vain.
void check_agreed(test::Checks& checks, Route route) {
  const int mine = static_cast<int>(route);
  int least = 0, most = 0;
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  checks.that(least == most && route != Route::measured, "no route is agreed on");
}

template <std::size_t D>
void check_box(test::Checks& checks, Route route, int periodicity, std::size_t count) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const wherry::Decomposition<D> d(MPI_COMM_WORLD, box_of<D>(periodicity));
  wherry::Ghosts<Particle<D>, &Particle<D>::position, D> exchange(d, width, wherry::Shell::full, route);
  checks.that(exchange.route() == route, "another route than the one that was asked for");
  Particles<D> all = system_of<D>(17u + unsigned(periodicity), count), own = share_of<D>(all, rank, ranks),
               ghosts;
  exchange.migrate(own);
  long long mine = static_cast<long long>(own.size()), sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  checks.that(sum == static_cast<long long>(count), "particles are lost or doubled");
  for (const Particle<D>& p : own) {
    checks.that(d.owner(p.position) == rank, "a particle is not where it belongs");
    checks.that(p.bonds == std::vector<int>(std::size_t(p.id) % 4, p.id), "bonds did not come along");
  }
  constexpr auto amount = wherry::within(&Particle<D>::charge, &Particle<D>::Charge::amount);
  exchange.template rebuild<&Particle<D>::id, amount>(own, ghosts);
  checks.that(places_of<D>(ghosts) == expected_ghosts<D>(d, all), "other ghosts than all images give");
  for (const Particle<D>& g : ghosts)
    checks.that(g.charge.amount == 1.0 + g.id && g.charge.sign == 0, "other members than the chosen ones");

  check_agreed(checks, exchange.route());

  for (int step = 0; step < 3; ++step) {
    const int before = messages;
    exchange.start_update(own);
    exchange.progress();
    exchange.finish_update(ghosts);
    check_messages<D>(checks, d, exchange.route(), messages - before);
    compute_forces<D>(own, ghosts, 0.5);
    exchange.template start_return<&Particle<D>::force>(ghosts);
    exchange.template finish_return<&Particle<D>::force>(own);
    checks.that(right_forces<D>(d.box(), own, all), "forces differ from those of all pairs");
    if (step > 0) continue;  // ghosts stay near enough for one small step
    move<D>(all), move<D>(own);
  }
  check_half_shell<D>(checks, d, all, own, route);
}

template <class Action>
std::string refused(Action action) {
  try {
    action();
  } catch (const wherry::usage_error& error) {
    return error.what();
  }
  return "";
}

void check_refused(test::Checks& checks) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const wherry::Box<1> box{{0}, {1}, {true}};
  using P = Particle<1>;
  using Line = wherry::Ghosts<P, &P::position, 1>;
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  checks.that(
      has(refused([&] { wherry::Decomposition<1>(MPI_COMM_WORLD, {{1}, {1}, {false}}); }), "upper bound"),
      "box");
  checks.that(has(refused([&] { wherry::Decomposition<1>(MPI_COMM_WORLD, box, {ranks + 1}); }), "grid"),
              "grid");
  const wherry::Decomposition<1> d(MPI_COMM_WORLD, box);
  checks.that(has(refused([&] { Line(d, 1.01 / ranks); }), "do not fit domains"),
              "a width beyond the next domain");
  Line line(d, 0.5 / ranks);
  Particles<1> own(2), ghosts;
  own[0].position = {d.lower(0)};
  own[1].position = {std::nan("")};
  checks.that(has(refused([&] { line.migrate(own); }), "1 particles have positions that are not finite"),
              "NaN");
  own.pop_back();
  line.rebuild(own, ghosts);
  line.start_update(own);
  checks.that(has(refused([&] { line.rebuild(own, ghosts); }), "exchanged already"),
              "rebuild amidst an update");
  checks.that(has(refused([&] { line.start_update(own); }), "exchanged already"), "two updates at once");
  line.finish_update(ghosts);
  own.resize(3);
  checks.that(has(refused([&] { line.start_update(own); }), "call rebuild()"), "particles that changed");
  checks.that(has(refused([&] { line.finish_update(ghosts); }), "start before you finish"), "finish alone");
}

template <std::size_t D>
void check_routes(test::Checks& checks, int periodicity, std::size_t count) {
  for (const Route route : {Route::direct, Route::staged, Route::measured})
    check_box<D>(checks, route, periodicity, count);
}

}  // namespace

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  ++messages;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test::Checks checks;
  for (int periodicity = 0; periodicity < 2; ++periodicity) check_routes<1>(checks, periodicity, 60);
  for (int periodicity = 0; periodicity < 4; ++periodicity) check_routes<2>(checks, periodicity, 150);
  for (int periodicity : {0, 3, 6, 7}) check_routes<3>(checks, periodicity, 250);
  check_refused(checks);
  const int code = checks.exit_code();
  MPI_Finalize();
  return code;
}
