// The collectives that benchmarks call, on data that tells a wrong answer.
#pragma once

#include "measure.hpp"

namespace bench {

/// Buffers for every operation with blocks of so many bytes.
struct Case {
  Case(MPI_Comm comm, int block_bytes)
      : comm(comm),
        rank(rank_of(comm)),
        size(size_of(comm)),
        block(block_bytes),
        floats(std::max(1, block_bytes / 4)),
        send(length(block)),
        receive(length(block)),
        addends(length(floats)),
        sums(length(floats)),
        counts(length(1), block),
        float_counts(length(1), floats),
        offsets(length(1)),
        types(length(1), MPI_BYTE) {
    for (int d = 0; d < size; ++d) {
      std::fill_n(send.begin() + d * block, block, mark(rank, d));
      offsets[static_cast<std::size_t>(d)] = d * block;
    }
    for (std::size_t i = 0; i < addends.size(); ++i) addends[i] = static_cast<float>(rank) + addend(i);
    if (rank == 0) std::fill_n(receive.begin(), block, mark(0, 0));
  }

  /// Wipes out what was received, lest the next call be checked by it; what rank 0 broadcasts stays.
  void forget() {
    std::fill(receive.begin() + (rank == 0 ? block : 0), receive.end(), static_cast<unsigned char>(0));
    std::fill(sums.begin(), sums.end(), -1.0F);
  }

  std::size_t length(int each) const {
    return static_cast<std::size_t>(size) * static_cast<std::size_t>(each);
  }
  /// What fills the block from one rank to another.
  static unsigned char mark(int origin, int destination) {
    return static_cast<unsigned char>(31 * origin + 7 * destination + 1);
  }
  /// Small whole numbers: their sum is exact in every order.
  static float addend(std::size_t i) { return static_cast<float>(i % 7); }
  float sum(std::size_t i) const {
    const auto ranks = static_cast<float>(size);
    return ranks * (ranks - 1) / 2 + ranks * addend(i);
  }

  MPI_Comm comm;
  int rank, size, block, floats;
  std::vector<unsigned char> send, receive;
  std::vector<float> addends, sums;
  std::vector<int> counts, float_counts, offsets;
  std::vector<MPI_Datatype> types;
};

/// Whether block o of what was received is all mark(o, destination), for the first `blocks` blocks.
inline bool received(const Case& c, int blocks, int destination) {
  for (int o = 0; o < blocks; ++o) {
    const auto begin = c.receive.begin() + o * c.block;
    const unsigned char expected = Case::mark(o, destination);
    if (!std::all_of(begin, begin + c.block, [expected](unsigned char b) { return b == expected; }))
      return false;
  }
  return true;
}

/// Whether the first c.floats sums are those of the elements from `first` on.
inline bool summed(const Case& c, std::size_t first) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.floats); ++i)
    if (c.sums[i] != c.sum(first + i)) return false;
  return true;
}

inline bool personalized(const Case& c) { return received(c, c.size, c.rank); }

struct Operation {
  std::string_view name;
  int (*call)(Case& c);  // MPI's code
  bool (*right)(const Case& c);
};

