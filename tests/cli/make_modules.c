// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes a log with records of every module of Darshan's, for comparing text:
 * make_modules FILE [threads|names]. With `threads`, traces name the threads;
 * with `names`, POSIX records under names of odd bytes instead. Values are made
 * from a counter, so that a column in the wrong place shows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/counters/module.h"
#include "logfmt/file/writer.h"

#define NPROCS 3
#define NFILES 3

static const char *const names[NFILES] = {"/scratch/shared.h5:/group/data set", "/scratch/each rank", "/home/u/x,y\"z"};
static const struct scribe_mount mounts[] = {{"lustre", "/scratch"}, {"nfs", "/home"}, {"ext4", "/"}};

static uint64_t count;

static int64_t next_int(void)
{
	static const int64_t odd[] = {0, 1, -1, 9, 10, 99, 100, 4096, 2147483648, 1000000007, 9223372036854775807};

	count++;
	return count % 3 ? (int64_t)count : odd[count / 3 % (sizeof(odd) / sizeof(odd[0]))];
}

static double next_real(void)
{
	static const double odd[] = {0, -1, 0.0000005, 0.9999995, 123456789.123456789, 1e-9, 4294967296.5, 0.1};

	count++;
	return count % 3 ? (double)count / 7 : odd[count / 3 % (sizeof(odd) / sizeof(odd[0]))];
}

static uint64_t id_of(int file)
{
	return scribe_record_id(names[file], strlen(names[file]));
}

static int put_fixed(struct scribe_writer *w, const struct scribe_module *m, int file, int64_t rank)
{
	uint64_t space[256] = {0};
	char *rec = (char *)space;
	struct scribe_base_record base = {id_of(file), rank};

	for (size_t i = 0; i < m->record_bytes / 8; i++)
		space[i] = count++ * 0x0101010101010101u; /* ids and uuids; counters follow */
	memcpy(rec, &base, sizeof(base));
	for (int i = 0; i < m->ncounters; i++) {
		int64_t v = next_int();

		memcpy(rec + m->counters_at + 8 * (size_t)i, &v, 8);
	}
	for (int i = 0; i < m->nfcounters; i++) {
		double v = next_real();

		memcpy(rec + m->fcounters_at + 8 * (size_t)i, &v, 8);
	}
	return scribe_writer_record(w, m->id, rec, m->record_bytes);
}

static int put_lustre(struct scribe_writer *w, int file)
{
	static const int64_t counters[3][SCRIBE_LUSTRE_COMP_COUNT] = {
		{1048576, 2, 0, 0x10, 0, 4194304, 0},
		{4194304, 3, 4, 0x12, 4194304, -1, 1},
		{65536, 0, 2, -1, 0, 1048576, 2},
	};
	size_t len = sizeof(struct scribe_lustre_record) + 3 * sizeof(struct scribe_lustre_comp) + 5 * 8;
	struct scribe_lustre_record *l = calloc(1, len);
	int64_t *osts = (int64_t *)(l->comps + 3);
	int rc;

	l->base = (struct scribe_base_record){id_of(file), -1};
	l->num_comps = 3;
	l->num_stripes = 5;
	for (int i = 0; i < 3; i++)
		memcpy(l->comps[i].counters, counters[i], sizeof(counters[i]));
	strcpy(l->comps[0].pool_name, "flash");
	for (int i = 0; i < 5; i++)
		osts[i] = 10 + i;
	rc = scribe_writer_record(w, SCRIBE_MOD_LUSTRE, l, len);
	free(l);
	return rc;
}

static int put_dxt(struct scribe_writer *w, int module, int file, int64_t rank, int threads)
{
	enum { WRITES = 4, READS = 3 };
	size_t len = sizeof(struct scribe_dxt_record) + (WRITES + READS) * sizeof(struct scribe_dxt_segment);
	struct scribe_dxt_record *d = calloc(1, len);
	int rc;

	d->base = (struct scribe_base_record){id_of(file), rank};
	snprintf(d->hostname, sizeof(d->hostname), "node%d", (int)rank);
	d->write_count = WRITES;
	d->read_count = READS;
	for (int i = 0; i < WRITES + READS; i++)
		d->segments[i] =
			(struct scribe_dxt_segment){(int64_t)i * 3000000, (int64_t)2500000 << i % 3, next_real() / 1e6,
						    (double)i + 0.00005, threads ? (uint64_t)(1 + i % 2) : 0};
	rc = scribe_writer_record(w, module, d, len);
	free(d);
	return rc;
}

static int put_heatmap(struct scribe_writer *w, int64_t rank)
{
	static const char name[] = "heatmap:POSIX";
	enum { BINS = 12 };
	size_t len = sizeof(struct scribe_heatmap_record) + 2 * BINS * 8;
	struct scribe_heatmap_record *h = calloc(1, len);
	int rc;

	h->base = (struct scribe_base_record){scribe_record_id(name, strlen(name)), rank};
	h->bin_width_seconds = 0.1;
	h->nbins = BINS;
	for (int i = 0; i < 2 * BINS; i++)
		h->bins[i] = next_int();
	rc = scribe_writer_record(w, SCRIBE_MOD_HEATMAP, h, len);
	free(h);
	return rc;
}

