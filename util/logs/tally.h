/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_LOGS_TALLY_H
#define UTIL_LOGS_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct scribe_totals {
	int64_t logs;
	int64_t bytes_read, bytes_written;
	double io_time;  /* seconds, all ranks */
	double run_time; /* seconds times processes */
};

struct scribe_tally_entry {
	char *key;
	struct scribe_totals totals;
};

struct scribe_tally {
	struct scribe_tally_entry *entries; /* sorted by key until scribe_tally_rank */
	size_t n, cap;
};

void scribe_totals_add(struct scribe_totals *to, const struct scribe_totals *from);

int scribe_tally_add(struct scribe_tally *t, const char *key, const struct scribe_totals *v);
/* Sorts by bytes, descending. Do not add afterwards: the order by key is lost. */
void scribe_tally_rank(struct scribe_tally *t);
void scribe_tally_free(struct scribe_tally *t);

#endif
