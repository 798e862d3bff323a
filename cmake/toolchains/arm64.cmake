# SPDX-License-Identifier: BSD-3-Clause
# For arm64 on another machine, by gcc-aarch64-linux-gnu; programs of the build are run by
# qemu-user. Libraries come from $IOSCRIBE_SYSROOT (scripts/arm64-sysroot).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES IOSCRIBE_SYSROOT)

if(NOT IOSCRIBE_SYSROOT)
  set(IOSCRIBE_SYSROOT "$ENV{IOSCRIBE_SYSROOT}" CACHE PATH "Where arm64's libraries are: scripts/arm64-sysroot")
endif()
if(NOT EXISTS "${IOSCRIBE_SYSROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "no arm64 libraries in IOSCRIBE_SYSROOT (${IOSCRIBE_SYSROOT}): run scripts/arm64-sysroot DIR")
endif()
set(CMAKE_SYSROOT "${IOSCRIBE_SYSROOT}")
set(ENV{IOSCRIBE_SYSROOT} "${IOSCRIBE_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH "${IOSCRIBE_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_DIR} "")
set(ENV{PKG_CONFIG_LIBDIR} "${IOSCRIBE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${IOSCRIBE_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${IOSCRIBE_SYSROOT}")

find_program(SCRIBE_QEMU_ARM64 NAMES qemu-aarch64-static qemu-aarch64)
if(SCRIBE_QEMU_ARM64)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${SCRIBE_QEMU_ARM64};-L;${IOSCRIBE_SYSROOT}")
endif()

# MPICH's own wrapper names this machine's folders; of the other MPI, and for Fortran, there is none.
set(SCRIBE_MPICC_mpich "${CMAKE_CURRENT_LIST_DIR}/arm64-mpicc" CACHE FILEPATH "Compiles MPI programs")
foreach(none SCRIBE_MPICC_openmpi SCRIBE_MPIF90_mpich SCRIBE_MPIF90_openmpi)
  set(${none} OFF CACHE FILEPATH "There is none")
endforeach()
