// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes a random set of records of every module, once whole and once split at
 * random over several logs: make_split SEED DIR writes DIR/whole.darshan and
 * DIR/part-1.darshan and so on. Files 1 to 3 have a record a rank (the second
 * several of some ranks), file 4 of some ranks only, file 5 one that is shared
 * already. Reals are multiples of 1/64, so that sums do not depend on order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/counters/module.h"
#include "logfmt/file/writer.h"

#define MOST_RECORDS 8192
#define MOST_PARTS   6
#define FILES        5
#define POOL         40  /* distinct sizes and strides: more than a reduction's element holds */
#define SERVERS      400 /* more than an element of the reduction over MPI takes */

static struct record {
	int module, part;
	size_t len;
	void *bytes;
} records[MOST_RECORDS];
static int nrecords, nparts;
static int64_t nprocs;
static uint64_t state;

static uint64_t rnd(void)
{
	state += UINT64_C(0x9e3779b97f4a7c15);
	return scribe_hash64(&state, sizeof(state), 7);
}

static int64_t below(int64_t n)
{
	return (int64_t)(rnd() % (uint64_t)n);
}

static uint64_t file_id(int file)
{
	char name[32];

	return scribe_record_id(name, (size_t)snprintf(name, sizeof(name), "/scratch/file-%d", file));
}

/* The same for all pieces of one rank's record of a file. */
static int64_t fixed_for(const struct scribe_base_record *base, int i)
{
	struct {
		struct scribe_base_record base;
		int64_t i;
	} key = {*base, i};

	return (int64_t)(scribe_hash64(&key, sizeof(key), 1) % 1000);
}

static void add_record(int module, const void *bytes, size_t len)
{
	struct record *r = &records[nrecords++];

	if (nrecords == MOST_RECORDS)
		abort();
	r->module = module;
	r->part = (int)below(nparts);
	r->len = len;
	r->bytes = malloc(len);
	memcpy(r->bytes, bytes, len);
}

static int64_t some_int(const struct scribe_base_record *base, const struct scribe_counter *c, int i)
{
	switch (c->rule) {
	case SCRIBE_RULE_KEEP:
		return fixed_for(base, i);
	case SCRIBE_RULE_UNKNOWN:
		return base->id % 3 == 0 && base->rank % 4 == 1 ? -1 : below(1000);
	case SCRIBE_RULE_RANKS:
		return below(2);
	case SCRIBE_RULE_RANK:
	case SCRIBE_RULE_VALUE:
	case SCRIBE_RULE_COUNT:
		return 0;
	default:
		return below(5) ? below(1000000) : 0;
	}
}

static double some_real(const struct scribe_base_record *base, const struct scribe_counter *c, int i)
{
	switch (c->rule) {
	case SCRIBE_RULE_KEEP:
		return (double)fixed_for(base, i);
	case SCRIBE_RULE_RANK:
	case SCRIBE_RULE_VARIANCE:
		return 0;
	default:
		return below(6) ? (double)below(1 << 20) / 64 : 0;
	}
}

/* Four values of some words each, then their four counts. */
static void put_values(const struct scribe_module *m, int64_t *c)
{
	for (int i = 0, n; i < m->ncounters; i += n + 1) {
		for (n = 0; i + n < m->ncounters && m->counters[i + n].rule == SCRIBE_RULE_VALUE; n++)
			;
		for (int k = 0; n && k < 4; k++) {
			/* values of one record differ, as a runtime leaves them */
			for (int w = 0; w < n / 4; w++)
				c[i + k * (n / 4) + w] = (w + 1) * (1 + 4 * below(POOL / 4) + k);
			c[i + n + k] = below(8) ? 1 + below(50) : 0;
		}
	}
}

static void counters(const struct scribe_module *m, void *record)
{
	const struct scribe_base_record *base = record;
	int64_t *c = (int64_t *)((char *)record + m->counters_at);
	double *f = (double *)((char *)record + m->fcounters_at);

	for (int i = 0; i < m->ncounters; i++)
		c[i] = some_int(base, &m->counters[i], i);
	put_values(m, c);
	for (int i = 0; i < m->nfcounters; i++)
		f[i] = some_real(base, &m->fcounters[i], i);
}

static size_t fill_lustre(struct scribe_lustre_record *l)
{
	l->num_comps = 1 + below(2);
	for (int64_t i = 0; i < l->num_comps; i++) {
		struct scribe_lustre_comp *c = &l->comps[i];

		c->counters[SCRIBE_LUSTRE_COMP_STRIPE_SIZE] = 65536 << below(4);
		c->counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT] = 1 + below(3);
		l->num_stripes += c->counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT];
	}
	for (int64_t i = 0; i < l->num_stripes; i++)
		((int64_t *)&l->comps[l->num_comps])[i] = below(100);
	return scribe_record_length(SCRIBE_MOD_LUSTRE, l, SIZE_MAX);
}

static size_t fill_heatmap(struct scribe_heatmap_record *h)
{
	h->bin_width_seconds = 0.125 * (double)(1 << below(3));
	h->nbins = 1 + 3 * below(10); /* never one apart, which the reader takes for an old bug */
	for (int64_t i = 0; i < 2 * h->nbins; i++)
		h->bins[i] = below(1 << 20);
	return scribe_record_length(SCRIBE_MOD_HEATMAP, h, SIZE_MAX);
}

