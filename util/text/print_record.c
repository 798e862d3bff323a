// SPDX-License-Identifier: BSD-3-Clause
/* Records as rows of text, as in darshan-parser. Must not know where records come from. */
#include "util/text/print_record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/text/number.h"

/* Counter names with a tab in fields of equal size, which rows copy without searching the end. */
static int labels_make(const struct scribe_counter *c, int n, struct scribe_row_label **ret, struct scribe_err *err)
{
	struct scribe_row_label *l = n ? calloc((size_t)n, sizeof(*l)) : NULL;

	free(*ret);
	*ret = l;
	if (n && !l)
		return scribe_err_set(err, -ENOMEM, "labels of %d counters: out of memory", n);
	for (int i = 0; i < n; i++) {
		size_t len = strnlen(c[i].name, sizeof(l[i].text) - 2);

		memcpy(l[i].text, c[i].name, len);
		l[i].text[len] = '\t';
		l[i].len = (unsigned char)(len + 1);
	}
	return 0;
}

int scribe_printer_module(struct scribe_printer *p, struct scribe_out *out, const struct scribe_module *m,
			  struct scribe_err *err)
{
	int rc;

	p->rows.out = out;
	p->module = m;
	rc = labels_make(m->counters, m->ncounters, &p->ints, err);
	if (rc < 0)
		return rc;
	return labels_make(m->fcounters, m->nfcounters, &p->reals, err);
}

void scribe_printer_free(struct scribe_printer *p)
{
	scribe_rows_free(&p->rows);
	free(p->ints);
	free(p->reals);
	memset(p, 0, sizeof(*p));
}

/* Inline, because most paths differ within a few bytes. */
static int begins_with(const char *name, const char *path)
{
	while (*path && *path == *name) {
		path++;
		name++;
	}
	return !*path;
}

size_t scribe_mount_index(const struct scribe_mount *mounts, size_t n, const char *name)
{
	size_t i = 0;

	/* Longest first. As in Darshan bytes are compared: /home2 counts as below /home. */
	while (name && i < n && !begins_with(name, mounts[i].path))
		i++;
	return name ? i : n;
}

struct scribe_mount scribe_print_mount_of(const struct scribe_mount *mounts, size_t n, const char *name)
{
	size_t i = scribe_mount_index(mounts, n, name);

	return i < n ? mounts[i] : (struct scribe_mount){.type = "UNKNOWN", .path = "UNKNOWN"};
}

/* Traces are printed by dxt_text.c; APXC and APMPI are not printed by default. */
int scribe_printer_knows(int module)
{
	switch (module) {
	case SCRIBE_MOD_DXT_POSIX:
	case SCRIBE_MOD_DXT_MPIIO:
	case SCRIBE_MOD_APXC:
	case SCRIBE_MOD_APMPI:
		return 0;
	default:
		return scribe_module_by_id(module) != NULL;
	}
}

static void print_counters(struct scribe_printer *p, const void *record)
{
	const struct scribe_module *m = p->module;
	const int64_t *ints = scribe_record_counters(m, record);
	size_t n = (size_t)m->ncounters, from = 0;

	if (m->id == SCRIBE_MOD_POSIX) { /* RENAMED_FROM is an unsigned id */
		from = SCRIBE_POSIX_RENAMED_FROM + 1;
		scribe_rows_ints(&p->rows, p->ints, ints, from - 1);
		scribe_rows_unsigned(&p->rows, m->counters[from - 1].name, (uint64_t)ints[from - 1]);
	}
	scribe_rows_ints(&p->rows, p->ints + from, ints + from, n - from);
	scribe_rows_reals(&p->rows, p->reals, scribe_record_fcounters(m, record), (size_t)m->nfcounters);
}

static void print_file_id(struct scribe_printer *p, const void *record)
{
	const struct scribe_h5d_record *h5d = record;
	const struct scribe_pnetcdf_var_record *var = record;

	if (p->module->id == SCRIBE_MOD_H5D)
		scribe_rows_unsigned(&p->rows, "H5D_FILE_REC_ID", h5d->file_rec_id);
	else
		scribe_rows_unsigned(&p->rows, "PNETCDF_VAR_FILE_REC_ID", var->file_rec_id);
}

static void print_heatmap(struct scribe_printer *p, const struct scribe_heatmap_record *h)
{
	static const char *const kind[] = {"HEATMAP_READ_BIN_", "HEATMAP_WRITE_BIN_"};
	char name[64];

	scribe_rows_real(&p->rows, "HEATMAP_F_BIN_WIDTH_SECONDS", h->bin_width_seconds);
	/* Reads first, although the record has the writes first. */
	for (int k = 0; k < 2; k++) {
		size_t n = strlen(kind[k]);

		memcpy(name, kind[k], n);
		for (int64_t i = 0; i < h->nbins; i++) {
			*scribe_put_i64(name + n, i) = '\0';
			scribe_rows_int(&p->rows, name, h->bins[k ? i : h->nbins + i]);
		}
	}
}

