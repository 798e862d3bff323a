/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the logfmt unit tests: random records, logs in memory, dumps to compare. */
#ifndef TESTS_UNIT_LOGFMT_SUPPORT_H
#define TESTS_UNIT_LOGFMT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/counters/module.h"
#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"

#define ALL_MODULES 64

static uint64_t seed = 88172645463325252ull;

static inline uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static inline uint64_t below(uint64_t n)
{
	return rnd() % n;
}

/* ---- random records ---- */
#define RECORD_ROOM   (1u << 20)
#define VARIABLE_ROOM 8192 /* longest record that is made here */

static inline int64_t some_count(enum scribe_rule rule)
{
	switch (rule) {
	case SCRIBE_RULE_UNKNOWN:
		return below(12) ? (int64_t)below(1000) : -1;
	case SCRIBE_RULE_KEEP:
		return below(3) ? (int64_t)below(5) : 0;
	case SCRIBE_RULE_RANK:
		return 0;
	case SCRIBE_RULE_RANKS:
		return (int64_t)below(2);
	default:
		return (int64_t)below(100000);
	}
}

/* Common values of one group: distinct, from a pool of `pool`, fullest first. */
static inline void some_values(int64_t *values, int64_t *counts, int width, unsigned pool)
{
	unsigned held = (unsigned)below(5), first = (unsigned)below(pool);

	memset(values, 0, (size_t)width * 4 * 8);
	memset(counts, 0, 4 * 8);
	for (unsigned i = 0; i < held && i < pool; i++) {
		for (int w = 0; w < width; w++)
			values[i * (unsigned)width + (unsigned)w] = (int64_t)((first + i) % pool) * 512 + 512 + w;
		counts[i] = (int64_t)(100 - 20 * i + below(20));
	}
}

static inline size_t variable_record(int module, void *to)
{
	if (module == SCRIBE_MOD_LUSTRE) {
		struct scribe_lustre_record *r = to;

		r->num_comps = 1 + (int64_t)below(3);
		r->num_stripes = 0;
		for (int64_t i = 0; i < r->num_comps; i++) {
			int64_t n = (int64_t)below(5);

			for (int k = 0; k < SCRIBE_LUSTRE_COMP_COUNT; k++)
				r->comps[i].counters[k] = (int64_t)below(1u << 20);
			r->comps[i].counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT] = n;
			snprintf(r->comps[i].pool_name, sizeof(r->comps[i].pool_name), "pool%d", (int)i);
			r->num_stripes += n;
		}
		for (int64_t i = 0; i < r->num_stripes; i++)
			((int64_t *)&r->comps[r->num_comps])[i] = (int64_t)below(400);
	} else if (module == SCRIBE_MOD_HEATMAP) {
		struct scribe_heatmap_record *r = to;

		r->bin_width_seconds = 0.1;
		r->nbins = 20;
		for (int i = 0; i < 40; i++)
			r->bins[i] = (int64_t)below(1u << 30);
	} else if (module == SCRIBE_MOD_MDHIM) {
		struct scribe_mdhim_record *r = to;

		r->counters[SCRIBE_MDHIM_SERVERS] = 4;
		for (int i = 0; i < 4; i++)
			r->server_histogram[i] = (int64_t)below(100);
	} else if (module == SCRIBE_MOD_APMPI) {
		struct scribe_apmpi_record *r = to;

		for (int i = 0; i < SCRIBE_APMPI_F_SYNC_COUNT; i++)
			r->fsync[i] = (double)below(1000) / 7;
		snprintf(r->node_name, sizeof(r->node_name), "node%d", (int)below(99));
	} else {
		struct scribe_dxt_record *r = to;

		snprintf(r->hostname, sizeof(r->hostname), "host%d", (int)below(99));
		r->write_count = (int64_t)below(40);
		r->read_count = (int64_t)below(40);
		for (int64_t i = 0; i < r->write_count + r->read_count; i++) {
			r->segments[i].offset = (int64_t)below(1u << 30);
			r->segments[i].length = (int64_t)below(1u << 20);
			r->segments[i].start = (double)below(1000) / 3;
			r->segments[i].end = (double)below(1000) / 3;
			r->segments[i].thread = rnd();
		}
	}
	return scribe_record_length(module, to, RECORD_ROOM);
}

/* A record of a module as a runtime might leave it; returns its length. */
static inline size_t some_record(const struct scribe_module *m, int64_t rank, unsigned pool, void *to)
{
	struct scribe_base_record *base = to;
	int64_t *c = (int64_t *)((char *)to + m->counters_at);
	double *f = (double *)((char *)to + m->fcounters_at);
	size_t len;

	memset(to, 0, m->record_bytes ? m->record_bytes : VARIABLE_ROOM);
	for (int i = 0; i < m->ncounters; i++)
		c[i] = some_count(m->counters[i].rule);
	for (int i = 0; i < m->ncounters; i++) {
		int n = 0;

		while (i + n < m->ncounters && m->counters[i + n].rule == SCRIBE_RULE_VALUE)
			n++;
		if (n == 0)
			continue;
		some_values(c + i, c + i + n, n / 4, pool);
		i += n;
	}
	for (int i = 0; i < m->nfcounters; i++) {
		bool zero = m->fcounters[i].rule == SCRIBE_RULE_RANK || m->fcounters[i].rule == SCRIBE_RULE_VARIANCE ||
			    below(6) == 0;

		f[i] = zero ? 0 : (double)below(1000000) / 1024;
	}
	len = m->record_bytes ? m->record_bytes : variable_record(m->id, to);
	*base = (struct scribe_base_record){0x1234567890abcdefull + below(50), rank};
	if (m->id == SCRIBE_MOD_MDHIM)
		base->id = 5;
	return len;
}

