// Wherry for C: the collectives of MPI under the prefix wherry_, with MPI's own signatures.
//
// Replace MPI_Alltoall by wherry_alltoall, link Wherry beside the MPI library, and Wherry runs whichever is best on
// this machine: one of its strategies or the native collective. Nothing has to be started or ended: Wherry begins with
// the first call after MPI_Init and ends inside MPI_Finalize. The settings are those of `wherry run` (WHERRY_ALLTOALL,
// WHERRY_DISABLE, ...; docs/reference/settings.md), read once, and must be the same on all ranks. Under `wherry run` as
// well, MPI's own names go to that Wherry and these to this one; its profile does not show the calls of these.
//
// What holds for every collective here:
// - Arguments mean what MPI says (MPI 4.1, chapters 6 and 8): units, MPI_IN_PLACE, MPI_BOTTOM, derived types, empty
//   blocks, intercommunicators. The caller owns all buffers and arrays; Wherry keeps none of them when the call has
//   returned.
// - It is collective over comm, in the same order as all other collectives on comm. A program must use the same one of
//   the two on all ranks: a wherry_ call does not match an MPI_ call.
// - It returns when this rank's data have arrived and its send buffer may be written again.
// - It returns MPI_SUCCESS or MPI's error code, after comm's error handler was called with it. As in MPI, what is wrong
//   with this rank's arguments is a local error: other ranks may then wait.
// - Threads may call at once where MPI allows it (MPI_THREAD_MULTIPLE), but not on one communicator.
// - The first all-to-all on a communicator, or the first 16 of its other collectives, run native; then Wherry
//   makes a communicator for its messages, which is freed with the program's.
// - A program that uses MPI sessions without MPI_Init gets the native collective.
// - Waits are for Wherry's own messages: WHERRY_WAIT says whether they spin in the MPI library or poll and give the core
//   away (docs/how-to/waiting.md). The waits of the program's own calls stay as they are.
//
// Of all reductions: element i of the result is op over element i of all ranks. An op that does not commute is applied
// in the order of ranks. What rounds may differ in its last bits from call to call, while strategies are tried; on all
// ranks of one call it is the same. With WHERRY_REPRODUCIBLE=1 such reductions stay native.
//
// Of all neighborhood collectives: comm has a topology (MPI 4.1, chapter 8), and a rank's blocks are numbered by its
// neighbors there: of a Cartesian one, in each dimension the one below, then the one above; of a graph, as they were
// given. Blocks of MPI_PROC_NULL are neither sent nor written to. Where a rank is a neighbor several times, the
// library's own order says which block meets which. MPI_IN_PLACE is not known to these.
#ifndef WHERRY_WHERRY_H
#define WHERRY_WHERRY_H

#include <mpi.h>
#include <stddef.h>

#include "wherry/collectives.h"  // wherry_alltoall and so on, and wherry_alltoall_plan and so on

#ifdef __cplusplus
extern "C" {
#endif

/// One message of a sparse exchange.
typedef struct wherry_message {
  int peer;          // its destination in a list to send, its source in an inbox
  const void* data;  // in host memory; may be NULL if bytes is 0
  size_t bytes;
} wherry_message;

/// What has arrived in one sparse exchange.
typedef struct wherry_inbox wherry_inbox;

/// Sends each message to its destination, and gets those that other ranks send here: no rank has to know who sends to
/// it.
///
/// messages: `count` of them, any number (0 on ranks that only receive) and in any order. Several may have the same
///   destination, it may be this rank, and they may be empty, which arrives as an empty message. Data travel as bytes,
///   unconverted. The caller owns list and data, and may change them when the call has returned.
/// inbox: set to what arrived, in ascending order of sources, and from each source in the order in which it sent. The
///   caller owns it and frees it with wherry_inbox_free, before or after MPI_Finalize. After an error it is NULL.
/// Collective over comm, intra- or intercommunicator (destinations are then ranks of the other group). Synchronizes: no
///   rank returns before all have called.
/// A message to no rank of comm (MPI_ERR_RANK), without data (MPI_ERR_BUFFER), a negative count or a NULL list with a
///   count (MPI_ERR_COUNT, MPI_ERR_ARG) is this rank's error alone: it sends the messages that are sound, receives, and
///   reports its error when the exchange is over; no other rank waits. An invalid comm is a local error, before any
///   message.
/// A rank without memory for what arrives ends the program. Where an exchange runs as "native", a
///   rank can send 32 GiB in one exchange, and get as much.
/// The setting WHERRY_SPARSE_EXCHANGE names how it runs. MPI has no such function; docs/design/0005-sparse-exchange.md
/// has the sources.
int wherry_sparse_exchange(const wherry_message messages[], int count, MPI_Comm comm, wherry_inbox** inbox);

/// How many messages there are; 0 for NULL. Local.
int wherry_inbox_count(const wherry_inbox* inbox);

/// The messages: wherry_inbox_count() of them, with data aligned for any C type. The inbox owns both. Local.
const wherry_message* wherry_inbox_messages(const wherry_inbox* inbox);

/// Frees the inbox and sets it to NULL; NULL is left alone. Local.
void wherry_inbox_free(wherry_inbox** inbox);

// Messages of data that do not lie one after the other. Where MPI packs a derived type slowly, or copies all of it
// before it sends the first byte, these pack by Wherry's kernels, and send what is packed while they pack on.
//
// - A message has both its ends here: what wherry_send or wherry_sendrecv sends is received by wherry_recv or
//   wherry_sendrecv, on comm and with the tag of the call, as one message of bytes or several. Those functions of MPI
//   that take any tag or source must not meet them: give them a tag, or a communicator, of their own.
// - Types may differ on the two sides; the data of the one must be those of the other in their order (MPI 4.1, 3.3.1).
//   Data travel as bytes, unconverted.
// - They block as MPI_Send, MPI_Recv and MPI_Sendrecv do: a large message may wait for its receiver.
// - Wildcards, MPI_PROC_NULL, MPI_STATUS_IGNORE, intercommunicators mean what they mean there. The status has source,
//   tag and count. More data than there is room for are MPI_ERR_TRUNCATE at the receiver; nobody waits because of it.
// - Errors are local, and have been passed to comm's error handler. In place of what a sender could not pack, zeros
//   arrive. What MPI_Send sent to a wherry_recv is MPI_ERR_OTHER, and if it is longer than 8 KiB MPI_ERR_TRUNCATE, or
//   on Open MPI undefined.
// - The order of messages counts: comm must not have mpi_assert_allow_overtaking or mpi_assert_exact_length.
// - Types that only the library can pack, and memory of accelerators, up to 2 GiB a message.
// - Threads may call at once, but two must not send to one rank, or receive from it, with one tag on one comm.
// - A type is decoded when it is first used; what is found is kept with it until it is freed.

/// Sends count elements of datatype to a wherry_recv or wherry_sendrecv of rank dest.
/// Returns when buf may be changed. Standard: MPI 4.1, section 3.2.1, MPI_Send.
int wherry_send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

/// Receives at most count elements of datatype from a wherry_send or wherry_sendrecv of rank source.
/// Returns when they are in buf; what lies between them stays untouched. Standard: MPI 4.1, section 3.2.4, MPI_Recv.
int wherry_recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Status* status);

