/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What this build records beside POSIX, the process table and the ledger:
 * IOSCRIBE_MODULE_X is 0 where CMake's option of that name is off. For kernel
 * programs too.
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
#ifndef IOSCRIBE_MODULE_LUSTRE
#define IOSCRIBE_MODULE_LUSTRE 1
#endif
#ifndef IOSCRIBE_MODULE_LAYERS
#define IOSCRIBE_MODULE_LAYERS 1
#endif
#ifndef IOSCRIBE_MODULE_POSIX_EXT
#define IOSCRIBE_MODULE_POSIX_EXT 1
#endif
/* Probes on libraries, by which STDIO, MPIIO, HDF5 and PNETCDF are recorded: x86-64 only. */
#ifndef IOSCRIBE_LIBRARY_PROBES
#define IOSCRIBE_LIBRARY_PROBES 1
#endif

#endif
