// The cache of one window: what a rank has read of others' memory, as ranges of bytes.
//
// It knows no MPI. Its caller asks it before a get, fetches what it says is missing, brings it the bytes when
// they have come, tells it of writes, and of the ends of epochs. All functions are called by one thread at a
// time. None blocks.
//
//   lookup() says hit: done.
//            pending: done when other fetches are.
//            missing: fetch missing(), then call filled() for each ticket.
//            block: the same, but the bytes come to memory of the caller's.
//
// A hit on a range that was asked for as it is, or on the beginning of a larger one, is one probe of the index,
// one entry, one copy. Everything else goes through the page indexes. docs/design/0008-rma-cache.md tells why it is
// built so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cache/adaptation.hpp"
#include "cache/entry.hpp"
#include "cache/fetches.hpp"
#include "cache/history.hpp"
#include "cache/index.hpp"
#include "cache/memory.hpp"
#include "cache/miss_ratio_curve.hpp"
#include "cache/page_index.hpp"
#include "cache/policy.hpp"
#include "cache/statistics.hpp"
#include "cache/storage.hpp"
#include "cache/timeline.hpp"

namespace wherry::cache {

// What is valid: entries of the current generation.
//
// To invalidate is to begin another generation. Index, page indexes and storage forget in constant time what they
// hold; fetches that are under way carry the generation in which they began, and come home to nothing.

class Epoch {
 public:
  std::uint32_t generation() const { return generation_; }
  bool is_current(std::uint32_t generation) const { return generation == generation_; }
  void invalidate() { ++generation_; }

 private:
  std::uint32_t generation_ = 1;
};

/// How long what was read stays valid.
enum class Mode {
  transparent,   // until the epoch ends: right for any program
  always_cache,  // for the life of the window, which nobody writes
  user_defined,  // until invalidate()
};

/// With less memory than this there is no cache.
inline constexpr std::size_t least_ceiling = std::size_t{64} << 10;

struct CacheOptions {
  Mode mode = Mode::transparent;
  /// Memory never exceeds this: entries, index and all. At least least_ceiling. Raise it if there are capacity misses.
  std::size_t ceiling_bytes = std::size_t{64} << 20;
  /// Memory for entries at first.
  std::size_t storage_bytes = std::size_t{1} << 20;
  /// Entries that the index has slots for at first; about 85% of the slots can be filled before there are
  /// conflicts.
  std::size_t index_entries = 4096;
  /// Whether storage and index change their sizes. Without it they stay as they are at first.
  bool adaptive = true;
  /// Ranges to follow for miss_ratio_curve(); 0: none, and there is no curve. Each takes some 100 bytes, which the
  /// ceiling does not count.
  std::size_t curve_samples = 0;
};

enum class Answer { hit, pending, missing, block, absent };

/// A part of a lookup that must be fetched.
struct Missing {
  std::uint64_t offset;  // in the range and in the destination
  std::uint64_t bytes;
  Ticket ticket;  // 0: nobody waits for it
};

class Cache {
 public:
  /// Throws usage_error if the ceiling is too low, std::bad_alloc if the machine has not the memory to begin with.
  explicit Cache(const CacheOptions& options = {});

  /// Reads a range into `destination`, as far as it is cached.
  ///
  /// hit: the destination is complete. pending: it will be as soon as fetches that are under way are filled;
  /// until then it must stay. missing: missing() must be fetched, too. `score`: how much more than others this
  /// range is worth keeping; positive. A range of no bytes is a hit.
  Answer lookup(const TargetRange& range, std::byte* destination, float score = 1) {
    return asked(probe(range, destination, score), range, score);
  }

  /// As lookup(), but absent where nothing of the range is there or under way: then call ask(), once, before anything
  /// else. That takes longer than finding out, so the fetch may begin before.
  Answer probe(const TargetRange& range, std::byte* destination, float score = 1) {
    if (policy_.reference()) [[unlikely]]
      next_tick();
    const std::uint64_t own = hash(range);
    follow(range, own);
    return find_hit(range, own, destination, score);
  }
  /// For the range that the last call, which was probe(), found absent: missing() is all of it.
  void ask(const TargetRange& range, float score = 1);

  /// As lookup(), for who would rather fetch all of the block that holds the range.
  ///
  /// block: nothing of it is there or under way; missing() is all of the block, to be fetched to other memory than the
  /// destination, which will be complete when that is filled. A block that deserves no room is not asked for.
  Answer lookup_in_block(const TargetRange& block, const TargetRange& range, std::byte* destination,
                         float score = 1);

