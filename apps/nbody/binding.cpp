#include "nbody/binding.hpp"

#ifdef NBODY_HWLOC
#include <hwloc.h>

#include <algorithm>
#include <vector>

#include "nbody/threads.hpp"
#endif

namespace nbody {

#ifdef NBODY_HWLOC

namespace {

class CoreSet {
 public:
  CoreSet() : bits_(hwloc_bitmap_alloc()) {}
  ~CoreSet() { hwloc_bitmap_free(bits_); }
  CoreSet(const CoreSet&) = delete;
  CoreSet& operator=(const CoreSet&) = delete;
  hwloc_bitmap_t get() const { return bits_; }

 private:
  hwloc_bitmap_t bits_;
};

class Machine {
 public:
  Machine() {
    hwloc_topology_init(&topology_);
    hwloc_topology_load(topology_);
    hwloc_get_cpubind(topology_, mine_.get(), HWLOC_CPUBIND_PROCESS);
  }
  ~Machine() { hwloc_topology_destroy(topology_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Whether this process may use a part of the machine only.
  bool process_is_bound() const {
    return !hwloc_bitmap_isequal(mine_.get(), hwloc_topology_get_topology_cpuset(topology_));
  }
  /// That this process may use.
  std::vector<hwloc_obj_t> cores() const {
    std::vector<hwloc_obj_t> found;
    hwloc_obj_t core = nullptr;
    while ((core = hwloc_get_next_obj_covering_cpuset_by_type(topology_, mine_.get(), HWLOC_OBJ_CORE,
                                                              core)) != nullptr)
      found.push_back(core);
    return found;
  }
  bool bind_this_thread(hwloc_obj_t core) const {
    CoreSet allowed;
    hwloc_bitmap_and(allowed.get(), core->cpuset, mine_.get());
    return hwloc_set_cpubind(topology_, allowed.get(), HWLOC_CPUBIND_THREAD) == 0;
  }

 private:
  hwloc_topology_t topology_ = nullptr;
  CoreSet mine_;
};

std::string numbers_of(const std::vector<hwloc_obj_t>& cores) {
  std::string text;
  for (const hwloc_obj_t core : cores) text += " " + std::to_string(core->logical_index);
  return text;
}

/// "NUMA node 0" or "NUMA nodes 0 1".
std::string memories_of(const std::vector<hwloc_obj_t>& cores) {
  CoreSet nodes;
  for (const hwloc_obj_t core : cores) hwloc_bitmap_or(nodes.get(), nodes.get(), core->nodeset);
  std::string text;
  for (int node = hwloc_bitmap_first(nodes.get()); node >= 0; node = hwloc_bitmap_next(nodes.get(), node))
    text += " " + std::to_string(node);
  return (hwloc_bitmap_weight(nodes.get()) > 1 ? "NUMA nodes" : "NUMA node") + text;
}

}  // namespace

bool can_bind() { return true; }

std::string bind_threads(int threads, OnNode place) {
  const Machine machine;
  std::vector<hwloc_obj_t> cores = machine.cores();
  const auto wanted = static_cast<std::size_t>(threads);
  const std::size_t first = machine.process_is_bound() ? 0 : static_cast<std::size_t>(place.rank) * wanted;
  if (first + wanted > cores.size())
    return "threads not bound: " + std::to_string(place.ranks) + (place.ranks == 1 ? " rank" : " ranks") +
           " of this node with " + std::to_string(threads) + " each, and this one may use " +
           std::to_string(cores.size()) + (cores.size() == 1 ? " core" : " cores");
  cores = {cores.begin() + static_cast<long>(first), cores.begin() + static_cast<long>(first + wanted)};
  std::vector<char> done(wanted);
  on_threads(threads, [&](int thread) {
    const auto t = static_cast<std::size_t>(thread);
    done[t] = machine.bind_this_thread(cores[t]) ? 1 : 0;
  });
  if (std::ranges::count(done, 1) != threads) return "threads not bound: this system does not do it";
  return "the first rank's threads bound to the cores" + numbers_of(cores) + ", " + memories_of(cores);
}

#else

bool can_bind() { return false; }
std::string bind_threads(int, OnNode) { return "threads not bound: built without hwloc"; }

#endif

}  // namespace nbody
