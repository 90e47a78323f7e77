#include "nbody/exchanges.hpp"

#include "support/mpi/simulated.hpp"
#include "wherry/wherry.h"

namespace nbody {
namespace {

class PlainSum : public StartedSum {
 public:
  PlainSum(std::span<double> numbers, MPI_Comm comm) : numbers_(numbers), comm_(comm) {}
  void start() override {
    const int count = static_cast<int>(numbers_.size());
    // SMPI's sends everything to everybody, and its ranks add in orders of their own.
    if (apps::simulated) MPI_Allreduce(MPI_IN_PLACE, numbers_.data(), count, MPI_DOUBLE, MPI_SUM, comm_);
    else MPI_Iallreduce(MPI_IN_PLACE, numbers_.data(), count, MPI_DOUBLE, MPI_SUM, comm_, &request_);
  }
  bool poll() override {
    int over = 0;
    MPI_Test(&request_, &over, MPI_STATUS_IGNORE);
    return over != 0;
  }
  void wait() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

 private:
  std::span<double> numbers_;
  MPI_Comm comm_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class PlannedSum : public StartedSum {
 public:
  PlannedSum(std::span<double> numbers, MPI_Comm comm) {
    wherry_allreduce_plan(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM,
                          comm, &plan_);
  }
  ~PlannedSum() override { wherry_plan_free(&plan_); }
  PlannedSum(const PlannedSum&) = delete;
  PlannedSum& operator=(const PlannedSum&) = delete;
  void start() override { wherry_plan_start(plan_); }
  bool poll() override {
    int over = 0;
    wherry_plan_test(plan_, &over);
    return over != 0;
  }
  void wait() override { wherry_plan_wait(plan_); }

 private:
  wherry_plan* plan_ = nullptr;
};

template <class Sum>
std::unique_ptr<StartedSum> make_sum(std::span<double> numbers, MPI_Comm comm) {
  return std::make_unique<Sum>(numbers, comm);
}

}  // namespace

const Exchanges plain_mpi = {.strategy = [] { return "native"; },
                             .allreduce = MPI_Allreduce,
                             .allgather = MPI_Allgather,
                             .bcast = MPI_Bcast,
                             .reduce_scatter_block = MPI_Reduce_scatter_block,
                             .started_sum = make_sum<PlainSum>};

const Exchanges wherrys = {.strategy = wherry_last_strategy,
                           .allreduce = wherry_allreduce,
                           .allgather = wherry_allgather,
                           .bcast = wherry_bcast,
                           .reduce_scatter_block = wherry_reduce_scatter_block,
                           .started_sum = make_sum<PlannedSum>};

}  // namespace nbody
