// The C API of sparse exchanges.
#pragma GCC visibility push(default)
#include "wherry/wherry.h"
#pragma GCC visibility pop

#include <memory>
#include <span>
#include <vector>

#include "api/process.hpp"
#include "host/sparse_call.hpp"

using wherry::run::Inbox;
using wherry::run::SparseMessage;

/// The inbox as C sees it: the list is a copy, the data are not.
struct wherry_inbox {
  explicit wherry_inbox(Inbox&& arrived) : memory(std::move(arrived)) {
    messages.reserve(memory.messages().size());
    for (const SparseMessage& m : memory.messages()) messages.push_back({m.peer, m.data, m.bytes});
  }
  Inbox memory;
  std::vector<wherry_message> messages;
};

namespace wherry::api {
namespace {

/// What the caller's list is worth: a rank with a wrong one still takes part.
struct List {
  List(const wherry_message* messages, int count, const void* inbox) {
    if (count < 0) code = MPI_ERR_COUNT;
    else if (inbox == nullptr || (messages == nullptr && count > 0)) code = MPI_ERR_ARG;
    else
      for (const wherry_message& m : std::span(messages, static_cast<std::size_t>(count)))
        sends.push_back({m.peer, m.data, m.bytes});
  }
  std::vector<SparseMessage> sends;
  int code = MPI_SUCCESS;
};

int exchange(const run::SparseExchange& call) {
  std::string_view ran = "native";
  run::Runtime* const wherry = runtime();
  const int code = wherry != nullptr
                       ? wherry->sparse_exchange(call, &ran)
                       : run::sparse_exchange(library(), nullptr, run::automatic_algorithm, call, &ran);
  LastStrategy::set(ran);
  return code;
}

}  // namespace
}  // namespace wherry::api

// noexcept: where memory is missing the program ends, as an exception would leave other ranks waiting.
int wherry_sparse_exchange(const wherry_message messages[], int count, MPI_Comm comm, wherry_inbox** inbox) {
  return [&]() noexcept {
    const wherry::api::List list(messages, count, inbox);
    if (inbox != nullptr) *inbox = nullptr;
    Inbox arrived;
    const int code = wherry::api::exchange({list.sends, comm, arrived, list.code});
    if (code == MPI_SUCCESS) *inbox = std::make_unique<wherry_inbox>(std::move(arrived)).release();
    return code;
  }();
}

int wherry_inbox_count(const wherry_inbox* inbox) {
  return inbox == nullptr ? 0 : static_cast<int>(inbox->messages.size());
}

const wherry_message* wherry_inbox_messages(const wherry_inbox* inbox) {
  return inbox == nullptr ? nullptr : inbox->messages.data();
}

void wherry_inbox_free(wherry_inbox** inbox) {
  if (inbox == nullptr) return;
  const std::unique_ptr<wherry_inbox> gone(*inbox);
  *inbox = nullptr;
}
