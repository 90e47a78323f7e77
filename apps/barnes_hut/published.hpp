// Memory that other ranks read. It stays where it is from step to step, so that a cache may live on.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "remote/variants.hpp"
#include "support/mpi/comm.hpp"

namespace barnes_hut {

template <class Element>
class Published {
 public:
  Published(MPI_Comm comm, const remote::Variant& variant, const remote::CacheOptions& cache)
      : comm_(comm), variant_(variant), cache_(cache) {}

  /// What others read from now on; no rank may still be reading. Collective.
  void publish(const std::vector<Element>& elements) {
    if (!apps::on_all(reader_ != nullptr && elements.size() <= memory_.size(), comm_))
      make_room(elements.size());
    std::ranges::copy(elements, memory_.begin());
    reader_->renew();
  }

  remote::Reader& reader() { return *reader_; }
  remote::Statistics statistics() const { return before_ + reader_->statistics(); }

 private:
  /// With some to spare: numbers change a little from step to step.
  void make_room(std::size_t count) {
    if (reader_) before_ = statistics();
    reader_.reset();
    memory_.assign(count + count / 4 + 64, {});
    reader_ = variant_.make({comm_, std::as_bytes(std::span(memory_))}, cache_);
  }

  MPI_Comm comm_;
  const remote::Variant& variant_;
  remote::CacheOptions cache_;
  std::vector<Element> memory_;
  std::unique_ptr<remote::Reader> reader_;
  remote::Statistics before_;  // of readers that are gone
};

}  // namespace barnes_hut
