// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes logs for measurements and tests: make_log FILE RECORDS [RANKS [PREFIX [RANK [SEGMENTS]]]].
 * POSIX records, one a file, with counters as a real job has them: few distinct
 * sizes, times that differ in every record. With RANK, the log of that rank
 * alone, of files that all ranks use (-1: of all ranks). With SEGMENTS, so many traced operations
 * of each record. The same arguments give the same log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/file/writer.h"

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t make_name(char *name, size_t cap, const char *prefix, long i)
{
	return (size_t)snprintf(name, cap, "%s/job/output/step%04ld/rank-data-%06ld.bin", prefix, i / 100, i);
}

static void make_record(struct scribe_posix_record *r, uint64_t id, int64_t rank)
{
	int64_t writes = 1 + (int64_t)(next() % 16), size = INT64_C(4096) << next() % 4;
	double t = (double)(next() % 100000000) / 1e6;

	memset(r, 0, sizeof(*r));
	r->base.id = id;
	r->base.rank = rank;
	r->counters[SCRIBE_POSIX_OPENS] = 1;
	r->counters[SCRIBE_POSIX_FILENOS] = -1;
	r->counters[SCRIBE_POSIX_WRITES] = writes;
	r->counters[SCRIBE_POSIX_BYTES_WRITTEN] = writes * size;
	r->counters[SCRIBE_POSIX_MAX_BYTE_WRITTEN] = writes * size - 1;
	r->counters[SCRIBE_POSIX_CONSEC_WRITES] = writes - 1;
	r->counters[SCRIBE_POSIX_SEQ_WRITES] = writes - 1;
	r->counters[SCRIBE_POSIX_MODE] = 0644;
	r->counters[SCRIBE_POSIX_MEM_ALIGNMENT] = 8;
	r->counters[SCRIBE_POSIX_FILE_ALIGNMENT] = 4096;
	r->counters[SCRIBE_POSIX_MAX_WRITE_TIME_SIZE] = size;
	r->counters[size > 10240 ? SCRIBE_POSIX_SIZE_WRITE_10K_100K : SCRIBE_POSIX_SIZE_WRITE_1K_10K] = writes;
	r->counters[SCRIBE_POSIX_ACCESS1_ACCESS] = size;
	r->counters[SCRIBE_POSIX_ACCESS1_COUNT] = writes;
	r->fcounters[SCRIBE_POSIX_F_OPEN_START_TIMESTAMP] = t;
	r->fcounters[SCRIBE_POSIX_F_OPEN_END_TIMESTAMP] = t + 0.000021;
	r->fcounters[SCRIBE_POSIX_F_WRITE_START_TIMESTAMP] = t + 0.00003;
	r->fcounters[SCRIBE_POSIX_F_WRITE_END_TIMESTAMP] = t + 0.00004 * (double)writes;
	r->fcounters[SCRIBE_POSIX_F_CLOSE_START_TIMESTAMP] = t + 0.001;
	r->fcounters[SCRIBE_POSIX_F_CLOSE_END_TIMESTAMP] = t + 0.00101;
	r->fcounters[SCRIBE_POSIX_F_WRITE_TIME] = 0.00001 * (double)writes;
	r->fcounters[SCRIBE_POSIX_F_META_TIME] = 0.000031;
	r->fcounters[SCRIBE_POSIX_F_MAX_WRITE_TIME] = 0.00001;
}

/* Writes one after the other, then as many reads. */
static int write_trace(struct scribe_writer *w, const struct scribe_posix_record *of, long segments)
{
	size_t bytes = sizeof(struct scribe_dxt_record) + (size_t)segments * sizeof(struct scribe_dxt_segment);
	struct scribe_dxt_record *r = calloc(1, bytes);
	int rc;

	if (!r)
		return -1;
	r->base = of->base;
	snprintf(r->hostname, sizeof(r->hostname), "node%04ld", (long)(of->base.rank < 0 ? 0 : of->base.rank));
	r->write_count = segments / 2;
	r->read_count = segments - r->write_count;
	for (long i = 0; i < segments; i++) {
		double start = 0.001 * (double)i + (double)(next() % 1000) / 1e6;

		r->segments[i] = (struct scribe_dxt_segment){.offset = i % (segments / 2 + 1) * 65536,
							     .length = (int64_t)(1 + next() % 65536),
							     .start = start,
							     .end = start + (double)(1 + next() % 400) / 1e6};
	}
	rc = scribe_writer_record(w, SCRIBE_MOD_DXT_POSIX, r, bytes);
	free(r);
	return rc;
}

static int write_all(struct scribe_writer *w, long records, long ranks, const char *prefix, long rank, long segments)
{
	struct scribe_log_job job = {.uid = 1000,
				     .start_time_sec = 1750000000,
				     .end_time_sec = 1750000120,
				     .nprocs = ranks,
				     .jobid = 4242,
				     .metadata = "lib_ver=3.5.0\n"};
	struct scribe_mount mounts[] = {{.type = "lustre", .path = "/lustre"}, {.type = "ext4", .path = "/"}};
	struct scribe_posix_record r;
	char name[512];
	int rc = scribe_writer_job(w, &job, "./app --steps 100", mounts, 2);

	for (long i = 0; i < records && rc >= 0; i++) {
		size_t len = make_name(name, sizeof(name), prefix, i);

		rc = scribe_writer_name(w, scribe_record_id(name, len), name, len);
	}
	for (long i = 0; i < records && rc >= 0; i++) {
		size_t len = make_name(name, sizeof(name), prefix, i);

		make_record(&r, scribe_record_id(name, len), rank >= 0 ? rank : i * ranks / records);
		rc = scribe_writer_record(w, SCRIBE_MOD_POSIX, &r, sizeof(r));
	}
	for (long i = 0; segments && i < records && rc >= 0; i++) {
		size_t len = make_name(name, sizeof(name), prefix, i);

		r.base.id = scribe_record_id(name, len);
		r.base.rank = rank >= 0 ? rank : i * ranks / records;
		rc = write_trace(w, &r, segments);
	}
	return rc < 0 ? rc : scribe_writer_finish(w);
}

int main(int argc, char **argv)
{
	struct scribe_writer *w = NULL;
	struct scribe_err err = {0};
	long records = argc > 2 ? atol(argv[2]) : 0, ranks = argc > 3 ? atol(argv[3]) : 4;
	long rank = argc > 5 ? atol(argv[5]) : -1, segments = argc > 6 ? atol(argv[6]) : 0;
	int rc;

	state += (uint64_t)(rank + 1) * 1000003;
	if (records < 1 || ranks < 1) {
		fputs("usage: make_log FILE RECORDS [RANKS [PREFIX [RANK [SEGMENTS]]]]\n", stderr);
		return 2;
	}
	rc = scribe_writer_create(argv[1], NULL, &w, &err);
	if (rc >= 0) {
		rc = write_all(w, records, ranks, argc > 4 ? argv[4] : "/lustre/scratch", rank, segments);
		if (rc < 0)
			err = *scribe_writer_error(w);
	}
	scribe_writer_free(w);
	if (rc < 0)
		fprintf(stderr, "make_log: %s\n", err.text);
	return rc < 0;
}
