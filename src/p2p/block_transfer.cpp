#include "p2p/block_transfer.hpp"

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

void BlockTransfer::begin(const Kind& kind, std::uint64_t place, Messages& messages, Converter& converter) {
  std::uint64_t key = kind.hash();
  each([&](Elements& elements) {
    if (const std::string_view reason = converter.examine(elements, kind); !reason.empty()) fallback = reason;
    key = hashed(key ^ elements.signature);
  });
  if (bytes() == 0) return;
  if (bytes() > converter.most_bytes()) {
    fallback = "the blocks together are larger than WHERRY_STAGING_MAX";
    return each([](Elements& elements) { elements.bytes = 0; });
  }
  turn_ = messages.next(key);
  if (turn_.timed) begun_ns_ = now_ns();
  else if (turn_.choice != nullptr && !turn_.is_ours()) messages.pass(turn_, place);
  if (!turn_.is_ours()) return;
  each([&](Elements& elements) {
    if (const std::string_view reason = converter.take(elements); !reason.empty()) fallback = reason;
    if (elements.is_taken()) copier = Copier::kernels;
  });
  for (const Elements& elements : sent)
    if (elements.is_taken()) elements.pack();
  if (copier == Copier::native) turn_ = {};
}

void BlockTransfer::end(Messages& messages, Converter& converter, bool succeeded, bool valid) {
  if (!succeeded) return;
  for (const Elements& elements : received)
    if (elements.is_taken()) elements.unpack(elements.bytes);
  if (turn_.timed) found = messages.took(turn_, now_ns() - begun_ns_);
  if (valid)
    each([&](const Elements& elements) {
      if (elements.unknown) converter.note(elements);
    });
}

}  // namespace wherry::p2p