  /// As lookup(), for who cannot say when a fetch is over: nothing that is missing will be kept, and what is under way
  /// counts as missing. So the answer is never pending, and no ticket is given. A range of which nothing is cached is
  /// not counted.
  Answer peek(const TargetRange& range, std::byte* destination);

  /// What must be fetched for the last lookup() or ask(), in order; valid until the next call.
  std::span<const Missing> missing() const { return missing_; }
  /// Whether it waits for fetches that were under way, too.
  bool waits() const { return waits_; }
  /// The bytes of a fetch have come. Every ticket but 0 must be filled, passed on or abandoned, once, in any order.
  void filled(Ticket ticket, const std::byte* bytes);
  /// The same, but they are not to be kept.
  void passed_on(Ticket ticket, const std::byte* bytes);
  /// A fetch has failed. Who waits for it gets nothing.
  void abandoned(Ticket ticket) { passed_on(ticket, nullptr); }
  /// Calls use(skip, bytes, destination) for those who wait for bytes of a fetch, and who then wait no more. The fetch
  /// goes on.
  template <class Use>
  void release(Ticket ticket, Use&& use) {
    fetches_.release(ticket, use);
  }

  /// The range was, or is being, written by this process: with these bytes, or (nullptr) nobody knows with which.
  void written(const TargetRange& range, const std::byte* bytes = nullptr);
  /// Forgets all, in constant time; fetches under way still serve those who wait for them.
  void invalidate();
  /// An epoch ends: its entries end with it in transparent mode, and sizes are adapted.
  void end_epoch();

  const Statistics& statistics() const { return statistics_; }
  /// LRU's, for all lookups so far: with how much memory how many would have missed. Empty without curve_samples.
  std::vector<MissRatioCurve::Point> miss_ratio_curve() const { return curve_.points(statistics_.lookups()); }
  /// How its hits and its memory have gone.
  std::span<const Timeline::Point> timeline() const { return timeline_.points(); }
  /// How the storage came to its size: the last changes, oldest first, at most most_adjustments.
  std::span<const Adjustment> adjustments() const { return adjustments_; }
  static constexpr std::size_t most_adjustments = 64;
  const CacheOptions& options() const { return options_; }
  std::size_t entries() const { return index_.size(); }
  std::size_t index_slots() const { return index_.slots(); }
  std::size_t storage_bytes() const { return storage_.bytes(); }
  /// Fetches that are neither filled nor abandoned.
  std::size_t under_way() const { return fetches_.size(); }
  /// All memory but that of the fetches under way, which are as many as the caller keeps open.
  std::size_t bytes() const;

 private:
  Entry& entry(Ref ref) const { return reinterpret_cast<Entry&>(storage_.block(ref)); }
  Ref ref_of(const Entry& entry) const { return entry.block.owner; }
  static std::uint64_t hash(const TargetRange& range) { return hash_of(range.target, range.displacement); }
  auto hash_of_entry() const {
    return [this](Ref ref) { return hash_of(entry(ref).target, entry(ref).displacement); };
  }
  PageIndex& pages_of(std::uint64_t bytes) { return bytes <= fine_bytes ? fine_ : coarse_; }

  /// The valid entry that begins where the range does and covers it, or nullptr.
  Entry* find(const TargetRange& range, std::uint64_t own) const {
    const Ref ref = index_.find(own, [&](Ref at) {
      const Entry& found = entry(at);
      return found.displacement == range.displacement && found.target == range.target;
    });
    Entry& found = entry(ref);
    return ref != 0 && found.bytes >= range.bytes && found.valid() ? &found : nullptr;
  }

  void follow(const TargetRange& range, std::uint64_t own) {
    if (curve_.follows(own)) [[unlikely]]
      curve_.note(own, Storage::footprint(range.bytes + Entry::head));
  }

  Answer asked(Answer answer, const TargetRange& range, float score) {
    if (answer != Answer::absent) [[likely]]
      return answer;
    ask(range, score);
    return Answer::missing;
  }

