! SPDX-License-Identifier: BSD-3-Clause
! MPI-IO from Fortran, with totals that are known: mpiio_fortran FILE. Each call
! goes through the Fortran library to the C one and counts once.
program mpiio_fortran
  use mpi
  implicit none
  integer :: fh, rank, ierr, request, vector
  integer :: status(MPI_STATUS_SIZE), ints(100)
  double precision :: reals(100)
  integer(kind=MPI_OFFSET_KIND) :: at
  character(len=4096) :: path

  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call get_command_argument(1, path)
  ints = 1
  reals = 2
  call mpi_file_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, ierr)
  if (ierr /= MPI_SUCCESS) call mpi_abort(MPI_COMM_WORLD, 1, ierr)
  at = rank * 8192
  call mpi_file_write_at(fh, at, ints, 100, MPI_INTEGER, status, ierr)            ! 400
  call mpi_file_write_at_all(fh, at, reals, 100, MPI_DOUBLE_PRECISION, status, ierr) ! 800
  call mpi_type_vector(5, 2, 4, MPI_DOUBLE_PRECISION, vector, ierr)
  call mpi_type_commit(vector, ierr)
  call mpi_file_write_at(fh, at + 1024, reals, 1, vector, MPI_STATUS_IGNORE, ierr) ! 80
  call mpi_file_iwrite_at(fh, at + 4096, ints, 10, MPI_INTEGER, request, ierr)    ! 40
  call mpi_wait(request, status, ierr)
  call mpi_file_read_at_all_begin(fh, at, reals, 50, MPI_DOUBLE_PRECISION, ierr)  ! 400
  call mpi_file_read_at_all_end(fh, reals, status, ierr)
  call mpi_file_read_at(fh, at, ints, 3, MPI_INTEGER, status, ierr)               ! 12
  call mpi_file_sync(fh, ierr)
  call mpi_file_close(fh, ierr)
  call mpi_type_free(vector, ierr)
  call mpi_finalize(ierr)
end program
