#include "exec/layout_exchange.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "exec/pair_exchange.hpp"
#include "layout/pack.hpp"

namespace wherry::run {

namespace {

const Share& share_of(const std::vector<Share>& shares, std::span<const schedule::Message> messages) {
  return messages.empty() ? no_block : shares[static_cast<std::size_t>(messages.front().peer)];
}

int peer_of(std::span<const schedule::Message> messages) {
  return messages.empty() ? MPI_PROC_NULL : messages.front().peer;
}

}  // namespace

bool is_pairwise(const schedule::Schedule& schedule) {
  return std::ranges::all_of(schedule.phases, [](const auto& p) { return p.sends <= 1 && p.receives <= 1; });
}

int exchange_layouts(const schedule::Schedule& schedule, const Blocks& blocks, const Lane& lane,
                     datatype::TypeLayouts& layouts, const Peers& peers, std::byte* memory) {
  int code = MPI_SUCCESS;
  for (const schedule::Phase& phase : schedule.phases) {
    const auto sends = schedule.sends_of(phase), receives = schedule.receives_of(phase);
    const PairEnd out{{peer_of(sends), lane.tag}, share_of(blocks.send, sends)};
    const PairEnd in{{peer_of(receives), lane.tag}, share_of(blocks.receive, receives)};
    const bool is_near = out.peer.rank >= 0 && peers.placement.same_node(schedule.rank, out.peer.rank);
    const Exchanged done =
        exchange_pair({*lane.channel, &layouts, memory, peers.shared}, out, in,
                      {.shared = is_near && peers.shared != nullptr, .own = is_near && *peers.readable});
    if (done.refused) *peers.readable = false;
    code = first_error(code, done.code);
  }
  return code;
}

bool copy_layouts(const Share& from, const Share& to, datatype::TypeLayouts& layouts) {
  if (from.bytes != to.bytes) return false;
  const datatype::PlanPtr from_plan = layouts.plan(from.region.type, from.region.count);
  const datatype::PlanPtr to_plan = layouts.plan(to.region.type, to.region.count);
  if (from_plan == nullptr || to_plan == nullptr) return false;
  layout::copy(*to_plan, static_cast<std::byte*>(const_cast<void*>(to.region.address)), *from_plan,
               static_cast<const std::byte*>(from.region.address));
  return true;
}

}  // namespace wherry::run