/// Both at once; the two buffers must not overlap. Standard: MPI 4.1, section 3.10, MPI_Sendrecv.
int wherry_sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                    void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                    MPI_Comm comm, MPI_Status* status);

/// Packs incount elements to outbuf + *position and advances *position: the bytes of the data in the order of the type
/// map. outsize: bytes of outbuf. Local. The library does what cannot be packed here, and says what is wrong.
/// Standard: MPI 4.1, section 5.2, MPI_Pack.
int wherry_pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize,
                int* position, MPI_Comm comm);

/// Unpacks outcount elements from inbuf + *position and advances *position. insize: bytes of inbuf. Local.
/// Standard: MPI 4.1, section 5.2, MPI_Unpack.
int wherry_unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount,
                  MPI_Datatype datatype, MPI_Comm comm);

/// A collective whose arguments are fixed, to be started again and again.
///
/// The makers (collectives.h) take the arguments of the collective whose name they have before _plan, and what stands
/// there about them holds. They are collective over comm and may wait for all its ranks; what can be worked out once is
/// worked out then. They set *plan, or leave NULL there after an error of Wherry's. How it runs: the strategy that the
/// settings name; else what the blocking form has learned on comm for such calls, or what the cost model expects to be
/// fastest; or native, which is MPI's nonblocking form. wherry_plan_strategy says which. WHERRY_NONBLOCKING concerns
/// calls of MPI, not these.
///
/// - Counts and displacements are copied. Buffers, datatypes, op and comm stay the program's: they must be there until
///   the plan is freed. The values in the buffers may change while no execution is under way.
/// - All ranks of comm start its plans in the same order, and in one order with its nonblocking collectives of MPI.
/// - Between start and completion the buffers are Wherry's. Where the MPI library lets Wherry take part in its progress
///   (Open MPI, MPICH from 4.3 on) an execution proceeds while this process is inside any MPI call, and with
///   WHERRY_PROGRESS=thread also while it computes; elsewhere plans are native.
/// - Free plans before comm and before MPI_Finalize.
typedef struct wherry_plan wherry_plan;

/// A message to rank dest and one from rank source, as by MPI_Isend and MPI_Irecv: what travels is what MPI would send,
/// one message each way, so the other ends may be a plan or any function of MPI for single messages. Derived types are
/// packed by the kernels at each start, and unpacked by the test or wait that ends the execution. MPI_PROC_NULL: no such
/// message. Unlike the other makers this one is local, and so is the order of its starts, which is that of messages.
/// More data than there is room for are MPI_ERR_TRUNCATE. Where errors do not end the program, the library receives
/// derived types itself. An error is told when both messages are over. Arguments that are wrong are errors of the start.
/// Standard: MPI 4.1, section 3.9, MPI_Send_init and MPI_Recv_init.
int wherry_sendrecv_plan(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                         void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                         MPI_Comm comm, wherry_plan** plan);

/// Starts an execution. Local. MPI_ERR_REQUEST if one is under way already, or plan is NULL.
int wherry_plan_start(wherry_plan* plan);

/// Progresses it. *over: 1 if no execution is under way, else 0. Local. Returns what went wrong in the execution that
/// has ended.
int wherry_plan_test(wherry_plan* plan, int* over);

/// Returns when no execution is under way: this rank's data have arrived and its send buffer may be written again.
/// Returns what went wrong in the execution.
int wherry_plan_wait(wherry_plan* plan);

/// Frees the plan and sets it to NULL; NULL is left alone. Local. While an execution is under way it is
/// MPI_ERR_REQUEST, and the plan stays.
int wherry_plan_free(wherry_plan** plan);

/// By what the plan runs: a strategy's name, "layout kernels", or "native"; "" for NULL. The text is never freed.
/// Local.
const char* wherry_plan_strategy(const wherry_plan* plan);

/// What ran in this thread's last wherry_ collective: a strategy's name ("bruck2"; `wherry explain` lists them),
/// "native" for native, or "" before the first. The text is never freed. Local.
const char* wherry_last_strategy(void);

/// The version of the library: "0.1.0". Local; may be called before MPI_Init.
const char* wherry_version(void);

#ifdef __cplusplus
}
#endif

#endif
