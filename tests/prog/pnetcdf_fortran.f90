! SPDX-License-Identifier: BSD-3-Clause
! PnetCDF from Fortran, by its Fortran 77 and 90 interfaces, with totals that are
! known: pnetcdf_fortran FILE.
program pnetcdf_fortran
  use mpi
  use pnetcdf
  implicit none
  integer :: nc, var, rec, dim(2), grows(2), id(2), states(2), none, err, ierr
  integer(kind=MPI_OFFSET_KIND) :: six = 6, four = 4, start(2), count(2), stride(2), one(2)
  integer :: values(6, 4)
  real(kind=8) :: reals(6)
  character(len=4096) :: path

  call mpi_init(ierr)
  call get_command_argument(1, path)
  values = 3
  start = 1
  count = (/6, 2/)
  err = nf90mpi_create(MPI_COMM_WORLD, trim(path), NF90_CLOBBER, MPI_INFO_NULL, nc)
  if (err /= NF90_NOERR) call mpi_abort(MPI_COMM_WORLD, 1, ierr)
  err = nf90mpi_def_dim(nc, "x", six, dim(1))
  err = nf90mpi_def_dim(nc, "y", four, dim(2))
  err = nf90mpi_def_var(nc, "v", NF90_INT, dim, var)
  grows = (/dim(1), 0/)
  err = nf90mpi_def_dim(nc, "time", int(NF90_UNLIMITED, MPI_OFFSET_KIND), grows(2))
  err = nf90mpi_def_var(nc, "rec", NF90_DOUBLE, grows, rec)
  err = nf90mpi_enddef(nc)
  err = nf90mpi_put_var_all(nc, var, values)                 ! whole: counts as the interface calls it
  err = nfmpi_put_vara_int_all(nc, var, start, count, values) ! 48
  err = nfmpi_get_vara_int_all(nc, var, start, count, values) ! 48
  err = nfmpi_get_vara_int_all(nc, var, start, count, values) ! 48
  ! every second of the first 4 of x, both of y: 2 x 2 elements
  count = (/2, 2/)
  stride = (/2, 1/)
  err = nfmpi_put_vars_int_all(nc, var, start, count, stride, values)      ! 16
  if (err /= NF90_NOERR) call mpi_abort(MPI_COMM_WORLD, 2, ierr)
  ! two records of 6 doubles posted, one of them cancelled; an element read
  reals = 1
  start = 1
  count = (/6, 1/)
  err = nfmpi_iput_vara_double(nc, rec, start, count, reals, id(1))        ! 48
  start(2) = 2
  err = nf90mpi_iput_var(nc, rec, reals, id(2), start, count)              ! 48
  err = nfmpi_cancel(nc, 1, id(2:2), states)
  err = nf90mpi_wait_all(nc, 1, id, states)
  if (err /= NF90_NOERR) call mpi_abort(MPI_COMM_WORLD, 3, ierr)
  one = 1
  err = nfmpi_begin_indep_data(nc)
  err = nfmpi_get_var1_double(nc, rec, one, reals(1))                      ! 8
  if (err /= NF90_NOERR) call mpi_abort(MPI_COMM_WORLD, 4, ierr)
  err = nfmpi_end_indep_data(nc)
  ! none of these counts
  one = 1000
  if (nfmpi_put_var1_int_all(nc, var, one, values(1, 1)) == NF90_NOERR) &
    call mpi_abort(MPI_COMM_WORLD, 5, ierr)
  if (nf90mpi_open(MPI_COMM_WORLD, "no/such.nc", NF90_NOWRITE, MPI_INFO_NULL, none) == NF90_NOERR) &
    call mpi_abort(MPI_COMM_WORLD, 6, ierr)
  err = nf90mpi_sync(nc)
  err = nf90mpi_close(nc)
  call mpi_finalize(ierr)
end program