static void print_mdhim(struct scribe_printer *p, const struct scribe_mdhim_record *m, size_t len)
{
	int64_t servers = m->counters[SCRIBE_MDHIM_SERVERS];
	char name[64];

	print_counters(p, m);
	/* The count comes from the file: `len` limits it. */
	for (int64_t i = 0; i < servers && sizeof(*m) + 8 * ((size_t)i + 1) <= len; i++) {
		snprintf(name, sizeof(name), "MDHIM_SERVER_%lld", (long long)i);
		scribe_rows_int(&p->rows, name, m->server_histogram[i]);
	}
}

static void lustre_flags(int64_t flags, char *to, size_t cap)
{
	static const char *const names[] = {"stale",     "prefrd", "prefwr",   "offline", "init",    "nosync",
					    "extension", "parity", "compress", "partial", "nocompr", "neg"};
	size_t n = 0;

	snprintf(to, cap, "%s", flags == -1 ? "N/A" : "0");
	for (size_t i = 0; flags != -1 && i < sizeof(names) / sizeof(names[0]); i++)
		if (flags >> i & 1)
			n += (size_t)snprintf(to + n, cap - n, "%s%s", n ? "," : "", names[i]);
}

static const char *lustre_pattern(int64_t pattern)
{
	switch (pattern) {
	case 0:
		return "raid0";
	case 2:
		return "mdt";
	case 4:
		return "raid0,overstriped";
	case 8:
		return "foreign";
	default:
		return "N/A";
	}
}

static void print_lustre_comp(struct scribe_printer *p, const struct scribe_lustre_comp *c, int number)
{
	static const char *const names[] = {"STRIPE_SIZE", "STRIPE_COUNT", "STRIPE_PATTERN", "FLAGS",
					    "EXT_START",   "EXT_END",      "MIRROR_ID"};
	char name[64], text[160];

	for (int i = 0; i < SCRIBE_LUSTRE_COMP_COUNT; i++) {
		snprintf(name, sizeof(name), "LUSTRE_COMP%d_%s", number, names[i]);
		if (i == SCRIBE_LUSTRE_COMP_STRIPE_PATTERN) {
			scribe_rows_text(&p->rows, name, lustre_pattern(c->counters[i]));
		} else if (i == SCRIBE_LUSTRE_COMP_FLAGS) {
			lustre_flags(c->counters[i], text, sizeof(text));
			scribe_rows_text(&p->rows, name, text);
		} else {
			scribe_rows_int(&p->rows, name, c->counters[i]);
		}
	}
	snprintf(name, sizeof(name), "LUSTRE_COMP%d_POOL_NAME", number);
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(c->pool_name), c->pool_name);
	scribe_rows_text(&p->rows, name, text[0] ? text : "N/A");
}

static void print_lustre(struct scribe_printer *p, const struct scribe_lustre_record *l)
{
	const int64_t *osts = (const int64_t *)(l->comps + l->num_comps);
	int64_t at = 0;
	char name[64];

	scribe_rows_int(&p->rows, "LUSTRE_NUM_COMPONENTS", l->num_comps);
	scribe_rows_int(&p->rows, "LUSTRE_NUM_STRIPES", l->num_stripes);
	for (int64_t i = 0; i < l->num_comps; i++) {
		int64_t stripes = l->comps[i].counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT];

		print_lustre_comp(p, &l->comps[i], (int)i + 1);
		for (int64_t j = 0; j < stripes && at < l->num_stripes; j++) {
			snprintf(name, sizeof(name), "LUSTRE_COMP%d_OST_ID_%d", (int)i + 1, (int)j);
			scribe_rows_int(&p->rows, name, osts[at++]);
		}
	}
}

static void print_process(struct scribe_printer *p, const struct scribe_process_record *r)
{
	char text[sizeof(r->exe) + 1];

	print_counters(p, r);
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(r->host), r->host);
	scribe_rows_text(&p->rows, "PROCESS_HOST", text);
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(r->exe), r->exe);
	for (char *c = text; *c; c++) /* a newline would break the row */
		if ((unsigned char)*c < ' ')
			*c = '?';
	scribe_rows_text(&p->rows, "PROCESS_EXE", text);
}

