! Three alltoalls (one in place), two sends to itself and a broadcast; exits with 1 if a result is wrong.
! BINDING is 1 for mpif.h, 2 for the module mpi, 3 for mpi_f08.
program calls
#if BINDING == 3
  use mpi_f08
  implicit none
#elif BINDING == 2
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: ierr, rank, ranks, i
  integer, allocatable :: a(:), b(:)
#if BINDING == 3
  type(MPI_Request) :: request
#else
  integer :: request
#endif
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  allocate (a(ranks), b(ranks))
  a = [(100 * rank + i, i = 0, ranks - 1)]
  b = -1
  call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call check([(100 * i + rank, i = 0, ranks - 1)])
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call check(a)
  call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  do i = 1, 2
    call MPI_Irecv(b, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, request, ierr)
    call MPI_Send(a, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  end do
  call MPI_Bcast(a, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
contains
  subroutine check(expected)
    integer, intent(in) :: expected(:)
    if (any(b /= expected)) then
      print *, 'rank', rank, 'has', b, 'instead of', expected
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end if
  end subroutine check
end program calls
