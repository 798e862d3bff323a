/* SPDX-License-Identifier: BSD-3-Clause */
/* Times in which all ranks of a log wrote files (checkpoints and other output), or read (epochs). */
#ifndef UTIL_LOGS_PHASES_H
#define UTIL_LOGS_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds are of the run. */
struct scribe_phase {
	double begin, end;  /* first open, last close; reading: first and last read */
	double first_end;   /* when the first rank had closed its files, or read its last */
	int64_t first_rank; /* that one; -1: not known, the files are shared */
	int64_t last_rank;  /* the last one; -1 likewise */
	int64_t files, bytes, syncs;
};

struct scribe_stretch; /* a file written by a rank, or reading by one without a pause */

/* Zero-initialised: empty. */
struct scribe_phases {
	struct scribe_stretch *stretch;
	size_t nstretches, capacity;
	bool reads;
	struct scribe_phase *phase; /* by time */
	size_t n;
};

/* Records of POSIX and STDIO; others are ignored. 0 or -ENOMEM. */
int scribe_phases_take(struct scribe_phases *p, int module, const void *record);
/* Instead of records: reading by a rank. 0 or -ENOMEM. */
int scribe_phases_take_reads(struct scribe_phases *p, int64_t rank, double begin, double end, int64_t bytes);
/* After the last. 0 or -ENOMEM. */
int scribe_phases_find(struct scribe_phases *p, int64_t nprocs);
/* Seconds; a longer pause can end a phase. */
#define SCRIBE_PHASES_PAUSE 0.05
void scribe_phases_clear(struct scribe_phases *p);

#endif
