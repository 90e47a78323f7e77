#include "interpose/repeated_calls.hpp"

#include <cstdint>
#include <utility>

namespace wherry::interpose {

void RepeatedCalls::begin(bool at_once) {
  hot_.counting_thread = at_once ? calling_thread() : any_thread;
  details_ = std::make_unique<Details[]>(slots);
  entries_ = std::make_unique<Entry[]>(slots);
  hot_.repeated_calls = entries_.get();
}

void RepeatedCalls::end() {
  if (hot_.repeated_calls == nullptr) return;
  for (std::size_t i = 0; i < slots; ++i) close(entries_[i]);
  hot_.repeated_calls = nullptr;
}

void RepeatedCalls::settle() {
  if (!counts_here(hot_)) return;
  for (std::size_t i = 0; i < slots; ++i) settle(entries_[i]);
}

void RepeatedCalls::settle(Entry& entry) {
  if (entry.calls == 0) return;
  Details& details = details_of(entry);
  const BookedAt& booked = details.booked;
  recorder_.counted(
      {.row = entry.row, .calls = entry.calls, .bytes = entry.bytes, .derived = entry.is_derived});
  if (entry.is_derived) book_type(booked.combiner, entry.calls, entry.bytes);
  const std::uint64_t sent = details.exchanges ? std::exchange(details.sent, 0) : entry.bytes;
  if (booked.destination.peer >= 0)
    recorder_.peer(booked.destination.peer, booked.destination.kind, entry.calls, sent);
  if (!booked.fallback.empty()) recorder_.fell_back(entry.function, booked.fallback, entry.calls);
  entry.calls = 0;
  entry.bytes = 0;
}

/// No later call is timed for those since the last one was: they count as long as that one.
void RepeatedCalls::close(Entry& entry) {
  settle(entry);
  add_time(entry, entry.since_timed());
  entry.gap = entry.left = 0;
}

void RepeatedCalls::book_type(Combiner combiner, std::uint32_t calls, std::uint64_t bytes) {
  recorder_.type(combiner, name_of_combiner(combiner), bytes, calls);
}

void RepeatedCalls::add_time(Entry& entry, std::uint32_t calls) {
  recorder_.counted({.row = entry.row, .calls = 0, .bytes = 0, .time_ns = calls * details_of(entry).time_ns});
}

void RepeatedCalls::keep(const Kept& kept) {
  if (!counts_here(hot_) || kept.booked.row == profile::none) return;
  Entry& entry = entries_[slot_of(kept.key)];
  close(entry);
  const RepeatKey& key = kept.key;
  const bool is_derived = kept.booked.combiner != 0;
  const auto calls = static_cast<std::uint8_t>(kept.calls);
  entry = {.site = key.site,
           .object = key.object,
           .type = key.type,
           .function = key.function,
           .freed_objects = hot_.freed.count(key.object),
           .freed_types = is_derived ? hot_.freed_types.count(number_of(key.type)) : 0,
           .element = kept.element,
           .row = kept.booked.row,
           .peer = key.peer,
           .left = calls,
           .gap = calls,
           .bucket = static_cast<std::uint8_t>(profile::bucket_of(kept.bytes)),
           .count_bucket = bucket_of(key.count),
           .is_derived = is_derived,
           .is_short_lived = kept.is_short_lived,
           .may_wait = kept.may_wait};
  details_of(entry) = {kept.booked, kept.time_ns, kept.exchanges};
}

void RepeatedCalls::look_at(const RepeatKey& key, bool may_count) {
  if (!counts_here(hot_)) return;
  Entry& entry = entries_[slot_of(key)];
  if (!is_of(entry, key)) return;
  if (!may_count) {
    close(entry);
    entry = {};
  } else if (entry.is_short_lived && entry.is_looked_at()) {
    --entry.left;
    --entry.gap;
  }
}

void RepeatedCalls::book(Entry& entry, const Uncounted& call) {
  const BookedAt& booked = details_of(entry).booked;
  const std::uint32_t stands_for = call.leave_ns != 0 ? 1 : 0;
  entry.gap = static_cast<std::uint8_t>(entry.since_timed() + 1 - stands_for);
  entry.left = 0;
  if (!call.succeeded)
    return void(recorder_.call(
        {entry.function, profile::none, booked.place, 0, stands_for, call.enter_ns, call.leave_ns, false}));
  recorder_.call({entry.function, booked.destination.comm, booked.place, call.bytes, stands_for,
                  call.enter_ns, call.leave_ns, call.combiner != 0});
  if (call.combiner != 0) book_type(call.combiner, 1, call.bytes);
  if (booked.destination.peer >= 0)
    recorder_.peer(booked.destination.peer, booked.destination.kind, 1, call.sent);
  if (!booked.fallback.empty()) recorder_.fell_back(entry.function, booked.fallback);
}

}  // namespace wherry::interpose
