#include "host/layout_messages.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "mpi/errors_returned.hpp"
#include "sparse/exchange.hpp"

namespace wherry::run {

const LayoutMessages::End LayoutMessages::nothing{no_block, {MPI_PROC_NULL, 0}, true};

LayoutMessages::LayoutMessages(const mpi::Api& api, Waiting waiting, const VariableReader& read)
    : api_(api),
      waiting_(waiting),
      free_cores_(read),
      packer_([this] { return free_cores_.now(); }),
      layouts_(api),
      staging_(kept_bytes) {
  int* last = nullptr;
  int found = 0;
  api_.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&last), &found);
  constexpr int least = 32767;  // MPI 4.1, 9.1.2
  last_tag_ = found != 0 ? *last : least;
}

bool LayoutMessages::is_legal(Endpoint peer, Direction direction, MPI_Comm comm) const {
  int ranks = 0;
  if (comm == MPI_COMM_NULL || destinations(api_, comm, &ranks) != MPI_SUCCESS) return false;
  const bool is_tag = peer.tag >= 0 && peer.tag <= last_tag_;
  const bool is_rank = peer.rank == MPI_PROC_NULL || (peer.rank >= 0 && peer.rank < ranks);
  return (is_rank || (direction == Direction::in && peer.rank == MPI_ANY_SOURCE)) &&
         (is_tag || (direction == Direction::in && peer.tag == MPI_ANY_TAG));
}

/// Whether the type may be sent: what has a plan is committed. Without memory for a plan the library packs.
bool LayoutMessages::is_usable(const MessageEnd& end) {
  try {
    if (layouts_.plan(end.type, end.count) != nullptr) return true;
  } catch (const std::bad_alloc&) {
  }
  const ErrorsReturned self(MPI_COMM_SELF, api_);
  return layouts_.is_committed(end.type);
}

LayoutMessages::End LayoutMessages::read(const MessageEnd& end, Direction direction, MPI_Comm comm) {
  if (end.count < 0 || end.type == MPI_DATATYPE_NULL || !is_legal(end.peer, direction, comm))
    return {no_block, end.peer, false};
  const datatype::TypeFacts facts = datatype::facts_of(api_, end.type);
  if (facts.size < 0) return {no_block, end.peer, false};
  if (!facts.dense && !is_usable(end)) return {no_block, end.peer, false};
  if (end.peer.rank == MPI_PROC_NULL) return {no_block, end.peer, true};
  return {{{end.buffer, end.count, end.type}, end.count * facts.size, facts.dense}, end.peer, true};
}

int LayoutMessages::transfer(const End& out, const End& in, MPI_Comm comm, MPI_Status* status) {
  const Channel channel(api_, comm, waiting_);
  const Staging::Lease lease = staging_.lease(pair_exchange_memory(), Patience::wait);
  const Exchanged done = exchange_pair({channel, accelerator_.loaded() ? nullptr : &layouts_, lease.data()},
                                       {out.peer, out.share}, {in.peer, in.share}, {});
  tell(done, in.share, status);
  if (done.code != MPI_SUCCESS && !done.is_reported) api_.Comm_call_errhandler(comm, done.code);
  return done.code;
}

void LayoutMessages::tell(const Exchanged& done, const Share& room, MPI_Status* status) const {
  if (status == MPI_STATUS_IGNORE) return;
  const bool nobody = done.from.rank == MPI_PROC_NULL;
  status->MPI_SOURCE = done.from.rank;
  status->MPI_TAG = nobody ? MPI_ANY_TAG : done.from.tag;
  api_.Status_set_elements_x(status, MPI_BYTE, std::min(done.received, room.bytes));
  api_.Status_set_cancelled(status, 0);
}

/// What has a plan is committed.
PlannedExchange::End LayoutMessages::planned(const MessageEnd& end) {
  const bool has_data = end.type != MPI_DATATYPE_NULL && end.count > 0 && end.buffer != MPI_BOTTOM &&
                        end.buffer != nullptr && end.peer.rank != MPI_PROC_NULL;
  if (!has_data || accelerator_.loaded()) return {end, nullptr, nullptr};
  datatype::PlanPtr plan = layouts_.plan(end.type, end.count);
  if (plan == nullptr || plan->is_block() || plan->size() > std::numeric_limits<int>::max())
    return {end, nullptr, nullptr};
  std::unique_ptr<std::byte[]> packed(new std::byte[static_cast<std::size_t>(plan->size())]);
  return {end, std::move(plan), std::move(packed)};
}

/// Native where errors return: Open MPI writes all of a contiguous message, even beyond a buffer that has less room.
PlannedExchange::End LayoutMessages::planned_receive(const MessageEnd& in, MPI_Comm comm) {
  return handler_of(api_, comm) == MPI_ERRORS_ARE_FATAL ? planned(in)
                                                        : PlannedExchange::End{in, nullptr, nullptr};
}

/// The plan, if all elements lie within the packed buffer.
datatype::PlanPtr LayoutMessages::plan_within(const MessageEnd& data, const PackedPlace& packed) {
  const bool is_legal = data.type != MPI_DATATYPE_NULL && data.count > 0 && data.buffer != MPI_BOTTOM &&
                        packed.buffer != nullptr && packed.position != nullptr && *packed.position >= 0;
  if (!is_legal || accelerator_.loaded()) return nullptr;
  try {
    datatype::PlanPtr plan = layouts_.plan(data.type, data.count);
    return plan != nullptr && plan->size() <= packed.bytes - *packed.position ? plan : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool LayoutMessages::pack(const MessageEnd& from, const PackedPlace& to) {
  const datatype::PlanPtr plan = plan_within(from, to);
  if (plan == nullptr) return false;
  packer_.pack(*plan, static_cast<const std::byte*>(from.buffer),
               static_cast<std::byte*>(to.buffer) + *to.position, {0, plan->size()});
  *to.position += static_cast<int>(plan->size());
  return true;
}

bool LayoutMessages::unpack(const PackedPlace& from, const MessageEnd& to) {
  const datatype::PlanPtr plan = plan_within(to, from);
  if (plan == nullptr) return false;
  packer_.unpack(*plan, static_cast<std::byte*>(const_cast<void*>(to.buffer)),
                 static_cast<const std::byte*>(from.buffer) + *from.position, {0, plan->size()});
  *from.position += static_cast<int>(plan->size());
  return true;
}

}  // namespace wherry::run
