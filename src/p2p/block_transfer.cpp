#include "p2p/block_transfer.hpp"

#include <utility>

namespace wherry::p2p {

template <class Visit>
void BlockTransfer::each(Visit&& visit) {
  for (std::vector<Elements>* side : {&sent, &received})
    for (Elements& elements : *side) visit(elements);
}
template <class Visit>
void BlockTransfer::each(Visit&& visit) const {
  for (const std::vector<Elements>* side : {&sent, &received})
    for (const Elements& elements : *side) visit(elements);
}

Offset BlockTransfer::bytes() const {
  Offset sum = 0;
  each([&](const Elements& elements) { sum += elements.bytes; });
  return sum;
}

bool BlockTransfer::has_unknown() const {
  bool found_one = false;
  each([&](const Elements& elements) { found_one = found_one || elements.unknown; });
  return found_one;
}

std::uint64_t BlockTransfer::examine(const MessageKind& kind, Converter& converter) {
  std::uint64_t key = kind.hash();
  each([&](Elements& elements) {
    if (const std::string_view reason = converter.examine(elements, kind); !reason.empty()) fallback = reason;
    key = hashed(key ^ elements.signature);
  });
  if (bytes() <= converter.most_bytes()) return key;
  fallback = "the blocks together are larger than WHERRY_STAGING_MAX";
  each([](Elements& elements) { elements.bytes = 0; });
  return key;
}

void BlockTransfer::take(Converter& converter) {
  each([&](Elements& elements) {
    if (const std::string_view reason = converter.take(elements); !reason.empty()) fallback = reason;
    if (elements.is_taken()) copier = Copier::kernels;
  });
  for (const Elements& elements : sent)
    if (elements.is_taken()) elements.pack();
}

void BlockTransfer::note(Converter& converter) const {
  each([&](const Elements& elements) {
    if (elements.unknown) converter.note(elements);
  });
}

std::shared_ptr<const BlocksUnderWay> BlockTransfer::keep(std::shared_ptr<const void> arguments) {
  auto kept = std::make_shared<BlocksUnderWay>();
  kept->bytes = bytes();
  kept->arguments = std::move(arguments);
  const auto move_taken = [](std::vector<Elements>& from, std::vector<Elements>& to) {
    for (Elements& elements : from) {
      if (!elements.is_taken()) continue;
      const Offset bytes = elements.bytes;
      to.push_back(std::move(elements));
      elements = {};
      elements.bytes = bytes;
    }
  };
  move_taken(sent, kept->sent);
  move_taken(received, kept->received);
  return kept;
}

void BlockTransfer::begin(const MessageKind& kind, std::uint64_t place, Messages& messages,
                          Converter& converter) {
  const std::uint64_t entered_ns = now_ns();
  const std::uint64_t key = examine(kind, converter);
  if (bytes() == 0) return;
  turn_ = messages.next(key);
  // What is native is not looked at: what that costs is in the time of the kernels alone.
  if (turn_.timed) begun_ns = turn_.is_ours() ? entered_ns : now_ns();
  else if (turn_.choice != nullptr && !turn_.is_ours()) messages.pass(turn_, place);
  if (!turn_.is_ours()) return;
  take(converter);
  if (copier == Copier::native) turn_ = {};
}

void BlockTransfer::end(Messages& messages, Converter& converter, bool succeeded, bool valid) {
  if (!succeeded) return;
  for (const Elements& elements : received)
    if (elements.is_taken()) elements.unpack(elements.bytes);
  if (turn_.timed) found = messages.took(turn_, now_ns() - begun_ns);
  if (valid) note(converter);
}

void BlocksUnderWay::unpack() const {
  for (const Elements& elements : received) elements.unpack(elements.bytes);
}

}  // namespace wherry::p2p
