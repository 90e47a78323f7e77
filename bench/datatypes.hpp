// Every other double of an array, and the schemes by which rank 0 gets it to rank 1.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "host/layout_messages.hpp"
#include "measure.hpp"
#include "mpi/api.hpp"

namespace bench {

inline constexpr int tag = 7;
/// Of a pipelined copy: small enough that a chunk is sent out of the caches.
inline constexpr std::size_t chunk_elements = (128 << 10) / sizeof(double);
/// Zeroed doubles on a cache line of their own.
class Array {
 public:
  explicit Array(std::size_t elements)
      : memory_(static_cast<double*>(
            ::operator new(std::max<std::size_t>(elements, 1) * sizeof(double), std::align_val_t{64}))),
        values_(memory_.get(), elements) {
    std::ranges::fill(values_, 0.0);
  }
  double* data() { return values_.data(); }
  std::span<double> values() { return values_; }

 private:
  struct Free {
    void operator()(double* memory) const { ::operator delete(memory, std::align_val_t{64}); }
  };
  std::unique_ptr<double, Free> memory_;
  std::span<double> values_;
};

inline MPI_Datatype vector_of(int elements) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(elements, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

inline MPI_Datatype subarray_of(int elements) {
  const int sizes[] = {elements, 2}, part[] = {elements, 1}, begin[] = {0, 0};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, sizes, part, begin, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

/// Memory of both ranks that both can address, where they are on one node: rank 0's source and rank 1's target.
class Shared {
 public:
  Shared(MPI_Comm comm, int elements) {
    const int mine = rank_of(comm) == 0 ? 2 * elements : elements;
    const auto bytes = static_cast<MPI_Aint>(sizeof(double)) * mine;
    double* base = nullptr;
    MPI_Win_allocate_shared(bytes, sizeof(double), MPI_INFO_NULL, comm, &base, &win_);
    std::fill_n(base, mine, 0.0);
    source_ = segment(0);
    target_ = segment(1);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win_);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    MPI_Win_unlock_all(win_);
    MPI_Win_free(&win_);
  }
  double* source() const { return source_; }
  double* target() const { return target_; }
  void sync() const { MPI_Win_sync(win_); }

 private:
  double* segment(int rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    double* base = nullptr;
    MPI_Win_shared_query(win_, rank, &bytes, &unit, &base);
    return base;
  }
  MPI_Win win_ = MPI_WIN_NULL;
  double *source_ = nullptr, *target_ = nullptr;
};

inline void copy_every_other(const double* from, double* to, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) to[i] = from[2 * i];
}

/// What all schemes need for messages of one size.
struct Data {
  Data(MPI_Comm comm, int elements)
      : comm(comm),
        rank(rank_of(comm)),
        elements(elements),
        count(static_cast<std::size_t>(elements)),
        source(rank == 0 ? 2 * count : 0),
        plain(rank == 0 ? count : 0),
        packed(rank == 0 ? count : 0),
        target(rank == 1 ? count : 0),
        vector(vector_of(elements)),
        subarray(subarray_of(elements)) {
    int bytes = 0;
    MPI_Pack_size(1, vector, comm, &bytes);
    // Twice: the library may free a message's place only when it is called again.
    attached = Array(rank == 0 ? 2 * (static_cast<std::size_t>(bytes) + MPI_BSEND_OVERHEAD) / 8 + 1 : 0);
    if (rank == 0)
      MPI_Buffer_attach(attached.data(), static_cast<int>(attached.values().size() * sizeof(double)));
    // Not MPI_Win_create: libraries can put into memory of their own at once, into others' by messages.
    MPI_Win_allocate(rank == 1 ? static_cast<MPI_Aint>(sizeof(double)) * elements : 0, sizeof(double),
                     MPI_INFO_NULL, comm, &window, &win);
    if (apps::on_one_node(comm)) shared = std::make_unique<Shared>(comm, elements);
    if (rank == 0) fill();
  }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
  ~Data() {
    shared.reset();
    MPI_Win_free(&win);
    void* buffer = nullptr;
    int bytes = 0;
    if (rank == 0) MPI_Buffer_detach(&buffer, &bytes);
    MPI_Type_free(&vector);
    MPI_Type_free(&subarray);
  }

  MPI_Comm comm;
  int rank, elements;
  std::size_t count;
  Array source, plain, packed, target, attached{0};
  MPI_Datatype vector, subarray;
  MPI_Win win = MPI_WIN_NULL;
  double* window = nullptr;  // of rank 1
  std::unique_ptr<Shared> shared;

