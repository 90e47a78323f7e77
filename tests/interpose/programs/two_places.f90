! Messages of 8 bytes that differ in nothing but the place that sends them: 700 from one, 300 from the other.
program two_places
  implicit none
  include 'mpif.h'
  integer :: rank, i, error
  integer :: status(MPI_STATUS_SIZE)
  double precision :: x

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  x = 1
  do i = 1, 1000
    if (rank /= 0) then
      call MPI_Recv(x, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, status, error)
    else if (mod(i, 10) < 7) then
      call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, error)
    else
      call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, error)
    end if
  end do
  call MPI_Finalize(error)
end program two_places
