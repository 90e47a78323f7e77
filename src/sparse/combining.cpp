#include "sparse/combining.hpp"

#include <algorithm>
#include <optional>

#include "base/floating_point.hpp"
#include "model/cost.hpp"
#include "sparse/records.hpp"
#include "sparse/sparse_strategies.hpp"

namespace wherry::run {

namespace {

/// A message of the schedule begins with the bytes of its records; of these, so many come with it, and the rest in a
/// second one. Less than any library's limit for messages that are sent at once.
constexpr std::size_t first_bytes = 2048;
using Length = std::size_t;
constexpr std::size_t head = record_unit;
static_assert(sizeof(Length) <= head);

/// Forwarding costs each byte its time on the wire and two copies per hop, a message of its own what a message costs.
std::size_t limit_of(const schedule::Strategy& strategy, const topology::Placement& placement,
                     const schedule::Schedule& s) {
  constexpr std::size_t most = first_bytes - head - record_unit, least = 64;
  const std::size_t hops = strategy.hops == schedule::Hops::several ? s.phases.size() : 1;
  if (hops <= 1) return most;
  const model::Machine m;
  const bool within = placement.nodes() == 1;
  const double message_s = within ? m.alpha_within_s : m.alpha_between_s;
  const double byte_s = (within ? m.beta_within_s : m.beta_between_s) + 2 * m.gamma_s;
  const double bytes = message_s / (byte_s * static_cast<double>(hops - 1));
  return std::clamp(static_cast<std::size_t>(bytes), least, most);
}

/// Binds a schedule to records: what a message carries is known when it is sent.
class RecordBinding {
 public:
  RecordBinding(const Forwarding& forwarding, const SparseCall& call)
      : forwarding_(forwarding),
        call_(call),
        schedule_(forwarding.schedule()),
        departing_(schedule_.sends.size(), std::vector<std::byte>(head)),
        arriving_(schedule_.receives.size() * first_bytes) {}

  /// Before the schedule runs: what this rank has to send.
  void load() {
    for (const SparseMessage& m : call_.sends) {
      const bool alone = m.bytes > forwarding_.limit();
      const auto bytes = static_cast<long long>(m.bytes);
      take({schedule_.rank, m.peer, alone ? ~bytes : bytes}, m.data);
      if (alone) send({const_cast<void*>(m.data), bytes}, m.peer, by_itself_tag);
    }
  }

  std::optional<Piece> outgoing(const schedule::Message& m) {
    std::vector<std::byte>& bundle = departing_[index_of(schedule_.sends, m)];
    const Length length = bundle.size() - head;
    std::memcpy(bundle.data(), &length, sizeof length);
    const std::size_t first = std::min(bundle.size(), first_bytes);
    if (bundle.size() > first)
      send({bundle.data() + first, static_cast<long long>(bundle.size() - first)}, m.peer,
           further_records_tag);
    return Piece{bundle.data(), static_cast<long long>(first)};
  }

  std::optional<Piece> incoming(const schedule::Message& m) {
    return Piece{place_of(m), static_cast<long long>(first_bytes)};
  }

  int arrived(const schedule::Message& m) {
    const std::byte* const first = place_of(m);
    Length length = 0;
    std::memcpy(&length, first, sizeof length);
    if (length <= first_bytes - head) {
      unpack({first + head, length});
      return MPI_SUCCESS;
    }
    std::vector<std::byte> all(first + head, first + first_bytes);
    const std::size_t here = all.size();
    all.resize(length);
    const int code =
        receive({all.data() + here, static_cast<long long>(length - here)}, m.peer, further_records_tag);
    if (code == MPI_SUCCESS) unpack(all);
    return code;
  }

  /// Waits for what travels beside the schedule; the first error.
  int finish() { return first_error(code_, call_.channel.wait_all(beside_)); }

 private:
  template <class Messages>
  static std::size_t index_of(const Messages& all, const schedule::Message& m) {
    return static_cast<std::size_t>(&m - all.data());
  }
  std::byte* place_of(const schedule::Message& m) {
    return arriving_.data() + index_of(schedule_.receives, m) * first_bytes;
  }

  void unpack(std::span<const std::byte> bundle) {
    for_each_record(bundle, [this](const Record& record, const std::byte* data) { take(record, data); });
  }

  /// A message that is for this rank, or goes on from here.
  void take(const Record& record, const void* data) {
    if (record.destination != schedule_.rank)
      return append(departing_[forwarding_.departure({record.origin, record.destination})], record, data);
    std::byte* const to = call_.inbox.add(record.origin, record.bytes());
    if (record.is_here()) {
      std::copy_n(static_cast<const std::byte*>(data), record.bytes(), to);
    } else {
      MPI_Request& request = beside_.emplace_back(MPI_REQUEST_NULL);
      note(call_.channel.receive({to, static_cast<long long>(record.bytes())}, record.origin, by_itself_tag,
                                 &request, spare_));
    }
  }

  void send(const Piece& piece, int peer, int tag) {
    MPI_Request& request = beside_.emplace_back(MPI_REQUEST_NULL);
    note(call_.channel.send(piece, peer, tag, &request));
  }

  int receive(const Piece& piece, int peer, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = call_.channel.receive(piece, peer, tag, &request, spare_);
    return first_error(code, call_.channel.wait(request));
  }

  void note(int code) { code_ = first_error(code_, code); }

  const Forwarding& forwarding_;
  const SparseCall& call_;
  const schedule::Schedule& schedule_;
  std::vector<std::vector<std::byte>> departing_;  // by message to send
  std::vector<std::byte> arriving_;                // first_bytes for each message to receive
  std::vector<MPI_Request> beside_;
  Spare spare_;
  int code_ = MPI_SUCCESS;
};

}  // namespace

Forwarding::Forwarding(const schedule::Strategy& strategy, const topology::Placement& placement, int rank)
    : schedule_(strategy.schedule(placement, rank)),
      limit_(computed([&] { return limit_of(strategy, placement, schedule_); })) {
  for (std::size_t i = 0; i < schedule_.sends.size(); ++i)
    for (const schedule::Item& item : schedule_.items_of(schedule_.sends[i]))
      departures_[key(item.block)] = i;
}

int combine(const Forwarding& forwarding, const SparseCall& call, Requests& requests) {
  RecordBinding binding(forwarding, call);
  binding.load();
  const int code = execute(forwarding.schedule(), binding, call.channel, combined_records_tag, requests);
  return first_error(code, binding.finish());
}

}  // namespace wherry::run
