// The collectives of wherry.h, in the order of MPI's standard, and the makers of their plans. What holds for all of
// them stands there.
//
// Made by tools/generate_interface.py from tools/mpi_functions.toml, which is what to change.
#ifndef WHERRY_COLLECTIVES_H
#define WHERRY_COLLECTIVES_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Returns when all ranks have called it.
/// Standard: MPI 4.1, section 6.3, MPI_Barrier.
int wherry_barrier(MPI_Comm comm);

/// Sends count elements of the root's buffer to the buffers of all other ranks.
///
/// count, datatype: together as many bytes on all ranks; the types may differ. root: the same rank on all.
/// Standard: MPI 4.1, section 6.4, MPI_Bcast.
int wherry_bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);

/// Collects a block from every rank at the root: block o of its recvbuf comes from rank o.
///
/// sendbuf: sendcount elements of sendtype. MPI_IN_PLACE at the root: its block is in recvbuf already; sendcount and
///   sendtype are ignored there.
/// recvbuf: one block of recvcount elements (of one block, not all) of recvtype from each rank. Ignored with its count
///   and type on all ranks but the root.
/// Standard: MPI 4.1, section 6.5, MPI_Gather.
int wherry_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm);

/// Spreads blocks from the root: rank d gets block d of its sendbuf.
///
/// sendbuf: one block of sendcount elements (of one block, not all) of sendtype for each rank. Ignored with its count
///   and type on all ranks but the root.
/// recvbuf: recvcount elements of recvtype. MPI_IN_PLACE at the root: its block stays where it is; recvcount and
///   recvtype are ignored there.
/// Standard: MPI 4.1, section 6.6, MPI_Scatter.
int wherry_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm);

/// Collects a block from every rank on all ranks: block o of recvbuf comes from rank o.
///
/// sendbuf: sendcount elements of sendtype. MPI_IN_PLACE on all ranks: the rank's own block of recvbuf is sent;
///   sendcount and sendtype are ignored.
/// recvbuf: one block of recvcount elements of recvtype from each rank; it must not overlap sendbuf.
/// sendcount, recvcount: elements per block (not bytes), may be 0; blocks have as many bytes on all ranks.
/// Standard: MPI 4.1, section 6.7, MPI_Allgather.
int wherry_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm);

/// Sends block d of sendbuf to rank d; block o of recvbuf comes from rank o.
///
/// sendbuf: one block of sendcount elements of sendtype for each rank, one after the other. MPI_IN_PLACE on all ranks:
///   the blocks of recvbuf are sent and replaced; sendcount and sendtype are ignored.
/// recvbuf: one block of recvcount elements of recvtype from each rank; it must not overlap sendbuf.
/// sendcount, recvcount: elements per block (not bytes), may be 0; blocks have as many bytes on all ranks.
/// Standard: MPI 4.1, section 6.8, MPI_Alltoall.
int wherry_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm);

/// Sends a block of any size to each rank: sendcounts[d] elements from sendbuf + sdispls[d] elements go to rank d.
///
/// sendcounts, sdispls: one entry per rank, in elements of sendtype and in units of its extent. MPI_IN_PLACE as sendbuf
///   on all ranks: the blocks of recvbuf are exchanged; sendcounts, sdispls and sendtype are ignored.
/// recvcounts, rdispls: the same for what arrives; the block from rank o has the size that o sends.
///   Blocks of recvbuf must not overlap each other or sendbuf.
/// Standard: MPI 4.1, section 6.8, MPI_Alltoallv.
int wherry_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                     void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm);

/// Sends a block of any size and type to each rank: sendcounts[d] elements of sendtypes[d] go to rank d.
///
/// sdispls, rdispls: in bytes from the buffer, whatever the types. All six arrays have one entry per rank.
///   MPI_IN_PLACE as sendbuf on all ranks: the blocks of recvbuf are exchanged, and the send arrays ignored.
/// Standard: MPI 4.1, section 6.8, MPI_Alltoallw.
int wherry_alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                     const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/// Reduces count elements of all ranks to the root's recvbuf.
///
/// sendbuf: count elements of datatype. MPI_IN_PLACE at the root: its elements are in recvbuf.
/// recvbuf: count elements; ignored on all ranks but the root. It must not overlap sendbuf.
/// Standard: MPI 4.1, section 6.9.1, MPI_Reduce.
int wherry_reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                  MPI_Comm comm);

/// Reduces count elements of all ranks to the recvbuf of all ranks.
///
/// sendbuf: count elements of datatype. MPI_IN_PLACE on all ranks: they are in recvbuf, which the result replaces.
/// recvbuf: count elements; it must not overlap sendbuf.
/// Standard: MPI 4.1, section 6.9.6, MPI_Allreduce.
int wherry_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm);

/// Reduces blocks of recvcount elements, one for each rank; rank d gets block d of the result.
///
/// sendbuf: one block of recvcount elements of datatype for each rank. MPI_IN_PLACE on all ranks: they are in recvbuf,
///   whose first block the result replaces; what the others hold afterwards is undefined.
/// recvbuf: recvcount elements; it must not overlap sendbuf.
/// Standard: MPI 4.1, section 6.10.1, MPI_Reduce_scatter_block.
int wherry_reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                MPI_Op op, MPI_Comm comm);

