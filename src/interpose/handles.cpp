#include "interpose/handles.hpp"

#include <algorithm>
#include <numeric>

#include "datatype/contents.hpp"

namespace wherry::interpose {
namespace {

struct CombinerRow {
  int mpi;
  std::string_view name;
};

// The order is part of the record's format; every ABI has other numbers.
const CombinerRow combiners[] = {
    {MPI_COMBINER_NAMED, "named"},
    {MPI_COMBINER_DUP, "dup"},
    {MPI_COMBINER_CONTIGUOUS, "contiguous"},
    {MPI_COMBINER_VECTOR, "vector"},
    {MPI_COMBINER_HVECTOR, "hvector"},
    {MPI_COMBINER_INDEXED, "indexed"},
    {MPI_COMBINER_HINDEXED, "hindexed"},
    {MPI_COMBINER_INDEXED_BLOCK, "indexed_block"},
    {MPI_COMBINER_HINDEXED_BLOCK, "hindexed_block"},
    {MPI_COMBINER_STRUCT, "struct"},
    {MPI_COMBINER_SUBARRAY, "subarray"},
    {MPI_COMBINER_DARRAY, "darray"},
    {MPI_COMBINER_F90_REAL, "f90_real"},
    {MPI_COMBINER_F90_COMPLEX, "f90_complex"},
    {MPI_COMBINER_F90_INTEGER, "f90_integer"},
    {MPI_COMBINER_RESIZED, "resized"},
};
constexpr Combiner other_combiner = std::size(combiners);

Combiner combiner_of(int mpi) {
  const auto* row =
      std::find_if(std::begin(combiners), std::end(combiners), [&](const auto& r) { return r.mpi == mpi; });
  return static_cast<Combiner>(row - std::begin(combiners));
}

/// Names the ranks of a communicator. The two sides of an intercommunicator give the same number.
std::uint64_t hash_of_ranks(const std::vector<int>& ranks) {
  return std::accumulate(
      ranks.begin(), ranks.end(), std::uint64_t{ranks.size()},
      [](std::uint64_t hash, int rank) { return profile::mix(hash ^ static_cast<std::uint32_t>(rank)) + 1; });
}

/// Open MPI gives names by itself: "MPI COMMUNICATOR 4 SPLIT FROM 0".
bool is_given(std::string_view name) { return !name.empty() && !name.starts_with("MPI COMMUNICATOR "); }

}  // namespace

std::string_view name_of_combiner(Combiner combiner) {
  return combiner < other_combiner ? combiners[combiner].name : "other";
}

/// No type at all is in a wrong call that MPICH says was right: the program's own error handler has seen it.
RecordedType Handles::ask(MPI_Datatype type) const {
  if (type == MPI_DATATYPE_NULL) return {};
  MPI_Count bytes = 0;
  api_.Type_size_x(type, &bytes);
  return {bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0,
          combiner_of(datatype::envelope_of(api_, type).combiner)};
}

CommFacts& Handles::look_up(MPI_Comm comm) {
  std::unique_ptr<CommFacts>* known = comms_.find(number_of(comm));
  CommFacts* const facts = known != nullptr ? known->get() : add(comm);
  recent_.put(comm, facts);
  return *facts;
}

CommFacts* Handles::add(MPI_Comm comm) {
  auto facts = std::make_unique<CommFacts>();
  facts->handle = comm;
  int inter = 0;
  api_.Comm_test_inter(comm, &inter);
  api_.Comm_rank(comm, &facts->rank);
  api_.Comm_size(comm, &facts->local_size);
  facts->inter = inter != 0;
  facts->size = facts->local_size;
  if (facts->inter) api_.Comm_remote_size(comm, &facts->size);
  MPI_Group group = MPI_GROUP_NULL;
  (facts->inter ? queries_.Comm_remote_group : api_.Comm_group)(comm, &group);
  facts->world = take_world_ranks(group);
  char name[MPI_MAX_OBJECT_NAME + 1] = "";
  int length = 0;
  api_.Comm_get_name(comm, name, &length);
  facts->is_named = is_given(name);
  facts->index =
      recorder_.comm(next_key(*facts, comm), facts->size, facts->rank, facts->is_named ? name : "");
  attach(*facts);
  return comms_.insert(number_of(comm), std::move(facts)).get();
}

/// Equal on all ranks of the communicator: those with the same ranks are made in the same order everywhere, and every
/// function that makes one is seen.
std::uint64_t Handles::next_key(const CommFacts& facts, MPI_Comm comm) {
  std::uint64_t hash = hash_of_ranks(facts.world);
  if (facts.inter) {
    MPI_Group local = MPI_GROUP_NULL;
    api_.Comm_group(comm, &local);
    hash += hash_of_ranks(take_world_ranks(local));
  }
  return profile::mix(hash + generations_.insert(hash, 0)++);
}

void Handles::attach(CommFacts& facts) {
  if (keyval_ == MPI_KEYVAL_INVALID) api_.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &keyval_, this);
  api_.Comm_set_attr(facts.handle, keyval_, &facts);
}

