#include "nbody/binding.hpp"

#ifdef NBODY_HWLOC
#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
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

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

Topology topology_of_this_node() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0)
    throw std::runtime_error("hwloc has no memory for this node's topology");
  Topology topology(made);
  if (hwloc_topology_load(made) != 0) throw std::runtime_error("hwloc cannot read this node's topology");
  return topology;
}

class Machine {
 public:
  /// Where the system does not say what this process may use, that is nothing, and no thread is bound.
  Machine() { hwloc_get_cpubind(topology_.get(), mine_.get(), HWLOC_CPUBIND_PROCESS); }

  std::string allowed() const {
    char* text = nullptr;
    if (hwloc_bitmap_list_asprintf(&text, mine_.get()) < 0) throw std::bad_alloc();
    std::string list = text;
    std::free(text);
    return list;
  }
  /// That this process may use.
  std::vector<hwloc_obj_t> cores() const {
    std::vector<hwloc_obj_t> found;
    hwloc_obj_t core = nullptr;
    while ((core = hwloc_get_next_obj_covering_cpuset_by_type(topology_.get(), mine_.get(), HWLOC_OBJ_CORE,
                                                              core)) != nullptr)
      found.push_back(core);
    return found;
  }
  bool bind_this_thread(hwloc_obj_t core) const {
    CoreSet allowed;
    hwloc_bitmap_and(allowed.get(), core->cpuset, mine_.get());
    return hwloc_set_cpubind(topology_.get(), allowed.get(), HWLOC_CPUBIND_THREAD) == 0;
  }

 private:
  Topology topology_ = topology_of_this_node();
  CoreSet mine_;
};

/// "1 rank", "2 ranks"
std::string counted(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

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

std::string allowed_processors() { return Machine().allowed(); }

std::string bind_threads(int threads, Sharing sharing) {
  const Machine machine;
  const std::vector<hwloc_obj_t> all = machine.cores();
  const auto wanted = static_cast<std::size_t>(threads), rank = static_cast<std::size_t>(sharing.rank),
             ranks = static_cast<std::size_t>(sharing.ranks);
  if (ranks * wanted > all.size())
    return "threads not bound: " + counted(ranks, "rank") + " with " + std::to_string(threads) +
           " each for " + counted(all.size(), "core");
  const auto first = all.begin() + static_cast<long>(rank * wanted);
  const std::vector<hwloc_obj_t> cores(first, first + static_cast<long>(wanted));
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
std::string allowed_processors() { return ""; }
std::string bind_threads(int, Sharing) { return "threads not bound: built without hwloc"; }

#endif

}  // namespace nbody
