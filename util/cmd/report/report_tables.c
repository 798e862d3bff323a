// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tables of the page: {"id","title","columns":[[name, unit]],"rows":[[...]],"left":rows that are not listed}. Units are
 * text, count, bytes, seconds, id. Must not know how the page shows them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cmd/report/report.h"
#include "util/logs/sum.h"
#include "util/text/print_record.h"
#include "util/text/quoted.h"

#define ROWS_MAX      1000
#define PROCESSES_MAX 2000

struct table {
	struct scribe_out *out;
	bool first_cell;
	size_t rows;
};

static void table_begin(struct table *t, struct scribe_out *out, bool *first, const char *id, const char *title,
			const char *columns)
{
	*t = (struct table){.out = out};
	scribe_out_printf(out, "%s{\"id\":\"%s\",\"title\":\"%s\",\"columns\":[%s],\"rows\":[", *first ? "" : ",", id,
			  title, columns);
	*first = false;
}

static void table_end(struct table *t, size_t left)
{
	scribe_out_printf(t->out, "],\"left\":%zu}", left);
}

static void row_begin(struct table *t)
{
	scribe_out_text(t->out, t->rows++ ? ",[" : "[");
	t->first_cell = true;
}

static void cell_begin(struct table *t)
{
	if (!t->first_cell)
		scribe_out_text(t->out, ",");
	t->first_cell = false;
}

static void cell_integer(struct table *t, int64_t v)
{
	cell_begin(t);
	/* Beyond 2^53 a number of JavaScript is not exact: as text. */
	scribe_out_printf(t->out, v > INT64_C(1) << 53 || v < -(INT64_C(1) << 53) ? "\"%lld\"" : "%lld", (long long)v);
}

static void cell_real(struct table *t, double v)
{
	cell_begin(t);
	scribe_json_real(t->out, v == v && v < 1e300 && v > -1e300 ? v : 0);
}

/* Text that is not UTF-8 is escaped. */
static void cell_text(struct table *t, const char *text, size_t len)
{
	char escaped[4096];

	cell_begin(t);
	if (scribe_text_utf8(text, len)) {
		scribe_json_string(t->out, text, len);
		return;
	}
	scribe_name_escape(text, len, escaped, sizeof(escaped));
	scribe_json_string(t->out, escaped, strlen(escaped));
}

static void row_end(struct table *t)
{
	scribe_out_text(t->out, "]");
}

static const char *name_of(const struct scribe_summary *s, uint64_t id, size_t *ret_len)
{
	const char *name = scribe_names_find(s->log.names, id, ret_len);

	if (!name)
		*ret_len = 0;
	return name ? name : "";
}

