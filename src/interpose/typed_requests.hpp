// Nonblocking and persistent messages of derived types, which Wherry may pack and unpack itself, and the calls that
// complete them. Included by the generated wrappers.
#pragma once

#include <mpi.h>

#include <span>
#include <utility>
#include <vector>

#include "interpose/account.hpp"
#include "interpose/backend.hpp"
#include "interpose/typed_messages.hpp"
#include "p2p/pending_messages.hpp"

namespace wherry::interpose {

/// The request that a call is to make. MPICH gives MPI_SUCCESS where an error handler of the program's own has seen an
/// error; then there is none, and what the program had there stays.
class NewRequest {
 public:
  explicit NewRequest(MPI_Request* request) : request_(request), before_(*request) {
    *request_ = MPI_REQUEST_NULL;
  }
  NewRequest(const NewRequest&) = delete;
  NewRequest& operator=(const NewRequest&) = delete;
  ~NewRequest() {
    if (!is_made()) *request_ = before_;
  }
  bool is_made() const { return *request_ != MPI_REQUEST_NULL; }

 private:
  MPI_Request* request_;
  const MPI_Request before_;
};

/// Whether the elements may be Wherry's to move. What the MPI library itself begins, it may complete by itself.
template <class Memory, class Count>
bool may_take(Call& call, const Moving<Memory, Count>& moving, int peer, const MPI_Request* request) {
  return backend().packing() && peer != MPI_PROC_NULL && request != nullptr &&
         !backend().converter.is_native(moving.type, moving.count) && is_the_programs(call);
}

inline bool is_in_native_exchange() { return backend().pending.native().is_open(); }

/// Whether a message is native and nobody wants to know of it. Inlined, as all that it asks.
template <class Count>
[[gnu::always_inline]] inline bool is_native_message(const void* site, Count count, MPI_Datatype type,
                                                     int peer) {
  if (backend().recording()) return false;
  p2p::NativeMessages& native = backend().pending.native();
  return native.is_open() || backend().converter.is_surely_native(type, count) ||
         native.begins(p2p::place_of(site, peer, number_of(type), count));
}

template <class Memory, class Count, class Next>
int start_message(const p2p::MessageKind& kind, const Moving<Memory, Count>& moving,
                  const p2p::Elements& elements, MPI_Request* request, p2p::MessageTransfer& transfer,
                  p2p::CopyResult& result, const Next& next) {
  p2p::PendingMessages& pending = backend().pending;
  p2p::Exchange::Turn turn;
  pending.begin(kind, place_of(kind.site, kind.peer, moving.type, moving.count), transfer, turn);
  if (!pending.is_idle()) backend().wrap_completion();
  const NewRequest made(request);
  int code = MPI_SUCCESS;
  {
    const AsBytes bytes(moving, elements);
    code = next();
  }
  pending.begun(transfer, turn, *request, made.is_made());
  result = transfer.result();
  return code;
}

template <class Count, class Next>
int start_send(Call& call, const Moving<const void*, Count>& sent, int dest, MPI_Comm comm,
               MPI_Request* request, p2p::CopyResult& result, const Next& next,
               Obstacle* obstacle = obstacle_in) {
  if (is_in_native_exchange() || !may_take(call, sent, dest, request)) return next();
  p2p::MessageTransfer transfer;
  transfer.sent = sent.elements();
  const p2p::MessageKind kind = kind_of<Count>(call, dest, obstacle(comm));
  return start_message(kind, sent, transfer.sent, request, transfer, result, next);
}

template <class Count, class Next>
int start_receive(Call& call, const Moving<void*, Count>& received, int source, MPI_Comm comm,
                  MPI_Request* request, p2p::CopyResult& result, const Next& next) {
  if (is_in_native_exchange() || !may_take(call, received, source, request)) return next();
  p2p::MessageTransfer transfer;
  transfer.received = received.elements();
  const p2p::MessageKind kind = kind_of<Count>(call, source, obstacle_in(comm));
  return start_message(kind, received, transfer.received, request, transfer, result, next);
}

/// A message that MPI_Improbe has found.
template <class Count, class Next>
int start_matched(Call& call, const Moving<void*, Count>& received, const MPI_Message* message,
                  MPI_Request* request, p2p::CopyResult& result, const Next& next) {
  if (!backend().packing() || !is_message(message)) return next();
  const p2p::MessageKind kind = kind_of<Count>(call, MPI_ANY_SOURCE, obstacle_of(*message));
  if (is_in_native_exchange() || !may_take(call, received, MPI_ANY_SOURCE, request)) return next();
  p2p::MessageTransfer transfer;
  transfer.received = received.elements();
  return start_message(kind, received, transfer.received, request, transfer, result, next);
}

template <class Memory, class Count, class Next>
int make_persistent(Call& call, const Moving<Memory, Count>& moving,
                    const p2p::PersistentArguments& made_with, MPI_Request* request, p2p::CopyResult& result,
                    const Next& next, Obstacle* obstacle = obstacle_in) {
  if (!may_take(call, moving, made_with.peer, request)) return next();
  const NewRequest made(request);
  const int code = next();
  if (!made.is_made()) return code;
  p2p::Elements elements = moving.elements();
  elements.unknown = true;
  const p2p::MessageKind kind = kind_of<Count>(call, made_with.peer, obstacle(made_with.comm));
  result.fallback = backend().pending.made(*request, std::move(elements), kind, made_with);
  if (backend().pending.has_persistent()) backend().wrap_completion();
  return code;
}

/// Statuses for what the program does not want to know, but Wherry must.
class Statuses {
 public:
  Statuses(std::size_t count, MPI_Status*& statuses, bool needed) : statuses_(statuses), before_(statuses) {
    has_ = statuses != MPI_STATUSES_IGNORE && statuses != MPI_STATUS_IGNORE;
    if (has_ || !needed) return;
    own_.resize(count);
    statuses_ = own_.data();
    has_ = true;
  }
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;
  ~Statuses() { statuses_ = before_; }

