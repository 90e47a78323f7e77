#include "comm/agreement.hpp"

#include <link.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "comm/ask_all.hpp"

namespace wherry::run {

namespace {

int find_accelerator(dl_phdr_info* info, std::size_t, void* found) {
  static constexpr const char* runtimes[] = {"libcuda.so", "libamdhip64.so", "libze_loader.so"};
  for (const char* runtime : runtimes)
    if (std::strstr(info->dlpi_name, runtime) != nullptr) *static_cast<bool*>(found) = true;
  return 0;
}

/// What must be equal on all ranks, as one number.
long long instructions(const Settings& s) {
  std::string all =
      std::to_string(s.ranks_per_node) + (s.reproducible ? "r" : "") + (s.features.nonblocking ? "n" : "");
  for (const std::string& strategy : s.strategies) all += '\n' + strategy;
  all += '\n' + s.sparse_exchange;
  return static_cast<long long>(std::hash<std::string>{}(all) >> 1);  // stays positive when negated
}

/// One rank's offer; the smallest of each over the ranks are their terms.
enum Offer {
  room,
  learning,
  tuning,
  host_memory,
  staging_max,
  set_aside,
  instructed,
  instructed_negated,
  offers
};

using Offers = std::array<long long, offers>;

Offers offers_of(const Settings& settings, Room has, std::size_t has_set_aside) {
  const long long told = instructions(settings);
  Offers mine{};
  mine[room] = has == Room::enough;
  mine[learning] = settings.features.learning;
  mine[tuning] = settings.features.tuning;
  mine[host_memory] = !accelerator_loaded();
  mine[staging_max] = static_cast<long long>(settings.staging_max);
  mine[set_aside] = static_cast<long long>(has_set_aside);
  mine[instructed] = told;
  mine[instructed_negated] = -told;
  return mine;
}

/// Of what all ranks offer, the least of each kind.
Offers least_of(const std::vector<long long>& all) {
  Offers least;
  std::copy_n(all.begin(), offers, least.begin());
  for (std::size_t i = 0; i < all.size(); ++i) least[i % offers] = std::min(least[i % offers], all[i]);
  return least;
}

}  // namespace

bool accelerator_loaded() {
  bool found = false;
  dl_iterate_phdr(find_accelerator, &found);
  return found;
}

Terms settle_terms(const Settings& settings, Room has, std::size_t has_set_aside, MPI_Comm comm,
                   const mpi::Api& api) {
  const std::vector<long long> all = ask_all(api, comm, offers_of(settings, has, has_set_aside));
  if (all.empty()) return {.refusal = "the MPI library failed when the ranks were to settle their terms"};
  const Offers least = least_of(all);
  if (least[room] == 0) return {.refusal = "too many communicators at once"};
  if (least[instructed] != -least[instructed_negated]) return {.refusal = "ranks have different settings"};
  return {.refusal = "",
          .learning = least[learning] != 0,
          .tuning = least[tuning] != 0,
          .host_memory = least[host_memory] != 0,
          .staging_max = static_cast<std::size_t>(least[staging_max]),
          .set_aside = static_cast<std::size_t>(least[set_aside])};
}

}  // namespace wherry::run