static int by_seconds(const void *a, const void *b)
{
	const struct scribe_file_facts *const *x = a, *const *y = b;
	const double p = scribe_file_seconds((*x)->v), q = scribe_file_seconds((*y)->v);

	return p != q ? p > q ? -1 : 1 : ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static void file_cells(struct table *t, const double *v)
{
	cell_real(t, scribe_file_seconds(v));
	cell_real(t, v[SCRIBE_FACT_read_time]);
	cell_real(t, v[SCRIBE_FACT_write_time]);
	cell_real(t, v[SCRIBE_FACT_meta_time]);
	cell_real(t, v[SCRIBE_FACT_stream_time]);
	cell_integer(t, scribe_whole(v[SCRIBE_FACT_bytes_read]));
	cell_integer(t, scribe_whole(v[SCRIBE_FACT_bytes_written]));
	cell_integer(t, scribe_whole(v[SCRIBE_FACT_stream_bytes]));
	cell_integer(t, scribe_whole(v[SCRIBE_FACT_reads]));
	cell_integer(t, scribe_whole(v[SCRIBE_FACT_writes]));
	cell_integer(t, scribe_whole(v[SCRIBE_FACT_opens]));
}

#define FILE_COLUMNS \
	"[\"seconds\",\"seconds\"],[\"read\",\"seconds\"],[\"write\",\"seconds\"],[\"metadata\",\"seconds\"]," \
	"[\"streams\",\"seconds\"],[\"bytes read\",\"bytes\"],[\"bytes written\",\"bytes\"]," \
	"[\"bytes of streams\",\"bytes\"],[\"reads\",\"count\"],[\"writes\",\"count\"],[\"opens\",\"count\"]"

/* `sorted`: by_seconds. */
static void put_files(const struct scribe_summary *s, struct scribe_file_facts **sorted, bool *first,
		      struct scribe_out *out)
{
	const size_t n = s->facts.nfiles;
	struct table t;

	table_begin(&t, out, first, "files", "Files, slowest first", "[\"file\",\"text\"]," FILE_COLUMNS);
	for (size_t i = 0; i < n && i < ROWS_MAX; i++) {
		size_t len;
		const char *name = name_of(s, sorted[i]->id, &len);

		row_begin(&t);
		cell_text(&t, name, len);
		file_cells(&t, sorted[i]->v);
		row_end(&t);
	}
	table_end(&t, n > ROWS_MAX ? n - ROWS_MAX : 0);
}

struct group {
	const char *name;
	size_t len;
	size_t files;
	double v[SCRIBE_NFILE_FACTS];
};

/* A file with the name of its group. */
struct member {
	const char *name;
	size_t len;
	const struct scribe_file_facts *file;
};

static int by_group(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	const int order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static int slower_group(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	const double p = scribe_file_seconds(x->v), q = scribe_file_seconds(y->v);

	return p != q ? p > q ? -1 : 1 : 0;
}

static struct member directory_of(const struct scribe_summary *s, const struct scribe_file_facts *file)
{
	size_t len;
	const char *name = name_of(s, file->id, &len), *slash = len ? memrchr(name, '/', len) : NULL;

	return (struct member){name, slash == name ? 1 : slash ? (size_t)(slash - name) : 0, file};
}

static struct member mount_of(const struct scribe_summary *s, const struct scribe_file_facts *file)
{
	size_t len;
	const char *name = name_of(s, file->id, &len);
	const size_t i = scribe_mount_index(s->log.mounts, s->log.nmounts, name);

	if (i == s->log.nmounts)
		return (struct member){"", 0, file};
	return (struct member){s->log.mounts[i].path, strlen(s->log.mounts[i].path), file};
}

/* Joins members of one name, which follow each other. Returns the number of groups. */
static size_t join(const struct member *m, size_t n, struct group *ret_groups)
{
	size_t groups = 0;

	for (size_t i = 0; i < n; i++) {
		struct group *g = groups ? &ret_groups[groups - 1] : NULL;

		if (!g || g->len != m[i].len || memcmp(g->name, m[i].name, g->len)) {
			g = &ret_groups[groups++];
			*g = (struct group){.name = m[i].name, .len = m[i].len};
		}
		g->files++;
		for (int k = 0; k < SCRIBE_NFILE_FACTS; k++)
			g->v[k] += m[i].file->v[k];
	}
	return groups;
}

static int put_groups(const struct scribe_summary *s,
		      struct member (*of)(const struct scribe_summary *s, const struct scribe_file_facts *file),
		      const char *id, const char *title, bool *first, struct scribe_out *out, struct scribe_err *err)
{
	const size_t n = s->facts.nfiles;
	struct member *members = malloc((n + 1) * sizeof(*members));
	struct group *groups = NULL;
	size_t ngroups = 1;
	struct table t;

	if (members) {
		for (size_t i = 0; i < n; i++)
			members[i] = of(s, s->facts.file[i]);
		qsort(members, n, sizeof(*members), by_group);
		for (size_t i = 1; i < n; i++)
			ngroups += by_group(&members[i - 1], &members[i]) != 0;
		groups = malloc(ngroups * sizeof(*groups));
	}
	if (!groups) {
		free(members);
		return scribe_err_set(err, -ENOMEM, "%zu files: out of memory", n);
	}
	ngroups = join(members, n, groups);
	qsort(groups, ngroups, sizeof(*groups), slower_group);
	table_begin(&t, out, first, id, title, "[\"name\",\"text\"],[\"files\",\"count\"]," FILE_COLUMNS);
	for (size_t i = 0; i < ngroups && i < ROWS_MAX / 5; i++) {
		row_begin(&t);
		cell_text(&t, groups[i].name, groups[i].len);
		cell_integer(&t, (int64_t)groups[i].files);
		file_cells(&t, groups[i].v);
		row_end(&t);
	}
	table_end(&t, ngroups > ROWS_MAX / 5 ? ngroups - ROWS_MAX / 5 : 0);
	free(groups);
	free(members);
	return 0;
}

static int slower_rank(const void *a, const void *b)
{
	const struct scribe_rank_time *x = a, *y = b;

	return x->total != y->total ? x->total > y->total ? -1 : 1 : (x->rank > y->rank) - (x->rank < y->rank);
}

static int put_ranks(const struct scribe_summary *s, bool *first, struct scribe_out *out, struct scribe_err *err)
{
	const struct scribe_rank_times *own = &s->facts.level[0].own;
	struct scribe_rank_time *sorted = malloc((own->n + 1) * sizeof(*sorted));
	struct table t;

	if (!sorted)
		return scribe_err_set(err, -ENOMEM, "%zu ranks: out of memory", own->n);
	if (own->n)
		memcpy(sorted, own->entries, own->n * sizeof(*sorted));
	qsort(sorted, own->n, sizeof(*sorted), slower_rank);
	table_begin(&t, out, first, "ranks", "Ranks, slowest first (in records of their own)",
		    "[\"rank\",\"id\"],[\"seconds\",\"seconds\"],[\"read and write\",\"seconds\"],"
		    "[\"metadata\",\"seconds\"]");
	for (size_t i = 0; i < own->n && i < ROWS_MAX; i++) {
		row_begin(&t);
		cell_integer(&t, sorted[i].rank);
		cell_real(&t, sorted[i].total);
		cell_real(&t, sorted[i].rw);
		cell_real(&t, sorted[i].meta);
		row_end(&t);
	}
	table_end(&t, own->n > ROWS_MAX ? own->n - ROWS_MAX : 0);
	free(sorted);
	return 0;
}

static void process_cells(const struct scribe_summary *s, struct table *t, const void *record)
{
	static const char *const ends[] = {"running", "exited", "signalled", "lost"};
	const struct scribe_process_record *p = record;
	const char *end = p->end_kind >= 0 && p->end_kind < 4 ? ends[p->end_kind] : "?";

	(void)s;
	cell_integer(t, p->proc_id);
	cell_integer(t, p->parent_serial);
	cell_integer(t, p->base.rank);
	cell_integer(t, p->pid);
	cell_text(t, p->exe, strnlen(p->exe, sizeof(p->exe)));
	cell_text(t, p->host, strnlen(p->host, sizeof(p->host)));
	cell_real(t, p->start);
	cell_real(t, p->end);
	cell_text(t, end, strlen(end));
	cell_integer(t, p->end_kind == SCRIBE_END_SIGNALLED ? p->wait_status & 0x7f : p->wait_status >> 8);
	cell_integer(t, p->bytes_read);
	cell_integer(t, p->bytes_written);
	cell_integer(t, p->operations);
}

static void lustre_cells(const struct scribe_summary *s, struct table *t, const void *record)
{
	const struct scribe_lustre_record *l = record;
	int64_t widest = 0, size = 0;
	size_t len;
	const char *name = name_of(s, l->base.id, &len);

	for (int64_t i = 0; i < l->num_comps; i++)
		if (l->comps[i].counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT] >= widest) {
			widest = l->comps[i].counters[SCRIBE_LUSTRE_COMP_STRIPE_COUNT];
			size = l->comps[i].counters[SCRIBE_LUSTRE_COMP_STRIPE_SIZE];
		}
	cell_text(t, name, len);
	cell_integer(t, l->num_comps);
	cell_integer(t, widest);
	cell_integer(t, size);
	cell_integer(t, l->num_stripes);
}

static void mount_cells(const struct scribe_summary *s, struct table *t, const void *record)
{
	const struct scribe_mounts_record *m = record;
	size_t len;
	const char *name = name_of(s, m->base.id, &len);

	cell_text(t, name, len);
	for (int i = 0; i < SCRIBE_MOUNTS_COUNT; i++)
		cell_integer(t, m->counters[i]);
	for (int i = 0; i < SCRIBE_MOUNTS_F_COUNT; i++)
		cell_real(t, m->fcounters[i]);
}

static const struct row_module {
	int module;
	size_t most;
	const char *id, *title, *columns;
	void (*cells)(const struct scribe_summary *s, struct table *t, const void *record);
} row_modules[] = {
	{SCRIBE_MOD_PROCESS, PROCESSES_MAX, "processes", "Processes",
	 "[\"number\",\"id\"],[\"parent\",\"id\"],[\"rank\",\"id\"],[\"pid\",\"id\"],[\"program\",\"text\"],"
	 "[\"host\",\"text\"],[\"start\",\"seconds\"],[\"end\",\"seconds\"],[\"ended\",\"text\"],"
	 "[\"code or signal\",\"id\"],[\"bytes read\",\"bytes\"],[\"bytes written\",\"bytes\"],"
	 "[\"operations\",\"count\"]",
	 process_cells},
	{SCRIBE_MOD_LUSTRE, ROWS_MAX, "lustre", "Lustre layouts",
	 "[\"file\",\"text\"],[\"components\",\"count\"],[\"stripes of the widest\",\"count\"],"
	 "[\"its stripe size\",\"bytes\"],[\"targets\",\"count\"]",
	 lustre_cells},
	{SCRIBE_MOD_MOUNTS, ROWS_MAX, "clients", "Clients of network file systems, by node; -1: not known",
	 "[\"mount\",\"text\"],[\"with other jobs\",\"count\"],[\"bytes read\",\"bytes\"],"
	 "[\"bytes written\",\"bytes\"],[\"requests\",\"count\"],[\"refused\",\"count\"],"
	 "[\"until replies\",\"seconds\"],[\"queued\",\"seconds\"]",
	 mount_cells},
};

static int put_rows(const struct scribe_summary *s, const struct row_module *m, bool *first, struct scribe_out *out,
		    struct scribe_err *err)
{
	const void *record;
	size_t len, n = 0;
	struct table t;
	int rc;

	if (!scribe_reader_has(s->log.reader, m->module))
		return 0;
	scribe_reader_rewind(s->log.reader, m->module);
	table_begin(&t, out, first, m->id, m->title, m->columns);
	while ((rc = scribe_reader_borrow_record(s->log.reader, m->module, &record, &len)) > 0)
		if (n++ < m->most) {
			row_begin(&t);
			m->cells(s, &t, record);
			row_end(&t);
		}
	table_end(&t, n > m->most ? n - m->most : 0);
	if (rc < 0)
		*err = *scribe_reader_error(s->log.reader);
	return rc;
}

static void put_phases(const struct scribe_phases *phases, bool reads, bool *first, struct scribe_out *out)
{
	const size_t n = phases->n < ROWS_MAX ? phases->n : ROWS_MAX;
	struct table t;

	if (!n)
		return;
	table_begin(
		&t, out, first, reads ? "read_phases" : "phases",
		reads ? "Times in which all ranks read" : "Times in which all ranks wrote; rank -1: files of all ranks",
		reads ? "[\"begin\",\"seconds\"],[\"length\",\"seconds\"],[\"bytes read\",\"bytes\"],"
			"[\"first rank to end\",\"id\"],[\"last rank to end\",\"id\"],[\"between them\",\"seconds\"]"
		      : "[\"begin\",\"seconds\"],[\"length\",\"seconds\"],[\"bytes written\",\"bytes\"],"
			"[\"first rank to end\",\"id\"],[\"last rank to end\",\"id\"],[\"between them\",\"seconds\"],"
			"[\"files\",\"count\"],[\"fsyncs\",\"count\"]");
	for (size_t i = 0; i < n; i++) {
		const struct scribe_phase *p = &phases->phase[i];

		row_begin(&t);
		cell_real(&t, p->begin);
		cell_real(&t, p->end - p->begin);
		cell_integer(&t, p->bytes);
		cell_integer(&t, p->first_rank);
		cell_integer(&t, p->last_rank);
		cell_real(&t, p->end - p->first_end);
		if (!reads) {
			cell_integer(&t, p->files);
			cell_integer(&t, p->syncs);
		}
		row_end(&t);
	}
	table_end(&t, phases->n - n);
}

static bool adds_up(enum scribe_rule rule)
{
	return rule == SCRIBE_RULE_SUM || rule == SCRIBE_RULE_UNKNOWN || rule == SCRIBE_RULE_MAX;
}

static void put_counters(const struct scribe_module *m, const int64_t *c, const double *f, bool all, bool *first,
			 struct scribe_out *out)
{
	char id[64], title[96];
	struct table t;

	snprintf(id, sizeof(id), "counters_%s", m->prefix);
	snprintf(title, sizeof(title), "Counters of %s, over all records", m->name);
	table_begin(&t, out, first, id, title, "[\"counter\",\"text\"],[\"value\",\"count\"],[\"meaning\",\"text\"]");
	for (int i = 0; i < m->ncounters + m->nfcounters; i++) {
		const bool real = i >= m->ncounters;
		const struct scribe_counter *counter = real ? &m->fcounters[i - m->ncounters] : &m->counters[i];

		if (!all && !adds_up(counter->rule))
			continue;
		row_begin(&t);
		cell_text(&t, counter->name, strlen(counter->name));
		if (real)
			cell_real(&t, f[i - m->ncounters]);
		else
			cell_integer(&t, c[i]);
		cell_text(&t, counter->text ? counter->text : "", counter->text ? strlen(counter->text) : 0);
		row_end(&t);
	}
	table_end(&t, 0);
}

/* As `parse --total`. */
static int put_total(const struct scribe_summary *s, const struct scribe_module *m, bool *first, struct scribe_out *out,
		     struct scribe_err *err)
{
	struct scribe_accum *a = NULL;
	const void *record;
	size_t len;
	int rc = scribe_accum_new(m->id, SCRIBE_WANT_TOTAL, &a, err);

	if (rc < 0)
		return rc;
	scribe_reader_rewind(s->log.reader, m->id);
	while ((rc = scribe_reader_borrow_record(s->log.reader, m->id, &record, &len)) > 0) {
		rc = scribe_accum_add(a, record, err);
		if (rc < 0)
			break;
	}
	if (rc == 0 && scribe_accum_records(a))
		put_counters(m, scribe_record_counters(m, scribe_accum_total(a)),
			     scribe_record_fcounters(m, scribe_accum_total(a)), true, first, out);
	else if (rc < 0 && !err->text[0])
		*err = *scribe_reader_error(s->log.reader);
	scribe_accum_free(a);
	return rc;
}

static int put_sums(const struct scribe_summary *s, const struct scribe_module *m, bool *first, struct scribe_out *out,
		    struct scribe_err *err)
{
	int64_t *c = calloc((size_t)m->ncounters + 1, sizeof(*c));
	double *f = calloc((size_t)m->nfcounters + 1, sizeof(*f));
	const void *record;
	size_t len, n = 0;
	int rc = c && f ? 0 : scribe_err_set(err, -ENOMEM, "%s: out of memory", m->name);

	scribe_reader_rewind(s->log.reader, m->id);
	while (rc == 0 && (rc = scribe_reader_borrow_record(s->log.reader, m->id, &record, &len)) > 0) {
		const int64_t *add = scribe_record_counters(m, record);
		const double *fadd = scribe_record_fcounters(m, record);

		for (int i = 0; i < m->ncounters; i++)
			if (m->counters[i].rule == SCRIBE_RULE_MAX)
				c[i] = add[i] > c[i] ? add[i] : c[i];
			else if (add[i] > 0)
				c[i] = scribe_sum(c[i], add[i]);
		for (int i = 0; i < m->nfcounters; i++)
			if (fadd[i] > 0) /* -1: not known */
				f[i] = m->fcounters[i].rule != SCRIBE_RULE_MAX ? f[i] + fadd[i] : fmax(f[i], fadd[i]);
		n++;
		rc = 0;
	}
	if (rc == 0 && n)
		put_counters(m, c, f, false, first, out);
	else if (rc < 0 && !err->text[0])
		*err = *scribe_reader_error(s->log.reader);
	free(c);
	free(f);
	return rc;
}

static int put_modules(const struct scribe_summary *s, bool *first, struct scribe_out *out, struct scribe_err *err)
{
	int rc = 0;

	for (int i = 0; i < SCRIBE_MAX_MODULES && rc >= 0; i++) {
		const struct scribe_module *m = scribe_module_by_id(i);

		if (!m || !scribe_reader_has(s->log.reader, i) || i == SCRIBE_MOD_PROCESS || i == SCRIBE_MOD_MOUNTS)
			continue;
		if (scribe_accum_supports(i))
			rc = put_total(s, m, first, out, err);
		else if (m->record_bytes && m->ncounters + m->nfcounters)
			rc = put_sums(s, m, first, out, err);
	}
	return rc;
}

int scribe_report_tables(const struct scribe_summary *s, struct scribe_out *out, struct scribe_err *err)
{
	const size_t n = s->facts.nfiles;
	struct scribe_file_facts **sorted = malloc((n + 1) * sizeof(struct scribe_file_facts *));
	bool first = true;
	int rc = 0;

	if (!sorted)
		return scribe_err_set(err, -ENOMEM, "%zu files: out of memory", n);
	if (n)
		memcpy(sorted, s->facts.file, n * sizeof(struct scribe_file_facts *));
	qsort(sorted, n, sizeof(struct scribe_file_facts *), by_seconds);
	scribe_out_text(out, "\"tables\":[");
	put_files(s, sorted, &first, out);
	free(sorted);
	put_phases(&s->phases, false, &first, out);
	put_phases(&s->reads, true, &first, out);
	rc = put_ranks(s, &first, out, err);
	if (rc >= 0)
		rc = put_groups(s, directory_of, "directories", "Directories", &first, out, err);
	if (rc >= 0)
		rc = put_groups(s, mount_of, "mounts", "File systems", &first, out, err);
	for (size_t i = 0; rc >= 0 && i < sizeof(row_modules) / sizeof(row_modules[0]); i++)
		rc = put_rows(s, &row_modules[i], &first, out, err);
	if (rc >= 0)
		rc = put_modules(s, &first, out, err);
	scribe_out_text(out, "]");
	return rc;
}