/// Sends one block to all neighbors that this rank sends to; block i of recvbuf comes from neighbor i among those that
/// it receives from.
///
/// sendbuf: sendcount elements of sendtype. recvbuf: one block of recvcount elements of recvtype for each such
///   neighbor; it must not overlap sendbuf.
/// sendcount, recvcount: elements per block (not bytes), may be 0; blocks have as many bytes on all ranks.
/// Standard: MPI 4.1, section 8.6.1, MPI_Neighbor_allgather.
int wherry_neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                              int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/// The same with blocks of any size: neighbor i sends recvcounts[i] elements, which go to recvbuf + displs[i] elements.
/// Standard: MPI 4.1, section 8.6.1, MPI_Neighbor_allgatherv.
int wherry_neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                               MPI_Comm comm);

/// Sends block i of sendbuf to neighbor i among those that this rank sends to; block i of recvbuf comes from neighbor i
/// among those that it receives from.
///
/// sendbuf: one block of sendcount elements of sendtype for each such neighbor, one after the other.
/// recvbuf: one block of recvcount elements of recvtype for each of the others; it must not overlap sendbuf.
/// sendcount, recvcount: elements per block (not bytes), may be 0; blocks have as many bytes on all ranks.
/// Standard: MPI 4.1, section 8.6.2, MPI_Neighbor_alltoall.
int wherry_neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/// The same with blocks of any size: sendcounts[i] elements from sendbuf + sdispls[i] elements go to neighbor i.
///
/// sendcounts, sdispls: one entry per neighbor that this rank sends to, in elements of sendtype and in units of its
/// extent.
/// recvcounts, rdispls: one per neighbor that it receives from; a block has the size that its sender sends.
///   Blocks of recvbuf must not overlap each other or sendbuf.
/// Standard: MPI 4.1, section 8.6.2, MPI_Neighbor_alltoallv.
int wherry_neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/// The same with blocks of any size and type: sendcounts[i] elements of sendtypes[i] go to neighbor i.
///
/// sdispls, rdispls: in bytes from the buffer, whatever the types.
/// Standard: MPI 4.1, section 8.6.2, MPI_Neighbor_alltoallw.
int wherry_neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                              const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

// The plans of these: wherry.h says what a plan is, and what holds for all of the makers.
struct wherry_plan;

/// Standard: MPI 4.1, section 6.13, MPI_Barrier_init.
int wherry_barrier_plan(MPI_Comm comm, struct wherry_plan** plan);
/// Standard: MPI 4.1, section 6.13, MPI_Bcast_init.
int wherry_bcast_plan(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      struct wherry_plan** plan);
/// Standard: MPI 4.1, section 6.13, MPI_Gather_init.
int wherry_gather_plan(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                       struct wherry_plan** plan);
/// Standard: MPI 4.1, section 6.13, MPI_Scatter_init.
int wherry_scatter_plan(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                        int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                        struct wherry_plan** plan);
/// Standard: MPI 4.1, section 6.13, MPI_Allgather_init.
int wherry_allgather_plan(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm, struct wherry_plan** plan);
/// Standard: MPI 4.1, section 6.13, MPI_Alltoall_init.
int wherry_alltoall_plan(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int recvcount, MPI_Datatype recvtype, MPI_Comm comm, struct wherry_plan** plan);
/// Standard: MPI 4.1, section 6.13, MPI_Alltoallv_init.
int wherry_alltoallv_plan(const void* sendbuf, const int sendcounts[], const int sdispls[],
                          MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, struct wherry_plan** plan);
/// Standard: MPI 4.1, section 6.13, MPI_Alltoallw_init.
int wherry_alltoallw_plan(const void* sendbuf, const int sendcounts[], const int sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                          const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                          struct wherry_plan** plan);
/// Standard: MPI 4.1, section 6.13, MPI_Reduce_init.
int wherry_reduce_plan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                       int root, MPI_Comm comm, struct wherry_plan** plan);
/// Standard: MPI 4.1, section 6.13, MPI_Allreduce_init.
int wherry_allreduce_plan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, struct wherry_plan** plan);
/// Standard: MPI 4.1, section 6.13, MPI_Reduce_scatter_block_init.
int wherry_reduce_scatter_block_plan(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                     MPI_Op op, MPI_Comm comm, struct wherry_plan** plan);
/// Standard: MPI 4.1, section 8.8, MPI_Neighbor_allgather_init.
int wherry_neighbor_allgather_plan(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                   struct wherry_plan** plan);
/// Standard: MPI 4.1, section 8.8, MPI_Neighbor_allgatherv_init.
int wherry_neighbor_allgatherv_plan(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                    MPI_Comm comm, struct wherry_plan** plan);
/// Standard: MPI 4.1, section 8.8, MPI_Neighbor_alltoall_init.
int wherry_neighbor_alltoall_plan(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                  struct wherry_plan** plan);
/// Standard: MPI 4.1, section 8.8, MPI_Neighbor_alltoallv_init.
int wherry_neighbor_alltoallv_plan(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                   struct wherry_plan** plan);
/// Standard: MPI 4.1, section 8.8, MPI_Neighbor_alltoallw_init.
int wherry_neighbor_alltoallw_plan(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                   const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                   struct wherry_plan** plan);

#ifdef __cplusplus
}
#endif

#endif
