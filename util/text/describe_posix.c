// SPDX-License-Identifier: BSD-3-Clause
/*
 * Darshan's descriptions of POSIX, STDIO, MPI-IO and system modules, word for word as in darshan-parser 3.5.0.
 */
#include "util/text/describe_texts.h"

/* FILENOS is always -1 in our logs: fileno is not a system call. */
const struct scribe_text_block scribe_describe_posix[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of POSIX counters:\n"
	 "#   POSIX_*: posix operation counts.\n"
	 "#   READS,WRITES,OPENS,SEEKS,STATS,MMAPS,SYNCS,FILENOS,DUPS are types of "
	 "operations.\n"
	 "#   POSIX_RENAME_SOURCES/TARGETS: total count file was source or target of a rename "
	 "operation\n"
	 "#   POSIX_RENAMED_FROM: Darshan record ID of the first rename source, if file was a "
	 "rename target\n"
	 "#   POSIX_MODE: mode that file was opened in.\n"
	 "#   POSIX_BYTES_*: total bytes read and written.\n"
	 "#   POSIX_MAX_BYTE_*: highest offset byte read and written.\n"
	 "#   POSIX_CONSEC_*: number of exactly adjacent reads and writes.\n"
	 "#   POSIX_SEQ_*: number of reads and writes from increasing offsets.\n"
	 "#   POSIX_RW_SWITCHES: number of times access alternated between read and write.\n"
	 "#   POSIX_*_ALIGNMENT: memory and file alignment.\n"
	 "#   POSIX_*_NOT_ALIGNED: number of reads and writes that were not aligned.\n"
	 "#   POSIX_MAX_*_TIME_SIZE: size of the slowest read and write operations.\n"
	 "#   POSIX_SIZE_*_*: histogram of read and write access sizes.\n"
	 "#   POSIX_STRIDE*_STRIDE: the four most common strides detected.\n"
	 "#   POSIX_STRIDE*_COUNT: count of the four most common strides.\n"
	 "#   POSIX_ACCESS*_ACCESS: the four most common access sizes.\n"
	 "#   POSIX_ACCESS*_COUNT: count of the four most common access sizes.\n"
	 "#   POSIX_*_RANK: rank of the processes that were the fastest and slowest at I/O "
	 "(for shared files).\n"
	 "#   POSIX_*_RANK_BYTES: bytes transferred by the fastest and slowest ranks (for "
	 "shared files).\n"
	 "#   POSIX_F_*_START_TIMESTAMP: timestamp of first open/read/write/close.\n"
	 "#   POSIX_F_*_END_TIMESTAMP: timestamp of last open/read/write/close.\n"
	 "#   POSIX_F_READ/WRITE/META_TIME: cumulative time spent in read, write, or metadata "
	 "operations.\n"
	 "#   POSIX_F_MAX_*_TIME: duration of the slowest read and write operations.\n"
	 "#   POSIX_F_*_RANK_TIME: fastest and slowest I/O time for a single rank (for shared "
	 "files).\n"
	 "#   POSIX_F_VARIANCE_RANK_*: variance of total I/O time and bytes moved for all "
	 "ranks (for shared files).\n"},
	{1, 1,
	 "\n# WARNING: POSIX module log format version 1 has the following limitations:\n"
	 "# - Darshan version 3.1.0 and earlier had only partial instrumentation of stdio "
	 "stream I/O functions.\n"
	 "#   File records with stdio counters present will be omitted from output.\n"
	 "#   Use darshan-logutils < 3.1.0 to retrieve those records.\n"},
	{0, 2,
	 "\n# WARNING: POSIX module log format version <=2 has the following limitations:\n"
	 "# - No support for the following timers:\n"
	 "# \t- POSIX_F_CLOSE_START_TIMESTAMP\n"
	 "# \t- POSIX_F_OPEN_END_TIMESTAMP\n"},
	{0, 3,
	 "\n# WARNING: POSIX module log format version <=3 has the following limitations:\n"
	 "# - No support for the following counters to properly instrument dup, fileno, and "
	 "rename operations:\n"
	 "# \t- POSIX_FILENOS\n"
	 "# \t- POSIX_DUPS\n"
	 "# \t- POSIX_RENAME_SOURCES\n"
	 "# \t- POSIX_RENAME_TARGETS\n"
	 "# \t- POSIX_RENAMED_FROM\n"},
	{4, SCRIBE_ANY_VERSION,
	 "\n# WARNING: POSIX_OPENS counter includes both POSIX_FILENOS and POSIX_DUPS counts\n"
	 "\n# WARNING: POSIX counters related to file offsets may be incorrect if a file is "
	 "simultaneously accessed by both POSIX and STDIO (e.g., using fileno())\n"
	 "# \t- Affected counters include: MAX_BYTE_{READ|WRITTEN}, CONSEC_{READS|WRITES}, "
	 "SEQ_{READS|WRITES}, {MEM|FILE}_NOT_ALIGNED, STRIDE*_STRIDE\n"},
	{0, 0, NULL},
};

