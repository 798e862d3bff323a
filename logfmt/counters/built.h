/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modules of this build, besides POSIX, process table and ledger: IOSCRIBE_MODULE_X is 0 if CMake's option is off.
 * Also used by kernel programs.
 */
#ifndef LOGFMT_COUNTERS_BUILT_H
#define LOGFMT_COUNTERS_BUILT_H

#ifndef IOSCRIBE_MODULE_STDIO
#define IOSCRIBE_MODULE_STDIO 1
#endif
#ifndef IOSCRIBE_MODULE_MPIIO
#define IOSCRIBE_MODULE_MPIIO 1
#endif
#ifndef IOSCRIBE_MODULE_HDF5
#define IOSCRIBE_MODULE_HDF5 1
#endif
#ifndef IOSCRIBE_MODULE_PNETCDF
#define IOSCRIBE_MODULE_PNETCDF 1
#endif
#ifndef IOSCRIBE_MODULE_CUFILE
#define IOSCRIBE_MODULE_CUFILE 1
#endif
#ifndef IOSCRIBE_MODULE_LUSTRE
#define IOSCRIBE_MODULE_LUSTRE 1
#endif
#ifndef IOSCRIBE_MODULE_LAYERS
#define IOSCRIBE_MODULE_LAYERS 1
#endif
#ifndef IOSCRIBE_MODULE_CACHE
#define IOSCRIBE_MODULE_CACHE 1
#endif
#ifndef IOSCRIBE_MODULE_POSIX_EXT
#define IOSCRIBE_MODULE_POSIX_EXT 1
#endif
/* Library probes record STDIO, MPIIO, HDF5, PNETCDF and CUFILE: x86-64 only. */
#ifndef IOSCRIBE_LIBRARY_PROBES
#define IOSCRIBE_LIBRARY_PROBES 1
#endif

#endif
