#include "comm/agreement.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "comm/accelerator.hpp"

namespace wherry::run {

namespace {

/// What must be equal on all ranks, as one number.
long long instructions(const Settings& s) {
  std::string all =
      std::to_string(s.ranks_per_node) + (s.reproducible ? "r" : "") + (s.features.nonblocking ? "n" : "");
  for (const std::string& strategy : s.strategies) all += '\n' + strategy;
  all += '\n' + s.sparse_exchange;
  return static_cast<long long>(std::hash<std::string>{}(all) >> 1);  // stays positive when negated
}

/// One rank's part; the smallest of each over the ranks are their agreement.
enum Quantity {
  capacity,
  learning,
  tuning,
  host_memory,
  layouts,
  staging_max,
  reserved_memory,
  instructed,
  instructed_negated,
  quantities
};

/// Of the quantity `learning`: what is learned is compared in the program's course, too.
constexpr long long with_trial = 2;

using Quantities = std::array<long long, quantities>;

Quantities quantities_of(const Settings& settings, Capacity has, std::size_t has_reserved) {
  const long long told = instructions(settings);
  Quantities mine{};
  mine[capacity] = has == Capacity::enough;
  mine[learning] = !settings.features.learning ? 0 : settings.features.trial ? with_trial : 1;
  mine[tuning] = settings.features.tuning;
  mine[host_memory] = !accelerator_loaded();
  mine[layouts] = settings.layout != LayoutLever::native;
  mine[staging_max] = static_cast<long long>(settings.staging_max);
  mine[reserved_memory] = static_cast<long long>(has_reserved);
  mine[instructed] = told;
  mine[instructed_negated] = -told;
  return mine;
}

/// Of what all ranks offer, the least of each kind.
Quantities least_of(const std::vector<long long>& all) {
  Quantities least;
  std::copy_n(all.begin(), quantities, least.begin());
  for (std::size_t i = 0; i < all.size(); ++i)
    least[i % quantities] = std::min(least[i % quantities], all[i]);
  return least;
}

}  // namespace

Agreement agree(const Settings& settings, Capacity has, std::size_t has_reserved, MPI_Comm comm,
                const mpi::Api& api) {
  const std::vector<long long> all = ask_all(api, comm, quantities_of(settings, has, has_reserved));
  if (all.empty()) return {.refusal = "the MPI library failed when the ranks were to settle their agreement"};
  const Quantities least = least_of(all);
  if (least[capacity] == 0) return {.refusal = "too many communicators at once"};
  if (least[instructed] != -least[instructed_negated]) return {.refusal = "ranks have different settings"};
  return {.refusal = "",
          .learning = least[learning] != 0,
          .trial = least[learning] == with_trial,
          .tuning = least[tuning] != 0,
          .host_memory = least[host_memory] != 0,
          .layouts = least[layouts] != 0,
          .staging_max = static_cast<std::size_t>(least[staging_max]),
          .reserved_memory = static_cast<std::size_t>(least[reserved_memory])};
}

std::vector<long long> ask_all(const mpi::Api& api, MPI_Comm comm, std::span<const long long> mine) {
  int size = 0;
  api.Comm_size(comm, &size);
  std::vector<long long> told, heard(mine.size() * static_cast<std::size_t>(size));
  told.reserve(heard.size());
  for (int rank = 0; rank < size; ++rank) told.insert(told.end(), mine.begin(), mine.end());
  const int count = static_cast<int>(mine.size());
  const int code = api.Alltoall(told.data(), count, MPI_LONG_LONG, heard.data(), count, MPI_LONG_LONG, comm);
  if (code != MPI_SUCCESS) heard.clear();
  return heard;
}

}  // namespace wherry::run