const struct scribe_text_block scribe_describe_mpiio[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of MPIIO counters:\n"
	 "#   MPIIO_INDEP_*: MPI independent operation counts.\n"
	 "#   MPIIO_COLL_*: MPI collective operation counts.\n"
	 "#   MPIIO_SPLIT_*: MPI split collective operation counts.\n"
	 "#   MPIIO_NB_*: MPI non blocking operation counts.\n"
	 "#   READS,WRITES,and OPENS are types of operations.\n"
	 "#   MPIIO_SYNCS: MPI file sync operation counts.\n"
	 "#   MPIIO_HINTS: number of times MPI hints were used.\n"
	 "#   MPIIO_VIEWS: number of times MPI file views were used.\n"
	 "#   MPIIO_MODE: MPI-IO access mode that file was opened with.\n"
	 "#   MPIIO_BYTES_*: total bytes read and written at MPI-IO layer.\n"
	 "#   MPIIO_RW_SWITCHES: number of times access alternated between read and write.\n"
	 "#   MPIIO_MAX_*_TIME_SIZE: size of the slowest read and write operations.\n"
	 "#   MPIIO_SIZE_*_AGG_*: histogram of MPI datatype total sizes for read and write "
	 "operations.\n"
	 "#   MPIIO_ACCESS*_ACCESS: the four most common total access sizes.\n"
	 "#   MPIIO_ACCESS*_COUNT: count of the four most common total access sizes.\n"
	 "#   MPIIO_*_RANK: rank of the processes that were the fastest and slowest at I/O "
	 "(for shared files).\n"
	 "#   MPIIO_*_RANK_BYTES: total bytes transferred at MPI-IO layer by the fastest and "
	 "slowest ranks (for shared files).\n"
	 "#   MPIIO_F_*_START_TIMESTAMP: timestamp of first MPI-IO open/read/write/close.\n"
	 "#   MPIIO_F_*_END_TIMESTAMP: timestamp of last MPI-IO open/read/write/close.\n"
	 "#   MPIIO_F_READ/WRITE/META_TIME: cumulative time spent in MPI-IO read, write, or "
	 "metadata operations.\n"
	 "#   MPIIO_F_MAX_*_TIME: duration of the slowest MPI-IO read and write operations.\n"
	 "#   MPIIO_F_*_RANK_TIME: fastest and slowest I/O time for a single rank (for shared "
	 "files).\n"
	 "#   MPIIO_F_VARIANCE_RANK_*: variance of total I/O time and bytes moved for all "
	 "ranks (for shared files).\n"},
	{1, 1,
	 "\n# WARNING: MPIIO module log format version 1 has the following limitations:\n"
	 "# - MPIIO_F_WRITE_START_TIMESTAMP may not be accurate.\n"},
	{0, 2,
	 "\n# WARNING: MPIIO module log format version <=2 does not support the following "
	 "counters:\n"
	 "# - MPIIO_F_CLOSE_START_TIMESTAMP\n"
	 "# - MPIIO_F_OPEN_END_TIMESTAMP\n"},
	{0, 0, NULL},
};

/* Only Darshan's logs have BGQ and MDHIM records. */
const struct scribe_text_block scribe_describe_bgq[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of BGQ counters:\n"
	 "#   BGQ_CSJOBID: BGQ control system job ID.\n"
	 "#   BGQ_NNODES: number of BGQ compute nodes for this job.\n"
	 "#   BGQ_RANKSPERNODE: number of MPI ranks per compute node.\n"
	 "#   BGQ_DDRPERNODE: size in MB of DDR3 per compute node.\n"
	 "#   BGQ_INODES: number of BGQ I/O nodes for this job.\n"
	 "#   BGQ_*NODES: dimension of A, B, C, D, & E dimensions of torus.\n"
	 "#   BGQ_TORUSENABLED: which dimensions of the torus are enabled.\n"
	 "#   BGQ_F_TIMESTAMP: timestamp when the BGQ data was collected.\n"},
	{0, 0, NULL},
};

