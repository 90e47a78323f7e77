#include "interpose/listener.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <string>

#include "base/floating_point.hpp"
#include "interpose/symbol_slots.hpp"

namespace wherry::interpose {
namespace {

std::uint32_t row_of(std::string_view name) {
  const auto rows = function_table();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const FunctionRow& r) { return name == r.name; });
  return static_cast<std::uint32_t>(row - rows.begin());
}

/// "MPI_Ialltoall" or "MPI_Alltoall_init" of "MPI_Alltoall".
std::string name_of_form(run::Form form, std::string_view mpi) {
  if (form == run::Form::persistent) return std::string(mpi) + "_init";
  constexpr std::size_t prefix = 4;
  std::string name = "MPI_I" + std::string(mpi.substr(prefix));
  name[prefix + 1] = static_cast<char>(name[prefix + 1] - 'A' + 'a');
  return name;
}

using Indices = std::array<std::uint32_t, collectives>;

Indices indices_of_collectives() {
  Indices indices;
  std::ranges::transform(collective_names, indices.begin(), row_of, &CollectiveName::mpi);
  return indices;
}

std::uint32_t function_of(Collective collective) {
  static const Indices indices = indices_of_collectives();
  return indices[index_of(collective)];
}

Indices indices_of(run::Form form) {
  Indices indices;
  std::ranges::transform(collective_names, indices.begin(),
                         [=](const CollectiveName& c) { return row_of(name_of_form(form, c.mpi)); });
  return indices;
}

std::uint32_t function_of(Collective collective, run::Form form) {
  static const Indices nonblocking = indices_of(run::Form::nonblocking);
  static const Indices persistent = indices_of(run::Form::persistent);
  return (form == run::Form::persistent ? persistent : nonblocking)[index_of(collective)];
}

const char* word_for(profile::Reason reason) {
  constexpr const char* words[] = {"is tried",   "is kept",
                                   "was loaded", "is forced",
                                   "is dropped", "takes another time than usual, all are tried again"};
  return words[static_cast<std::size_t>(reason)];
}

const char* word_for(Limit limit) {
  constexpr const char* words[] = {"", " in place", " in order"};
  return words[static_cast<std::size_t>(limit)];
}

/// The times that the ranks agreed on; empty before they have.
std::string in_brackets(std::uint64_t time_ns, std::uint64_t native_ns) {
  if (time_ns == 0 || native_ns == 0) return {};
  const OwnArithmetic arithmetic;
  char text[80];
  std::snprintf(text, sizeof text, " (%.1f us; native %.1f us)", static_cast<double>(time_ns) / 1e3,
                static_cast<double>(native_ns) / 1e3);
  return text;
}

std::int32_t millionths(double share) {
  constexpr double most = 1e3;
  return static_cast<std::int32_t>(std::lround(std::clamp(share, -most, most) * 1e6));
}

profile::GainRecord gain_of(std::uint32_t comm, const tuning::TrialResult& claim) {
  const bool is_known = claim.gain.is_known();
  return {.comm = comm,
          .verdict = static_cast<std::uint32_t>(claim.verdict),
          .pairs = claim.pairs,
          .share = millionths(claim.gain.share),
          .least = is_known ? millionths(claim.gain.low) : 1,
          .most = is_known ? millionths(claim.gain.high) : 0,
          .reserved = 0,
          .native_ns = static_cast<std::uint64_t>(claim.means.native_s * 1e9),
          .other_ns = static_cast<std::uint64_t>(claim.means.other_s * 1e9)};
}

}  // namespace

constinit thread_local Listener::Use Listener::current;
constinit thread_local std::string_view Listener::fallback;

/// With the record's lock held.
profile::Subject Listener::subject_of(MPI_Comm comm, std::uint32_t function, const run::CellKey& kind) {
  return {recording_.handles.comm(comm).index, function, kind.bucket, kind.limit};
}

void Listener::used(MPI_Comm comm, const run::CellKey& kind, std::string_view strategy, std::uint64_t bytes,
                    std::uint64_t time_ns) {
  const std::lock_guard guard(recording_.lock);
  if (!recording_.is_ready()) return;
  recording_.recorder.used(subject_of(comm, function_of(kind.collective), kind), strategy, bytes, time_ns);
}

std::uint32_t Listener::use_of(MPI_Comm comm, const run::CellKey& kind, std::string_view strategy) {
  const std::lock_guard guard(recording_.lock);
  if (!recording_.is_ready()) return no_use;
  return recording_.recorder.use(subject_of(comm, function_of(kind.collective), kind), strategy);
}

void Listener::decided(MPI_Comm comm, const run::CellKey& kind, std::uint32_t call, std::string_view strategy,
                       profile::Reason reason, std::uint64_t time_ns, std::uint64_t native_ns) {
  if (activity_.says(2))
    std::fprintf(stderr, "wherry: %s%s, size class %u, call %u: %.*s %s%s\n", name_of(kind.collective).data(),
                 word_for(kind.limit), kind.bucket, call, static_cast<int>(strategy.size()), strategy.data(),
                 word_for(reason), in_brackets(time_ns, native_ns).c_str());
  const std::lock_guard guard(recording_.lock);
  if (!recording_.is_ready()) return;
  recording_.recorder.decided(subject_of(comm, function_of(kind.collective), kind), call, strategy, reason,
                              time_ns, native_ns);
}

void Listener::compared(MPI_Comm comm, const tuning::TrialResult& claim) {
  const std::lock_guard guard(recording_.lock);
  if (!recording_.is_ready()) return;
  const std::uint32_t index = recording_.handles.comm(comm).index;
  recording_.recorder.compared(computed([&] { return gain_of(index, claim); }));
}

void Listener::fell_back(Collective collective, std::string_view reason) {
  fallback = reason;
  const std::lock_guard guard(recording_.lock);
  if (recording_.is_ready()) recording_.recorder.fell_back(function_of(collective), reason);
}

/// Without a time: the call only starts it.
void Listener::made_operation(MPI_Comm comm, const run::CellKey& kind, run::Form form,
                              std::string_view strategy, std::uint64_t bytes) {
  const std::lock_guard guard(recording_.lock);
  if (!recording_.is_ready()) return;
  recording_.recorder.used(subject_of(comm, function_of(kind.collective, form), kind), strategy, bytes, 0);
}

void Listener::not_started(Collective collective, run::Form form, std::string_view reason) {
  const std::lock_guard guard(recording_.lock);
  if (recording_.is_ready()) recording_.recorder.fell_back(function_of(collective, form), reason);
}

}  // namespace wherry::interpose
