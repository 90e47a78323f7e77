#include "comm/communicator_registry.hpp"

#include <memory>
#include <utility>

namespace wherry::run {

namespace {

/// Of calls on a communicator before Wherry is enabled on it: one that is hardly used is not worth a communicator of
/// its own.
constexpr unsigned weight_before_enabling = static_cast<unsigned>(Weight::full);

/// Communicators enabled at once. Libraries have room for so many: MPICH for about 2000, Intel MPI for less than 500
/// whose reductions go through shared memory, and they are the program's.
constexpr int most_enabled = 64;

/// What a communicator has as its attribute. May outlive what it leads to.
struct Ticket {
  std::weak_ptr<RegisteredCommunicator> registered;
  RegisteredCommunicator* address;
};

/// A duplicate starts afresh.
int never_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

}  // namespace

Communicator* CommunicatorRegistry::enabled(MPI_Comm comm, Weight weight, const Sound& is_sound,
                                            std::string_view* refusal) {
  RegisteredCommunicator* const a = open(comm, refusal);
  if (a == nullptr) return nullptr;
  if (!a->communicator) {
    if (count(*a, weight, is_sound) < weight_before_enabling) return nullptr;
    enable(*a);
  }
  *refusal = a->refusal;
  return a->communicator.get();
}

std::shared_ptr<Communicator> CommunicatorRegistry::known(MPI_Comm comm, std::string_view* refusal) {
  RegisteredCommunicator* const a = open(comm, refusal);
  return a == nullptr ? nullptr : a->communicator;
}

std::shared_ptr<Communicator> CommunicatorRegistry::enabled_now(MPI_Comm comm, const Sound& is_sound,
                                                                std::string_view* refusal) {
  RegisteredCommunicator* const a = open(comm, refusal);
  if (a == nullptr) return nullptr;
  if (!a->communicator && is_sound()) enable(*a);
  *refusal = a->refusal;
  return a->communicator;
}

/// nullptr if the communicator is refused already.
RegisteredCommunicator* CommunicatorRegistry::open(MPI_Comm comm, std::string_view* refusal) {
  RegisteredCommunicator* const a = comm == MPI_COMM_NULL ? nullptr : find(comm);
  *refusal = a == nullptr ? "" : a->refusal;
  return a == nullptr || !a->refusal.empty() ? nullptr : a;
}

/// What the calls before weighed. A rank whose arguments are wrong may be calling alone: the others would neither count
/// nor enable it.
unsigned CommunicatorRegistry::count(RegisteredCommunicator& a, Weight weight, const Sound& is_sound) {
  if (!is_sound()) return 0;
  return std::exchange(a.weight, a.weight + static_cast<unsigned>(weight));
}

/// What the ranks refuse is freed at once and does not count.
void CommunicatorRegistry::enable(RegisteredCommunicator& a) {
  const Capacity capacity = enabled_ < most_enabled ? Capacity::enough : Capacity::none;
  auto made = std::make_shared<Communicator>(a.comm, settings_, api_, capacity);
  a.refusal = made->agreement().refusal;
  if (!a.refusal.empty()) return;
  welcome_(*made, a.comm);
  a.communicator = std::move(made);
  ++enabled_;
}

int CommunicatorRegistry::keyval() {
  if (const int made = keyval_.load(std::memory_order_acquire); made != MPI_KEYVAL_INVALID) return made;
  const std::lock_guard lock(mutex_);
  int made = keyval_.load();
  if (made == MPI_KEYVAL_INVALID && api_.Comm_create_keyval(never_copy, forget, &made, this) == MPI_SUCCESS)
    keyval_.store(made, std::memory_order_release);
  return made;
}

/// The library lets a communicator go.
int CommunicatorRegistry::forget(MPI_Comm, int, void* value, void* self) {
  const std::unique_ptr<Ticket> ticket(static_cast<Ticket*>(value));
  if (!ticket->registered.expired()) static_cast<CommunicatorRegistry*>(self)->detach(ticket->address);
  return MPI_SUCCESS;
}

RegisteredCommunicator* CommunicatorRegistry::find(MPI_Comm comm) {
  if (RegisteredCommunicator* const recent = recent_.find(comm)) return recent;
  RegisteredCommunicator* const found = ask(comm);
  if (found == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  recent_.put(comm, found);
  return found;
}

/// What the communicator has as its attribute; made if there is nothing.
RegisteredCommunicator* CommunicatorRegistry::ask(MPI_Comm comm) {
  const int key = keyval();
  void* value = nullptr;
  int found = 0;
  if (key == MPI_KEYVAL_INVALID || api_.Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS)
    return nullptr;
  return found ? static_cast<Ticket*>(value)->address : attach(comm);
}

RegisteredCommunicator* CommunicatorRegistry::attach(MPI_Comm comm) {
  const auto fresh = std::make_shared<RegisteredCommunicator>();
  fresh->comm = comm;
  fresh->refusal = refusal_of(comm);
  auto ticket = std::make_unique<Ticket>(fresh, fresh.get());
  if (api_.Comm_set_attr(comm, keyval(), ticket.get()) != MPI_SUCCESS) return nullptr;
  static_cast<void>(ticket.release());  // the communicator's
  const std::lock_guard lock(mutex_);
  return all_.emplace_back(fresh).get();
}

void CommunicatorRegistry::detach(RegisteredCommunicator* registered) {
  recent_.forget(registered->comm, registered);
  // Outside the lock: both talk to the library.
  if (registered->communicator) farewell_(*registered->communicator);
  if (std::exchange(registered->communicator, nullptr)) --enabled_;
  const std::lock_guard lock(mutex_);
  all_.remove_if(
      [registered](const std::shared_ptr<RegisteredCommunicator>& a) { return a.get() == registered; });
}

/// What is known to be unsupported before any message.
std::string_view CommunicatorRegistry::refusal_of(MPI_Comm comm) const {
  int inter = 0, size = 0;
  if (api_.Comm_test_inter(comm, &inter) != MPI_SUCCESS) return "invalid communicator";
  if (inter) return "intercommunicator";
  api_.Comm_size(comm, &size);
  return size == 1 ? "communicator of one rank" : "";
}

void CommunicatorRegistry::detach_all() {
  while (!all_.empty()) detach(all_.front().get());
  if (int key = keyval_.exchange(MPI_KEYVAL_INVALID); key != MPI_KEYVAL_INVALID) api_.Comm_free_keyval(&key);
}

}  // namespace wherry::run
