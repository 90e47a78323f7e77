// The signature of a call: whether it is like those before, by its arguments alone.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "arguments/calls.hpp"
#include "arguments/operators.hpp"
#include "base/numbers.hpp"
#include "coll/state/cell_key.hpp"
#include "datatype/type_facts.hpp"
#include "datatype/watched_types.hpp"

namespace wherry::run {

class Cell;  // coll/state/cell.hpp

/// What decides about a call, besides its communicator. Two calls with the same are performed alike, as long as
/// no handle has been freed and come again as something else.
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

template <class... Calls>
struct CallList {
  static constexpr std::size_t size = sizeof...(Calls);
  template <class Call>
  static constexpr bool has = (std::is_same_v<Call, Calls> || ...);
  template <class Call>
  static constexpr std::size_t index = [] {
    std::size_t before = 0;
    (void)((std::is_same_v<Call, Calls> || (++before, false)) || ...);
    return before;
  }();
};

/// Only of collectives whose arguments all matter on all ranks, and are no arrays.
using ComparableCalls = CallList<Alltoall, Allgather, Bcast, Reduce, Allreduce, ReduceScatterBlock, Barrier>;
template <class Call>
concept Comparable = ComparableCalls::has<Call>;

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

/// Whether the handles in a signature stay what they are.
enum class Lasting : std::uint8_t {
  unknown,  // nobody has asked
  always,   // they are predefined
  watched,  // until a watched type is freed
  never,    // nobody would be told
};

/// Watches its derived types.
inline Lasting lasting(const mpi::Api& api, datatype::WatchedTypes& types, const CallSignature& like) {
  if (like.op != MPI_OP_NULL && !is_predefined(classify(api, like.op, like.type, true)))
    return Lasting::never;
  Lasting lasts = Lasting::always;
  for (const MPI_Datatype type : {like.type, like.recvtype}) {
    if (datatype::facts_of(api, type).predefined) continue;
    if (!types.watch(type)) return Lasting::never;
    lasts = Lasting::watched;
  }
  return lasts;
}

/// The calls of one collective on one communicator that have one signature.
struct FastPath {
  CallSignature like;
  Cell* cell = nullptr;  // that says whether they pass, and counts them; nullptr: the settings ask for native
  bool is_open = false;  // once a second call has come
  bool is_learned = true;   // else the settings ask for native
  std::uint8_t credit = 0;  // how often it is passed over before another signature takes its place
  Lasting lasts = Lasting::unknown;
  std::uint64_t freed_types = 0;     // WatchedTypes::freed() when it was opened
  std::optional<std::uint32_t> use;  // Observer::use_of(), once somebody asked
  CellKey key{};
  std::uint64_t bytes = 0;
};

/// Those of several signatures, for programs whose calls take turns. Each rank has its own: which calls pass changes
/// nothing of what runs.
class FastPaths {
 public:
  static constexpr std::size_t most = 8;

  /// nullptr: there is none. Most calls are like the last.
  [[gnu::always_inline]] FastPath* find(const CallSignature& like) {
    FastPath& last = paths_[last_];
    if (last.like == like) [[likely]]
      return &last;
    return find_other(like.count, like.recvcount, like.type, like.recvtype, like.op, like.root_and_place);
  }
  /// That of a signature that has none takes the place of one that is little used, if there is any.
  void add(const CallSignature& like) {
    const std::size_t next = next_;
    next_ = (next_ + 1) % most;
    FastPath& path = paths_[next];
    if (path.credit > 0) return void(--path.credit);
    path = {};
    path.like = like;
    path.credit = first_credit;
    hashes_[next] = hash_of(like);
  }
  /// Its calls come again.
  [[gnu::always_inline]] static void keep(FastPath& path) { path.credit = full_credit; }
  /// Whether calls have passed since it was added or renewed; if others have come instead, it may have been forgotten.
  static bool is_kept(const FastPath& path) { return path.credit > first_credit; }
  static void renew(FastPath& path) { path.credit = first_credit; }
  void clear() { *this = {}; }

 private:
  // Signatures that come once must not drive out those that come again, nor cycles of many all of them.
  static constexpr std::uint8_t first_credit = 4, full_credit = 16;

  /// By its members: the signature of a call that is like the last stays in registers.
  [[gnu::noinline]] FastPath* find_other(MPI_Count count, MPI_Count recvcount, MPI_Datatype type,
                                         MPI_Datatype recvtype, MPI_Op op, std::uint64_t root_and_place) {
    const CallSignature like = {count, recvcount, type, recvtype, op, root_and_place};
    const std::uint32_t hash = hash_of(like);
    for (std::uint32_t i = 0; i < most; ++i)
      if (hashes_[i] == hash && paths_[i].like == like) return &paths_[last_ = i];
    return nullptr;
  }
  static std::uint32_t hash_of(const CallSignature& like) {
    // Odd factors whose bits look random: differences anywhere reach the upper half.
    std::uint64_t sum = static_cast<std::uint64_t>(like.count) * 0x9e3779b97f4a7c15;
    sum += static_cast<std::uint64_t>(like.recvcount) * 0xbf58476d1ce4e5b9;
    sum += number_of(like.type) * 0x94d049bb133111eb + number_of(like.recvtype) * 0xd6e8feb86659fd93;
    sum += number_of(like.op) * 0xa0761d6478bd642f + like.root_and_place * 0xe7037ed1a0b428db;
    return static_cast<std::uint32_t>(sum >> 32);
  }

  std::array<std::uint32_t, most> hashes_{};
  std::uint32_t last_ = 0, next_ = 0;
  std::array<FastPath, most> paths_;
};

}  // namespace wherry::run
