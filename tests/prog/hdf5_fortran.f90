! SPDX-License-Identifier: BSD-3-Clause
! HDF5 from Fortran, with totals that are known: hdf5_fortran FILE.
program hdf5_fortran
  use hdf5
  implicit none
  integer(hid_t) :: file, space, set
  integer(hsize_t) :: dims(2)
  integer :: error
  double precision :: values(6, 4)
  character(len=4096) :: path

  call get_command_argument(1, path)
  values = 1
  dims = (/6, 4/)
  call h5open_f(error)
  call h5fcreate_f(trim(path), H5F_ACC_TRUNC_F, file, error)
  if (error /= 0) stop 1
  call h5screate_simple_f(2, dims, space, error)
  call h5dcreate_f(file, "values", H5T_NATIVE_DOUBLE, space, set, error)
  call h5dwrite_f(set, H5T_NATIVE_DOUBLE, values, dims, error) ! 192
  call h5dread_f(set, H5T_NATIVE_DOUBLE, values, dims, error)  ! 192
  call h5dread_f(set, H5T_NATIVE_DOUBLE, values, dims, error)  ! 192
  call h5dclose_f(set, error)
  call h5sclose_f(space, error)
  call h5fflush_f(file, H5F_SCOPE_GLOBAL_F, error)
  call h5fclose_f(file, error)
  call h5close_f(error)
end program