int Handles::on_free(MPI_Comm comm, int, void* value, void* self) {
  auto* facts = static_cast<CommFacts*>(value);
  static_cast<Handles*>(self)->recent_.forget(comm, facts);
  static_cast<Handles*>(self)->freed_handles_.note(number_of(comm));
  auto& freed = static_cast<Handles*>(self)->freed_;
  facts->next_freed = freed.load(std::memory_order_relaxed);
  while (!freed.compare_exchange_weak(facts->next_freed, facts, std::memory_order_release)) {
  }
  return MPI_SUCCESS;
}

void Handles::sweep() {
  CommFacts* facts = freed_.exchange(nullptr, std::memory_order_acquire);
  while (facts != nullptr) {
    CommFacts* next = facts->next_freed;
    settle(*facts);
    requests_.each([&](std::uint64_t, RequestFacts& request) {
      if (request.comm == facts) request.comm = nullptr;
    });
    comms_.erase(number_of(facts->handle));
    facts = next;
  }
}

void Handles::forget_all() {
  stale_.store(false, std::memory_order_relaxed);
  last_type_ = {};
  types_.clear();
  windows_.clear();
}

std::vector<int> Handles::take_world_ranks(MPI_Group group) {
  std::vector<int> ranks = world_ranks(group);
  if (group != MPI_GROUP_EMPTY) api_.Group_free(&group);
  return ranks;
}

std::vector<int> Handles::world_ranks(MPI_Group group) {
  int size = 0;
  queries_.Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size)), world(own.size(), -1);
  std::iota(own.begin(), own.end(), 0);
  if (base_ == MPI_GROUP_NULL) return world;
  api_.Group_translate_ranks(group, size, own.data(), base_, world.data());
  std::replace(world.begin(), world.end(), int{MPI_UNDEFINED}, -1);
  return world;
}

Neighbors& Handles::neighbors(CommFacts& comm) {
  if (comm.neighbors == nullptr)
    comm.neighbors = std::make_unique<Neighbors>(run::topology_of(api_, comm.handle));
  return *comm.neighbors;
}

void Handles::keep(CommFacts& comm, const CallKind& kind) {
  if (comm.tallies == nullptr) comm.tallies = std::make_unique<Tallies>();
  Tallies::Tally& tally = comm.tallies->of(kind.site, kind.function);
  if (tally.kind.is(kind.site, kind.function, kind.each.use, kind.each.use_bytes) &&
      tally.kind.sent == kind.sent)
    return;
  book_tallies(comm);
  tally.kind = kind;
}

void Handles::send(CommFacts& comm, const Sent& what, std::uint64_t calls) {
  if (what.to == Sent::others) {
    comm.to_each_messages += calls;
    comm.to_each_bytes += calls * what.bytes;
  } else if (what.to >= 0) {
    recorder_.peer(comm.world[static_cast<std::size_t>(what.to)], profile::PeerClass::collective, calls,
                   calls * what.bytes);
  }
}

void Handles::book_tallies(CommFacts& comm) {
  if (comm.tallies == nullptr) return;
  comm.tallies->drain([&](const CallKind& kind, std::uint64_t calls) {
    profile::MoreCalls more = kind.each;
    more.calls = calls;
    recorder_.more(more);
    send(comm, kind.sent, calls);
  });
}

void Handles::settle(CommFacts& comm) {
  book_tallies(comm);
  if (comm.to_each_messages == 0) return;
  for (int r = 0; r < comm.size; ++r)
    if (comm.inter || r != comm.rank)
      recorder_.peer(comm.world[static_cast<std::size_t>(r)], profile::PeerClass::collective,
                     comm.to_each_messages, comm.to_each_bytes);
  comm.to_each_messages = comm.to_each_bytes = 0;
}

void Handles::settle() {
  if (freed_.load(std::memory_order_relaxed) != nullptr) sweep();
  comms_.each([&](std::uint64_t, std::unique_ptr<CommFacts>& comm) { settle(*comm); });
}

void Handles::set_request(MPI_Request request, const RequestFacts& facts) {
  requests_.insert(number_of(request), facts) = facts;
}

void Handles::add_window(MPI_Win win, MPI_Comm comm) {
  CommFacts& facts = this->comm(comm);
  windows_.insert(number_of(win), {}) = {facts.index, facts.world};
}

/// A window whose making was not seen has no communicator, but still ranks.
WinFacts* Handles::window(MPI_Win win) {
  if (stale_.load(std::memory_order_relaxed)) forget_all();
  if (WinFacts* known = windows_.find(number_of(win))) return known;
  MPI_Group group = MPI_GROUP_NULL;
  if (queries_.Win_get_group(win, &group) != MPI_SUCCESS) return nullptr;
  return &windows_.insert(number_of(win), {profile::none, take_world_ranks(group)});
}

}  // namespace wherry::interpose
