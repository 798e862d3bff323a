! SPDX-License-Identifier: BSD-3-Clause
! Known totals from Fortran, by each of the three bindings (BIND_mpif, BIND_mpi,
! BIND_f08). The files are written by the C library's calls, since what a Fortran
! unit does in system calls is its run-time library's own affair. Prints what the
! log must say, as tests/prog/mpi_expect.h does.
program mpi_fortran
  use iso_c_binding
#if defined(BIND_f08)
  use mpi_f08
#elif defined(BIND_mpi)
  use mpi
#endif
  implicit none
#if defined(BIND_mpif)
  include 'mpif.h'
#endif
  interface
    function c_creat(path, mode) bind(c, name='creat') result(fd)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: mode
      integer(c_int) :: fd
    end function
    function c_pwrite(fd, buf, n, at) bind(c, name='pwrite') result(done)
      import :: c_int, c_size_t, c_long, c_ptr
      integer(c_int), value :: fd
      type(c_ptr), value :: buf
      integer(c_size_t), value :: n
      integer(c_long), value :: at
      integer(c_long) :: done
    end function
    function c_close(fd) bind(c, name='close') result(rc)
      import :: c_int
      integer(c_int), value :: fd
      integer(c_int) :: rc
    end function
  end interface

  integer, parameter :: blocks = 32, bytes = 2000
  character(kind=c_char), target :: room(bytes)
  character(len=256) :: dir
  character(len=8) :: number
  integer :: ierr, rank, size, i, r, provided, fd
  logical :: threads

  call get_command_argument(1, dir)
  threads = command_argument_count() > 1
#if defined(BIND_f08)
  if (threads) then ! ierror is optional here: left out on purpose
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  else
    call MPI_Init()
  end if
#else
  if (threads) then
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  else
    call MPI_Init(ierr)
  end if
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  room = 'f'

  fd = c_creat(trim(dir)//'/fshared'//c_null_char, int(o'644', c_int))
  do i = 0, blocks - 1
    if (c_pwrite(fd, c_loc(room), int(bytes, c_size_t), int((i * size + rank) * bytes, c_long)) /= bytes) stop 3
  end do
  i = c_close(fd)
  write (number, '(I0)') rank
  fd = c_creat(trim(dir)//'/fown.'//trim(number)//c_null_char, int(o'644', c_int))
  do i = 0, rank + 1
    if (c_pwrite(fd, c_loc(room), int(100, c_size_t), int(i * 100, c_long)) /= 100) stop 3
  end do
  i = c_close(fd)

  if (rank == 0) then
    call line('fshared', -1, 'POSIX_OPENS', size)
    call line('fshared', -1, 'POSIX_READS', 0)
    call line('fshared', -1, 'POSIX_WRITES', size * blocks)
    call line('fshared', -1, 'POSIX_BYTES_WRITTEN', size * blocks * bytes)
    call line('fshared', -1, 'POSIX_MAX_BYTE_WRITTEN', size * blocks * bytes - 1)
    call line('fshared', -1, 'POSIX_SEQ_WRITES', size * blocks - 1) ! not the first one of rank 0
    call line('fshared', -1, 'POSIX_CONSEC_WRITES', 0)
    call line('fshared', -1, 'POSIX_SIZE_WRITE_1K_10K', size * blocks)
    call line('fshared', -1, 'POSIX_ACCESS1_ACCESS', bytes)
    call line('fshared', -1, 'POSIX_ACCESS1_COUNT', size * blocks)
    call line('fshared', -1, 'POSIX_STRIDE1_STRIDE', (size - 1) * bytes)
    call line('fshared', -1, 'POSIX_STRIDE1_COUNT', size * (blocks - 1))
    call line('fshared', -1, 'POSIX_RW_SWITCHES', 0)
    do r = 0, size - 1
      write (number, '(I0)') r
      call line('fown.'//trim(number), r, 'POSIX_OPENS', 1)
      call line('fown.'//trim(number), r, 'POSIX_WRITES', r + 2)
      call line('fown.'//trim(number), r, 'POSIX_BYTES_WRITTEN', (r + 2) * 100)
      call line('fown.'//trim(number), r, 'POSIX_CONSEC_WRITES', r + 1)
    end do
  end if
  call MPI_Finalize(ierr)

contains

  subroutine line(name, r, counter, value)
    character(len=*), intent(in) :: name, counter
    integer, intent(in) :: r, value
    write (*, '(A,1X,I0,1X,A,1X,I0)') trim(name), r, counter, value
  end subroutine
end program