inline constexpr Operation operations[] = {
    {"alltoall",
     [](Case& c) {
       return MPI_Alltoall(c.send.data(), c.block, MPI_BYTE, c.receive.data(), c.block, MPI_BYTE, c.comm);
     },
     personalized},
    {"alltoallv",
     [](Case& c) {
       return MPI_Alltoallv(c.send.data(), c.counts.data(), c.offsets.data(), MPI_BYTE, c.receive.data(),
                            c.counts.data(), c.offsets.data(), MPI_BYTE, c.comm);
     },
     personalized},
    {"alltoallw",
     [](Case& c) {
       return MPI_Alltoallw(c.send.data(), c.counts.data(), c.offsets.data(), c.types.data(),
                            c.receive.data(), c.counts.data(), c.offsets.data(), c.types.data(), c.comm);
     },
     personalized},
    {"allgather",
     [](Case& c) {
       return MPI_Allgather(c.send.data(), c.block, MPI_BYTE, c.receive.data(), c.block, MPI_BYTE, c.comm);
     },
     [](const Case& c) { return received(c, c.size, 0); }},
    {"allgatherv",
     [](Case& c) {
       return MPI_Allgatherv(c.send.data(), c.block, MPI_BYTE, c.receive.data(), c.counts.data(),
                             c.offsets.data(), MPI_BYTE, c.comm);
     },
     [](const Case& c) { return received(c, c.size, 0); }},
    {"allreduce",
     [](Case& c) {
       return MPI_Allreduce(c.addends.data(), c.sums.data(), c.floats, MPI_FLOAT, MPI_SUM, c.comm);
     },
     [](const Case& c) { return summed(c, 0); }},
    {"reduce_scatter_block",
     [](Case& c) {
       return MPI_Reduce_scatter_block(c.addends.data(), c.sums.data(), c.floats, MPI_FLOAT, MPI_SUM, c.comm);
     },
     [](const Case& c) { return summed(c, static_cast<std::size_t>(c.rank * c.floats)); }},
    {"reduce_scatter",
     [](Case& c) {
       return MPI_Reduce_scatter(c.addends.data(), c.sums.data(), c.float_counts.data(), MPI_FLOAT, MPI_SUM,
                                 c.comm);
     },
     [](const Case& c) { return summed(c, static_cast<std::size_t>(c.rank * c.floats)); }},
    {"gather",
     [](Case& c) {
       return MPI_Gather(c.send.data(), c.block, MPI_BYTE, c.receive.data(), c.block, MPI_BYTE, 0, c.comm);
     },
     [](const Case& c) { return c.rank != 0 || received(c, c.size, 0); }},
    {"scatter",
     [](Case& c) {
       return MPI_Scatter(c.send.data(), c.block, MPI_BYTE, c.receive.data(), c.block, MPI_BYTE, 0, c.comm);
     },
     [](const Case& c) { return received(c, 1, c.rank); }},
    {"reduce",
     [](Case& c) {
       return MPI_Reduce(c.addends.data(), c.sums.data(), c.floats, MPI_FLOAT, MPI_SUM, 0, c.comm);
     },
     [](const Case& c) { return c.rank != 0 || summed(c, 0); }},
    {"bcast", [](Case& c) { return MPI_Bcast(c.receive.data(), c.block, MPI_BYTE, 0, c.comm); },
     [](const Case& c) { return received(c, 1, 0); }},
    {"barrier", [](Case& c) { return MPI_Barrier(c.comm); }, [](const Case&) { return true; }},
};

/// A barrier of messages: the native one changes with the settings that are compared, and with it the disorder in
/// which it leaves the ranks.
inline void meet(const Case& c) {
  for (int step = 1; step < c.size; step *= 2)
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, (c.rank + step) % c.size, 0, nullptr, 0, MPI_BYTE,
                 (c.rank - step + c.size) % c.size, 0, c.comm, MPI_STATUS_IGNORE);
}

/// The slowest rank's times, on rank 0. All at the end: a reduction after each sample would be learned like what is
/// measured.
inline std::vector<double> slowest(const Case& c, const std::vector<double>& mine) {
  std::vector<double> worst(mine.size());
  MPI_Reduce(mine.data(), worst.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX, 0, c.comm);
  return worst;
}

/// Calls after which Wherry has trained, and where calls are long has re-evaluated once: training takes up to 80
/// calls, and the first re-evaluation comes 64 later.
inline constexpr int least_training = 160;

inline const Operation& find(const std::string& name) {
  for (const Operation& operation : operations)
    if (operation.name == name) return operation;
  refuse("unknown operation '" + name + "'");
}

}  // namespace bench
