// The C API of messages and packing by Wherry's kernels.
#pragma GCC visibility push(default)
#include "wherry/wherry.h"
#pragma GCC visibility pop

#include "api/process.hpp"
#include "host/layout_messages.hpp"

namespace wherry::api {

run::LayoutMessages& messages() {
  static auto* const made = new run::LayoutMessages(library(), waiting(), read_variable);
  return *made;
}

}  // namespace wherry::api

using wherry::api::library;
using wherry::api::messages;

int wherry_send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return messages().send({buf, count, datatype, {dest, tag}}, comm,
                         [&] { return library().Send(buf, count, datatype, dest, tag, comm); });
}

int wherry_recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Status* status) {
  return messages().receive({buf, count, datatype, {source, tag}}, comm, status,
                            [&] { return library().Recv(buf, count, datatype, source, tag, comm, status); });
}

int wherry_sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                    MPI_Comm comm, MPI_Status* status) {
  return messages().exchange({sendbuf, sendcount, sendtype, {dest, sendtag}},
                             {recvbuf, recvcount, recvtype, {source, recvtag}}, comm, status, [&] {
                               return library().Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,
                                                         recvcount, recvtype, source, recvtag, comm, status);
                             });
}

int wherry_pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize,
                int* position, MPI_Comm comm) {
  if (messages().pack({inbuf, incount, datatype, {}}, {outbuf, outsize, position})) return MPI_SUCCESS;
  return library().Pack(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

int wherry_unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount,
                  MPI_Datatype datatype, MPI_Comm comm) {
  if (messages().unpack({const_cast<void*>(inbuf), insize, position}, {outbuf, outcount, datatype, {}}))
    return MPI_SUCCESS;
  return library().Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm);
}
