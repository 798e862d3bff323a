! SPDX-License-Identifier: BSD-3-Clause
! PnetCDF from Fortran, by its Fortran 77 and 90 interfaces, with totals that are
! known: pnetcdf_fortran FILE.
program pnetcdf_fortran
  use mpi
  use pnetcdf
  implicit none
  integer :: nc, var, dim(2), err, ierr
  integer(kind=MPI_OFFSET_KIND) :: six = 6, four = 4, start(2), count(2)
  integer :: values(6, 4)
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
  err = nf90mpi_enddef(nc)
  err = nf90mpi_put_var_all(nc, var, values)                 ! whole: counts as the interface calls it
  err = nfmpi_put_vara_int_all(nc, var, start, count, values) ! 48
  err = nfmpi_get_vara_int_all(nc, var, start, count, values) ! 48
  err = nfmpi_get_vara_int_all(nc, var, start, count, values) ! 48
  err = nf90mpi_sync(nc)
  err = nf90mpi_close(nc)
  call mpi_finalize(ierr)
end program
