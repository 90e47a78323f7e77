#include "exec/block_bindings.hpp"

#include <algorithm>

namespace wherry::run {

std::optional<Piece> PackedBinding::outgoing(const schedule::Message& m) {
  const Share& share = blocks_.send[static_cast<std::size_t>(m.peer)];
  if (share.dense) return piece_of(share);
  std::byte* const packed = place(outgoing_, m.peer);
  status_ = first_error(status_, packer_.pack(share.region, false, packed, share.bytes));
  return Piece{packed, share.bytes, MPI_BYTE};
}

std::optional<Piece> PackedBinding::incoming(const schedule::Message& m) const {
  const Share& share = blocks_.receive[static_cast<std::size_t>(m.peer)];
  if (share.dense) return piece_of(share);
  return Piece{place(incoming_, m.peer), static_cast<long long>(block_bytes_), MPI_BYTE};
}

int PackedBinding::arrived(const schedule::Message& m) const {
  const Share& share = blocks_.receive[static_cast<std::size_t>(m.peer)];
  if (share.dense) return MPI_SUCCESS;
  return packer_.deliver(place(incoming_, m.peer), static_cast<long long>(block_bytes_), share);
}

std::optional<Piece> UniformBinding::outgoing(const schedule::Message& m) const {
  const auto items = schedule_.items_of(m);
  if (m.slot == schedule::at_home) return bytes(place(items.front()), 1);
  std::byte* to = slot(m.slot);
  for (std::size_t i = 0; i < items.size();) {
    // Neighbors in memory are copied together.
    const std::byte* from = place(items[i]);
    std::size_t length = block_bytes_;
    std::size_t next = i + 1;
    while (next < items.size() && place(items[next]) == from + length) length += block_bytes_, ++next;
    if (from != to) std::memcpy(to, from, length);
    to += length;
    i = next;
  }
  return bytes(slot(m.slot), m.count);
}

std::optional<Piece> UniformBinding::incoming(const schedule::Message& m) const {
  if (m.slot != schedule::at_home) return bytes(slot(m.slot), m.count);
  const schedule::Item& item = schedule_.items_of(m).front();
  return bytes(item.slot == schedule::at_home ? receive_ + offset(item.block.origin) : slot(item.slot), 1);
}

int UniformBinding::arrived(const schedule::Message& m) const {
  for (const schedule::Item& item : schedule_.items_of(m))
    if (item.slot != schedule::at_home && item.block.destination == schedule_.rank)
      std::memcpy(receive_ + offset(item.block.origin), slot(item.slot), block_bytes_);
  return MPI_SUCCESS;
}

CombinedLayout layout_of(const schedule::Schedule& schedule) {
  CombinedLayout layout;
  for (const schedule::Phase& p : schedule.phases) {
    int items = 0;
    const auto append = [&items](std::vector<int>& offsets, std::span<const schedule::Message> messages) {
      for (const schedule::Message& m : messages) {
        offsets.push_back(items);
        items += m.count;
      }
    };
    append(layout.send, schedule.sends_of(p));
    append(layout.receive, schedule.receives_of(p));
    layout.most_items = std::max(layout.most_items, items);
  }
  return layout;
}

CombinedBinding::CombinedBinding(const schedule::Schedule& schedule, const CombinedLayout& layout,
                                 const Blocks& blocks, std::size_t limit, std::byte* staging,
                                 BlockPacker& packer)
    : schedule_(schedule),
      layout_(layout),
      blocks_(blocks),
      limit_(limit),
      slots_(staging),
      messages_(staging + static_cast<std::size_t>(schedule.slots) * limit),
      packer_(packer),
      sizes_(static_cast<std::size_t>(schedule.slots), 0),
      large_(static_cast<std::size_t>(schedule.size), false) {}

int CombinedBinding::gather(const schedule::Item& item, Size* size, std::byte* to) {
  if (item.slot != schedule::at_home) {
    *size = sizes_[static_cast<std::size_t>(item.slot)];
    if (*size != absent) std::memcpy(to, slots_ + static_cast<std::size_t>(item.slot) * limit_, *size);
    return MPI_SUCCESS;
  }
  const Share& share = blocks_.send[static_cast<std::size_t>(item.block.destination)];
  const bool fits = share.bytes <= static_cast<long long>(limit_);
  *size = fits ? static_cast<Size>(share.bytes) : absent;
  return fits ? packer_.pack(share.region, share.dense, to, share.bytes) : MPI_SUCCESS;
}

std::optional<Piece> CombinedBinding::outgoing(const schedule::Message& m) {
  std::byte* const start = area(schedule_.sends, layout_.send, m);
  std::byte* to = start + sizeof(Size) * static_cast<std::size_t>(m.count);
  Size* size = reinterpret_cast<Size*>(start);
  for (const schedule::Item& item : schedule_.items_of(m)) {
    if (const int code = gather(item, size, to); status_ == MPI_SUCCESS) status_ = code;
    to += *size == absent ? 0 : *size;
    ++size;
  }
  return Piece{start, to - start, MPI_BYTE};
}

std::optional<Piece> CombinedBinding::incoming(const schedule::Message& m) {
  return Piece{area(schedule_.receives, layout_.receive, m),
               static_cast<long long>(static_cast<std::size_t>(m.count) * (limit_ + sizeof(Size))), MPI_BYTE};
}

int CombinedBinding::take(const schedule::Item& item, Size size, const std::byte* from) {
  if (item.block.destination != schedule_.rank) {
    sizes_[static_cast<std::size_t>(item.slot)] = size;
    if (size != absent) std::memcpy(slots_ + static_cast<std::size_t>(item.slot) * limit_, from, size);
    return MPI_SUCCESS;
  }
  const auto origin = static_cast<std::size_t>(item.block.origin);
  large_[origin] = size == absent;
  return size == absent ? MPI_SUCCESS : packer_.deliver(from, size, blocks_.receive[origin]);
}

int CombinedBinding::arrived(const schedule::Message& m) {
  const std::byte* const start = area(schedule_.receives, layout_.receive, m);
  const std::byte* from = start + sizeof(Size) * static_cast<std::size_t>(m.count);
  const Size* size = reinterpret_cast<const Size*>(start);
  int code = MPI_SUCCESS;
  for (const schedule::Item& item : schedule_.items_of(m)) {
    if (*size != absent && *size > limit_) return MPI_ERR_INTERN;
    // A block that does not fit here must not keep those behind it from the ranks that they are for.
    code = first_error(code, take(item, *size, from));
    from += *size == absent ? 0 : *size;
    ++size;
  }
  return code;
}

}  // namespace wherry::run
