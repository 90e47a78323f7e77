#include "p2p/elements.hpp"

#include <algorithm>
#include <bit>

#include "mpi/errors_returned.hpp"

namespace wherry::p2p {
namespace {

void drop(Elements& elements) {
  elements.bytes = 0;
  elements.plan = nullptr;
}

}  // namespace

void Elements::pack() const { packer->pack(*plan, memory, packed.get(), {0, bytes}); }

void Elements::unpack(Offset arrived) const {
  if (arrived > 0) packer->unpack(*plan, memory, packed.get(), {0, std::min(arrived, bytes)});
}

std::string_view Converter::examine(Elements& elements, const MessageKind& kind) {
  if (has_none(elements.type, elements.count)) return {};
  const std::lock_guard lock(mutex_);
  const KnownType* const known = types_.find(elements.type);
  elements.unknown = known == nullptr;
  if (known == nullptr || known->native || elements.count > kind.most / known->bytes) return {};
  const Offset bytes = known->bytes * elements.count;
  if (bytes < least_bytes) return {};
  if (!kind.obstacle.empty()) return kind.obstacle;
  if (bytes > most_bytes_) return "the message is larger than WHERRY_STAGING_MAX";
  if (elements.memory == MPI_BOTTOM) return "MPI_BOTTOM, from which the library sends";
  if (accelerator_.loaded()) return "an accelerator: only the library can copy its memory";
  elements.bytes = bytes;
  elements.signature = hashed(known->signature + std::bit_width(static_cast<std::uint64_t>(bytes)));
  return {};
}

std::string_view Converter::take(Elements& elements) {
  if (elements.bytes == 0) return {};
  {
    const std::lock_guard lock(mutex_);
    KnownType* const known = types_.find(elements.type);
    if (known != nullptr) elements.plan = types_.plan(*known, elements.type, elements.count);
    if (known == nullptr || known->native) {
      const bool impossible = known != nullptr && elements.plan == nullptr;
      drop(elements);
      return impossible ? "the datatype has no layout that Wherry can express" : std::string_view{};
    }
  }
  elements.packer = &parallel_;
  elements.packed.reset(static_cast<std::byte*>(
      ::operator new(static_cast<std::size_t>(elements.bytes), PackedDeleter::alignment, std::nothrow)));
  if (elements.is_taken()) return {};
  drop(elements);
  return "there is no memory for the packed message";
}

void Converter::note(const Elements& elements) {
  const std::lock_guard lock(mutex_);
  types_.note(elements.type);
}

Offset arrived_bytes(const mpi::Api& api, const MPI_Status& told) {
  MPI_Status status = told;  // SMPI's functions ask for one that they may change
  int cancelled = 0;
  MPI_Count bytes = MPI_UNDEFINED;
  if (api.Test_cancelled(&status, &cancelled) != MPI_SUCCESS || cancelled != 0) return -1;
  const int code = api.Get_elements_x(&status, MPI_BYTE, &bytes);
  return code != MPI_SUCCESS || bytes == MPI_UNDEFINED ? -1 : static_cast<Offset>(bytes);
}

bool is_fatal(const mpi::Api& api, MPI_Comm comm) {
  return run::handler_of(api, comm) == MPI_ERRORS_ARE_FATAL;
}

bool tells_errors(const mpi::Api& api, MPI_Comm comm) {
  // MPI_ERRORS_ABORT is an object of the library's in Open MPI 5, which 4 lacks: a backend for both must not name it.
  const MPI_Errhandler handler = run::handler_of(api, comm);
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN;
}

}  // namespace wherry::p2p
