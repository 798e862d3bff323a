// SPDX-License-Identifier: BSD-3-Clause
/*
 * Bytes, and single operations, by rank and time, in cells: zlib streams in base64 that the page unpacks. Memory: one
 * grid at a time, at most 48 MiB. Must not know how the page draws them.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/file/encode.h"
#include "util/cmd/report/report.h"

#define ROWS           128
#define COLUMNS        256
#define SPAN_MAX       1e12    /* s; longer is damage, not a job */
#define TIMELINE_BYTES 1000000 /* of the timelines' levels in the page */

struct grid {
	int64_t ranks, each; /* ranks a row */
	int rows, columns;
	double span;
	size_t cells;
	float *plane[3];
};

static void grid_free(struct grid *g)
{
	for (int i = 0; i < 3; i++)
		free(g->plane[i]);
	*g = (struct grid){0};
}

static int grid_new(struct grid *g, const struct scribe_summary *s, int columns, int planes, struct scribe_err *err)
{
	const int64_t ranks = scribe_reader_job(s->log.reader)->nprocs;

	g->ranks = ranks > 0 ? ranks : 1;
	g->each = (g->ranks - 1) / ROWS + 1;
	g->rows = (int)((g->ranks - 1) / g->each + 1);
	g->columns = columns;
	g->cells = (size_t)g->rows * (size_t)columns;
	for (int i = 0; i < planes; i++) {
		free(g->plane[i]);
		g->plane[i] = calloc(g->cells, sizeof(float));
		if (!g->plane[i])
			return scribe_err_set(err, -ENOMEM, "%zu cells: out of memory", g->cells);
	}
	return 0;
}

/* -1: no rank of the job. */
static int row_of(const struct grid *g, int64_t rank)
{
	return rank < 0 || rank >= g->ranks ? -1 : (int)(rank / g->each);
}

/* Distributes a value over the columns of the time from..to, in seconds. */
static void spread(struct grid *g, int plane, int row, double from, double to, double value)
{
	float *cell = g->plane[plane] + (size_t)row * (size_t)g->columns;
	const double per = g->columns / g->span;
	double a = from * per, b = to * per;

	if (!(a >= 0))
		a = 0;
	if (a > g->columns - 1)
		a = g->columns - 1;
	if (!(b > a)) {
		cell[(int)a] += (float)value;
		return;
	}
	b = b < g->columns ? b : g->columns;
	for (int c = (int)a; c < b && c < g->columns; c++)
		cell[c] += (float)(value * ((b < c + 1 ? b : c + 1) - (a > c ? a : c)) / (b - a));
}

/* A record of all ranks is spread over all rows. */
static void spread_rank(struct grid *g, int plane, int64_t rank, double from, double to, double value)
{
	const int row = row_of(g, rank);

	if (row >= 0)
		spread(g, plane, row, from, to, value);
	for (int i = 0; rank < 0 && i < g->rows; i++)
		spread(g, plane, i, from, to, value / g->rows);
}

struct layer {
	const char *name, *heatmap;
	int module, dxt;
	int bytes[2], start[2], end[2]; /* read, write */
};