static int put_mdhim(struct scribe_writer *w, int64_t rank)
{
	enum { SERVERS = 3 };
	size_t len = sizeof(struct scribe_mdhim_record) + SERVERS * 8;
	struct scribe_mdhim_record *m = calloc(1, len);
	int rc;

	m->base = (struct scribe_base_record){id_of(1), rank};
	for (int i = 0; i < SCRIBE_MDHIM_COUNT; i++)
		m->counters[i] = i + 7;
	m->counters[SCRIBE_MDHIM_SERVERS] = SERVERS;
	for (int i = 0; i < SCRIBE_MDHIM_F_COUNT; i++)
		m->fcounters[i] = next_real();
	for (int i = 0; i < SERVERS; i++)
		m->server_histogram[i] = 100 + i;
	rc = scribe_writer_record(w, SCRIBE_MOD_MDHIM, m, len);
	free(m);
	return rc;
}

/* File 0 is shared, file 1 has a record a rank, file 2 one of rank 1. */
static int put_module(struct scribe_writer *w, int module, int threads)
{
	const struct scribe_module *m = scribe_module_by_id(module);
	int rc = 0;

	switch (module) {
	case SCRIBE_MOD_LUSTRE:
		return put_lustre(w, 0);
	case SCRIBE_MOD_HEATMAP:
		for (int64_t r = 0; r < NPROCS && rc >= 0; r++)
			rc = put_heatmap(w, r);
		return rc;
	case SCRIBE_MOD_MDHIM:
		return put_mdhim(w, 0);
	case SCRIBE_MOD_DXT_POSIX:
	case SCRIBE_MOD_DXT_MPIIO:
		for (int64_t r = 0; r < NPROCS && rc >= 0; r++)
			rc = put_dxt(w, module, r == 2 ? 1 : 0, r, threads);
		return rc;
	default:
		if (!m || !m->record_bytes)
			return 0;
		for (int64_t r = 0; r < NPROCS && rc >= 0; r++)
			rc = put_fixed(w, m, 1, r);
		if (rc >= 0)
			rc = put_fixed(w, m, 2, 1);
		return rc < 0 ? rc : put_fixed(w, m, 0, -1);
	}
}

/* Names of any bytes: object ids, control characters, no UTF-8, none at all. */
static const struct {
	uint64_t id;
	const char *bytes;
	size_t len;
} odd_names[] = {
	{101, "\x01\x02\xfe\xff\x80", 5},
	{102, "/tmp/new\nline", 13},
	{103, "/tmp/tab\there", 13},
	{104, "/tmp/\xc3\x28", 7},
	{105, "/tmp/back\\slash", 15},
	{106, "/tmp/\xc3\xbc", 7},
	{107, "", 0},
	/* 108 has no name */
	{109, "\0\0\0\0\0\0\x10\0\x2a\0\0\0\xff\xfe\0\0", 16},
	{110, "\0", 1},
	{111,
	 "/tmp/nul\0"
	 "behind",
	 15},
};
#define ODD_LAST 111

static int put_odd(struct scribe_writer *w)
{
	struct scribe_log_job job = {
		.uid = 1000, .start_time_sec = 1700000000, .end_time_sec = 1700000100, .nprocs = 1};
	struct scribe_posix_record r = {.counters = {1}};
	size_t n = sizeof(odd_names) / sizeof(odd_names[0]);
	int rc = scribe_writer_job(w, &job, "./app", mounts, 3);

	for (size_t i = 0; i < n && rc >= 0; i++)
		rc = scribe_writer_name(w, odd_names[i].id, odd_names[i].bytes, odd_names[i].len);
	for (uint64_t id = odd_names[0].id; id <= ODD_LAST && rc >= 0; id++) {
		r.base.id = id;
		rc = scribe_writer_record(w, SCRIBE_MOD_POSIX, &r, sizeof(r));
	}
	for (uint64_t id = odd_names[0].id; id <= ODD_LAST && rc >= 0; id++) {
		const struct scribe_dxt_record d = {.base = {.id = id}, .hostname = "node0"};

		rc = scribe_writer_record(w, SCRIBE_MOD_DXT_POSIX, &d, sizeof(d));
	}
	return rc < 0 ? rc : scribe_writer_finish(w);
}

static int put_all(struct scribe_writer *w, int threads)
{
	struct scribe_log_job job = {1000,      1700000000, 5,  1700000100,
				     250000000, NPROCS,     77, "lib_ver=3.5.0\nh=cb_nodes=4;x=y\n"};
	int rc = scribe_writer_job(w, &job, "./app -x 'a b'", mounts, 3);

	for (int i = 0; i < NFILES && rc >= 0; i++)
		rc = scribe_writer_name(w, id_of(i), names[i], strlen(names[i]));
	for (int i = 1; i <= SCRIBE_MOD_DAOS && rc >= 0; i++)
		if (i != SCRIBE_MOD_APXC && i != SCRIBE_MOD_APMPI)
			rc = put_module(w, i, threads);
	return rc < 0 ? rc : scribe_writer_finish(w);
}

int main(int argc, char **argv)
{
	int threads = argc > 2 && !strcmp(argv[2], "threads");
	struct scribe_writer_options options = {.dxt_threads = threads};
	struct scribe_writer *w = NULL;
	struct scribe_err err = {0};
	int rc;

	if (argc < 2) {
		fputs("usage: make_modules FILE [threads|names]\n", stderr);
		return 2;
	}
	rc = scribe_writer_create(argv[1], &options, &w, &err);
	if (rc >= 0) {
		rc = argc > 2 && !strcmp(argv[2], "names") ? put_odd(w) : put_all(w, threads);
		if (rc < 0)
			err = *scribe_writer_error(w);
	}
	scribe_writer_free(w);
	if (rc < 0)
		fprintf(stderr, "make_modules: %s\n", err.text);
	return rc < 0;
}
