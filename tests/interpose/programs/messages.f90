! Messages of every other number between two ranks, from an array and from MPI_BOTTOM, which Fortran passes as another address than C.
program messages
  use mpi
  implicit none
  integer, parameter :: n = 3000
  double precision, save :: memory(2 * n)
  integer :: rank, peer, strided, absolute, round, i, error, received
  integer :: status(MPI_STATUS_SIZE)
  integer(kind=MPI_ADDRESS_KIND) :: at(1)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  peer = 1 - rank
  call MPI_Type_vector(n, 1, 2, MPI_DOUBLE_PRECISION, strided, error)
  call MPI_Type_commit(strided, error)
  call MPI_Get_address(memory, at(1), error)
  call MPI_Type_create_struct(1, (/ 1 /), at, (/ strided /), absolute, error)
  call MPI_Type_commit(absolute, error)

  do round = 1, 12
    memory = -1
    if (rank == mod(round, 2)) then
      do i = 1, n
        memory(2 * i - 1) = 1000 * round + i
      end do
      if (round <= 6) call MPI_Send(memory, 1, strided, peer, 5, MPI_COMM_WORLD, error)
      if (round > 6) call MPI_Send(MPI_BOTTOM, 1, absolute, peer, 5, MPI_COMM_WORLD, error)
    else
      if (round <= 6) call MPI_Recv(memory, 1, strided, peer, 5, MPI_COMM_WORLD, status, error)
      if (round > 6) call MPI_Recv(MPI_BOTTOM, 1, absolute, peer, 5, MPI_COMM_WORLD, status, error)
      call MPI_Get_elements(status, strided, received, error)
      if (received /= n) call MPI_Abort(MPI_COMM_WORLD, 3, error)
      do i = 1, n
        if (memory(2 * i - 1) /= 1000 * round + i .or. memory(2 * i) /= -1) call MPI_Abort(MPI_COMM_WORLD, 4, error)
      end do
    end if
  end do

  do round = 1, 6
    memory = 7
    call MPI_Sendrecv(memory, 1, strided, peer, 6, memory(2), 1, strided, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    if (any(memory /= 7)) call MPI_Abort(MPI_COMM_WORLD, 5, error)
  end do
  call MPI_Type_free(strided, error)
  call MPI_Type_free(absolute, error)
  call MPI_Finalize(error)
end program messages
