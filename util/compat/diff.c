// SPDX-License-Identifier: BSD-3-Clause
/* Two records (or one and NULL) compared in the rows of darshan-diff. */
#include <stdio.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "util/compat/state.h"

static void diff_row(char sign, const struct scribe_module *m, const void *rec, const char *counter, int64_t v,
		     const double *f, const char *name)
{
	const struct darshan_base_record *base = rec;

	printf("%c %s\t%" PRId64 "\t%" PRIu64 "\t%s\t", sign, m->name, base->rank, base->id, counter);
	if (f)
		printf("%f", *f);
	else if (strcmp(counter, "POSIX_RENAMED_FROM") == 0)
		printf("%" PRIu64, (uint64_t)v);
	else
		printf("%" PRId64, v);
	printf("\t%s\t\t\n", name);
}

static void counters_diff(int id, const void *rec1, const char *name1, const void *rec2, const char *name2)
{
	const struct scribe_module *m = scribe_module_by_id(id);

	/* Compared exactly. Mount point and file system stay empty columns. */
	for (int i = 0; i < m->ncounters; i++) {
		int64_t a = rec1 ? scribe_record_counters(m, rec1)[i] : 0;
		int64_t b = rec2 ? scribe_record_counters(m, rec2)[i] : 0;

		if (rec1 && rec2 && a == b)
			continue;
		if (rec1)
			diff_row('-', m, rec1, m->counters[i].name, a, NULL, name1);
		if (rec2)
			diff_row('+', m, rec2, m->counters[i].name, b, NULL, name2);
	}
	for (int i = 0; i < m->nfcounters; i++) {
		double a = rec1 ? scribe_record_fcounters(m, rec1)[i] : 0;
		double b = rec2 ? scribe_record_fcounters(m, rec2)[i] : 0;

		if (rec1 && rec2 && a == b)
			continue;
		if (rec1)
			diff_row('-', m, rec1, m->fcounters[i].name, 0, &a, name1);
		if (rec2)
			diff_row('+', m, rec2, m->fcounters[i].name, 0, &b, name2);
	}
}

static const int64_t *server(const struct darshan_mdhim_record *r, int64_t i)
{
	return r && i < r->counters[MDHIM_SERVERS] ? &r->server_histogram[i] : NULL;
}

static void mdhim_diff(const void *rec1, const char *name1, const void *rec2, const char *name2)
{
	const struct scribe_module *m = scribe_module_by_id(DARSHAN_MDHIM_MOD);
	const int64_t *a, *b;
	/* The records may have different numbers of servers. */
	char bin[40];

	counters_diff(DARSHAN_MDHIM_MOD, rec1, name1, rec2, name2);
	for (int64_t i = 0; a = server(rec1, i), b = server(rec2, i), a || b; i++) {
		if (a && b && *a == *b)
			continue;
		snprintf(bin, sizeof(bin), "MDHIM_SERVER_%" PRId64, i);
		if (a)
			diff_row('-', m, rec1, bin, *a, NULL, name1);
		if (b)
			diff_row('+', m, rec2, bin, *b, NULL, name2);
	}
}

static void head_row(const struct darshan_apmpi_header_record *a, const double *va,
		     const struct darshan_apmpi_header_record *b, const double *vb, const char *counter)
{
	const struct scribe_module *m = scribe_module_by_id(DARSHAN_APMPI_MOD);

	if (a && b && *va == *vb)
		return;
	if (a)
		diff_row('-', m, a, counter, 0, va, "");
	if (b)
		diff_row('+', m, b, counter, 0, vb, "");
}

static void node_row(char sign, const struct darshan_apmpi_perf_record *r)
{
	printf("%c %s\t%" PRId64 "\t%" PRIu64 "\tMPI_PROCESSOR_NAME\t%.*s\t\t\t\n", sign,
	       darshan_module_names[DARSHAN_APMPI_MOD], r->base_rec.rank, r->base_rec.id, (int)sizeof(r->node_name),
	       r->node_name);
}

static void perf_diff(const struct darshan_apmpi_perf_record *a, const struct darshan_apmpi_perf_record *b)
{
	if (!a || !b || strncmp(a->node_name, b->node_name, sizeof(a->node_name)) != 0) {
		if (a)
			node_row('-', a);
		if (b)
			node_row('+', b);
	}
	counters_diff(DARSHAN_APMPI_MOD, a, "", b, "");
}

static void apmpi_diff(const void *rec1, const void *rec2)
{
	const struct darshan_apmpi_header_record *a = rec1, *b = rec2;
	bool head1 = a && a->magic == SCRIBE_APMPI_MAGIC, head2 = b && b->magic == SCRIBE_APMPI_MAGIC;

	/* The module's first record is a head with other fields. APMPI records have neither file nor name. */
	if (!head1 && !head2) {
		perf_diff(rec1, rec2);
		return;
	}
	if ((a && !head1) || (b && !head2))
		return; /* a head against a record: not comparable */
	head_row(a, a ? &a->apmpi_f_variance_total_mpitime : NULL, b, b ? &b->apmpi_f_variance_total_mpitime : NULL,
		 "MPI_TOTAL_COMM_TIME_VARIANCE");
	if ((!a || a->sync_flag) && (!b || b->sync_flag))
		head_row(a, a ? &a->apmpi_f_variance_total_mpisynctime : NULL, b,
			 b ? &b->apmpi_f_variance_total_mpisynctime : NULL, "MPI_TOTAL_COMM_SYNC_TIME_VARIANCE");
}

static void daos_diff(const struct darshan_daos_object *a, const struct darshan_daos_object *b)
{
	char name1[48] = "", name2[48] = "";

	/* A DAOS object has only its id. */
	if (a)
		snprintf(name1, sizeof(name1), "%" PRIu64 ".%" PRIu64, a->oid_hi, a->oid_lo);
	if (b)
		snprintf(name2, sizeof(name2), "%" PRIu64 ".%" PRIu64, b->oid_hi, b->oid_lo);
	counters_diff(DARSHAN_DAOS_MOD, a, name1, b, name2);
}

/* Not called for traces and heatmaps. */
void compat_diff(int module, const void *rec1, const char *name1, const void *rec2, const char *name2)
{
	switch (module) {
	case DARSHAN_LUSTRE_MOD:
		fprintf(stderr, "Warning: no diff of LUSTRE records.\n");
		return;
	case DARSHAN_MDHIM_MOD:
		mdhim_diff(rec1, name1, rec2, name2);
		return;
	case DARSHAN_DAOS_MOD:
		daos_diff(rec1, rec2);
		return;
	case DARSHAN_APMPI_MOD:
		apmpi_diff(rec1, rec2);
		return;
	default:
		counters_diff(module, rec1, name1, rec2, name2);
	}
}
