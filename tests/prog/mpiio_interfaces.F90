! SPDX-License-Identifier: BSD-3-Clause
! MPI-IO by each of MPI's Fortran interfaces: compiled with MPIF_H for mpif.h, with
! MPI_F08 for `use mpi_f08`, else for `use mpi`. mpiio_interfaces FILE, one process.
! Bytes in the comments; totals in tests/uprobes/fortran.bats.
program mpiio_interfaces
#ifdef MPI_F08
  use mpi_f08
#elif !defined(MPIF_H)
  use mpi
#endif
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
#endif
#ifdef MPI_F08
  type(MPI_File) :: fh
  type(MPI_Request) :: request(2)
  type(MPI_Datatype) :: vector, column
  type(MPI_Info) :: info
  type(MPI_Status) :: status, both(2)
#else
  integer :: fh, request(2), vector, column, info
  integer :: status(MPI_STATUS_SIZE), both(MPI_STATUS_SIZE, 2)
#endif
  integer :: ierr, ints(200), sizes(2), part(2), from(2)
  double precision :: reals(200)
  integer(kind=MPI_OFFSET_KIND) :: at
  logical :: done
  character(len=4096) :: path

  call mpi_init(ierr)
  call get_command_argument(1, path)
  ints = 1
  reals = 2
  call mpi_info_create(info, ierr)
  call mpi_info_set(info, 'cb_buffer_size', '65536', ierr)
  call mpi_file_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, info, fh, ierr)
  if (ierr /= MPI_SUCCESS) call mpi_abort(MPI_COMM_WORLD, 2, ierr)
  at = 0
  call mpi_file_write_at(fh, at, ints, 100, MPI_INTEGER, status, ierr)                ! 400
  call mpi_file_write(fh, reals, 10, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)   ! 80
  call mpi_file_write_shared(fh, path, 20, MPI_CHARACTER, status, ierr)               ! 20
  call mpi_file_write_ordered(fh, ints, 3, MPI_REAL, status, ierr)                    ! 12
  call mpi_file_write_all(fh, reals, 4, MPI_COMPLEX, status, ierr)                    ! 32
  call mpi_file_write_at_all(fh, at, reals, 2, MPI_DOUBLE_COMPLEX, status, ierr)      ! 32
  call mpi_type_vector(5, 2, 4, MPI_DOUBLE_PRECISION, vector, ierr)
  call mpi_type_commit(vector, ierr)
  sizes = (/10, 10/)
  part = (/10, 2/)
  from = (/0, 3/)
  call mpi_type_create_subarray(2, sizes, part, from, MPI_ORDER_FORTRAN, MPI_INTEGER, column, ierr)
  call mpi_type_commit(column, ierr)
  call mpi_file_write_at(fh, at, reals, 2, vector, status, ierr)                      ! 160
  call mpi_file_write_at(fh, at, ints, 1, column, status, ierr)                       ! 80
#if defined(MPI_F08) && defined(SECTIONS)
  call mpi_file_write_at(fh, at, ints(1:199:2), 50, MPI_INTEGER, status, ierr)        ! 200: every second one
#else
  call mpi_file_write_at(fh, at, ints, 50, MPI_INTEGER, status, ierr)                 ! 200
#endif
  call mpi_file_iwrite_at(fh, at, ints, 10, MPI_LOGICAL, request(1), ierr)            ! 40
  call mpi_file_iwrite(fh, ints, 5, MPI_INTEGER8, request(2), ierr)                   ! 40
  call mpi_waitall(2, request, both, ierr)
  call mpi_file_iread_at(fh, at, ints, 7, MPI_INTEGER2, request(1), ierr)             ! 14
  done = .false.
  do while (.not. done)
    call mpi_test(request(1), done, status, ierr)
  end do
  call mpi_file_write_all_begin(fh, reals, 3, MPI_REAL8, ierr)                        ! 24
  call mpi_file_write_all_end(fh, reals, status, ierr)
  call mpi_file_read_at_all_begin(fh, at, reals, 50, MPI_DOUBLE_PRECISION, ierr)      ! 400
  call mpi_file_read_at_all_end(fh, reals, status, ierr)
  call mpi_file_set_view(fh, at, MPI_INTEGER, MPI_INTEGER, 'native', info, ierr)
  call mpi_file_read_at(fh, at, ints, 3, MPI_INTEGER, status, ierr)                   ! 12
  call mpi_file_read_all(fh, ints, 0, MPI_INTEGER, status, ierr)                      ! 0
  call mpi_file_sync(fh, ierr)
  call mpi_file_close(fh, ierr)
  call mpi_type_free(vector, ierr)
  call mpi_type_free(column, ierr)
  call mpi_info_free(info, ierr)
  call mpi_finalize(ierr)
end program
