// SPDX-License-Identifier: BSD-3-Clause
/*
 * Prints every counter of a log: module, rank, record id, counter, value, name. Records without counters
 * (traces, layouts) are counted.
 *
 *   list_counters LOG
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <logfmt/counters/module.h>
#include <logfmt/file/names.h>
#include <logfmt/file/reader.h>

static void print_record(const struct scribe_module *m, const struct scribe_base_record *base, const char *name)
{
	const int64_t *counters = scribe_record_counters(m, base);
	const double *fcounters = scribe_record_fcounters(m, base);

	for (int i = 0; i < m->ncounters; i++)
		printf("%s\t%" PRId64 "\t%" PRIu64 "\t%s\t%" PRId64 "\t%s\n", m->name, base->rank, base->id,
		       m->counters[i].name, counters[i], name);
	for (int i = 0; i < m->nfcounters; i++)
		printf("%s\t%" PRId64 "\t%" PRIu64 "\t%s\t%f\t%s\n", m->name, base->rank, base->id,
		       m->fcounters[i].name, fcounters[i], name);
}

/* Negative: a record could not be read. */
static int print_module(struct scribe_reader *r, const struct scribe_names *names, const struct scribe_module *m)
{
	const void *record;
	size_t bytes, n = 0;
	int rc;

	while ((rc = scribe_reader_borrow_record(r, m->id, &record, &bytes)) > 0) {
		const struct scribe_base_record *base = record; /* every record starts with one */
		const char *name = scribe_names_find(names, base->id, NULL);

		/* APMPI's first record is a header */
		if (m->ncounters && bytes >= m->record_bytes && bytes > m->fcounters_at)
			print_record(m, base, name ? name : "");
		n++;
	}
	if (!m->ncounters)
		printf("# %s: %zu records\n", m->name, n);
	return rc;
}

static int print_log(struct scribe_reader *r, const struct scribe_names *names, struct scribe_err *err)
{
	int rc = 0;

	printf("# %" PRId64 " processes, %.3f s: %s\n", scribe_reader_job(r)->nprocs, scribe_reader_runtime(r),
	       scribe_reader_exe(r));
	for (int id = 0; id < SCRIBE_MAX_MODULES && rc >= 0; id++) {
		const struct scribe_module *m = scribe_module_by_id(id);

		if (m && scribe_reader_has(r, id))
			rc = print_module(r, names, m);
	}
	if (rc < 0)
		*err = *scribe_reader_error(r);
	return rc;
}

int main(int argc, char **argv)
{
	struct scribe_names *names;
	struct scribe_reader *r = NULL;
	struct scribe_err err;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: list_counters LOG\n");
		return 2;
	}
	names = scribe_names_new();
	rc = names ? scribe_reader_open(argv[1], &r, &err) : scribe_err_set(&err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = scribe_names_load(names, r, &err);
	if (rc == 0)
		rc = print_log(r, names, &err);
	if (rc < 0)
		fprintf(stderr, "list_counters: %s\n", err.text);
	scribe_names_free(names);
	scribe_reader_free(r);
	return rc < 0;
}
