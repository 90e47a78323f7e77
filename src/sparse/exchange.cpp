#include "sparse/exchange.hpp"

#include <algorithm>
#include <climits>
#include <numeric>
#include <utility>
#include <vector>

#include "comm/channel.hpp"
#include "sparse/records.hpp"

namespace wherry::run {

namespace {

/// What a rank sends to itself never leaves it.
std::vector<SparseMessage> keep_own(int rank, std::span<const SparseMessage> sends, Inbox& inbox) {
  std::vector<SparseMessage> others;
  for (const SparseMessage& m : sends) {
    if (m.peer != rank) others.push_back(m);
    else std::copy_n(static_cast<const std::byte*>(m.data), m.bytes, inbox.add(rank, m.bytes));
  }
  return others;
}

const Forwarding& forwarding_of(const SparseContext& context, const schedule::Strategy& strategy) {
  return context.state.forwarding.try_emplace(&strategy, strategy, context.placement, context.rank)
      .first->second;
}

}  // namespace

int exchange_sparsely(const SparseContext& context, const SparseAlgorithm& algorithm,
                      std::span<const SparseMessage> sends, Inbox& inbox) {
  const std::vector<SparseMessage> others = keep_own(context.rank, sends, inbox);
  const SparseCall call{.channel = context.channel,
                        .size = context.placement.size(),
                        .sends = others,
                        .odd = std::exchange(context.state.odd, !context.state.odd),
                        .inbox = inbox};
  const int code = algorithm.straight != nullptr
                       ? algorithm.straight->perform(call)
                       : combine(forwarding_of(context, *algorithm.combining), call, context.state.requests);
  inbox.sort();
  return code;
}

namespace {

/// Records for every rank, one after the other, counted in units so that an int is enough for many bytes.
struct Side {
  explicit Side(int ranks) : counts(static_cast<std::size_t>(ranks), 0), begins(counts) {}

  long long units() const { return std::accumulate(counts.begin(), counts.end(), 0LL); }
  /// Lays the blocks out. false: there is too much for MPI's counts, and the side is empty.
  bool lay_out() {
    const bool fits = units() <= INT_MAX;
    if (!fits) std::ranges::fill(counts, 0);
    std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
    data = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(units()) * record_unit);
    return fits;
  }
  std::byte* block(int rank) const {
    return data.get() + static_cast<std::size_t>(begins[static_cast<std::size_t>(rank)]) * record_unit;
  }
  std::size_t block_bytes(int rank) const {
    return static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]) * record_unit;
  }

  std::vector<int> counts, begins;
  std::unique_ptr<std::byte[]> data;
};

Record record_of(const SparseMessage& m) {
  return {.origin = 0, .destination = m.peer, .size = static_cast<long long>(m.bytes)};
}

long long units_of(const SparseMessage& m) {
  return static_cast<long long>(stride(record_of(m)) / record_unit);
}

/// false: too much to send; nothing is sent then.
bool pack(std::span<const SparseMessage> sends, Side& out) {
  long long all = 0;
  for (const SparseMessage& m : sends) all += units_of(m);
  if (all > INT_MAX) return false;
  for (const SparseMessage& m : sends)
    out.counts[static_cast<std::size_t>(m.peer)] += static_cast<int>(units_of(m));
  out.lay_out();
  std::vector<std::byte*> to(out.counts.size());
  for (std::size_t r = 0; r < to.size(); ++r) to[r] = out.block(static_cast<int>(r));
  for (const SparseMessage& m : sends) {
    std::byte*& next = to[static_cast<std::size_t>(m.peer)];
    write(record_of(m), m.data, next);
    next += stride(record_of(m));
  }
  return true;
}

void unpack(Side& in, Inbox& inbox) {
  for (int source = 0; source < static_cast<int>(in.counts.size()); ++source)
    for_each_record({in.block(source), in.block_bytes(source)}, [&](const Record& r, const std::byte* data) {
      inbox.add(SparseMessage{source, data, r.bytes()});
    });
  inbox.adopt(std::move(in.data));
}

int alltoallv(const mpi::Api& api, MPI_Comm comm, const Side& out, const Side& in) {
  MPI_Datatype unit = MPI_DATATYPE_NULL;
  int code = api.Type_contiguous(static_cast<int>(record_unit), MPI_BYTE, &unit);
  code = first_error(code, api.Type_commit(&unit));
  if (code != MPI_SUCCESS) return code;
  code = api.Alltoallv(out.data.get(), out.counts.data(), out.begins.data(), unit, in.data.get(),
                       in.counts.data(), in.begins.data(), unit, comm);
  api.Type_free(&unit);
  return code;
}

}  // namespace

int destinations(const mpi::Api& api, MPI_Comm comm, int* count) {
  int inter = 0;
  if (const int code = api.Comm_test_inter(comm, &inter); code != MPI_SUCCESS) return code;
  return inter ? api.Comm_remote_size(comm, count) : api.Comm_size(comm, count);
}

int exchange_natively(const mpi::Api& api, MPI_Comm comm, std::span<const SparseMessage> sends, Inbox& inbox,
                      bool* handled) {
  int ranks = 0;
  *handled = true;
  int code = destinations(api, comm, &ranks);
  if (code != MPI_SUCCESS) return code;
  Side out(ranks), in(ranks);
  const bool sendable = pack(sends, out);
  code = api.Alltoall(out.counts.data(), 1, MPI_INT, in.counts.data(), 1, MPI_INT, comm);
  if (code != MPI_SUCCESS) return code;
  const bool receivable = in.lay_out();
  code = alltoallv(api, comm, out, in);
  if (code != MPI_SUCCESS) return code;
  *handled = false;
  unpack(in, inbox);
  return sendable && receivable ? MPI_SUCCESS : MPI_ERR_COUNT;
}

}  // namespace wherry::run