static void print_apmpi(struct scribe_printer *p, const void *record, size_t len)
{
	const struct scribe_apmpi_header_record *head = record;
	const struct scribe_apmpi_record *r = record;
	const double *reals = r->fcounters;
	size_t sync = SCRIBE_APMPI_F_COUNT, global = sync + SCRIBE_APMPI_F_SYNC_COUNT;
	char text[sizeof(r->node_name) + 1];

	if (len < sizeof(*r)) { /* the module's head */
		p->mpi_sync = head->sync_flag != 0;
		scribe_rows_real(&p->rows, "MPI_TOTAL_COMM_TIME_VARIANCE", head->variance_total_mpitime);
		if (p->mpi_sync)
			scribe_rows_real(&p->rows, "MPI_TOTAL_COMM_SYNC_TIME_VARIANCE",
					 head->variance_total_mpisynctime);
		return;
	}
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(r->node_name), r->node_name);
	scribe_rows_text(&p->rows, "MPI_PROCESSOR_NAME", text);
	for (int i = 0; i < SCRIBE_APMPI_COUNT; i++)
		scribe_rows_unsigned(&p->rows, p->module->counters[i].name, r->counters[i]);
	scribe_rows_reals(&p->rows, p->reals, reals, sync);
	if (p->mpi_sync)
		scribe_rows_reals(&p->rows, p->reals + sync, r->fsync, SCRIBE_APMPI_F_SYNC_COUNT);
	scribe_rows_reals(&p->rows, p->reals + global, r->fglobal, p->mpi_sync ? 2 : 1);
}

static void put_uuid(const uint8_t *u, char *to)
{
	snprintf(to, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3],
		 u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

static int is_null_uuid(const uint8_t *u)
{
	static const uint8_t none[16];

	return !memcmp(u, none, sizeof(none));
}

static void daos_place(const uint8_t *pool, const uint8_t *cont, int module, char *to)
{
	/* DAOS lacks mounts: the column has pool and container. */
	if (module == SCRIBE_MOD_DFS && (is_null_uuid(pool) || is_null_uuid(cont))) {
		memcpy(to, "UNKNOWN", 8);
		return;
	}
	put_uuid(pool, to);
	to[36] = ':';
	put_uuid(cont, to + 37);
}

static void place_daos(struct scribe_row_place *at, int module, const void *record, char *where, char *oid)
{
	const struct scribe_dfs_record *dfs = record;
	const struct scribe_daos_record *daos = record;

	/* A DAOS object has an id instead of a name. */
	at->fs = "N/A";
	at->mount = where;
	if (module == SCRIBE_MOD_DFS) {
		daos_place(dfs->pool_uuid, dfs->cont_uuid, module, where);
		return;
	}
	daos_place(daos->pool_uuid, daos->cont_uuid, module, where);
	snprintf(oid, 64, "%llu.%llu", (unsigned long long)daos->oid_hi, (unsigned long long)daos->oid_lo);
	at->name = oid;
	at->name_len = strlen(oid);
}

static void print_body(struct scribe_printer *p, const void *record, size_t len)
{
	switch (p->module->id) {
	case SCRIBE_MOD_H5D:
	case SCRIBE_MOD_PNETCDF_VAR:
		print_counters(p, record);
		print_file_id(p, record);
		break;
	case SCRIBE_MOD_LUSTRE:
		print_lustre(p, record);
		break;
	case SCRIBE_MOD_HEATMAP:
		print_heatmap(p, record);
		break;
	case SCRIBE_MOD_MDHIM:
		print_mdhim(p, record, len);
		break;
	case SCRIBE_MOD_PROCESS:
		print_process(p, record);
		break;
	case SCRIBE_MOD_APMPI:
		print_apmpi(p, record, len);
		break;
	default:
		print_counters(p, record);
	}
}

int scribe_printer_record(struct scribe_printer *p, const void *record, size_t len, const char *name, size_t name_len,
			  const char *mount, const char *fs, struct scribe_err *err)
{
	const struct scribe_base_record *base = record;
	int module = p->module->id, rc;
	char where[80], oid[64];
	struct scribe_row_place at = {
		.module = p->as_module ? p->as_module : p->module->name,
		.rank = base->rank,
		.id = base->id,
		.name = name,
		.name_len = name_len,
		.mount = mount,
		.fs = fs,
	};

	if (!name && module == SCRIBE_MOD_BGQ) {
		at.name = "darshan-bgq-record";
		at.name_len = strlen(at.name);
	}
	if (module == SCRIBE_MOD_DFS || module == SCRIBE_MOD_DAOS)
		place_daos(&at, module, record, where, oid);
	if (module == SCRIBE_MOD_APMPI) { /* not about a file: the columns stay empty */
		at.name = at.mount = at.fs = "";
		at.name_len = 0;
	}
	if (p->plain_place) {
		at.mount = mount;
		at.fs = fs;
	}
	rc = scribe_rows_begin(&p->rows, &at, err);
	if (rc < 0)
		return rc;
	print_body(p, record, len);
	scribe_rows_end(&p->rows);
	return 0;
}
