! Automatic and allocatable work arrays in each step: the same as work_arrays.c.
program work_arrays
  use iso_c_binding
  implicit none
  include "mpif.h"
  interface
    function getrusage(who, usage) bind(c, name="getrusage") result(code)
      import :: c_int, c_long
      integer(c_int), value :: who
      integer(c_long) :: usage(18)
      integer(c_int) :: code
    end function
  end interface
  integer :: rank, ranks, code, i, steps
  integer(c_long) :: first, half, last, peak
  double precision :: total, start, seconds
  character(len=32) :: word
  steps = 400
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) steps
  end if
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  total = 0
  first = usage_of(9)
  half = first
  start = MPI_Wtime()
  do i = 1, steps
    if (i == steps / 2 + 1) half = usage_of(9)
    call step(65536)
  end do
  seconds = MPI_Wtime() - start
  last = usage_of(9)
  peak = usage_of(5)
  print '(a,i0,a,i0,a,i0,a,i0,a,es12.5,a,f0.4)', "rank ", rank, " faults ", last - first, " later ", last - half, &
      " peak ", peak, " sum ", total, " seconds ", seconds
  call MPI_Finalize(code)
contains
  ! 5: ru_maxrss; 9: ru_minflt, after two times of two words each.
  function usage_of(word) result(value)
    integer, intent(in) :: word
    integer(c_long) :: value, usage(18)
    integer(c_int) :: failed
    failed = getrusage(0_c_int, usage)
    value = usage(word)
  end function
  subroutine step(n)
    integer, intent(in) :: n
    double precision, allocatable :: a(:), b(:), c(:), d(:), e(:), f(:)
    double precision :: mine, summed
    integer :: next, before
    allocate (a(n), b(n), c(n), d(n), e(n), f(n))
    a = rank
    b = 1
    c = a + b
    d = 2 * c
    e = d - a
    f = e + c
    next = mod(rank + 1, ranks)
    before = mod(rank + ranks - 1, ranks)
    call MPI_Sendrecv(f, 1000, MPI_DOUBLE_PRECISION, next, 0, a, 1000, MPI_DOUBLE_PRECISION, before, 0, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    mine = a(8)
    call MPI_Allreduce(mine, summed, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
    total = total + summed
    deallocate (a, b, c, d, e, f)
  end subroutine
end program
