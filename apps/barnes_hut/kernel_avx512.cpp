#include "barnes_hut/kernel_lanes.hpp"

namespace barnes_hut {

void add_avx512(const Targets& targets, const Body* bodies, std::size_t body_count, const Moments* cells,
                std::size_t cell_count, double softening) {
  Lanes<8>::add(targets, bodies, body_count, cells, cell_count, softening);
}

}  // namespace barnes_hut