static const struct layer layers[] = {
	{"POSIX",
	 "heatmap:POSIX",
	 SCRIBE_MOD_POSIX,
	 SCRIBE_MOD_DXT_POSIX,
	 {SCRIBE_POSIX_BYTES_READ, SCRIBE_POSIX_BYTES_WRITTEN},
	 {SCRIBE_POSIX_F_READ_START_TIMESTAMP, SCRIBE_POSIX_F_WRITE_START_TIMESTAMP},
	 {SCRIBE_POSIX_F_READ_END_TIMESTAMP, SCRIBE_POSIX_F_WRITE_END_TIMESTAMP}},
	{"STDIO",
	 "heatmap:STDIO",
	 SCRIBE_MOD_STDIO,
	 -1,
	 {SCRIBE_STDIO_BYTES_READ, SCRIBE_STDIO_BYTES_WRITTEN},
	 {SCRIBE_STDIO_F_READ_START_TIMESTAMP, SCRIBE_STDIO_F_WRITE_START_TIMESTAMP},
	 {SCRIBE_STDIO_F_READ_END_TIMESTAMP, SCRIBE_STDIO_F_WRITE_END_TIMESTAMP}},
	{"MPI-IO",
	 "heatmap:MPIIO",
	 SCRIBE_MOD_MPIIO,
	 SCRIBE_MOD_DXT_MPIIO,
	 {SCRIBE_MPIIO_BYTES_READ, SCRIBE_MPIIO_BYTES_WRITTEN},
	 {SCRIBE_MPIIO_F_READ_START_TIMESTAMP, SCRIBE_MPIIO_F_WRITE_START_TIMESTAMP},
	 {SCRIBE_MPIIO_F_READ_END_TIMESTAMP, SCRIBE_MPIIO_F_WRITE_END_TIMESTAMP}},
};

static double valid(double seconds)
{
	return isfinite(seconds) && seconds > 0 && seconds < SPAN_MAX ? seconds : 0;
}

/* Pass 0 finds the span, pass 1 fills the cells. */
typedef void (*take_fn)(struct grid *g, const struct layer *l, const struct scribe_names *names, const void *record,
			int pass);

static void take_heatmap(struct grid *g, const struct layer *l, const struct scribe_names *names, const void *record,
			 int pass)
{
	const struct scribe_heatmap_record *h = record;
	const char *name = scribe_names_find(names, h->base.id, NULL);
	const double width = h->bin_width_seconds, end = valid(width * (double)h->nbins);

	if (!name || strcmp(name, l->heatmap) || end == 0)
		return;
	if (pass == 0)
		g->span = end > g->span ? end : g->span;
	/* Bins of bytes written come first. */
	for (int64_t i = 0; pass && i < 2 * h->nbins; i++)
		if (h->bins[i] > 0)
			spread_rank(g, i < h->nbins, h->base.rank, (double)(i % h->nbins) * width,
				    (double)(i % h->nbins + 1) * width, (double)h->bins[i]);
}

static void take_segments(struct grid *g, const struct layer *l, const struct scribe_names *names, const void *record,
			  int pass)
{
	const struct scribe_dxt_record *r = record;

	(void)l;
	(void)names;
	for (int64_t i = 0; i < r->write_count + r->read_count; i++) {
		const struct scribe_dxt_segment *at = &r->segments[i];

		if (pass == 0)
			g->span = valid(at->end) > g->span ? at->end : g->span;
		else if (at->length > 0)
			spread_rank(g, i < r->write_count, r->base.rank, at->start, at->end, (double)at->length);
	}
}

static void take_record(struct grid *g, const struct layer *l, const struct scribe_names *names, const void *record,
			int pass)
{
	const struct scribe_module *m = scribe_module_by_id(l->module);
	const struct scribe_base_record *base = record;
	const int64_t *c = scribe_record_counters(m, record);
	const double *f = scribe_record_fcounters(m, record);

	(void)names;
	for (int write = 0; write < 2; write++) {
		if (c[l->bytes[write]] <= 0)
			continue;
		if (pass == 0)
			g->span = valid(f[l->end[write]]) > g->span ? f[l->end[write]] : g->span;
		else
			spread_rank(g, write, base->rank, f[l->start[write]], f[l->end[write]],
				    (double)c[l->bytes[write]]);
	}
}

static int fill(const struct scribe_summary *s, struct grid *g, const struct layer *l, int module, take_fn take,
		int pass, struct scribe_err *err)
{
	const void *record;
	size_t len;
	int rc;

	scribe_reader_rewind(s->log.reader, module);
	while ((rc = scribe_reader_borrow_record(s->log.reader, module, &record, &len)) > 0)
		take(g, l, s->log.names, record, pass);
	if (rc < 0)
		*err = *scribe_reader_error(s->log.reader);
	return rc;
}

