#include "window/library.hpp"

#include <algorithm>
#include <cstdlib>

namespace window_test {
namespace {

Library* current = nullptr;

template <class Handle>
Handle handle_of(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

struct Span {
  std::int64_t begin, end;
};

Span span_of(const ByteBlocks& blocks) {
  Span span{blocks.front().displacement, blocks.front().displacement};
  for (const ByteBlock& block : blocks)
    span = {std::min(span.begin, block.displacement), std::max(span.end, block.displacement + block.bytes)};
  return span;
}

}  // namespace

Data data_at(const void* address, int count, MPI_Datatype type) {
  return {static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address)), count, type};
}

Library::Library(std::size_t ranks, std::size_t bytes, unsigned seed) : random_(seed) {
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    memory_.emplace_back(bytes);
    for (std::byte& each : memory_.back()) each = static_cast<std::byte>(random_());
  }
  types_[MPI_BYTE] = {{{0, 1}}, 0, 1, true, nullptr};
  current = this;
}

Library::~Library() { current = nullptr; }

MPI_Datatype Library::make_type(const ByteBlocks& blocks, std::int64_t extent) {
  const std::lock_guard lock(mutex_);
  const auto type = handle_of<MPI_Datatype>(next_type_ += 16);
  const auto [begin, end] = span_of(blocks);
  types_[type] = {blocks, begin, extent == 0 ? end - begin : extent, false, nullptr};
  return type;
}

void Library::free_type(MPI_Datatype type) {
  const std::lock_guard lock(mutex_);
  const auto found = types_.find(type);
  if (found->second.attribute != nullptr) forget_(found->second.attribute);
  types_.erase(found);
}

std::vector<std::int64_t> Library::offsets_of(const Data& data) const {
  const Type& type = types_.at(data.type);
  std::vector<std::int64_t> offsets;
  for (int element = 0; element < data.count; ++element)
    for (const ByteBlock& block : type.blocks)
      for (std::int64_t i = 0; i < block.bytes; ++i)
        offsets.push_back(element * type.extent + block.displacement + i);
  return offsets;
}

std::vector<std::int64_t> Library::offsets(const Data& data) {
  const std::lock_guard lock(mutex_);
  return offsets_of(data);
}

std::vector<std::byte*> Library::places_here(const Data& data) const {
  std::vector<std::byte*> places;
  for (const std::int64_t offset : offsets_of(data))
    places.push_back(reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(data.at + offset)));
  return places;
}

/// What is outside of the window is nobody's to ask for.
std::byte* Library::place(int rank, std::int64_t at) {
  std::vector<std::byte>& memory = memory_.at(static_cast<std::size_t>(rank));
  return &memory.at(static_cast<std::size_t>(at));
}

std::vector<std::byte*> Library::places_there(int rank, const Data& data) {
  std::vector<std::byte*> places;
  for (const std::int64_t offset : offsets_of(data)) places.push_back(place(rank, data.at + offset));
  return places;
}

int Library::get(const Data& here, int rank, const Data& there, MPI_Request* request) {
  const std::lock_guard lock(mutex_);
  if (failing_) return MPI_ERR_OTHER;
  ++gets_;
  return start(
      rank,
      [to = places_here(here), from = places_there(rank, there)] {
        for (std::size_t i = 0; i < from.size(); ++i) *to[i] = *from[i];
      },
      request);
}

int Library::put(const Data& here, int rank, const Data& there) {
  const std::lock_guard lock(mutex_);
  return start(
      rank,
      [from = places_here(here), to = places_there(rank, there)] {
        for (std::size_t i = 0; i < from.size(); ++i) *to[i] = *from[i];
      },
      nullptr);
}

int Library::increment(int rank, const Data& there) {
  const std::lock_guard lock(mutex_);
  return start(
      rank,
      [places = places_there(rank, there)] {
        for (std::byte* each : places) *each = static_cast<std::byte>(std::to_integer<int>(*each) + 1);
      },
      nullptr);
}

/// Some operations are performed at once, and let some that are older go first.
int Library::start(int rank, std::function<void()> perform, MPI_Request* request) {
  if (request != nullptr) *request = handle_of<MPI_Request>(++next_request_);
  under_way_.push_back({rank, request != nullptr ? next_request_ : 0, std::move(perform)});
  perform_some([&](const Operation&) { return random_() % 4 == 0; });
  return MPI_SUCCESS;
}

/// In any order.
void Library::perform_some(const std::function<bool(const Operation&)>& which) {
  std::shuffle(under_way_.begin(), under_way_.end(), random_);
  std::erase_if(under_way_, [&](const Operation& each) {
    if (!which(each)) return false;
    each.perform();
    return true;
  });
}

int Library::flush(int rank) {
  const std::lock_guard lock(mutex_);
  perform_some([&](const Operation& each) { return each.rank == rank; });
  return MPI_SUCCESS;
}

int Library::flush_all() {
  const std::lock_guard lock(mutex_);
  perform_some([](const Operation&) { return true; });
  return MPI_SUCCESS;
}

void Library::wait(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  const auto number = reinterpret_cast<std::uintptr_t>(request);
  perform_some([&](const Operation& each) { return each.request == number; });
}

