// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes a small log in the single-region layout: make_unified FILE [zlib]. One record of the NULL
 * module, and one of a module DEMO that only the log itself describes. Not compressed it is the
 * log whose bytes docs/format.md shows.
 */
#include <stdio.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/file/writer.h"

struct demo_record {
	struct scribe_base_record base;
	int64_t calls, bytes;
	double time;
};

static const struct scribe_counter counters[] = {{"DEMO_CALLS", "", SCRIBE_RULE_SUM},
						 {"DEMO_BYTES", "", SCRIBE_RULE_SUM}};
static const struct scribe_counter fcounters[] = {{"DEMO_F_TIME", "", SCRIBE_RULE_SUM}};
static const struct scribe_module demo = {
	.id = 40, .name = "DEMO", .prefix = "DEMO", .version = 1, .accepts = 1,
	.record_bytes = sizeof(struct demo_record), .ncounters = 2, .nfcounters = 1,
	.counters_at = offsetof(struct demo_record, calls), .fcounters_at = offsetof(struct demo_record, time),
	.counters = counters, .fcounters = fcounters};

static int put(struct scribe_writer *w)
{
	static const struct scribe_mount root = {"ext4", "/"};
	struct scribe_log_job job = {.uid = 1000, .start_time_sec = 1700000000, .end_time_sec = 1700000002,
				     .nprocs = 4, .jobid = 99, .metadata = "lib_ver=1\n"};
	struct scribe_null_record null = {.base = {scribe_record_id("/a", 2), -1}, .counters = {258, 3},
					  .fcounters = {0.5, 1.5}};
	struct demo_record rec = {.base = {7, 3}, .calls = 2, .bytes = 4096, .time = 0.25};

	return scribe_writer_job(w, &job, "./a", &root, 1) || scribe_writer_name(w, null.base.id, "/a", 2) ||
	       scribe_writer_name(w, 7, "object", 6) ||
	       scribe_writer_record(w, SCRIBE_MOD_NULL, &null, sizeof(null)) || scribe_writer_module(w, &demo) ||
	       scribe_writer_record(w, demo.id, &rec, sizeof(rec)) || scribe_writer_finish(w);
}

int main(int argc, char **argv)
{
	struct scribe_writer_options options = {.compression = SCRIBE_COMP_NONE, .layout = SCRIBE_LAYOUT_UNIFIED};
	struct scribe_writer *w;
	struct scribe_err err;
	int rc;

	if (argc < 2) {
		fprintf(stderr, "usage: make_unified FILE [zlib]\n");
		return 2;
	}
	if (argc > 2 && strcmp(argv[2], "zlib") == 0)
		options.compression = SCRIBE_COMP_ZLIB;
	if (scribe_writer_create(argv[1], &options, &w, &err) < 0) {
		fprintf(stderr, "make_unified: %s\n", err.text);
		return 1;
	}
	rc = put(w);
	if (rc)
		fprintf(stderr, "make_unified: %s\n", scribe_writer_error(w)->text);
	scribe_writer_free(w);
	return rc ? 1 : 0;
}
