// SPDX-License-Identifier: BSD-3-Clause
/* Makes a log with one record of the ledger: make_ledger FILE NAME=VALUE..., names without LEDGER_. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "logfmt/file/writer.h"

static struct scribe_ledger_record record = {.base = {.id = 1, .rank = -1}};

/* 0: there is such a counter. */
static int set(const char *name, size_t len, long long value)
{
	const struct scribe_module *m = scribe_module_by_id(SCRIBE_MOD_LEDGER);

	for (int i = 0; i < m->ncounters; i++)
		if (strlen(m->counters[i].name + 7) == len && !strncmp(m->counters[i].name + 7, name, len)) {
			record.counters[i] = value;
			return 0;
		}
	for (int i = 0; i < m->nfcounters; i++)
		if (strlen(m->fcounters[i].name + 7) == len && !strncmp(m->fcounters[i].name + 7, name, len)) {
			record.fcounters[i] = (double)value;
			return 0;
		}
	return -1;
}

int main(int argc, char **argv)
{
	const struct scribe_log_job job = {
		.uid = 1000, .start_time_sec = 1700000000, .end_time_sec = 1700000100, .nprocs = 1};
	struct scribe_writer_options options = {0};
	struct scribe_writer *w = NULL;
	struct scribe_err err = {0};
	int rc;

	for (int i = 2; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');

		if (!equals || set(argv[i], (size_t)(equals - argv[i]), atoll(equals + 1)) < 0) {
			fprintf(stderr, "make_ledger: %s\n", argv[i]);
			return 2;
		}
	}
	rc = scribe_writer_create(argv[1], &options, &w, &err);
	if (rc >= 0)
		rc = scribe_writer_job(w, &job, "./app", NULL, 0);
	if (rc >= 0)
		rc = scribe_writer_name(w, 1, "ledger:n1", 9);
	if (rc >= 0)
		rc = scribe_writer_record(w, SCRIBE_MOD_LEDGER, &record, sizeof(record));
	if (rc >= 0)
		rc = scribe_writer_finish(w);
	scribe_writer_free(w);
	return rc < 0;
}