static void put_base64(struct scribe_out *out, const unsigned char *at, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char four[4];

	for (; n > 0; at += 3, n = n > 3 ? n - 3 : 0) {
		const unsigned bits = (unsigned)at[0] << 16 | (n > 1 ? (unsigned)at[1] << 8 : 0) | (n > 2 ? at[2] : 0);

		for (int i = 0; i < 4; i++)
			four[i] = digits[bits >> (18 - 6 * i) & 63];
		four[2] = n > 1 ? four[2] : '=';
		four[3] = n > 2 ? four[3] : '=';
		scribe_out_bytes(out, four, 4);
	}
}

static void put_head(struct scribe_out *out, const struct grid *g, const char *layer, const char *from)
{
	scribe_out_printf(out,
			  "{\"layer\":\"%s\",\"source\":\"%s\",\"span\":%.17g,\"ranks\":%lld,\"each\":%lld,\"rows\":%d,"
			  "\"levels\":[",
			  layer, from, g->span, (long long)g->ranks, (long long)g->each, g->rows);
}

/* Bytes in the page, or 0 if they are more than `most`: then nothing is written. */
static int put_level(struct scribe_out *out, const struct grid *g, const void *cells, size_t bytes, int most,
		     bool first, struct scribe_err *err)
{
	void *packed;
	size_t n;
	int rc = scribe_deflate_region(cells, bytes, &packed, &n, err);

	if (rc < 0)
		return rc;
	if (n / 3 * 4 <= (size_t)most) {
		scribe_out_printf(out, "%s{\"columns\":%d,\"cells\":\"", first ? "" : ",", g->columns);
		put_base64(out, packed, n);
		scribe_out_text(out, "\"}");
		rc = (int)(n / 3 * 4) + 4;
	}
	free(packed);
	return rc;
}

static int put_grid(const struct scribe_summary *s, const struct layer *l, const char *from, int module, take_fn take,
		    bool *first, struct scribe_out *out, struct scribe_err *err)
{
	struct grid g = {0};
	float *both = NULL;
	int rc = fill(s, &g, l, module, take, 0, err);

	if (rc < 0 || g.span == 0)
		return rc;
	rc = grid_new(&g, s, COLUMNS, 2, err);
	if (rc == 0)
		rc = fill(s, &g, l, module, take, 1, err);
	if (rc == 0) {
		both = malloc(2 * g.cells * sizeof(float));
		rc = both ? 0 : scribe_err_set(err, -ENOMEM, "%zu cells: out of memory", g.cells);
	}
	if (rc == 0) {
		memcpy(both, g.plane[0], g.cells * sizeof(float));
		memcpy(both + g.cells, g.plane[1], g.cells * sizeof(float));
		scribe_out_text(out, *first ? "" : ",");
		put_head(out, &g, l->name, from);
		rc = put_level(out, &g, both, 2 * g.cells * sizeof(float), INT_MAX, true, err);
		scribe_out_text(out, "]}");
		*first = false;
	}
	free(both);
	grid_free(&g);
	return rc < 0 ? rc : 1;
}

/* The first source that has anything: heatmaps, else traced operations, else the records' own times. */
static int put_layer(const struct scribe_summary *s, const struct layer *l, bool *first, struct scribe_out *out,
		     struct scribe_err *err)
{
	int rc = put_grid(s, l, "heatmap", SCRIBE_MOD_HEATMAP, take_heatmap, first, out, err);

	if (rc == 0 && l->dxt >= 0)
		rc = put_grid(s, l, "dxt", l->dxt, take_segments, first, out, err);
	if (rc == 0)
		rc = put_grid(s, l, "records", l->module, take_record, first, out, err);
	return rc < 0 ? rc : 0;
}

