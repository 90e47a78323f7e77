#include <algorithm>
#include <mutex>

#include "interpose/backend.hpp"
#include "interpose/wrappers.hpp"

namespace wherry::interpose {
namespace {

std::uint32_t index_of(std::string_view name) {
  const auto rows = function_table();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const FunctionRow& r) { return name == r.name; });
  return static_cast<std::uint32_t>(row - rows.begin());
}

std::uint32_t function_of(run::Operation operation) {
  using run::Operation;
  static const std::uint32_t indices[] = {index_of(run::name_of(Operation::alltoall)),
                                          index_of(run::name_of(Operation::alltoallv)),
                                          index_of(run::name_of(Operation::alltoallw))};
  return indices[static_cast<std::size_t>(operation)];
}

}  // namespace

void Listener::used(MPI_Comm comm, run::Operation operation, std::uint32_t bucket, std::string_view strategy,
                    std::uint64_t bytes, std::uint64_t time_ns) {
  const std::lock_guard guard(backend().lock);
  if (!backend().is_ready()) return;
  backend().recorder.used({backend().handles.comm(comm).index, function_of(operation), bucket}, strategy,
                          bytes, time_ns);
}

void Listener::decided(MPI_Comm comm, run::Operation operation, std::uint32_t bucket, std::uint32_t call,
                       std::string_view strategy, profile::Reason reason, std::uint64_t time_ns,
                       std::uint64_t native_ns) {
  const std::lock_guard guard(backend().lock);
  if (!backend().is_ready()) return;
  backend().recorder.decided({backend().handles.comm(comm).index, function_of(operation), bucket}, call,
                             strategy, reason, time_ns, native_ns);
}

void Listener::missed(run::Operation operation, std::string_view reason) {
  const std::lock_guard guard(backend().lock);
  if (backend().is_ready()) backend().recorder.missed(function_of(operation), reason);
}

}  // namespace wherry::interpose