  const MPI_Status* at(std::size_t i) const { return has_ ? &statuses_[i] : nullptr; }
  /// What a call on several requests says of the one that has this status.
  p2p::PendingMessages::Completion::Report report(int code, std::size_t i) const {
    if (code == MPI_SUCCESS) return {true, at(i)};
    const auto class_of = [](int error) {
      int found = error;
      backend().api().Error_class(error, &found);
      return found;
    };
    if (!has_ || class_of(code) != MPI_ERR_IN_STATUS) return {true, nullptr};
    const int error = at(i)->MPI_ERROR;
    return {class_of(error) != MPI_ERR_PENDING, error == MPI_SUCCESS ? at(i) : nullptr};
  }

 private:
  MPI_Status*& statuses_;
  MPI_Status* const before_;
  bool has_ = false;
  std::vector<MPI_Status> own_;
};

/// `statuses` is the wrapper's own variable, which `next` calls with. report(i, completion, statuses, code).
template <class Next, class Report>
int complete(int count, MPI_Request requests[], std::size_t status_count, MPI_Status*& statuses,
             const Next& next, const Report& report) {
  p2p::PendingMessages& pending = backend().pending;
  if (count <= 0 || requests == nullptr || pending.ends_native_exchange()) return next();
  const std::span<MPI_Request> all(requests, static_cast<std::size_t>(count));
  if (!pending.concerns(all)) return next();
  p2p::PendingMessages::Completion completion(pending, all);
  if (completion.is_empty()) return next();
  const Statuses kept(status_count, statuses, completion.receives());
  const int code = next();
  completion.ended([&](std::size_t i) { return report(i, kept, code); });
  return code;
}

/// flag: nullptr for a call that waits.
template <class Next>
int complete_all(int count, MPI_Request requests[], const int* flag, MPI_Status*& statuses,
                 const Next& next) {
  using Report = p2p::PendingMessages::Completion::Report;
  const auto report = [&](std::size_t i, const Statuses& kept, int code) {
    return code == MPI_SUCCESS && flag != nullptr && *flag == 0 ? Report{} : kept.report(code, i);
  };
  return complete(count, requests, static_cast<std::size_t>(count), statuses, next, report);
}

template <class Next>
int complete_any(int count, MPI_Request requests[], const int* index, const int* flag, MPI_Status*& status,
                 const Next& next) {
  using Report = p2p::PendingMessages::Completion::Report;
  const auto report = [&](std::size_t i, const Statuses& kept, int code) -> Report {
    if (flag != nullptr && *flag == 0) return {};
    if (*index != static_cast<int>(i)) return {};
    return {true, code == MPI_SUCCESS ? kept.at(0) : nullptr};
  };
  return complete(count, requests, 1, status, next, report);
}

template <class Next>
int complete_some(int count, MPI_Request requests[], const int* done, const int indices[],
                  MPI_Status*& statuses, const Next& next) {
  using Report = p2p::PendingMessages::Completion::Report;
  const auto report = [&](std::size_t i, const Statuses& kept, int code) -> Report {
    for (int k = 0; *done != MPI_UNDEFINED && k < *done; ++k)
      if (indices[k] == static_cast<int>(i)) return kept.report(code, static_cast<std::size_t>(k));
    return {};
  };
  return complete(count, requests, static_cast<std::size_t>(count), statuses, next, report);
}

/// The program asks about requests without freeing them. `requests` is the wrapper's own variable, too.
template <class Next, class Report>
int inquire(int count, const MPI_Request*& requests, std::size_t status_count, MPI_Status*& statuses,
            const Next& next, const Report& report) {
  p2p::PendingMessages& pending = backend().pending;
  if (count <= 0 || requests == nullptr || pending.ends_native_exchange()) return next();
  if (!pending.concerns({requests, static_cast<std::size_t>(count)})) return next();
  std::vector<MPI_Request> asked(requests, requests + count);
  p2p::PendingMessages::Completion completion(pending, asked);
  if (completion.is_empty()) return next();
  const Statuses kept(status_count, statuses, true);
  const MPI_Request* const before = std::exchange(requests, asked.data());
  const int code = next();
  requests = before;
  completion.looked([&](std::size_t i) {
    return code == MPI_SUCCESS ? report(i, kept) : p2p::PendingMessages::Completion::Report{};
  });
  return code;
}

template <class Next>
int look_at_all(int count, const MPI_Request*& requests, const int* flag, MPI_Status*& statuses,
                const Next& next) {
  using Report = p2p::PendingMessages::Completion::Report;
  return inquire(count, requests, static_cast<std::size_t>(count), statuses, next,
                 [&](std::size_t i, const Statuses& kept) { return Report{*flag != 0, kept.at(i)}; });
}

template <class Next>
int look_at_any(int count, const MPI_Request*& requests, const int* index, const int* flag,
                MPI_Status*& status, const Next& next) {
  using Report = p2p::PendingMessages::Completion::Report;
  return inquire(count, requests, 1, status, next, [&](std::size_t i, const Statuses& kept) {
    return Report{*flag != 0 && *index == static_cast<int>(i), kept.at(0)};
  });
}

template <class Next>
int look_at_some(int count, const MPI_Request*& requests, const int* done, const int indices[],
                 MPI_Status*& statuses, const Next& next) {
  using Report = p2p::PendingMessages::Completion::Report;
  const auto report = [&](std::size_t i, const Statuses& kept) -> Report {
    for (int k = 0; *done != MPI_UNDEFINED && k < *done; ++k)
      if (indices[k] == static_cast<int>(i)) return {true, kept.at(static_cast<std::size_t>(k))};
    return {};
  };
  return inquire(count, requests, static_cast<std::size_t>(count), statuses, next, report);
}

template <class Next>
int look_at(MPI_Request& request, const int* flag, MPI_Status*& status, const Next& next) {
  const MPI_Request* only = &request;
  return look_at_all(1, only, flag, status, [&] {
    const MPI_Request before = std::exchange(request, *only);
    const int code = next();
    request = before;
    return code;
  });
}

/// MPI_Cancel: the request stays.
template <class Next>
int cancel_message(MPI_Request* request, const Next& next) {
  p2p::PendingMessages& pending = backend().pending;
  if (request == nullptr || !pending.concerns({request, 1})) return next();
  p2p::PendingMessages::Completion completion(pending, {request, 1});
  const int code = next();
  completion.ended([](std::size_t) { return p2p::PendingMessages::Completion::Report{}; });
  return code;
}

/// MPI_Request_free.
template <class Next>
int free_message(MPI_Request* request, const Next& next) {
  p2p::PendingMessages& pending = backend().pending;
  if ((pending.is_idle() && !pending.has_persistent()) || request == nullptr) return next();
  if (!pending.abandon(*request)) return next();
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

/// MPI_Start and MPI_Startall.
template <class Next>
int start_persistent(const Call& call, int count, MPI_Request requests[], p2p::CopyResult& result,
                     const Next& next) {
  p2p::PendingMessages& pending = backend().pending;
  if (!pending.has_persistent() || count <= 0 || requests == nullptr) return next();
  p2p::PendingMessages::StartCall start(pending, call.function(), call.site(),
                                        {requests, static_cast<std::size_t>(count)}, result);
  const int code = next();
  start.ended(code == MPI_SUCCESS);
  return code;
}

}  // namespace wherry::interpose