void Library::write(int rank, std::int64_t at, std::byte byte) {
  const std::lock_guard lock(mutex_);
  *place(rank, at) = byte;
}

std::byte Library::read(int rank, std::int64_t at) {
  const std::lock_guard lock(mutex_);
  return *place(rank, at);
}

/// The functions as MPI has them. Units of displacements are bytes here: see Rig.
struct Entries {
  static int get(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement, int count_there,
                 MPI_Datatype type_there, MPI_Win win) {
    return current->get(data_at(origin, count, type), rank,
                        {displacement * unit_of(win), count_there, type_there});
  }
  static int rget(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint displacement,
                  int count_there, MPI_Datatype type_there, MPI_Win win, MPI_Request* request) {
    if (rank == MPI_PROC_NULL) return *request = MPI_REQUEST_NULL, MPI_SUCCESS;
    return current->get(data_at(origin, count, type), rank,
                        {displacement * unit_of(win), count_there, type_there}, request);
  }
  /// A window's handle says its unit.
  static std::int64_t unit_of(MPI_Win win) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(win) % 16);
  }

  static int type_create_struct(int count, const int* lengths, const MPI_Aint* places, const MPI_Datatype*,
                                MPI_Datatype* made) {
    ByteBlocks blocks;
    for (int i = 0; i < count; ++i) blocks.push_back({places[i], lengths[i]});
    *made = current->make_type(blocks, 0);
    return MPI_SUCCESS;
  }
  static int type_commit(MPI_Datatype*) { return MPI_SUCCESS; }
  static int type_free(MPI_Datatype* type) {
    current->free_type(*type);
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
  }

  static const Library::Type& known(MPI_Datatype type) { return current->types_.at(type); }
  static int type_size(MPI_Datatype type, MPI_Count* size) {
    const std::lock_guard lock(current->mutex_);
    *size = 0;
    for (const ByteBlock& block : known(type).blocks) *size += block.bytes;
    return MPI_SUCCESS;
  }
  static int type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
    const std::lock_guard lock(current->mutex_);
    *lower = known(type).lower;
    *extent = known(type).extent;
    return MPI_SUCCESS;
  }
  static int type_get_true_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
    const std::lock_guard lock(current->mutex_);
    const auto [begin, end] = span_of(known(type).blocks);
    *lower = begin;
    *extent = end - begin;
    return MPI_SUCCESS;
  }
  static int type_get_envelope(MPI_Datatype type, int* integers, int* addresses, int* types, int* combiner) {
    const std::lock_guard lock(current->mutex_);
    *integers = *addresses = *types = 0;
    *combiner = known(type).predefined ? MPI_COMBINER_NAMED : MPI_COMBINER_STRUCT;
    return MPI_SUCCESS;
  }
  static int pack(const void* from, int count, MPI_Datatype type, void* to, int, int* position, MPI_Comm) {
    const std::lock_guard lock(current->mutex_);
    for (const std::byte* each : current->places_here(data_at(from, count, type)))
      static_cast<std::byte*>(to)[(*position)++] = *each;
    return MPI_SUCCESS;
  }
  static int type_create_keyval(MPI_Type_copy_attr_function*, MPI_Type_delete_attr_function* forget, int* key,
                                void*) {
    static MPI_Type_delete_attr_function* forgetting = nullptr;
    forgetting = forget;
    current->forget_ = [](void* value) { forgetting(MPI_DATATYPE_NULL, 1, value, nullptr); };
    *key = 1;
    return MPI_SUCCESS;
  }
  static int type_get_attr(MPI_Datatype type, int, void* value, int* found) {
    const std::lock_guard lock(current->mutex_);
    *static_cast<void**>(value) = known(type).attribute;
    *found = known(type).attribute != nullptr;
    return MPI_SUCCESS;
  }
  static int type_set_attr(MPI_Datatype type, int, void* value) {
    const std::lock_guard lock(current->mutex_);
    current->types_.at(type).attribute = value;
    return MPI_SUCCESS;
  }

  static int iprobe(int, int, MPI_Comm, int* found, MPI_Status*) { return *found = 0, MPI_SUCCESS; }
  /// There is none that would have to be reserved.
  static int get_errhandler(MPI_Comm, MPI_Errhandler*) { return MPI_ERR_OTHER; }
  static int call_errhandler(MPI_Win, int) { return MPI_SUCCESS; }
};

wherry::mpi::Api Library::api() {
  wherry::mpi::Api api;
  api.Get = Entries::get;
  api.Rget = Entries::rget;
  api.Type_create_struct = Entries::type_create_struct;
  api.Type_commit = Entries::type_commit;
  api.Type_free = Entries::type_free;
  api.Type_size_x = Entries::type_size;
  api.Type_get_extent = Entries::type_get_extent;
  api.Type_get_true_extent = Entries::type_get_true_extent;
  api.Type_get_envelope = Entries::type_get_envelope;
  api.Pack = Entries::pack;
  api.Type_create_keyval = Entries::type_create_keyval;
  api.Type_get_attr = Entries::type_get_attr;
  api.Type_set_attr = Entries::type_set_attr;
  api.Comm_get_errhandler = Entries::get_errhandler;
  api.Iprobe = Entries::iprobe;
  api.Win_call_errhandler = Entries::call_errhandler;
  return api;
}

}  // namespace window_test