/* Planes: number, shortest and longest duration of the operations that begin in a cell. */
static void take_timeline(struct grid *g, const struct layer *l, const struct scribe_names *names, const void *record,
			  int pass)
{
	const struct scribe_dxt_record *r = record;
	const int row = row_of(g, r->base.rank);

	(void)l;
	(void)names;
	(void)pass;
	for (int64_t i = 0; row >= 0 && i < r->write_count + r->read_count; i++) {
		const struct scribe_dxt_segment *at = &r->segments[i];
		const double column = at->start / g->span * g->columns;
		const size_t cell = (size_t)row * (size_t)g->columns +
				    (size_t)(column >= 0 ? column < g->columns - 1 ? column : g->columns - 1 : 0);
		const float took = (float)valid(at->end - at->start);

		if (g->plane[0][cell] == 0 || took < g->plane[1][cell])
			g->plane[1][cell] = took;
		if (took > g->plane[2][cell])
			g->plane[2][cell] = took;
		g->plane[0][cell]++;
	}
}

/* A byte for a number: 0, or 1 + 8 log2 of it, so that a step is 9 %; durations count in nanoseconds. */
static unsigned char logarithm(double v)
{
	const double steps = v >= 1 ? 1.5 + 8 * log2(v) : v > 0 ? 1 : 0;

	return (unsigned char)(steps > 255 ? 255 : steps);
}

/* Bytes of one level. 0 or negative. */
static int fill_timeline(const struct scribe_summary *s, struct grid *g, const struct layer *l, int columns,
			 unsigned char **ret_bytes, struct scribe_err *err)
{
	int rc = grid_new(g, s, columns, 3, err);

	if (rc == 0)
		rc = fill(s, g, l, l->dxt, take_timeline, 0, err);
	if (rc < 0)
		return rc;
	*ret_bytes = malloc(3 * g->cells);
	if (!*ret_bytes)
		return scribe_err_set(err, -ENOMEM, "%zu cells: out of memory", g->cells);
	for (size_t i = 0; i < 3 * g->cells; i++)
		(*ret_bytes)[i] = logarithm((double)g->plane[i / g->cells][i % g->cells] * (i < g->cells ? 1 : 1e9));
	return 0;
}

/* Each level has four times as many columns as the one before, as long as the page has room for it. */
static int put_timeline(const struct scribe_summary *s, const struct layer *l, bool *first, struct scribe_out *out,
			struct scribe_err *err)
{
	struct grid g = {0};
	int rc = fill(s, &g, l, l->dxt, take_segments, 0, err);
	const int layers_traced = scribe_reader_has(s->log.reader, SCRIBE_MOD_DXT_POSIX) +
				  scribe_reader_has(s->log.reader, SCRIBE_MOD_DXT_MPIIO);
	int left = TIMELINE_BYTES / (layers_traced > 1 ? 2 : 1);

	if (rc < 0 || g.span == 0)
		return rc;
	rc = 1;
	for (int columns = COLUMNS; rc > 0 && columns <= 64 * COLUMNS; columns *= 4) {
		unsigned char *bytes = NULL;

		rc = fill_timeline(s, &g, l, columns, &bytes, err);
		if (rc == 0 && columns == COLUMNS) {
			scribe_out_text(out, *first ? "" : ",");
			put_head(out, &g, l->name, "dxt");
			*first = false;
		}
		if (rc == 0)
			rc = put_level(out, &g, bytes, 3 * g.cells, left, columns == COLUMNS, err);
		left -= rc > 0 ? rc : 0;
		free(bytes);
	}
	scribe_out_text(out, "]}");
	grid_free(&g);
	return rc < 0 ? rc : 0;
}

int scribe_report_grids(const struct scribe_summary *s, struct scribe_out *out, struct scribe_err *err)
{
	bool first = true;
	int rc = 0;

	scribe_out_text(out, "\"grids\":[");
	for (size_t i = 0; rc == 0 && i < sizeof(layers) / sizeof(layers[0]); i++)
		rc = put_layer(s, &layers[i], &first, out, err);
	scribe_out_text(out, "],\"timelines\":[");
	first = true;
	for (size_t i = 0; rc == 0 && i < sizeof(layers) / sizeof(layers[0]); i++)
		if (layers[i].dxt >= 0)
			rc = put_timeline(s, &layers[i], &first, out, err);
	scribe_out_text(out, "]");
	return rc;
}
