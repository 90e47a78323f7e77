#include "p2p/messages.hpp"

namespace wherry::p2p {

void MessageTransfer::examine(Converter& converter, const MessageKind& kind) {
  for (Elements* elements : {&sent, &received})
    if (const std::string_view reason = converter.examine(*elements, kind); !reason.empty())
      fallback = reason;
}

void MessageTransfer::take(Converter& converter) {
  for (Elements* elements : {&sent, &received})
    if (const std::string_view reason = converter.take(*elements); !reason.empty()) fallback = reason;
  if (sent.is_taken()) sent.pack();
  if (received.is_taken() && arriving == Arriving::in_place_of_sent) received.pack();
  if (sent.is_taken() || received.is_taken()) copier = Copier::kernels;
}

void Messages::begin(const MessageKind& kind, std::uint64_t place, MessageTransfer& transfer) {
  transfer.examine(converter_, kind);
  if (transfer.bytes() == 0) return;
  transfer.turn = next(transfer.key(kind));
  if (transfer.turn.timed) transfer.begun_ns = now_ns();
  else if (transfer.turn.choice != nullptr && !transfer.turn.is_ours() && place != 0)
    pass(transfer.turn, place);
  if (transfer.turn.is_ours()) transfer.take(converter_);
  if (transfer.bytes() == 0) transfer.turn = {};
}

void Messages::end(MessageTransfer& transfer, const Completion& completion) {
  if (transfer.received.is_taken()) transfer.received.unpack(completion.arrived);
  if (!completion.succeeded) return;
  if (transfer.turn.timed) transfer.found = took(transfer.turn, now_ns() - transfer.begun_ns);
  if (!completion.valid) return;
  for (const Elements* elements : {&transfer.sent, &transfer.received})
    if (elements->unknown) converter_.note(*elements);
}

}  // namespace wherry::p2p
