#include "interpose/repeated_calls.hpp"

namespace wherry::interpose {

void RepeatedCalls::begin() {
  details_ = std::make_unique<Details[]>(slots);
  entries_ = std::make_unique<Entry[]>(slots);
}

void RepeatedCalls::end() {
  if (entries_ == nullptr) return;
  for (std::size_t i = 0; i < slots; ++i) close(entries_[i]);
  entries_.reset();
}

void RepeatedCalls::settle() {
  if (entries_ == nullptr) return;
  for (std::size_t i = 0; i < slots; ++i) settle(entries_[i]);
}

void RepeatedCalls::settle(Entry& entry) {
  if (entry.calls == 0) return;
  const Booked& booked = details_of(entry).booked;
  recorder_.counted({entry.row, entry.calls, entry.bytes});
  if (booked.peer >= 0)
    recorder_.peer(booked.peer, profile::PeerClass::point_to_point, entry.calls, entry.bytes);
  if (!booked.refusal.empty()) recorder_.fell_back(entry.function, booked.refusal, entry.calls);
  entry.calls = 0;
  entry.bytes = 0;
}

/// No call will be timed that stands for those since the last one was: that one does.
void RepeatedCalls::close(Entry& entry) {
  settle(entry);
  take_as_before(entry, entry.since_timed());
  entry.gap = entry.left = 0;
}

void RepeatedCalls::take_as_before(Entry& entry, std::uint32_t calls) {
  recorder_.counted({entry.row, 0, 0, calls * details_of(entry).time_ns});
}

void RepeatedCalls::keep(const Kept& kept) {
  if (entries_ == nullptr || kept.booked.row == profile::none) return;
  Entry& entry = entries_[slot_of(kept.like)];
  if (find(kept.like) == &entry) settle(entry);
  else close(entry);
  const Likeness& like = kept.like;
  entry = {.site = like.site,
           .comm = like.comm,
           .type = like.type,
           .function = like.function,
           .freed = freed_.load(std::memory_order_relaxed),
           .element = kept.element,
           .row = kept.booked.row,
           .peer = like.peer,
           .bucket = static_cast<std::uint16_t>(profile::bucket_of(kept.bytes)),
           .left = static_cast<std::uint16_t>(kept.calls),
           .gap = static_cast<std::uint16_t>(kept.calls),
           .may_wait = kept.may_wait};
  details_of(entry) = {kept.booked, kept.time_ns};
}

void RepeatedCalls::book(Entry& entry, const Odd& odd) {
  const Booked& booked = details_of(entry).booked;
  const std::uint32_t stands_for = odd.leave_ns != 0 ? 1 : 0;
  if (!odd.succeeded)
    return void(recorder_.call(
        {entry.function, profile::none, booked.place, 0, stands_for, odd.enter_ns, odd.leave_ns, false}));
  recorder_.call(
      {entry.function, booked.comm, booked.place, odd.bytes, stands_for, odd.enter_ns, odd.leave_ns, false});
  if (booked.peer >= 0) recorder_.peer(booked.peer, profile::PeerClass::point_to_point, 1, odd.bytes);
  if (!booked.refusal.empty()) recorder_.fell_back(entry.function, booked.refusal);
}

}  // namespace wherry::interpose
