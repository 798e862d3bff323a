/* SPDX-License-Identifier: BSD-3-Clause */
/* Times in which all ranks of a log wrote files: checkpoints and other output. */
#ifndef UTIL_LOGS_PHASES_H
#define UTIL_LOGS_PHASES_H

#include <stddef.h>
#include <stdint.h>

/* Seconds are of the run. */
struct scribe_phase {
	double begin, end;  /* first open, last close */
	double first_end;   /* when the first rank had closed its files */
	int64_t first_rank; /* that one; -1: not known, the files are shared */
	int64_t last_rank;  /* the last one; -1 likewise */
	int64_t files, bytes, syncs;
};

struct scribe_written; /* a file by a rank */

/* Zero-initialised: empty. */
struct scribe_phases {
	struct scribe_written *written;
	size_t nwritten, capacity;
	struct scribe_phase *phase; /* by time */
	size_t n;
};

/* Records of POSIX and STDIO; others are ignored. 0 or -ENOMEM. */
int scribe_phases_take(struct scribe_phases *p, int module, const void *record);
/* After the last record. 0 or -ENOMEM. */
int scribe_phases_find(struct scribe_phases *p, int64_t nprocs);
void scribe_phases_clear(struct scribe_phases *p);

#endif