static size_t fill_dxt(struct scribe_dxt_record *d, int module)
{
	snprintf(d->hostname, sizeof(d->hostname), "node%d", (int)(d->base.rank / 2));
	d->write_count = below(4);
	d->read_count = below(4);
	for (int64_t i = 0; i < d->write_count + d->read_count; i++)
		d->segments[i] = (struct scribe_dxt_segment){below(1 << 20), below(4096), (double)below(640) / 64,
							     (double)below(640) / 64, 0};
	return scribe_record_length(module, d, SIZE_MAX);
}

static void put(const struct scribe_module *m, int file, int64_t rank)
{
	uint64_t space[1024] = {0};
	struct scribe_base_record *base = (void *)space;
	struct scribe_mdhim_record *mdhim = (void *)space;
	struct scribe_apmpi_record *apmpi = (void *)space;
	size_t len = m->record_bytes;

	*base = (struct scribe_base_record){file_id(file), rank};
	if (m->ncounters)
		counters(m, space);
	switch (m->id) {
	case SCRIBE_MOD_LUSTRE:
		len = fill_lustre((void *)space);
		break;
	case SCRIBE_MOD_HEATMAP:
		len = fill_heatmap((void *)space);
		break;
	case SCRIBE_MOD_DXT_POSIX:
	case SCRIBE_MOD_DXT_MPIIO:
		len = fill_dxt((void *)space, m->id);
		break;
	case SCRIBE_MOD_MDHIM:
		mdhim->counters[SCRIBE_MDHIM_SERVERS] = 1 + below(SERVERS);
		for (int64_t i = 0; i < mdhim->counters[SCRIBE_MDHIM_SERVERS]; i++)
			mdhim->server_histogram[i] = below(100);
		len = scribe_record_length(m->id, space, sizeof(space));
		break;
	case SCRIBE_MOD_APMPI:
		snprintf(apmpi->node_name, sizeof(apmpi->node_name), "node%d", (int)(rank / 2));
		len = sizeof(*apmpi);
		break;
	default:
		break;
	}
	add_record(m->id, space, len);
}

static void put_apmpi_head(void)
{
	struct scribe_apmpi_header_record h = {.base = {4711, 0}, .magic = SCRIBE_APMPI_MAGIC, .sync_flag = 1};

	add_record(SCRIBE_MOD_APMPI, &h, sizeof(h));
}

static void make_module(const struct scribe_module *m)
{
	if (m->id == SCRIBE_MOD_APMPI)
		put_apmpi_head();
	for (int64_t r = 0; r < nprocs; r++) {
		put(m, 1, r);
		if (m->id == SCRIBE_MOD_APMPI)
			continue; /* one id */
		for (int64_t n = below(3) ? 1 : 2 + below(3); n > 0; n--)
			put(m, 2, r);
		put(m, 3, r);
		if (r % 2)
			put(m, 4, r);
	}
	if (m->id != SCRIBE_MOD_APMPI && m->id != SCRIBE_MOD_HEATMAP)
		put(m, 5, -1);
}

/* Part `part` of the records; -1: all. */
static int write_log(const char *path, int part)
{
	static const struct scribe_mount mounts[] = {{"ext4", "/"}};
	struct scribe_log_job job = {
		.uid = 1000, .start_time_sec = 1700000000, .end_time_sec = 1700000100, .nprocs = nprocs};
	struct scribe_writer_options options = {0};
	struct scribe_writer *w = NULL;
	struct scribe_err err = {0};
	int rc = scribe_writer_create(path, &options, &w, &err);

	if (rc >= 0)
		rc = scribe_writer_job(w, &job, "./app", mounts, 1);
	for (int f = 1; f <= FILES && rc >= 0; f++) {
		char name[32];
		int n = snprintf(name, sizeof(name), "/scratch/file-%d", f);

		rc = scribe_writer_name(w, file_id(f), name, (size_t)n);
	}
	for (int i = 0; i < nrecords && rc >= 0; i++)
		if (part < 0 || records[i].part == part)
			rc = scribe_writer_record(w, records[i].module, records[i].bytes, records[i].len);
	if (rc >= 0)
		rc = scribe_writer_finish(w);
	if (rc < 0)
		fprintf(stderr, "make_split: %s: %s\n", path, w ? scribe_writer_error(w)->text : err.text);
	scribe_writer_free(w);
	return rc;
}

int main(int argc, char **argv)
{
	char path[4096];
	int rc;

	if (argc != 3) {
		fputs("usage: make_split SEED DIR\n", stderr);
		return 2;
	}
	state = strtoull(argv[1], NULL, 10) * UINT64_C(0x2545f4914f6cdd1d);
	nparts = 2 + (int)below(MOST_PARTS - 1);
	nprocs = 2 + below(7);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (scribe_module_by_id(i))
			make_module(scribe_module_by_id(i));
	snprintf(path, sizeof(path), "%s/whole.darshan", argv[2]);
	rc = write_log(path, -1);
	for (int p = 0; p < nparts && rc >= 0; p++) {
		snprintf(path, sizeof(path), "%s/part-%d.darshan", argv[2], p + 1);
		rc = write_log(path, p);
	}
	for (int i = 0; i < nrecords; i++)
		free(records[i].bytes);
	return rc < 0;
}