const struct scribe_text_block scribe_describe_lustre[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of LUSTRE counters:\n"
	 "#   LUSTRE_NUM_COMPONENTS: number of instrumented components in the Lustre layout.\n"
	 "#   LUSTRE_NUM_STRIPES: number of active stripes in the Lustre layout components.\n"
	 "#   LUSTRE_COMP*_STRIPE_SIZE: stripe size for this file layout component in bytes.\n"
	 "#   LUSTRE_COMP*_STRIPE_COUNT: number of OSTs over which the file layout component "
	 "is striped.\n"
	 "#   LUSTRE_COMP*_STRIPE_PATTERN: pattern (e.g., raid0, mdt, overstriped) for this "
	 "file layout component.\n"
	 "#   LUSTRE_COMP*_FLAGS: captured flags (e.g. init, prefwr, stale) for this file "
	 "layout component.\n"
	 "#   LUSTRE_COMP*_EXT_START: starting file extent for this file layout component.\n"
	 "#   LUSTRE_COMP*_EXT_END: ending file extent for this file layout component (-1 "
	 "means EOF).\n"
	 "#   LUSTRE_COMP*_MIRROR_ID: mirror ID for this file layout component, if mirrors "
	 "are enabled.\n"
	 "#   LUSTRE_COMP*_POOL_NAME: Lustre OST pool used for this file layout component.\n"
	 "#   LUSTRE_COMP*_OST_ID_*: indices of OSTs over which this file layout component is "
	 "striped.\n"},
	{0, 0, NULL},
};

const struct scribe_text_block scribe_describe_stdio[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of STDIO counters:\n"
	 "#   STDIO_{OPENS|FDOPENS|WRITES|READS|SEEKS|FLUSHES} are types of operations.\n"
	 "#   STDIO_BYTES_*: total bytes read and written.\n"
	 "#   STDIO_MAX_BYTE_*: highest offset byte read and written.\n"
	 "#   STDIO_*_RANK: rank of the processes that were the fastest and slowest at I/O "
	 "(for shared files).\n"
	 "#   STDIO_*_RANK_BYTES: bytes transferred by the fastest and slowest ranks (for "
	 "shared files).\n"
	 "#   STDIO_F_*_START_TIMESTAMP: timestamp of the first call to that type of "
	 "function.\n"
	 "#   STDIO_F_*_END_TIMESTAMP: timestamp of the completion of the last call to that "
	 "type of function.\n"
	 "#   STDIO_F_*_TIME: cumulative time spent in different types of functions.\n"
	 "#   STDIO_F_*_RANK_TIME: fastest and slowest I/O time for a single rank (for shared "
	 "files).\n"
	 "#   STDIO_F_VARIANCE_RANK_*: variance of total I/O time and bytes moved for all "
	 "ranks (for shared files).\n"},
	{1, 1,
	 "\n# WARNING: STDIO module log format version 1 has the following limitations:\n"
	 "# - No support for properly instrumenting fdopen operations (STDIO_FDOPENS)\n"},
	{2, SCRIBE_ANY_VERSION,
	 "\n# WARNING: STDIO_OPENS counter includes STDIO_FDOPENS count\n"
	 "\n# WARNING: STDIO counters related to file offsets may be incorrect if a file is "
	 "simultaneously accessed by both STDIO and POSIX (e.g., using fdopen())\n"
	 "# \t- Affected counters include: MAX_BYTE_{READ|WRITTEN}\n"},
	{0, 0, NULL},
};

const struct scribe_text_block scribe_describe_mdhim[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of MDHIM counters:\n"
	 "#   MDHIM_PUTS: number of 'mdhim_put' function calls.\n"
	 "#   MDHIM_GETS: number of 'mdhim_get' function calls.\n"
	 "#   MDHIM_SERVERS: how many mdhim servers \n"
	 "#   MDHIM_F_PUT_TIMESTAMP: timestamp of the first call to function 'mdhim_put'.\n"
	 "#   MDHIM_F_GET_TIMESTAMP: timestamp of the first call to function 'mdhim_get'.\n"
	 "#   MDHIM_SERVER_N: how many operations sent to this server\n"},
	{0, 0, NULL},
};

const struct scribe_text_block scribe_describe_heatmap[] = {
	{0, SCRIBE_ANY_VERSION,
	 "\n# description of heatmap counters:\n"
	 "#   HEATMAP_F_BIN_WIDTH_SECONDS: time duration of each heatmap bin\n"
	 "#   HEATMAP_{READ|WRITE}_BIN_{*}: number of bytes read or written within specified "
	 "heatmap bin\n"},
	{0, 0, NULL},
};
