#include "p2p/messages.hpp"

#include <algorithm>
#include <bit>

#include "layout/pack.hpp"

namespace wherry::p2p {
namespace {

void drop(Elements& elements) {
  elements.bytes = 0;
  elements.plan = nullptr;
}

/// Memory for what has a plan.
void reserve(Elements& elements, Transfer& transfer) {
  if (elements.plan == nullptr) return;
  elements.packed.reset(static_cast<std::byte*>(
      ::operator new(static_cast<std::size_t>(elements.bytes), PackedDeleter::alignment, std::nothrow)));
  if (elements.packed != nullptr) return;
  transfer.fallback = "there is no memory for the packed message";
  drop(elements);
}

}  // namespace

void Messages::begin(const Kind& kind, Transfer& transfer) {
  {
    const std::lock_guard lock(mutex_);
    decide(kind, transfer);
  }
  reserve(transfer.sent, transfer);
  reserve(transfer.received, transfer);
  const Elements& sent = transfer.sent;
  if (sent.packed != nullptr) layout::pack(*sent.plan, sent.memory, sent.packed.get(), {0, sent.bytes});
  if (sent.packed != nullptr || transfer.received.packed != nullptr) transfer.copier = Copier::kernels;
}

/// What gets a plan is Wherry's to move.
void Messages::decide(const Kind& kind, Transfer& transfer) {
  examine(transfer.sent, kind.most, transfer);
  examine(transfer.received, kind.most, transfer);
  if (transfer.bytes() == 0 || !wants_kernels(kind, transfer)) return;
  plan(transfer.sent, transfer);
  plan(transfer.received, transfer);
  if (transfer.bytes() == 0) transfer.measured = nullptr;
}

/// Whether there is something to choose: then elements.bytes says so.
void Messages::examine(Elements& elements, Offset most, Transfer& transfer) {
  if (has_none(elements.type, elements.count)) return;
  const KnownType* const known = types_.find(elements.type);
  elements.unknown = known == nullptr;
  if (known == nullptr || known->native || elements.count > most / known->bytes) return;
  const Offset bytes = known->bytes * elements.count;
  if (bytes < least_bytes) return;
  if (bytes > most_bytes_) transfer.fallback = "the message is larger than WHERRY_STAGING_MAX";
  else if (elements.memory == MPI_BOTTOM) transfer.fallback = "MPI_BOTTOM, from which the library sends";
  else elements.bytes = bytes;
}

bool Messages::wants_kernels(const Kind& kind, Transfer& transfer) {
  if (accelerator_.loaded()) {
    transfer.fallback = "an accelerator: only the library can copy its memory";
    drop(transfer.sent);
    drop(transfer.received);
    return false;
  }
  if (lever_ == LayoutLever::wherry) return true;
  const std::uint64_t key = key_of(kind, transfer);
  auto at = choices_.find(key);
  if (at == choices_.end()) {
    if (choices_.size() >= most_choices) return false;
    at = choices_.emplace(key, layout::Timing::waiting).first;
  }
  layout::MeasuredChoice& choice = at->second;
  const Copier copier = choice.next();
  if (choice.is_measuring()) {
    transfer.measured = &choice;
    transfer.begun_ns = now_ns();
  }
  return copier == Copier::kernels;
}

std::uint64_t Messages::key_of(const Kind& kind, const Transfer& transfer) {
  std::uint64_t key = hashed(number_of(kind.site) ^ kind.function);
  key = hashed(key ^ static_cast<std::uint32_t>(kind.peer));
  for (const Elements* elements : {&transfer.sent, &transfer.received}) {
    const auto size_class =
        static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(elements->bytes)));
    const KnownType* const known = elements->bytes == 0 ? nullptr : types_.find(elements->type);
    key = hashed(key ^ (known == nullptr ? 0 : known->signature + size_class));
  }
  return key;
}

void Messages::plan(Elements& elements, Transfer& transfer) {
  if (elements.bytes == 0) return;
  KnownType* const known = types_.find(elements.type);
  elements.plan = types_.plan(*known, elements.type, elements.count);
  if (elements.plan == nullptr) transfer.fallback = "the datatype has no layout that Wherry can express";
  if (known->native) drop(elements);
}

void Messages::end(Transfer& transfer, const Outcome& outcome) {
  const Elements& received = transfer.received;
  if (received.packed != nullptr && outcome.arrived > 0)
    layout::unpack(*received.plan, received.memory, received.packed.get(),
                   {0, std::min(outcome.arrived, received.bytes)});
  const bool measured = transfer.measured != nullptr;
  if (!outcome.succeeded || (!measured && !transfer.sent.unknown && !received.unknown)) return;
  const std::uint64_t ended_ns = measured ? now_ns() : 0;
  const std::lock_guard lock(mutex_);
  if (measured) transfer.found = transfer.measured->took(transfer.copier, ended_ns - transfer.begun_ns);
  if (!outcome.valid) return;
  if (transfer.sent.unknown) types_.note(transfer.sent.type);
  if (received.unknown) types_.note(received.type);
}

bool Messages::tells_errors(MPI_Comm comm) const {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (api_.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  // MPI_ERRORS_ABORT is an object of the library's in Open MPI 5, which 4 lacks: a backend for both must not name it.
  const bool tells = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN;
  api_.Errhandler_free(&handler);  // what Comm_get_errhandler gives counts as one more (MPI 4.1, 9.3)
  return tells;
}

}  // namespace wherry::p2p
