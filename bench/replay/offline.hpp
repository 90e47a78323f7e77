// What could be had by somebody who knows the future, and by LRU: hits on a trace with so many bytes.
#pragma once

#include <algorithm>
#include <list>
#include <map>
#include <unordered_map>

#include "replay/traces.hpp"

namespace replay {

/// An upper bound for every choice of contents that stays the same from beginning to end, and so, on
/// independent references, for what can be expected of any policy that does not know the future: the knapsack
/// of all keys by hits per byte, the last one in part. First references miss.
inline double best_constant_contents(const Trace& trace, std::size_t capacity) {
  struct Item {
    double hits, bytes;
  };
  std::map<std::uint32_t, Item> items;
  for (const Reference& each : trace.references) {
    const auto [item, first] =
        items.try_emplace(each.key, Item{0, static_cast<double>(footprint(each.bytes))});
    if (!first) item->second.hits += 1;
  }
  std::vector<Item> by_density;
  for (const auto& [key, item] : items) by_density.push_back(item);
  std::sort(by_density.begin(), by_density.end(),
            [](const Item& a, const Item& b) { return a.hits * b.bytes > b.hits * a.bytes; });
  double hits = 0, left = static_cast<double>(capacity);
  for (const Item& item : by_density) {
    const double part = std::min(1.0, left / item.bytes);
    hits += part * item.hits;
    left -= part * item.bytes;
  }
  return hits;
}

/// An upper bound for all policies, even those that know the future: PFOO-L (D. Berger, N. Beckmann and M.
/// Harchol-Balter, Practical bounds on optimal caching with variable object sizes, SIGMETRICS 2018). Every hit
/// keeps its bytes from one reference to the next; the cheapest hits are had until the bytes times the length
/// of the trace are spent.
inline double best_with_foresight(const Trace& trace, std::size_t capacity) {
  std::unordered_map<std::uint32_t, std::size_t> last;
  std::vector<double> costs;
  for (std::size_t i = 0; i < trace.references.size(); ++i) {
    const Reference& each = trace.references[i];
    const auto [at, first] = last.try_emplace(each.key, i);
    if (!first) costs.push_back(static_cast<double>((i - at->second) * footprint(each.bytes)));
    at->second = i;
  }
  std::sort(costs.begin(), costs.end());
  double left = static_cast<double>(capacity) * static_cast<double>(trace.references.size());
  double hits = 0;
  for (const double cost : costs) {
    if (cost > left) break;
    left -= cost;
    hits += 1;
  }
  return hits;
}

/// Hits of a cache that evicts what was used least recently.
inline std::size_t least_recently_used(const Trace& trace, std::size_t capacity) {
  std::list<Reference> order;
  std::unordered_map<std::uint32_t, std::list<Reference>::iterator> where;
  std::size_t used = 0, hits = 0;
  for (const Reference& each : trace.references) {
    if (const auto found = where.find(each.key); found != where.end()) {
      order.splice(order.begin(), order, found->second);
      ++hits;
      continue;
    }
    if (footprint(each.bytes) > capacity) continue;
    for (used += footprint(each.bytes); used > capacity; order.pop_back()) {
      used -= footprint(order.back().bytes);
      where.erase(order.back().key);
    }
    order.push_front(each);
    where[each.key] = order.begin();
  }
  return hits;
}

}  // namespace replay
