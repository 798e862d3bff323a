// SPDX-License-Identifier: BSD-3-Clause
/*
 * Copies the records of one rank, and the shared ones, to another log.
 *
 *   filter_log RANK LOG NEW-LOG
 */
#include <stdio.h>
#include <stdlib.h>

#include <logfmt/counters/module.h>
#include <logfmt/file/reader.h>
#include <logfmt/file/writer.h>

/* In this order, before any record. */
static int copy_head(struct scribe_reader *r, struct scribe_writer *w)
{
	const struct scribe_mount *mounts;
	size_t n = scribe_reader_mounts(r, &mounts);
	int rc = scribe_writer_job(w, scribe_reader_job(r), scribe_reader_exe(r), mounts, n), more = 0;
	struct scribe_name name;

	/* replacements for names that C strings cannot hold are made anew */
	while (rc == 0 && (more = scribe_reader_next_name(r, &name)) > 0)
		rc = scribe_writer_name(w, name.id, name.bytes, name.len);
	return rc < 0 ? rc : more;
}

static int copy_module(struct scribe_reader *r, struct scribe_writer *w, int module, int64_t rank)
{
	const void *record;
	size_t bytes;
	int rc = 0, more = 0;

	if (scribe_reader_header(r)->partial_flag & 1ull << module)
		scribe_writer_partial(w, module);
	while (rc == 0 && (more = scribe_reader_borrow_record(r, module, &record, &bytes)) > 0) {
		const struct scribe_base_record *base = record;

		if (base->rank == rank || base->rank < 0)
			rc = scribe_writer_record(w, module, record, bytes);
	}
	return rc < 0 ? rc : more;
}

int main(int argc, char **argv)
{
	struct scribe_reader *r = NULL;
	struct scribe_writer *w = NULL;
	struct scribe_err err;
	int rc;

	if (argc != 4) {
		fprintf(stderr, "usage: filter_log RANK LOG NEW-LOG\n");
		return 2;
	}
	if (scribe_reader_open(argv[2], &r, &err) < 0 || scribe_writer_create(argv[3], NULL, &w, &err) < 0) {
		fprintf(stderr, "filter_log: %s\n", err.text);
		scribe_reader_free(r);
		return 1;
	}
	rc = copy_head(r, w);
	/* in order of ids */
	for (int id = 0; id < SCRIBE_MAX_MODULES && rc >= 0; id++)
		if (scribe_module_by_id(id) && scribe_reader_has(r, id))
			rc = copy_module(r, w, id, atoll(argv[1]));
	if (rc >= 0)
		rc = scribe_writer_finish(w);
	if (rc < 0)
		fprintf(stderr, "filter_log: %s\n",
			scribe_writer_error(w)->code ? scribe_writer_error(w)->text : scribe_reader_error(r)->text);
	scribe_writer_free(w); /* removes an unfinished log */
	scribe_reader_free(r);
	return rc < 0;
}
