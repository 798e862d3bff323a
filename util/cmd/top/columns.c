// SPDX-License-Identifier: BSD-3-Clause
/*
 * The columns of `ioscribe top`: values as cells, names of views and sort keys, sorting and filtering. Must not
 * know where rows are shown.
 */
#include "util/cmd/top/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/records.h"
#include "util/text/human.h"

#define METADATA_MANY 100 /* a second, of a job: worth a line */

static const char *const sort_names[] = {"rate", "read", "write", "ops",   "meta",
					 "mean", "max",  "size",  "total", "name"};
static const char *const view_names[] = {"jobs", "processes", "ranks", "files"};

static int find(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

const char *scribe_top_sort_name(enum scribe_top_sort sort)
{
	return sort_names[sort];
}

int scribe_top_sort_of(const char *name)
{
	return find(sort_names, SCRIBE_TOP_SORTS, name);
}

const char *scribe_top_view_name(enum scribe_top_view view)
{
	return view_names[view];
}

int scribe_top_view_of(const char *name)
{
	return find(view_names, 4, name);
}

/* At most three digits and a letter: "0", "4.0", "512", "1.50K", "12.3M". */
static void compact(double v, double step, char *to)
{
	static const char letters[] = " KMGTPEZ";
	int letter = 0;

	while (v >= (step == 1024 ? 1000 : 999.5) && letters[letter + 1]) {
		v /= step;
		letter++;
	}
	if (!letter)
		snprintf(to, 16, v == 0 || v >= 9.95 || v == floor(v) ? "%.0f" : "%.1f", v);
	else
		snprintf(to, 16, v >= 99.95 ? "%.0f%c" : v >= 9.995 ? "%.1f%c" : "%.2f%c", v, letters[letter]);
}

/* Seconds with a unit; "-": not measured. */
static void latency(double s, char *to)
{
	static const struct {
		double unit;
		const char *name;
	} units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};

	if (isnan(s)) {
		strcpy(to, "-");
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (s >= units[i].unit * 0.9995) {
			s /= units[i].unit;
			snprintf(to, 16, s >= 99.95 ? "%.0f%s" : s >= 9.995 ? "%.1f%s" : "%.2f%s", s, units[i].name);
			return;
		}
	snprintf(to, 16, "%.0fns", s * 1e9);
}

#define CELL(name) static void name(const struct scribe_top_row *r, const struct scribe_top_names *names, char *to)

CELL(cell_job)
{
	(void)names;
	scribe_human_text(r->job->id, to, SCRIBE_TOP_CELL);
}

CELL(cell_user)
{
	(void)names;
	if (r->job->user[0])
		scribe_human_text(r->job->user, to, SCRIBE_TOP_CELL);
	else
		snprintf(to, 16, "%u", r->job->uid);
}

CELL(cell_processes)
{
	(void)names;
	snprintf(to, 16, "%u", r->processes);
}

CELL(cell_pid)
{
	(void)names;
	snprintf(to, 16, "%d", (int)r->process->pid);
}

CELL(cell_rank)
{
	(void)names;
	if (r->rank < 0)
		strcpy(to, "-");
	else
		snprintf(to, 24, "%" PRId64, r->rank);
}

/* Each MPI world of a job has its own rank numbers. */
CELL(cell_world)
{
	(void)names;
	snprintf(to, 16, "%u", r->unit);
}

CELL(cell_program)
{
	(void)names;
	scribe_human_text(r->process ? r->process->program : "-", to, SCRIBE_TOP_CELL);
}

CELL(cell_read)
{
	(void)names;
	compact(r->bytes_s[0], 1024, to);
}

CELL(cell_write)
{
	(void)names;
	compact(r->bytes_s[1], 1024, to);
}

CELL(cell_ops)
{
	(void)names;
	compact(r->ops_s, 1000, to);
}

static double metadata(const struct scribe_top_row *r)
{
	return r->opens_s + r->stats_s + r->failed_s;
}

CELL(cell_metadata)
{
	(void)names;
	compact(metadata(r), 1000, to);
}

CELL(cell_mean)
{
	(void)names;
	latency(r->latency_s, to);
}

CELL(cell_max)
{
	(void)names;
	latency(r->longest_s > 0 ? r->longest_s : NAN, to);
}

CELL(cell_size)
{
	(void)names;
	if (isnan(r->size))
		strcpy(to, "-");
	else
		compact(r->size, 1024, to);
}

CELL(cell_read_total)
{
	(void)names;
	compact((double)r->bytes[0], 1024, to);
}

CELL(cell_write_total)
{
	(void)names;
	compact((double)r->bytes[1], 1024, to);
}

CELL(cell_layers)
{
	(void)names;
	scribe_top_layers(r, to, 64);
}

CELL(cell_file)
{
	static char name[SCRIBE_TOP_CELL];
	size_t len;
	const char *text = scribe_top_name(names, r, &len);

	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	scribe_human_text(name, to, SCRIBE_TOP_CELL);
}

#define RATES \
	{"READ/s", 7, false, false, cell_read}, {"WRITE/s", 7, false, false, cell_write}, \
		{"OPS/s", 6, false, false, cell_ops}, {"META/s", 6, false, true, cell_metadata}, \
		{"MEAN", 6, false, false, cell_mean}, {"MAX", 6, false, false, cell_max}, \
		{"SIZE", 6, false, false, cell_size}, {"READ", 7, false, true, cell_read_total}, \
	{ \
		"WRITTEN", 7, false, true, cell_write_total \
	}
#define JOB \
	{ \
		"JOB", 12, true, false, cell_job \
	}
#define WIDE_JOB \
	{ \
		"JOB", 12, true, true, cell_job \
	}
#define PROCESSES \
	{ \
		"PROCS", 5, false, false, cell_processes \
	}
#define LAYERS \
	{ \
		"LAYERS", 0, true, false, cell_layers \
	}
#define END \
	{ \
		NULL, 0, false, false, NULL \
	}

/* Wide columns need a wide terminal; width 0 is the rest of the line. */
static const struct scribe_top_column columns[][16] = {
	[SCRIBE_TOP_JOBS] = {JOB, {"USER", 8, true, false, cell_user}, PROCESSES, RATES, LAYERS, END},
	[SCRIBE_TOP_PROCESSES] = {{"PID", 7, false, false, cell_pid},
				  {"RANK", 5, false, false, cell_rank},
				  {"PROGRAM", 12, true, false, cell_program},
				  RATES,
				  WIDE_JOB,
				  {"USER", 8, true, true, cell_user},
				  LAYERS,
				  END},
	[SCRIBE_TOP_RANKS] = {{"RANK", 6, false, false, cell_rank},
			      {"WORLD", 5, false, false, cell_world},
			      PROCESSES,
			      RATES,
			      JOB,
			      {"PROGRAM", 12, true, true, cell_program},
			      LAYERS,
			      END},
	[SCRIBE_TOP_FILES] = {RATES,
			      PROCESSES,
			      WIDE_JOB,
			      {"LAYER", 6, true, false, cell_layers},
			      {"FILE", 0, true, false, cell_file},
			      END},
};

const struct scribe_top_column *scribe_top_columns(enum scribe_top_view view)
{
	return columns[view];
}

void scribe_top_layers(const struct scribe_top_row *row, char *to, size_t cap)
{
	static const struct {
		int module;
		const char *name;
	} layers[] = {{SCRIBE_MOD_POSIX, "POSIX"},       {SCRIBE_MOD_STDIO, "STDIO"},
		      {SCRIBE_MOD_MPIIO, "MPIIO"},       {SCRIBE_MOD_H5F, "H5F"},
		      {SCRIBE_MOD_H5D, "H5D"},           {SCRIBE_MOD_PNETCDF_FILE, "NCFILE"},
		      {SCRIBE_MOD_PNETCDF_VAR, "NCVAR"}, {SCRIBE_MOD_CUFILE, "CUFILE"}};
	size_t at = 0;

	snprintf(to, cap, "-");
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		if (row->modules >> layers[i].module & 1 && at < cap)
			at += (size_t)snprintf(to + at, cap - at, "%s%s", at ? "," : "", layers[i].name);
}

static struct {
	enum scribe_top_sort sort;
	enum scribe_top_view view;
	const struct scribe_top_names *names;
} by;

static double value(const struct scribe_top_row *r)
{
	switch (by.sort) {
	case SCRIBE_TOP_BY_RATE:
		return r->bytes_s[0] + r->bytes_s[1];
	case SCRIBE_TOP_BY_READ:
		return r->bytes_s[0];
	case SCRIBE_TOP_BY_WRITE:
		return r->bytes_s[1];
	case SCRIBE_TOP_BY_OPS:
		return r->ops_s;
	case SCRIBE_TOP_BY_META:
		return metadata(r);
	case SCRIBE_TOP_BY_MEAN:
		return isnan(r->latency_s) ? -1 : r->latency_s;
	case SCRIBE_TOP_BY_MAX:
		return r->longest_s;
	case SCRIBE_TOP_BY_SIZE:
		return isnan(r->size) ? -1 : r->size;
	case SCRIBE_TOP_BY_TOTAL:
		return (double)r->bytes[0] + (double)r->bytes[1];
	default:
		return 0;
	}
}

static const char *name_of(const struct scribe_top_row *r, size_t *len)
{
	const char *name = by.view == SCRIBE_TOP_JOBS ? r->job->id : r->process ? r->process->program : "";

	if (by.view == SCRIBE_TOP_FILES)
		return scribe_top_name(by.names, r, len);
	*len = strlen(name);
	return name;
}

static int by_name(const struct scribe_top_row *a, const struct scribe_top_row *b)
{
	size_t na, nb;
	const char *x = name_of(a, &na), *y = name_of(b, &nb);
	int rc = memcmp(x, y, na < nb ? na : nb);

	return rc ? rc : (na > nb) - (na < nb);
}

#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

static int compare(const void *va, const void *vb)
{
	const struct scribe_top_row *a = va, *b = vb;
	double x = value(a), y = value(b);
	int rc = by.sort == SCRIBE_TOP_BY_NAME ? by_name(a, b) : ORDER(y, x);

	/* Equal rows keep a fixed order, so that they do not jump between samples. */
	rc = rc ? rc : ORDER(a->job->begun_ns, b->job->begun_ns);
	rc = rc ? rc : ORDER(a->rank, b->rank);
	if (!rc && a->process && b->process)
		rc = ORDER(a->process->proc_id, b->process->proc_id);
	rc = rc ? rc : ORDER(a->name, b->name);
	return rc ? rc : ORDER(a->modules, b->modules);
}

bool scribe_top_most_metadata(const struct scribe_top_rows *rows, char *to, size_t cap)
{
	const struct scribe_top_row *most = NULL;
	char id[256], user[128], folder[512], mount[256], opens[16], stats[16], failed[16];
	size_t n;

	for (size_t i = 0; i < rows->n; i++)
		if (metadata(&rows->row[i]) > (most ? metadata(most) : METADATA_MANY))
			most = &rows->row[i];
	if (!most)
		return false;
	compact(most->opens_s, 1000, opens);
	compact(most->stats_s, 1000, stats);
	compact(most->failed_s, 1000, failed);
	n = (size_t)snprintf(to, cap, "most metadata: job %s of %s, %s opens, %s stats, %s failed lookups a second",
			     scribe_human_text(most->job->id, id, sizeof(id)),
			     scribe_human_text(most->job->user, user, sizeof(user)), opens, stats, failed);
	if (most->job->folder[0] && n < cap)
		n += (size_t)snprintf(to + n, cap - n, ", %.0f %% of the former two below %s",
				      100 * most->job->folder_part,
				      scribe_human_text(most->job->folder, folder, sizeof(folder)));
	if (most->job->mount[0] && n < cap)
		snprintf(to + n, cap - n, " on %s", scribe_human_text(most->job->mount, mount, sizeof(mount)));
	return true;
}

void scribe_top_rows_sort(struct scribe_top_rows *rows, enum scribe_top_sort sort, enum scribe_top_view view,
			  const struct scribe_top_names *names)
{
	by.sort = sort;
	by.view = view;
	by.names = names;
	if (rows->n)
		qsort(rows->row, rows->n, sizeof(*rows->row), compare);
}

static bool has_text(const struct scribe_top_row *r, const char *text)
{
	static char shown[SCRIBE_TOP_CELL];

	if (strstr(r->job->id, text) || strstr(r->job->user, text) ||
	    (by.view != SCRIBE_TOP_FILES && r->process && strstr(r->process->program, text)))
		return true;
	if (by.view != SCRIBE_TOP_FILES)
		return false;
	cell_file(r, by.names, shown);
	return strstr(shown, text);
}

void scribe_top_rows_filter(struct scribe_top_rows *rows, const char *text, enum scribe_top_view view,
			    const struct scribe_top_names *names)
{
	size_t n = 0;

	by.view = view;
	by.names = names;
	for (size_t i = 0; i < rows->n; i++)
		if (has_text(&rows->row[i], text))
			rows->row[n++] = rows->row[i];
	rows->n = n;
}