  Answer find_hit(const TargetRange& range, std::uint64_t own, std::byte* destination, float score) {
    Entry* const entry = find(range, own);
    if (entry == nullptr) [[unlikely]]
      return find_parts(range, own, destination, score);
    copy_hit(*entry, range, destination);
    return Answer::hit;
  }
  /// Of an entry that holds the range and is valid.
  void copy_hit(Entry& entry, const TargetRange& range, std::byte* destination) {
    policy_.touch(entry);
    count_hit(range);
    copy_out(entry, range.displacement - entry.displacement, range.bytes, destination);
  }

  void count_found(const TargetRange& range, bool waits);
  void count_hit(const TargetRange& range) {
    ++statistics_.full_hits;
    statistics_.bytes_saved += range.bytes;
  }

  /// Bytes [from, from + bytes) of an entry.
  void copy_out(Entry& entry, std::uint64_t from, std::uint64_t bytes, std::byte* to) const {
    if (entry.block.next == 0) [[likely]]
      return copy_bytes(to, entry.data() + from, bytes);
    storage_.each_part(ref_of(entry), Entry::head + from, bytes,
                       [&](const std::byte* part, std::size_t size) {
                         std::memcpy(to, part, size);
                         to += size;
                       });
  }
  void copy_in(Entry& entry, std::uint64_t from, std::uint64_t bytes, const std::byte* data);

  // Lookups that the index alone cannot answer: partial_lookup.cpp.
  Answer find_parts(const TargetRange& range, std::uint64_t own, std::byte* destination, float score);
  bool ask_for_block(const TargetRange& block, std::uint64_t own, const TargetRange& range,
                     std::byte* destination, float score);
  Entry* covering(const TargetRange& range) const;
  void collect(const TargetRange& range);
  bool take_found(const TargetRange& range, std::byte* destination);
  bool take_part(Entry& entry, const TargetRange& part, std::byte* destination);
  void wait_for(Entry& entry, const TargetRange& part, std::byte* destination);
  void fetch_gaps(const TargetRange& range, float score);
  bool can_merge(const TargetRange& range) const;
  void merge(const TargetRange& range, const std::byte* destination, float score);
  void ask_for(const TargetRange& range, const TargetRange& part, Ref entry);
  Ref admit(const TargetRange& range, std::uint64_t own, float heat, float score);
  Ref refuse(const TargetRange& range);
  void next_tick();

  // Which entries there are: residents.cpp.
  enum class Admission { by_worth, in_any_case };
  Ref reserve(const TargetRange& range, std::uint64_t own, float heat, float score, Admission admission);
  bool deserves_memory(float worth, std::size_t footprint);
  bool make_room(const TargetRange& range, float worth);
  bool put_in_index(Ref ref, std::uint64_t own);
  bool evict(float worth);
  Ref evict_for(Ref ref);
  void evict_from_places(std::uint64_t hash);
  Ref least_of_sample(float& least);
  std::span<const Ref> draw(std::size_t& at, std::size_t& left);
  void remove(Ref ref);
  void remove(Ref ref, Cause cause);
  void detach_fetches(Entry& entry);
  float worth(const Entry& entry) const;

  // Sizes: sizing.cpp.
  CacheLoad load() const;
  void adapt(const CacheLoad& load);
  void resize_storage(std::size_t bytes);
  void note_adjustment();
  void fit_index();
  bool move_entry(Ref ref);
  std::size_t live_bytes() const;

  static constexpr std::uint64_t fine_bytes = 512;  // of entries in the fine page index
  static constexpr unsigned fine_page_bits = 9, coarse_page_bits = 16;

  CacheOptions options_;
  Policy policy_;
  Statistics statistics_;
  Storage storage_;
  Index index_;  // from a range's beginning to its entry
  PageIndex fine_, coarse_;
  History history_;
  Epoch epoch_;
  Fetches fetches_;
  Adaptation adaptation_;
  MissRatioCurve curve_;
  Timeline timeline_;
  std::vector<Adjustment> adjustments_;
  std::uint64_t random_ = 0x9e3779b97f4a7c15ULL;
  static constexpr std::size_t sample_size = 16;
  std::array<Ref, sample_size + Index::slots_per_bucket> sample_;

  bool inside_ =
      false;  // the last lookup that came this far read a part of a larger entry: the next one may, too
  bool waits_ = false;  // the last lookup of which something was missing also waits for what is under way
  std::vector<Missing> missing_;
  std::vector<Ref> found_;           // entries that the range of a lookup or write touches, in order
  std::vector<TargetRange> gaps_;    // what is between them
  std::vector<TargetRange> coming_;  // what of one of them is under way
};

}  // namespace wherry::cache
