#include "coll/choice/description.hpp"

#include "profile/record.hpp"

namespace wherry::run {

Described describe(const SegmentCall& call, Collective collective) {
  const Limit limit = call.reduces == Operator::user_ordered ? Limit::in_order : Limit::none;
  return {.key = {collective, limit, profile::bucket_of(static_cast<std::uint64_t>(call.block_bytes))},
          .root = call.root,
          .bytes = static_cast<std::uint64_t>(call.in.blocks * call.block_bytes)};
}

std::uint32_t bucket_of(const Blocks& blocks) {
  return profile::bucket_of(static_cast<std::uint64_t>(blocks.block_bytes()));
}

long long most_staging(const SegmentCall& call, int ranks) {
  // No strategy holds more than all blocks twice.
  return call.differ ? call.total_bytes() + ranks * call.widest : 0;
}

std::string_view reason_to_stay(const Settings& settings, const Communicator& c, const SegmentCall& call,
                                std::size_t staging_max) {
  const bool reduces = call.reduces != Operator::unknown;
  if (reduces && settings.reproducible && depends_on_order(call.reduces))
    return "WHERRY_REPRODUCIBLE: the result depends on the order";
  return most_staging(call, c.size()) > static_cast<long long>(staging_max)
             ? "blocks differ so much that staging would not do"
             : "";
}

}  // namespace wherry::run
