// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes a log of many files: make_ids FILE RECORDS chosen|other. Record ids are chosen to meet in one place
 * of a table that finds places by a public multiplication, or are not. All else is the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/file/writer.h"
#include "tests/harness/chosen.h"

static int write_all(struct scribe_writer *w, uint64_t n, uint64_t (*id_of)(uint64_t i))
{
	struct scribe_log_job job = {.uid = 1, .start_time_sec = 1, .end_time_sec = 2, .nprocs = 4, .jobid = 1};
	int rc = scribe_writer_job(w, &job, "/bin/x", NULL, 0);

	for (uint64_t i = 1; i <= n && rc >= 0; i++) {
		char name[64];
		int len = snprintf(name, sizeof(name), "/data/file%08llu", (unsigned long long)i);

		rc = scribe_writer_name(w, id_of(i), name, (size_t)len);
	}
	for (uint64_t i = 1; i <= n && rc >= 0; i++) {
		struct scribe_posix_record r = {.base = {.id = id_of(i), .rank = (int64_t)(i % 4)}};

		r.counters[SCRIBE_POSIX_OPENS] = 1;
		r.counters[SCRIBE_POSIX_WRITES] = 1;
		r.counters[SCRIBE_POSIX_BYTES_WRITTEN] = 4096;
		rc = scribe_writer_record(w, SCRIBE_MOD_POSIX, &r, sizeof(r));
	}
	return rc < 0 ? rc : scribe_writer_finish(w);
}

int main(int argc, char **argv)
{
	struct scribe_writer *w = NULL;
	struct scribe_err err = {0};
	int rc;

	if (argc != 4) {
		fputs("usage: make_ids FILE RECORDS chosen|other\n", stderr);
		return 2;
	}
	rc = scribe_writer_create(argv[1], NULL, &w, &err);
	if (rc >= 0)
		rc = write_all(w, strtoull(argv[2], NULL, 10), strcmp(argv[3], "chosen") ? other_id : chosen_id);
	if (rc < 0)
		fprintf(stderr, "make_ids: %s\n", w ? scribe_writer_error(w)->text : err.text);
	scribe_writer_free(w);
	return rc < 0;
}
