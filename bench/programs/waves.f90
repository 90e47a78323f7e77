! waves.c in Fortran: the work arrays of a step are allocatable.
!   mpiexec -n 2 waves [STEPS]
program waves
  implicit none
  include "mpif.h"
  integer, parameter :: rows = 256, columns = 256  ! of each rank: an array is 0.5 MB
  double precision, parameter :: dt = 0.2d0, damping = 0.001d0
  ! height has a row more at either end, which is the neighbor's.
  double precision :: height(columns, 0:rows + 1), speed(columns, rows), start, seconds, own, energy
  integer :: rank, ranks, code, steps, i
  character(len=32) :: word
  steps = 2000
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) steps
  end if
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  height = 0
  speed = 0
  height(columns / 4 + 1:columns / 2, rows / 2) = 1 + rank
  call MPI_Barrier(MPI_COMM_WORLD, code)
  start = MPI_Wtime()
  do i = 1, steps
    call step()
  end do
  seconds = MPI_Wtime() - start
  own = sum(speed**2)
  call MPI_Allreduce(own, energy, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
  if (rank == 0) then
    print '(a,f0.6)', "loop ", seconds
    print '(a,es22.15)', "energy ", energy
  end if
  call MPI_Finalize(code)
contains
  subroutine exchange_edges()
    integer :: up, down
    up = mod(rank + 1, ranks)
    down = mod(rank + ranks - 1, ranks)
    call MPI_Sendrecv(height(1, rows), columns, MPI_DOUBLE_PRECISION, up, 0, height(1, 0), columns, &
        MPI_DOUBLE_PRECISION, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call MPI_Sendrecv(height(1, 1), columns, MPI_DOUBLE_PRECISION, down, 1, height(1, rows + 1), columns, &
        MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  end subroutine
  subroutine step()
    double precision, allocatable :: force(:, :), faster(:, :), higher(:, :)
    integer :: c, r
    allocate (force(columns, rows), faster(columns, rows), higher(columns, rows))
    call exchange_edges()
    do r = 1, rows
      force(1, r) = 0
      force(columns, r) = 0
      do c = 2, columns - 1
        force(c, r) = height(c - 1, r) + height(c + 1, r) + height(c, r - 1) + height(c, r + 1) - 4 * height(c, r)
      end do
    end do
    faster = (1 - damping) * speed + dt * force
    higher = height(:, 1:rows) + dt * faster
    speed = faster
    height(:, 1:rows) = higher
  end subroutine
end program