/* ---- logs in memory ---- */
static inline int memory_file(void)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static inline const struct scribe_log_job *some_job(void)
{
	static struct scribe_log_job job = {.uid = 1000,
					    .start_time_sec = 1700000000,
					    .start_time_nsec = 5,
					    .end_time_sec = 1700000060,
					    .end_time_nsec = 500000000,
					    .nprocs = 8,
					    .jobid = 4711,
					    .metadata = "lib_ver=3.5.0\nh=romio_no_indep_rw=true\n"};

	return &job;
}

static const struct scribe_mount some_mounts[] = {{"ext4", "/home/a"}, {"lustre", "/scratch"}, {"ext4", "/"}};

/* A log with `per` records of every module in `which` (bit set). */
static inline int random_log(const struct scribe_writer_options *o, uint64_t which, int per, unsigned pool)
{
	struct scribe_writer *w;
	struct scribe_err err = {0};
	uint64_t *rec = malloc(RECORD_ROOM);
	int fd = memory_file();

	assert_non_null(rec);
	if (scribe_writer_create_fd(fd, o, &w, &err))
		fail_msg("%s", err.text);
	assert_int_equal(scribe_writer_job(w, some_job(), "./app -x 'a b'", some_mounts, 3), 0);
	for (unsigned i = 0; i < 60; i++) {
		char name[64];

		snprintf(name, sizeof(name), "/scratch/dir/file.%u", i);
		assert_int_equal(scribe_writer_name(w, 0x1234567890abcdefull + i, name, strlen(name)), 0);
	}
	for (int id = 0; id < ALL_MODULES; id++) {
		const struct scribe_module *m = scribe_module_by_id(id);

		if (!m || !(which >> id & 1))
			continue;
		for (int i = 0; i < per; i++) {
			size_t len = some_record(m, i % 8, pool, rec);

			if (scribe_writer_record(w, id, rec, len))
				fail_msg("%s: %s", m->name, scribe_writer_error(w)->text);
		}
	}
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	free(rec);
	return fd;
}

static inline struct scribe_reader *must_open(int fd)
{
	struct scribe_reader *r = NULL;
	struct scribe_err err = {0};

	if (scribe_reader_open_fd(fd, "log", &r, &err))
		fail_msg("%s", err.text);
	return r;
}

/* ---- everything of a log, as bytes ---- */
struct dump {
	char *bytes;
	size_t len, room;
	int error; /* code of the first error met */
	char text[512];
};

static inline void dump_add(struct dump *d, const void *bytes, size_t n)
{
	if (d->len + n > d->room) {
		d->room = (d->len + n) * 2;
		d->bytes = realloc(d->bytes, d->room);
		assert_non_null(d->bytes);
	}
	if (n)
		memcpy(d->bytes + d->len, bytes, n);
	d->len += n;
}

static inline void dump_error(struct dump *d, const struct scribe_reader *r, int rc)
{
	if (d->error)
		return;
	d->error = rc;
	snprintf(d->text, sizeof(d->text), "%s", scribe_reader_error(r)->text);
}

static inline struct dump dump_reader(struct scribe_reader *r)
{
	struct dump d = {0};
	const struct scribe_mount *mounts;
	size_t n = scribe_reader_mounts(r, &mounts);
	struct scribe_name name;
	int rc;

	dump_add(&d, scribe_reader_job(r), sizeof(struct scribe_log_job));
	dump_add(&d, scribe_reader_exe(r), strlen(scribe_reader_exe(r)) + 1);
	for (size_t i = 0; i < n; i++) {
		dump_add(&d, mounts[i].type, strlen(mounts[i].type) + 1);
		dump_add(&d, mounts[i].path, strlen(mounts[i].path) + 1);
	}
	while ((rc = scribe_reader_next_name(r, &name)) > 0) {
		dump_add(&d, &name.id, sizeof(name.id));
		dump_add(&d, &name.len, sizeof(name.len));
		dump_add(&d, name.bytes, name.len);
	}
	if (rc < 0)
		dump_error(&d, r, rc);
	for (int id = 0; id < ALL_MODULES; id++) {
		const void *rec;
		size_t len;

		while ((rc = scribe_reader_borrow_record(r, id, &rec, &len)) > 0) {
			dump_add(&d, &id, sizeof(id));
			dump_add(&d, rec, len);
		}
		if (rc < 0)
			dump_error(&d, r, rc);
	}
	return d;
}

static inline void assert_same_dump(const struct dump *a, const struct dump *b)
{
	assert_int_equal(a->error, 0);
	assert_int_equal(b->error, 0);
	assert_int_equal(a->len, b->len);
	assert_memory_equal(a->bytes, b->bytes, a->len);
}

#endif
