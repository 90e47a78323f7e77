#include "waiting/host_trials.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <string>

#include "base/own_errno.hpp"

namespace wherry::waiting {

namespace {

/// What ranks added for a pair, in one word, which they change at once: the lowest bits of the pair, and the highest of
/// the two numbers.
class Told {
 public:
  explicit Told(std::uint64_t word) : word_(word) {}
  Told(std::uint64_t pair, const Rates& rates)
      : word_(pair << (2 * number_bits) | bits_of(rates.spun) << number_bits | bits_of(rates.polled)) {}

  std::uint64_t word() const { return word_; }
  bool is_of(std::uint64_t pair) const {
    return static_cast<std::uint16_t>(word_ >> (2 * number_bits)) == static_cast<std::uint16_t>(pair) &&
           word_ << pair_bits != 0;
  }
  Rates rates() const { return {number_of(word_ >> number_bits), number_of(word_)}; }

 private:
  static constexpr int pair_bits = 16, number_bits = 24, dropped_bits = 8;

  static std::uint64_t bits_of(float number) { return std::bit_cast<std::uint32_t>(number) >> dropped_bits; }
  static float number_of(std::uint64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits << dropped_bits));
  }

  std::uint64_t word_;
};

std::string path_of(std::uint64_t number) {
  char name[48];
  std::snprintf(name, sizeof name, "/dev/shm/wherry-%016llx", static_cast<unsigned long long>(number));
  return name;
}

/// Whether it is this user's, and now has its memory: to write where the system has none left would end the process.
bool is_usable(int file) {
  struct stat status{};
  return ::fstat(file, &status) == 0 && status.st_uid == ::geteuid() &&
         ::posix_fallocate(file, 0, sizeof(HostTrials)) == 0;
}

}  // namespace

std::uint64_t HostTrials::join(std::uint64_t pair, std::uint64_t end) {
  std::uint64_t known = end_.load(std::memory_order_relaxed);
  while (known <= pair)
    if (end_.compare_exchange_weak(known, end, std::memory_order_relaxed)) return end;
  return known;
}

void HostTrials::add(std::uint64_t pair, const Rates& rates) {
  std::atomic<std::uint64_t>& told = pairs_[pair % kept_pairs];
  std::uint64_t word = told.load(std::memory_order_relaxed), next = 0;
  do {
    const Rates known = Told(word).is_of(pair) ? Told(word).rates() : Rates{};
    next = Told(pair, {known.spun + rates.spun, known.polled + rates.polled}).word();
  } while (!told.compare_exchange_weak(word, next, std::memory_order_relaxed));
}

std::optional<Rates> HostTrials::sum(std::uint64_t pair) const {
  const Told told(pairs_[pair % kept_pairs].load(std::memory_order_relaxed));
  return told.is_of(pair) ? std::optional(told.rates()) : std::nullopt;
}

void HostTrials::end(const Result& result) {
  last_.store(result.until_ns << 1 | (result.polls ? 1 : 0), std::memory_order_relaxed);
  end_.store(1, std::memory_order_release);  // a pair long ago
}

HostTrials::Result HostTrials::last() const {
  const std::uint64_t word = last_.load(std::memory_order_relaxed);
  return {word >> 1, (word & 1) != 0};
}

void HostTrials::disturbed(std::uint64_t wall_ns) {
  std::uint64_t known = disturbed_ns_.load(std::memory_order_relaxed);
  while (known < wall_ns && !disturbed_ns_.compare_exchange_weak(known, wall_ns, std::memory_order_relaxed)) {
  }
}

std::uint64_t new_host_number() {
  const OwnErrno own;
  std::uint64_t number = 0;
  return ::getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number ? number : 0;
}

/// Not by shm_open, which with older C libraries is in one of its own.
HostTrials* map_host_trials(std::uint64_t number) {
  const OwnErrno own;
  if (number == 0) return nullptr;
  const int file =
      ::open(path_of(number).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file < 0) return nullptr;
  void* const memory = is_usable(file)
                           ? ::mmap(nullptr, sizeof(HostTrials), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                           : MAP_FAILED;
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<HostTrials*>(memory);
}

void hide_host_trials(std::uint64_t number) {
  const OwnErrno own;
  if (number != 0) ::unlink(path_of(number).c_str());
}

}  // namespace wherry::waiting
