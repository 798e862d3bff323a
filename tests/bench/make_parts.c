// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes what the nodes of a job leave when nobody made its log: make_parts DIR NODES RANKS RECORDS. Each node has RANKS
 * ranks and RECORDS records: one file that all ranks of the job use, a record for each of them, and for the rest files
 * that one rank uses alone; and its ranks' processes. The same arguments give the same parts.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/hash.h"
#include "logfmt/file/writer.h"
#include "logfmt/nodes/part.h"

#define WORLD  "00112233aabbccdd"
#define SHARED "/scratch/job/shared.h5"

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double grid(double s)
{
	return (double)(int64_t)(s * 4194304.0) / 4194304.0;
}

static int put_posix(struct scribe_writer *w, uint64_t id, int64_t rank)
{
	struct scribe_posix_record r = {.base = {id, rank}};
	int64_t writes = 1 + (int64_t)(next() % 16);
	double t = (double)(next() % 100000000) / 1e6;

	r.counters[SCRIBE_POSIX_OPENS] = 1;
	r.counters[SCRIBE_POSIX_WRITES] = writes;
	r.counters[SCRIBE_POSIX_BYTES_WRITTEN] = writes * 4096;
	r.counters[SCRIBE_POSIX_MAX_BYTE_WRITTEN] = writes * 4096 - 1;
	r.counters[SCRIBE_POSIX_SEQ_WRITES] = writes - 1;
	r.counters[SCRIBE_POSIX_SIZE_WRITE_1K_10K] = writes;
	r.counters[SCRIBE_POSIX_ACCESS1_ACCESS] = 4096;
	r.counters[SCRIBE_POSIX_ACCESS1_COUNT] = writes;
	r.fcounters[SCRIBE_POSIX_F_OPEN_START_TIMESTAMP] = grid(t);
	r.fcounters[SCRIBE_POSIX_F_OPEN_END_TIMESTAMP] = grid(t + 0.000021);
	r.fcounters[SCRIBE_POSIX_F_WRITE_START_TIMESTAMP] = grid(t + 0.00003);
	r.fcounters[SCRIBE_POSIX_F_WRITE_END_TIMESTAMP] = grid(t + 0.00004 * (double)writes);
	r.fcounters[SCRIBE_POSIX_F_CLOSE_END_TIMESTAMP] = grid(t + 0.00101);
	r.fcounters[SCRIBE_POSIX_F_WRITE_TIME] = grid(0.00001 * (double)writes);
	return scribe_writer_record(w, SCRIBE_MOD_POSIX, &r, sizeof(r));
}

static size_t own_name(char *name, size_t cap, long node, long i)
{
	return (size_t)snprintf(name, cap, "/scratch/job/step01/node%05ld-%04ld.dat", node, i);
}

static int put_node(struct scribe_writer *w, long node, long nodes, long ranks, long records)
{
	struct scribe_log_job job = {.uid = 1000,
				     .start_time_sec = 1750000000,
				     .end_time_sec = 1750000120,
				     .nprocs = nodes * ranks,
				     .jobid = 4242,
				     .metadata = "tracer=ioscribe\n"};
	struct scribe_part_info info = {.lowest = node * ranks, .log_path = "u_app_id4242"};
	const uint64_t shared = scribe_record_id(SHARED, strlen(SHARED));
	size_t at = strlen(job.metadata);
	char name[96];
	int rc;

	if (scribe_part_info_write(&info, job.metadata + at, sizeof(job.metadata) - at) < 0)
		return -1;
	rc = scribe_writer_job(w, &job, "./app", NULL, 0);
	if (rc == 0)
		rc = scribe_writer_name(w, shared, SHARED, strlen(SHARED));
	for (long i = ranks; i < records && rc == 0; i++) {
		size_t n = own_name(name, sizeof(name), node, i);

		rc = scribe_writer_name(w, scribe_record_id(name, n), name, n);
	}
	for (long i = 0; i < records && rc == 0; i++) {
		size_t n = own_name(name, sizeof(name), node, i);

		rc = put_posix(w, i < ranks ? shared : scribe_record_id(name, n), node * ranks + i % ranks);
	}
	for (long i = 0; i < ranks && rc == 0; i++) {
		struct scribe_process_record p = {.base = {next(), node * ranks + i}, .end_kind = 1};

		rc = scribe_writer_record(w, SCRIBE_MOD_PROCESS, &p, sizeof(p));
	}
	return rc ? rc : scribe_writer_finish(w);
}

static int make_node(const char *dir, long node, long nodes, long ranks, long records)
{
	char path[600];
	struct scribe_writer *w = NULL;
	struct scribe_err err;
	FILE *done;
	int rc;

	snprintf(path, sizeof(path), "%s/" WORLD ".node%05ld." SCRIBE_PART_LATE, dir, node);
	rc = scribe_writer_create(path, NULL, &w, &err);
	if (rc == 0)
		rc = put_node(w, node, nodes, ranks, records);
	scribe_writer_free(w);
	snprintf(path, sizeof(path), "%s/node%05ld." SCRIBE_PART_DONE, dir, node);
	done = rc == 0 ? fopen(path, "w") : NULL;
	if (!done)
		return -1;
	fprintf(done, "nodes=%ld\npart=" WORLD ".node%05ld." SCRIBE_PART_LATE "\n", nodes, node);
	return fclose(done);
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: make_parts DIR NODES RANKS RECORDS\n");
		return 2;
	}
	for (long i = 0; i < atol(argv[2]); i++)
		if (make_node(argv[1], i, atol(argv[2]), atol(argv[3]), atol(argv[4]))) {
			fprintf(stderr, "make_parts: node %ld\n", i);
			return 1;
		}
	return 0;
}
