// The C API of plans. Each maker names the runtime's arguments and the native nonblocking form; the rest is the
// same for all.
#pragma GCC visibility push(default)
#include "wherry/wherry.h"
#pragma GCC visibility pop

#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "api/process.hpp"
#include "arguments/neighbors.hpp"
#include "comm/polled_wait.hpp"

struct wherry_plan {
  MPI_Comm comm = MPI_COMM_NULL;
  std::shared_ptr<wherry::run::Plan> ours;                 // nullptr: the plan is native
  std::unique_ptr<wherry::run::PlannedExchange> messages;  // of two ranks; else
  std::function<int(MPI_Request*)> native;                 // starts the native nonblocking form
  MPI_Request request = MPI_REQUEST_NULL;                  // of that
  bool under_way = false;
};

namespace wherry::api {
namespace {

/// An array of the program's that outlives it. NULL stays NULL.
template <class T>
class Kept {
 public:
  Kept(const T* values, std::size_t count) {
    if (values != nullptr) values_ = std::make_shared<const std::vector<T>>(values, values + count);
  }
  const T* data() const { return values_ ? values_->data() : nullptr; }

 private:
  std::shared_ptr<const std::vector<T>> values_;
};

template <class T>
T plain(T value) {
  return value;
}
template <class T>
const T* plain(const Kept<T>& kept) {
  return kept.data();
}

/// An array with an entry for each rank that this one sends to, or receives from. sendbuf: of its side, which counts
/// for nothing in place.
template <class T>
Kept<T> per_rank(const void* buffer, const T* values, MPI_Comm comm) {
  int inter = 0, ranks = 0;
  library().Comm_test_inter(comm, &inter);
  (inter != 0 ? library().Comm_remote_size : library().Comm_size)(comm, &ranks);
  return {buffer == MPI_IN_PLACE ? nullptr : values, static_cast<std::size_t>(ranks)};
}

/// An array with an entry for each neighbor that this rank sends to, or receives from.
template <class T>
Kept<T> per_target(const T* values, MPI_Comm comm) {
  return {values, run::topology_of(library(), comm).targets.size()};
}
template <class T>
Kept<T> per_source(const T* values, MPI_Comm comm) {
  return {values, run::topology_of(library(), comm).sources.size()};
}

/// Makes a plan of a collective with its arguments in MPI's order, which is also that of the runtime's struct.
template <class Call, class Start, class... Values>
int make(wherry_plan** plan, Start* start, const Values&... values) {
  const Call call{plain(values)...};
  if (plan == nullptr) return library().Comm_call_errhandler(call.comm, MPI_ERR_ARG), MPI_ERR_ARG;
  auto made = std::make_unique<wherry_plan>();
  made->comm = call.comm;
  made->native = [=](MPI_Request* request) { return start(plain(values)..., request); };
  if (run::Runtime* const wherry = runtime()) made->ours = wherry->plan(call);
  *plan = made.release();
  return MPI_SUCCESS;
}

int report(const wherry_plan& plan, int code) {
  if (code != MPI_SUCCESS) library().Comm_call_errhandler(plan.comm, code);
  return code;
}

bool is_over(const wherry_plan& plan) { return runtime()->factory().is_over(*plan.ours); }

/// Of an execution of Wherry's that is over.
int end(wherry_plan& plan) {
  plan.under_way = false;
  return report(plan, plan.ours->code());
}

}  // namespace
}  // namespace wherry::api

using namespace wherry::api;
namespace run = wherry::run;

// int wherry_alltoall_plan(const void* sendbuf, ..., wherry_plan** plan), and so on.
#include "c_plans.inc"

int wherry_sendrecv_plan(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                         void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                         MPI_Comm comm, wherry_plan** plan) {
  if (plan == nullptr) return library().Comm_call_errhandler(comm, MPI_ERR_ARG), MPI_ERR_ARG;
  *plan = nullptr;
  try {
    auto made = std::make_unique<wherry_plan>();
    made->comm = comm;
    made->messages = messages().plan({sendbuf, sendcount, sendtype, {dest, sendtag}},
                                     {recvbuf, recvcount, recvtype, {source, recvtag}}, comm);
    *plan = made.release();
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    return library().Comm_call_errhandler(comm, MPI_ERR_NO_MEM), MPI_ERR_NO_MEM;
  }
}

namespace {

int start_native(wherry_plan& plan) {
  return plan.messages ? plan.messages->start() : plan.native(&plan.request);
}

}  // namespace

int wherry_plan_start(wherry_plan* plan) {
  if (plan == nullptr) return MPI_ERR_REQUEST;
  if (plan->under_way) return report(*plan, MPI_ERR_REQUEST);
  const int code = plan->ours ? report(*plan, runtime()->factory().start(plan->ours)) : start_native(*plan);
  plan->under_way = code == MPI_SUCCESS;
  return code;
}

int wherry_plan_test(wherry_plan* plan, int* over) {
  if (plan == nullptr || over == nullptr) return MPI_ERR_REQUEST;
  *over = 1;
  if (!plan->under_way) return MPI_SUCCESS;
  if (plan->ours) {
    *over = is_over(*plan) ? 1 : 0;
    return *over != 0 ? end(*plan) : MPI_SUCCESS;
  }
  const int code =
      plan->messages ? plan->messages->test(over) : library().Test(&plan->request, over, MPI_STATUS_IGNORE);
  plan->under_way = *over == 0 && (plan->messages || code == MPI_SUCCESS);
  return code;
}

int wherry_plan_wait(wherry_plan* plan) {
  if (plan == nullptr) return MPI_ERR_REQUEST;
  if (!plan->under_way) return MPI_SUCCESS;
  if (plan->ours) {
    run::poll([plan](int* over) { return *over = is_over(*plan) ? 1 : 0, MPI_SUCCESS; });
    return end(*plan);
  }
  plan->under_way = false;
  if (plan->messages) return plan->messages->wait();
  return run::Channel(library(), plan->comm, waiting()).wait(plan->request);
}

int wherry_plan_free(wherry_plan** plan) {
  if (plan == nullptr || *plan == nullptr) return MPI_SUCCESS;
  if ((*plan)->under_way) return report(**plan, MPI_ERR_REQUEST);
  delete std::exchange(*plan, nullptr);
  return MPI_SUCCESS;
}

const char* wherry_plan_strategy(const wherry_plan* plan) {
  if (plan == nullptr) return "";
  if (plan->messages) return plan->messages->is_by_kernels() ? "layout kernels" : "native";
  return plan->ours ? plan->ours->algorithm().name().data() : "native";
}
