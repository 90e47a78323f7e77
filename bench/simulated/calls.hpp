// The collectives that can be simulated: who has what before and after, and the call itself.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "coll/state/cell_key.hpp"
#include "host/runtime.hpp"
#include "schedule/segments/segment_operation.hpp"
#include "schedule/segments/segment_strategy.hpp"

namespace simulated {

namespace run = wherry::run;
using wherry::schedule::Operation;
using wherry::schedule::reduces;
using Buffer = std::vector<unsigned char>;

/// Which part of the collective's buffer a rank has, before or after.
enum class Part { nothing, own_block, all, all_at_root };  // the root is rank 0

/// One rank's part in a collective. The buffers are as long as that of the whole collective, so that a block lies at
/// the same place in both.
struct Call {
  int rank, size, block;
  Buffer send = {}, receive = {};

  std::size_t own() const { return static_cast<std::size_t>(rank) * static_cast<std::size_t>(block); }
  unsigned char* own_sent() { return send.data() + own(); }
  unsigned char* own_received() { return receive.data() + own(); }
};

/// The native collectives.
inline int native(const run::Alltoall& c) {
  return MPI_Alltoall(c.sendbuf, static_cast<int>(c.sendcount), c.sendtype, c.recvbuf,
                      static_cast<int>(c.recvcount), c.recvtype, c.comm);
}
inline int native(const run::Allgather& c) {
  return MPI_Allgather(c.sendbuf, static_cast<int>(c.sendcount), c.sendtype, c.recvbuf,
                       static_cast<int>(c.recvcount), c.recvtype, c.comm);
}
inline int native(const run::Bcast& c) {
  return MPI_Bcast(c.buffer, static_cast<int>(c.count), c.datatype, c.root, c.comm);
}
inline int native(const run::Gather& c) {
  return MPI_Gather(c.sendbuf, static_cast<int>(c.sendcount), c.sendtype, c.recvbuf,
                    static_cast<int>(c.recvcount), c.recvtype, c.root, c.comm);
}
inline int native(const run::Scatter& c) {
  return MPI_Scatter(c.sendbuf, static_cast<int>(c.sendcount), c.sendtype, c.recvbuf,
                     static_cast<int>(c.recvcount), c.recvtype, c.root, c.comm);
}
inline int native(const run::Reduce& c) {
  return MPI_Reduce(c.sendbuf, c.recvbuf, static_cast<int>(c.count), c.datatype, c.op, c.root, c.comm);
}
inline int native(const run::Allreduce& c) {
  return MPI_Allreduce(c.sendbuf, c.recvbuf, static_cast<int>(c.count), c.datatype, c.op, c.comm);
}
inline int native(const run::ReduceScatterBlock& c) {
  return MPI_Reduce_scatter_block(c.sendbuf, c.recvbuf, static_cast<int>(c.recvcount), c.datatype, c.op,
                                  c.comm);
}
inline int native(const run::Barrier& c) { return MPI_Barrier(c.comm); }

/// Through the runtime, or by the library where there is none. Returns an MPI code.
template <class Arguments>
int perform(run::Runtime* runtime, int (run::Runtime::*method)(const Arguments&, const run::Native&),
            const Arguments& arguments) {
  const auto library = [&arguments] { return native(arguments); };
  return runtime == nullptr ? library() : (runtime->*method)(arguments, library);
}

struct Case {
  std::string_view name;
  std::optional<Operation> operation;  // none: its strategies exchange blocks
  Part before, after;
  int (*call)(Call& c, run::Runtime* runtime);
};

/// The table. Unsigned char: sums are exact and the same in every order, and every number of bytes is a number of
/// elements.
inline constexpr Case cases[] = {
    {"alltoall", std::nullopt, Part::all, Part::all,
     [](Call& c, run::Runtime* runtime) {
       return perform(runtime, &run::Runtime::alltoall,
                      {c.send.data(), c.block, MPI_UNSIGNED_CHAR, c.receive.data(), c.block,
                       MPI_UNSIGNED_CHAR, MPI_COMM_WORLD});
     }},
    {"allgather", Operation::allgather, Part::own_block, Part::all,
     [](Call& c, run::Runtime* runtime) {
       return perform(runtime, &run::Runtime::allgather,
                      {c.own_sent(), c.block, MPI_UNSIGNED_CHAR, c.receive.data(), c.block, MPI_UNSIGNED_CHAR,
                       MPI_COMM_WORLD});
     }},
    {"bcast", Operation::bcast, Part::all_at_root, Part::all,
     [](Call& c, run::Runtime* runtime) {
       return perform(runtime, &run::Runtime::bcast,
                      {c.receive.data(), c.block, MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD});
     }},
    {"gather", Operation::gather, Part::own_block, Part::all_at_root,
     [](Call& c, run::Runtime* runtime) {
       return perform(runtime, &run::Runtime::gather,
                      {c.own_sent(), c.block, MPI_UNSIGNED_CHAR, c.receive.data(), c.block, MPI_UNSIGNED_CHAR,
                       0, MPI_COMM_WORLD});
     }},
    {"scatter", Operation::scatter, Part::all_at_root, Part::own_block,
     [](Call& c, run::Runtime* runtime) {
       return perform(runtime, &run::Runtime::scatter,
                      {c.send.data(), c.block, MPI_UNSIGNED_CHAR, c.own_received(), c.block,
                       MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD});
     }},
    {"reduce", Operation::reduce, Part::all, Part::all_at_root,
     [](Call& c, run::Runtime* runtime) {
       return perform(
           runtime, &run::Runtime::reduce,
           {c.send.data(), c.receive.data(), c.block, MPI_UNSIGNED_CHAR, MPI_SUM, 0, MPI_COMM_WORLD});
     }},
    {"allreduce", Operation::allreduce, Part::all, Part::all,
     [](Call& c, run::Runtime* runtime) {
       return perform(runtime, &run::Runtime::allreduce,
                      {c.send.data(), c.receive.data(), c.block, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD});
     }},
    {"reduce_scatter_block", Operation::reduce_scatter, Part::all, Part::own_block,
     [](Call& c, run::Runtime* runtime) {
       return perform(runtime, &run::Runtime::reduce_scatter_block,
                      {c.send.data(), c.own_received(), c.block, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD});
     }},
    {"barrier", Operation::barrier, Part::nothing, Part::nothing,
     [](Call&, run::Runtime* runtime) { return perform(runtime, &run::Runtime::barrier, {MPI_COMM_WORLD}); }},
};

inline const Case* find_case(std::string_view name) {
  const auto* const found = std::ranges::find(cases, name, &Case::name);
  return found == std::end(cases) ? nullptr : found;
}

/// Bytes of the collective's buffer. `block` is what a rank sends to one other (alltoall), gives (allgather, gather) or
/// gets (scatter, reduce_scatter_block), and else the whole message.
inline long long buffer_bytes(const Case& what, int ranks, int block) {
  if (what.operation == Operation::barrier) return 0;
  const bool in_blocks = !what.operation || wherry::schedule::in_blocks(*what.operation);
  return in_blocks ? static_cast<long long>(ranks) * block : block;
}

// ---- What must come out

/// Byte i of what rank `origin` has for rank `destination`; of what it gives to all with destination 0.
inline unsigned content(int origin, int destination, int i) {
  return static_cast<unsigned>(origin) * 131 + static_cast<unsigned>(destination) * 31 +
         static_cast<unsigned>(i);
}

/// Bytes that follow each other: byte i is first + step * i.
struct Row {
  unsigned first, step;
  unsigned char operator[](int i) const {
    return static_cast<unsigned char>(first + step * static_cast<unsigned>(i));
  }
};

/// A block of the buffer before the collective, at `rank`; where there are no blocks, all of it. What is moved is the
/// same wherever it is; what is combined differs.
inline Row given(const Case& what, const Call& c, int block) {
  if (!what.operation) return {content(c.rank, block, 0), 1};
  return {content(reduces(*what.operation) ? c.rank : 0, 0, 0), 1};
}

/// The same after it.
inline Row gotten(const Case& what, const Call& c, int block) {
  if (!what.operation) return {content(block, c.rank, 0), 1};
  if (!reduces(*what.operation)) return given(what, c, block);
  const auto ranks = static_cast<unsigned>(c.size);
  return {ranks * (ranks - 1) / 2 * content(1, 0, 0), ranks};
}

/// Bytes [first, last) of the buffer.
struct Stretch {
  int first, last;
};

inline Stretch stretch(Part part, const Call& c, long long bytes) {
  const int all = static_cast<int>(bytes);
  switch (part) {
    case Part::nothing: return {0, 0};
    case Part::own_block: return {c.rank * c.block, (c.rank + 1) * c.block};
    case Part::all: return {0, all};
    case Part::all_at_root: return {0, c.rank == 0 ? all : 0};
  }
  return {0, 0};
}

/// Whether use(byte, what `contents` has there) is true of every byte in a part of the buffer.
template <class Bytes, class Contents, class Use>
bool every_byte(const Case& what, const Call& c, Part part, Bytes& buffer, Contents contents, Use use) {
  const Stretch mine = stretch(part, c, static_cast<long long>(buffer.size()));
  const int length = what.operation ? mine.last : c.block;  // of a row
  for (int first = mine.first; first < mine.last; first += length - first % length) {
    const int start = first - first % length;
    const Row row = contents(what, c, first / length);
    for (int i = first; i < start + length; ++i)
      if (!use(buffer[static_cast<std::size_t>(i)], row[i - start])) return false;
  }
  return true;
}

/// Buffers filled with what this rank has. Strategies work on `receive`, so what it has lies there too.
inline Call prepared(const Case& what, int rank, int ranks, int block) {
  const long long bytes = buffer_bytes(what, ranks, block);
  Call c{.rank = rank, .size = ranks, .block = block};
  c.send.resize(static_cast<std::size_t>(bytes));
  every_byte(what, c, what.before, c.send, given, [](unsigned char& to, unsigned char byte) {
    to = byte;
    return true;
  });
  if (what.operation) {
    c.receive = c.send;
  } else {
    c.receive.resize(c.send.size());
    std::copy_n(c.own_sent(), block, c.own_received());
  }
  return c;
}

/// Whether this rank got what it must.
inline bool is_right(const Case& what, const Call& c) {
  return every_byte(what, c, what.after, c.receive, gotten, std::equal_to<unsigned char>());
}

}  // namespace simulated
