#include "cache/storage.hpp"

#include <bit>

#include "base/error.hpp"

namespace wherry::cache {

Storage::Storage(std::size_t bytes, std::size_t most)
    : memory_(std::max({bytes, most, std::size_t{least_end} * cell})), most_(cells_of(memory_.most())) {
  end_ = std::max(cells_of(bytes), least_end);
  memory_.commit(bytes_committed());
  reset();
}

void Storage::reset() {
  // Only the lists that hold something: there are many, and epochs may be short.
  for (std::size_t word = 0; word < filled_.size(); ++word)
    for (std::uint64_t left = filled_[word]; left != 0; left &= left - 1)
      heads_[word * 64 + static_cast<unsigned>(std::countr_zero(left))] = 0;
  filled_.fill(0);
  used_ = free_payload_ = 0;
  last_ = first_block;
  add_free(first_block, end_ - first_block, 0);
}

void Storage::clear() { reset(); }

std::size_t Storage::bin_of(std::uint32_t cells) {
  if (cells < exact_bins) return cells;
  const unsigned log = static_cast<unsigned>(std::bit_width(cells)) - 1;  // at least 6
  return exact_bins + (log - 6) * 8 + ((cells >> (log - 3)) & 7);
}

void Storage::list(Ref ref) {
  const std::size_t bin = bin_of(size_of(ref));
  BlockHeader& entry = block(ref);
  entry.next = heads_[bin];
  entry.owner = 0;
  if (entry.next != 0) block(entry.next).owner = ref;
  heads_[bin] = ref;
  filled_[bin / 64] |= std::uint64_t{1} << bin % 64;
  free_payload_ += size_of(ref) - 1;
}

void Storage::unlist(Ref ref) {
  const std::size_t bin = bin_of(size_of(ref));
  const BlockHeader& entry = block(ref);
  if (entry.next != 0) block(entry.next).owner = entry.owner;
  if (entry.owner != 0) block(entry.owner).next = entry.next;
  else heads_[bin] = entry.next;
  if (heads_[bin] == 0) filled_[bin / 64] &= ~(std::uint64_t{1} << bin % 64);
  free_payload_ -= size_of(ref) - 1;
}

Storage::Ref Storage::first_bin_from(std::size_t bin) const {
  for (std::size_t word = bin / 64; word < filled_.size(); ++word) {
    const std::uint64_t from = word == bin / 64 ? ~std::uint64_t{0} << bin % 64 : ~std::uint64_t{0};
    if (const std::uint64_t hits = filled_[word] & from)
      return heads_[word * 64 + static_cast<unsigned>(std::countr_zero(hits))];
  }
  return 0;
}

/// A free block of at least this size, nearly the smallest; 0 if there is none among those looked at.
Storage::Ref Storage::find_free(std::uint32_t cells) const {
  const std::size_t bin = bin_of(cells);
  // Blocks of a wide bin may be too small; the first is worth a look before a larger block is cut.
  const Ref head = heads_[bin];
  if (head != 0 && size_of(head) >= cells) return head;
  return bin + 1 < bins ? first_bin_from(bin + 1) : 0;
}

Storage::Ref Storage::largest_free() const {
  for (std::size_t word = filled_.size(); word-- > 0;)
    if (filled_[word] != 0)
      return heads_[word * 64 + 63 - static_cast<unsigned>(std::countl_zero(filled_[word]))];
  return 0;
}

void Storage::set_before_of_next(Ref ref) {
  const Ref after = ref + size_of(ref);
  if (after < end_) block(after).before = size_of(ref);
  else last_ = ref;
}

void Storage::add_free(Ref ref, std::uint32_t cells, std::uint32_t before) {
  block(ref) = {cells, before, 0, 0};
  list(ref);
  set_before_of_next(ref);
}

/// As take(), where what is left may stay in the list that the block leads: most are cut from one large block again and
/// again.
bool Storage::cut(Ref ref, std::uint32_t cells) {
  BlockHeader& taken = block(ref);
  const std::uint32_t rest = taken.cells - cells;
  if (taken.owner != 0 || rest < least_cells || bin_of(rest) != bin_of(taken.cells)) return false;
  const Ref left = ref + cells;
  block(left) = {rest, cells, taken.next, 0};
  if (taken.next != 0) block(taken.next).owner = left;
  heads_[bin_of(rest)] = left;
  set_before_of_next(left);
  free_payload_ -= cells;
  used_ += cells;
  taken.cells = cells | used_bit;
  taken.next = 0;
  return true;
}

/// Marks a free block as used, and cuts off what is not needed. Returns its cells.
std::uint32_t Storage::take(Ref ref, std::uint32_t cells) {
  if (cut(ref, cells)) return cells;
  unlist(ref);
  BlockHeader& taken = block(ref);
  const std::uint32_t rest = taken.cells - cells;
  if (rest >= least_cells) {
    taken.cells = cells;
    add_free(ref + cells, rest, cells);
  }
  const std::uint32_t size = taken.cells;
  used_ += size;
  taken.cells |= used_bit;
  taken.next = 0;
  return size;
}

Storage::Ref Storage::allocate(std::size_t bytes) {
  const std::size_t payload = std::max((bytes + cell - 1) / cell, least_payload / cell);
  if (payload > free_payload_) return 0;
  auto left = static_cast<std::uint32_t>(payload);
  const std::uint32_t cells = std::max(left + 1, least_cells);
  if (const Ref whole = find_free(cells); whole != 0) [[likely]] {
    take(whole, cells);
    block(whole).owner = whole;
    return whole;
  }
  return allocate_in_pieces(left);
}

Storage::Ref Storage::allocate_in_pieces(std::uint32_t left) {
  const std::uint32_t least = least_piece(left);
  Ref first = 0, last = 0;
  while (left > 0) {
    const std::uint32_t wanted = std::max(left + 1, least_cells);
    const Ref fit = find_free(wanted), piece = fit != 0 ? fit : largest_free();
    if (fit == 0 && size_of(piece) < least) return free(first), 0;
    left -= std::min(left, take(piece, std::min(wanted, size_of(piece))) - 1);
    if (first == 0) first = piece;
    else block(last).next = piece;
    block(piece).owner = first;
    last = piece;
  }
  return first;
}

/// The least block that is worth a piece, but for the last one: half of all, so that there are few; any, if
/// much memory lies about in small blocks.
std::uint32_t Storage::least_piece(std::uint32_t payload) const {
  return free_payload_ >= payload + end_ / scattered_share ? least_cells : std::max(payload / 2, least_cells);
}

void Storage::free(Ref first) {
  while (first != 0) {
    const Ref next = block(first).next;
    release(first);
    first = next;
  }
}

void Storage::release(Ref ref) {
  std::uint32_t cells = size_of(ref), before = block(ref).before;
  used_ -= cells;
  if (const Ref after = ref + cells; after < end_ && !is_used(after)) {
    unlist(after);
    cells += size_of(after);
  }
  if (before != 0 && !is_used(ref - before)) {
    ref -= before;
    unlist(ref);
    cells += size_of(ref);
    before = block(ref).before;
  }
  add_free(ref, cells, before);
}

std::size_t Storage::footprint_of(Ref first) const {
  std::size_t cells = 0;
  for (Ref piece = first; piece != 0; piece = block(piece).next) cells += size_of(piece);
  return cells * cell;
}

void Storage::grow(std::size_t bytes) {
  const std::uint32_t end = std::min(cells_of(bytes), most_);
  if (end < end_ + least_cells) return;
  memory_.commit(std::size_t{end} * cell);
  const Ref added = end_;
  const std::uint32_t before = size_of(last_), cells = end - end_;
  end_ = end;
  // As if it had been used, so that it merges with a free block before it.
  block(added) = {cells | used_bit, before, 0, 0};
  used_ += cells;
  release(added);
}

/// Takes the last block, which is free, away as far as it lies behind `limit`.
void Storage::cut_last(std::uint32_t limit) {
  const Ref ref = last_;
  const std::uint32_t before = block(ref).before;
  unlist(ref);
  if (ref == first_block || ref + least_cells <= limit) {
    end_ = std::max(limit, ref + least_cells);
    add_free(ref, end_ - ref, before);
    return;
  }
  end_ = ref;
  last_ = ref - before;
}

}  // namespace wherry::cache
