// A cache that keeps cells of an earlier step is noticed, and so are wrong forces. For two ranks and more.
#include "barnes_hut/simulation.hpp"
#include "broken.hpp"
#include "remote/window.hpp"

using namespace barnes_hut;

namespace {

/// Brings what was there when it was first asked for.
class StaleReader : public remote::Reader {
 public:
  explicit StaleReader(const remote::Memory& memory)
      : blocks_(std::make_unique<remote::Window>(memory.comm, memory.mine),
                {.memory_bytes = 1 << 20, .block_bytes = 64}),
        fence_(memory.comm, {}) {}
  void get(std::span<std::byte> into, int target, std::size_t displacement, double score) override {
    blocks_.get(into, target, displacement, score);
  }
  void flush() override { blocks_.flush(); }
  /// The ranks meet, but the blocks stay.
  void renew() override { fence_.renew(); }
  remote::Statistics statistics() const override { return blocks_.statistics(); }

 private:
  remote::BlockReader blocks_;
  remote::Window fence_;
};

std::unique_ptr<remote::Reader> stale(const remote::Memory& memory, const remote::CacheOptions&) {
  return std::make_unique<StaleReader>(memory);
}

Run run_by(const remote::Variant& variant, const Steps& steps) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const auto ranks = static_cast<std::uint64_t>(apps::size_of(comm));
  Gravity gravity(comm, {.walk = {.theta = 0.5}, .softening = 0.05, .tree = {.leaf = 4, .group = 8}}, variant,
                  {});
  apps::Timings timings(comm);
  return simulate(comm, plummer(1, static_cast<std::uint64_t>(apps::rank_of(comm)) * 100, 100, 100 * ranks),
                  steps, gravity, timings);
}

std::string differ(const Run& a, const Run& b) {
  return apps::on_all(a == b, MPI_COMM_WORLD) ? "" : "runs differ";
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  using broken::as_expected;
  const Steps still = {.count = 0}, moving = {.count = 2, .time = 0.1};
  const remote::Variant broken_variant = {"stale", stale};
  Run right_run = run_by(remote::variants({}).front(), moving);
  bool right = true;
  for (const remote::Variant& variant : remote::variants({}))
    right &= as_expected(variant.name.c_str(), differ(right_run, run_by(variant, moving)), "");
  right &=
      as_expected("stale, without a step",
                  differ(run_by(remote::variants({}).front(), still), run_by(broken_variant, still)), "");
  right &= as_expected("stale", differ(right_run, run_by(broken_variant, moving)), "runs differ");
  right &= force_error(MPI_COMM_WORLD, right_run.particles, 0.05) < 1e-3;
  for (Particle& p : right_run.particles) p.ax *= 1.1;
  right &= force_error(MPI_COMM_WORLD, right_run.particles, 0.05) > 1e-2;
  const int code = apps::on_all(right, MPI_COMM_WORLD) ? 0 : 1;
  MPI_Finalize();
  return code;
}
