// The signature of a call: whether it is like the last, by its arguments alone.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <type_traits>

#include "arguments/calls.hpp"
#include "arguments/operators.hpp"
#include "coll/state/cell_key.hpp"
#include "datatype/type_facts.hpp"
#include "tuning/controlled_trial.hpp"

namespace wherry::run {

struct Choice;  // coll/state/communicator.hpp

/// What decides about a call, besides its communicator. Two calls with the same are performed alike, if the handles are
/// predefined ones: others may be freed and come again as something else.
struct CallSignature {
  MPI_Count count = 0;  // of what is sent, or of all; not where there is only a recvcount
  MPI_Count recvcount = 0;
  MPI_Datatype type = MPI_BYTE;
  MPI_Datatype recvtype = MPI_BYTE;
  MPI_Op op = MPI_OP_NULL;
  // root, and whether in place. One number: two that are written one by one and compared at once would stall the
  // processor for longer than all else here takes.
  std::uint64_t root_and_place = 0;
  [[gnu::always_inline]] friend bool operator==(const CallSignature& a, const CallSignature& b) {
    return a.count == b.count && a.recvcount == b.recvcount && a.type == b.type && a.recvtype == b.recvtype &&
           a.op == b.op && a.root_and_place == b.root_and_place;
  }
};

/// Only of collectives whose arguments all matter on all ranks, and are no arrays.
template <class Call>
concept Comparable =
    std::is_same_v<Call, Alltoall> || std::is_same_v<Call, Allgather> || std::is_same_v<Call, Bcast> ||
    std::is_same_v<Call, Reduce> || std::is_same_v<Call, Allreduce> ||
    std::is_same_v<Call, ReduceScatterBlock> || std::is_same_v<Call, Barrier>;

template <Comparable Call>
[[gnu::always_inline]] inline CallSignature signature_of(const Call& call) {
  CallSignature like;
  if constexpr (requires { call.sendcount; })
    like.count = call.sendcount, like.type = call.sendtype, like.recvtype = call.recvtype;
  else if constexpr (requires { call.count; }) like.count = call.count;
  if constexpr (requires { call.recvcount; }) like.recvcount = call.recvcount;
  if constexpr (requires { call.datatype; }) like.type = call.datatype;
  if constexpr (requires { call.op; }) like.op = call.op;
  std::uint64_t in_place = 0;
  if constexpr (requires { call.sendbuf; }) in_place = call.sendbuf == MPI_IN_PLACE ? 1 : 0;
  like.root_and_place = in_place;
  if constexpr (requires { call.root; })
    like.root_and_place |= std::uint64_t{static_cast<std::uint32_t>(call.root)} << 1;
  if constexpr (requires { call.sendtype; })
    if (in_place != 0) like.count = 0, like.type = MPI_BYTE;  // without a meaning, whatever they are
  return like;
}

/// Whether no handle in it can come again as something else.
inline bool is_lasting(const mpi::Api& api, const CallSignature& like) {
  return facts_of(api, like.type).predefined && facts_of(api, like.recvtype).predefined &&
         (like.op == MPI_OP_NULL || is_predefined(classify(api, like.op, like.type, true)));
}

/// The calls of one collective on one communicator that are like the last.
struct FastPath {
  CallSignature like;
  bool is_learned = true;     // else the settings ask for native
  std::optional<bool> lasts;  // no handle in it can come again as something else; once somebody asked
  std::uint64_t left = 0;     // that may be made before there is something to do
  std::uint64_t made = 0;     // that `choice` does not know of yet
  Choice* choice = nullptr;
  tuning::ControlledTrial* trial =
      nullptr;                       // that has native run in place of the winner, and counts the calls
  std::optional<std::uint32_t> use;  // Observer::use_of(), once somebody asked
  CellKey key{};
  std::uint64_t bytes = 0;
};

}  // namespace wherry::run
