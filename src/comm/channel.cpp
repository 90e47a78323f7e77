#include "comm/channel.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "comm/polled_wait.hpp"
#include "datatype/large_count.hpp"
#include "mpi/ranks.hpp"

namespace wherry::run {

// Open MPI yields in its own waits when its launcher sees too many ranks, but waits long with several threads in it:
// four threads of each of 3 ranks on 2 cores took 4.6 s, and 0.1 s polling. The MPICH family spins.
Waiting waiting_in(const mpi::Api& api, WaitMode asked) {
  if (mpi::ranks_take_turns || asked == WaitMode::spin) return Waiting::library;
  if (asked == WaitMode::yield) return Waiting::yielding;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0, level = MPI_THREAD_SINGLE;
  api.Get_library_version(version, &length);
  api.Query_thread(&level);
  const auto is = [&](const char* library) { return std::strstr(version, library) != nullptr; };
  return is("Open MPI") && level != MPI_THREAD_MULTIPLE ? Waiting::library : Waiting::yielding;
}

int Channel::send(const Piece& piece, int peer, int tag, MPI_Request* request) const {
  const int code =
      datatype::with_int_count(*api_, piece.count, piece.type, INT_MAX, [&](int count, MPI_Datatype type) {
        return api_->Isend(piece.address, count, type, peer, tag, comm_, request);
      });
  if (code != MPI_SUCCESS) api_->Isend(nullptr, 0, MPI_BYTE, peer, tag, comm_, request);
  return code;
}

int Channel::post_receive(const Piece& piece, int peer, int tag, MPI_Request* request) const {
  return datatype::with_int_count(*api_, piece.count, piece.type, INT_MAX, [&](int count, MPI_Datatype type) {
    return api_->Irecv(piece.address, count, type, peer, tag, comm_, request);
  });
}

// Not a receive of nothing: Open MPI 4 and 5 write all of a long message, however short the receive.
Piece Channel::spare_for(const Piece& piece, Spare& spare) const {
  MPI_Count size = 0;
  api_->Type_size_x(piece.type, &size);
  const long long bytes = piece.count * size;
  spare.push_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes)));
  return {spare.back().get(), bytes, MPI_BYTE};
}

int Channel::receive(const Piece& piece, int peer, int tag, MPI_Request* request, Spare& spare) const {
  const int code = post_receive(piece, peer, tag, request);
  if (code != MPI_SUCCESS) post_receive(spare_for(piece, spare), peer, tag, request);
  return code;
}

/// Whether a blocking transfer failed before any message: that a receive is too small shows when it is over.
bool Channel::refused(int code) const {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) api_->Error_class(code, &error_class);
  return code != MPI_SUCCESS && error_class != MPI_ERR_TRUNCATE;
}

int Channel::exchange(const Piece& out, Endpoint to, const Piece& in, Endpoint from,
                      MPI_Status* status) const {
  const bool counts_fit = out.count <= INT_MAX && in.count <= INT_MAX;
  if (waiting_ == Waiting::library && counts_fit) {
    const int code =
        api_->Sendrecv(out.address, static_cast<int>(out.count), out.type, to.rank, to.tag, in.address,
                       static_cast<int>(in.count), in.type, from.rank, from.tag, comm_, status);
    if (!refused(code)) return code;
  }
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  Spare spare;
  int code = receive(in, from.rank, from.tag, &requests[0], spare);
  code = first_error(code, send(out, to.rank, to.tag, &requests[1]));
  code = first_error(code, wait(requests[0], status));
  return first_error(code, wait(requests[1]));
}

int Channel::replace(const Piece& piece, int peer, int tag) const {
  const int code =
      datatype::with_int_count(*api_, piece.count, piece.type, INT_MAX, [&](int count, MPI_Datatype type) {
        return api_->Sendrecv_replace(piece.address, count, type, peer, tag, peer, tag, comm_,
                                      MPI_STATUS_IGNORE);
      });
  if (!refused(code)) return code;
  Spare spare;
  return first_error(code, exchange({}, {peer, tag}, spare_for(piece, spare), {peer, tag}));
}

int Channel::wait(MPI_Request& request, MPI_Status* status) const {
  if (request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  if (waiting_ == Waiting::library) return api_->Wait(&request, status);
  return poll([&](int* flag) { return api_->Test(&request, flag, status); });
}

// A probe that finds a message may return without more. No message on a channel has this tag.
void Channel::progress() const {
  constexpr int never = 4;
  int found = 0;
  api_->Iprobe(MPI_ANY_SOURCE, never, comm_, &found, MPI_STATUS_IGNORE);
}

void Channel::wait_for(bool (*ready)(const void*), const void* context) const {
  constexpr int polls = 16;
  poll([&](int* flag) {
    for (int i = 0; i < polls && *flag == 0; ++i) *flag = ready(context) ? 1 : 0;
    if (*flag == 0) progress();
    return MPI_SUCCESS;
  });
}

// One after the other: MPI_Waitall says only that one of them failed, and takes as long; MPI_Testall looks at all of
// them at each poll, which takes twice as long for 64 messages.
int Channel::wait_all(std::span<MPI_Request> requests) const {
  int code = MPI_SUCCESS;
  for (MPI_Request& request : requests) code = first_error(code, wait(request));
  return code;
}

int Channel::wait_any(std::span<MPI_Request> requests, int* index) const {
  const int count = static_cast<int>(requests.size());
  if (waiting_ == Waiting::library) return api_->Waitany(count, requests.data(), index, MPI_STATUS_IGNORE);
  return poll(
      [&](int* flag) { return api_->Testany(count, requests.data(), index, flag, MPI_STATUS_IGNORE); });
}

/// Whether asking the library about the request may tell anything new.
bool Channel::is_worth_asking(MPI_Request request) const {
  return request != MPI_REQUEST_NULL &&
         (api_->Request_is_complete == nullptr || api_->Request_is_complete(request) != 0);
}

int Channel::test(MPI_Request& request, bool* over) const {
  int flag = request == MPI_REQUEST_NULL;
  const int code = is_worth_asking(request) ? api_->Test(&request, &flag, MPI_STATUS_IGNORE) : MPI_SUCCESS;
  *over = flag != 0 || code != MPI_SUCCESS;
  return code;
}

int Channel::test_any(std::span<MPI_Request> requests, int* index, bool* any) const {
  const auto is_null = [](MPI_Request request) { return request == MPI_REQUEST_NULL; };
  const auto is_worth = [this](MPI_Request request) { return is_worth_asking(request); };
  *index = MPI_UNDEFINED;
  *any = std::ranges::all_of(requests, is_null);
  if (*any || std::ranges::none_of(requests, is_worth)) return MPI_SUCCESS;
  int flag = 0;
  const int count = static_cast<int>(requests.size());
  const int code = api_->Testany(count, requests.data(), index, &flag, MPI_STATUS_IGNORE);
  *any = flag != 0 || code != MPI_SUCCESS;
  return code;
}

}  // namespace wherry::run