 private:
  void fill() {
    for (std::size_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(i) + 1;
      plain.data()[i] = source.data()[2 * i] = value;
      source.data()[2 * i + 1] = -1;
      if (shared) shared->source()[2 * i] = value;
    }
  }
};

// What the two ranks do before the pong. `to` is rank 1, `from` is rank 0.

inline void receive(const Calls& mpi, Data& d) {
  mpi.receive(d.target.data(), d.elements, MPI_DOUBLE, 0, tag, d.comm, MPI_STATUS_IGNORE);
}
inline void send(const Calls& mpi, Data& d, const void* buffer, int count, MPI_Datatype type) {
  mpi.send(buffer, count, type, 1, tag, d.comm);
}

inline void send_contiguous(const Calls& mpi, Data& d) {
  send(mpi, d, d.plain.data(), d.elements, MPI_DOUBLE);
}
inline void send_copy(const Calls& mpi, Data& d) {
  copy_every_other(d.source.data(), d.packed.data(), 0, d.count);
  send(mpi, d, d.packed.data(), d.elements, MPI_DOUBLE);
}
inline void send_buffered(const Calls& mpi, Data& d) {
  mpi.buffered_send(d.source.data(), 1, d.vector, 1, tag, d.comm);
}
inline void send_vector(const Calls& mpi, Data& d) { send(mpi, d, d.source.data(), 1, d.vector); }
inline void send_subarray(const Calls& mpi, Data& d) { send(mpi, d, d.source.data(), 1, d.subarray); }

inline void send_packed_elements(const Calls& mpi, Data& d) {
  const int capacity = d.elements * static_cast<int>(sizeof(double));
  int position = 0;
  for (std::size_t i = 0; i < d.count; ++i)
    mpi.pack(d.source.data() + 2 * i, 1, MPI_DOUBLE, d.packed.data(), capacity, &position, d.comm);
  send(mpi, d, d.packed.data(), position, MPI_PACKED);
}
inline void send_packed_vector(const Calls& mpi, Data& d) {
  int position = 0;
  mpi.pack(d.source.data(), 1, d.vector, d.packed.data(), d.elements * static_cast<int>(sizeof(double)),
           &position, d.comm);
  send(mpi, d, d.packed.data(), position, MPI_PACKED);
}

inline void put(const Calls& mpi, Data& d) {
  mpi.fence(0, d.win);
  if (d.rank == 0) mpi.put(d.source.data(), 1, d.vector, 1, 0, d.elements, MPI_DOUBLE, d.win);
  mpi.fence(0, d.win);
}

/// start(first, elements, request) for each chunk of the message; then waits for all.
template <class Start>
inline void in_chunks(const Calls& mpi, const Data& d, Start&& start) {
  std::vector<MPI_Request> requests;
  for (std::size_t first = 0; first < d.count; first += chunk_elements)
    start(first, std::min(chunk_elements, d.count - first), &requests.emplace_back(MPI_REQUEST_NULL));
  mpi.wait(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}
inline void send_chunks(const Calls& mpi, Data& d) {
  in_chunks(mpi, d, [&](std::size_t first, std::size_t elements, MPI_Request* request) {
    copy_every_other(d.source.data(), d.packed.data(), first, first + elements);
    mpi.start_send(d.packed.data() + first, static_cast<int>(elements), MPI_DOUBLE, 1, tag, d.comm, request);
  });
}
inline void receive_chunks(const Calls& mpi, Data& d) {
  in_chunks(mpi, d, [&](std::size_t first, std::size_t elements, MPI_Request* request) {
    mpi.start_receive(d.target.data() + first, static_cast<int>(elements), MPI_DOUBLE, 0, tag, d.comm,
                      request);
  });
}

/// What wherry_send and wherry_recv do.
inline wherry::run::LayoutMessages& layout_messages() {
  namespace run = wherry::run;
  const wherry::mpi::Api& api = wherry::mpi::linked_api();
  static run::LayoutMessages messages(api, run::waiting_in(api, wherry::WaitMode::automatic),
                                      wherry::read_variable);
  return messages;
}
inline void send_by_wherry(const Calls& mpi, Data& d) {
  layout_messages().send({d.source.data(), 1, d.vector, {1, tag}}, d.comm,
                         [&] { return mpi.send(d.source.data(), 1, d.vector, 1, tag, d.comm); });
}
inline void receive_by_wherry(const Calls& mpi, Data& d) {
  layout_messages().receive(
      {d.target.data(), d.elements, MPI_DOUBLE, {0, tag}}, d.comm, MPI_STATUS_IGNORE, [&] {
        return mpi.receive(d.target.data(), d.elements, MPI_DOUBLE, 0, tag, d.comm, MPI_STATUS_IGNORE);
      });
}

inline void signal(const Calls& mpi, const Data& d) {
  mpi.send(nullptr, 0, MPI_BYTE, 1 - d.rank, tag, d.comm);
}
inline void await(const Calls& mpi, const Data& d) {
  mpi.receive(nullptr, 0, MPI_BYTE, 1 - d.rank, tag, d.comm, MPI_STATUS_IGNORE);
}

inline void copy_part(const Data& d, std::size_t begin, std::size_t end) {
  copy_every_other(d.shared->source(), d.shared->target(), begin, end);
  d.shared->sync();
}
inline void copy_all(const Calls& mpi, Data& d) {
  copy_part(d, 0, d.count);
  signal(mpi, d);
}
inline void await_copy(const Calls& mpi, Data& d) {
  await(mpi, d);
  d.shared->sync();
}
inline void copy_second_half(const Calls& mpi, Data& d) {
  d.shared->sync();
  signal(mpi, d);
  copy_part(d, d.count / 2, d.count);
  signal(mpi, d);
}
inline void copy_first_half(const Calls& mpi, Data& d) {
  await_copy(mpi, d);
  copy_part(d, 0, d.count / 2);
  await_copy(mpi, d);
}

/// Where rank 1 receives: in an array, in a window, or in memory that both ranks address.
enum class Target { array, window, shared };

struct Scheme {
  std::string_view name;
  void (*from)(const Calls&, Data&);
  void (*to)(const Calls&, Data&);
  Target target = Target::array;
};
inline constexpr Scheme schemes[] = {
    {"reference", send_contiguous, receive},
    {"copy", send_copy, receive},
    {"buffered", send_buffered, receive},
    {"vector", send_vector, receive},
    {"subarray", send_subarray, receive},
    {"one-sided", put, put, Target::window},
    {"pack elements", send_packed_elements, receive},
    {"pack vector", send_packed_vector, receive},
    {"pipelined", send_chunks, receive_chunks},
    {"by name", send_by_wherry, receive_by_wherry},
    {"shared copy", copy_all, await_copy, Target::shared},
    {"shared halves", copy_second_half, copy_first_half, Target::shared},
};

}  // namespace bench
