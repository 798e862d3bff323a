// SPDX-License-Identifier: BSD-3-Clause
/*
 * A trace record as text, line for line as darshan-dxt-parser. Must not know logs: the caller provides names,
 * mounts and layouts.
 */
#include "util/text/dxt_text.h"

#include <stdlib.h>
#include <string.h>

#include "util/text/number.h"

#define NO_NAME "(null)"

static void print_layout(struct scribe_out *out, const struct scribe_lustre_record *l)
{
	const int64_t *osts = (const int64_t *)(l->comps + l->num_comps);
	int64_t at = 0;

	scribe_out_text(out, "# DXT, Lustre stripe components:\n");
	for (int64_t i = 0; i < l->num_comps; i++) {
		const int64_t *c = l->comps[i].counters;

		scribe_out_printf(out, "#\t[Component %d] stripe_ext: %lld - ", (int)i + 1,
				  (long long)c[SCRIBE_LUSTRE_COMP_EXT_START]);
		if (c[SCRIBE_LUSTRE_COMP_EXT_END] == -1)
			scribe_out_text(out, "EOF, ");
		else
			scribe_out_printf(out, "%lld, ", (long long)c[SCRIBE_LUSTRE_COMP_EXT_END]);
		scribe_out_printf(out, "stripe_size: %lld, stripe_count: %lld, OSTs:",
				  (long long)c[SCRIBE_LUSTRE_COMP_STRIPE_SIZE],
				  (long long)c[SCRIBE_LUSTRE_COMP_STRIPE_COUNT]);
		/* In a damaged record the counts exceed the list. */
		for (int64_t j = 0; j < c[SCRIBE_LUSTRE_COMP_STRIPE_COUNT] && at < l->num_stripes; j++)
			scribe_out_printf(out, " %lld", (long long)osts[at++]);
		scribe_out_text(out, "\n");
	}
}

/* Prints a component's targets for the bytes *cur..end, each once; advances *cur. Sizes must be positive. */
static void print_targets(struct scribe_out *out, const int64_t *c, const int64_t *osts, int64_t *cur, int64_t end,
			  int64_t *printed)
{
	int64_t size = c[SCRIBE_LUSTRE_COMP_STRIPE_SIZE], count = c[SCRIBE_LUSTRE_COMP_STRIPE_COUNT];
	int64_t from = c[SCRIBE_LUSTRE_COMP_EXT_START], to = c[SCRIBE_LUSTRE_COMP_EXT_END];
	int64_t in_comp = *cur - from, target = in_comp / size % count;

	while (*cur < end && (*cur < to || to == -1)) {
		scribe_out_printf(out, " [%lld]", (long long)osts[target]);
		target = target == count - 1 ? 0 : target + 1;
		if (__builtin_mul_overflow(in_comp / size + 1, size, &in_comp) ||
		    __builtin_add_overflow(from, in_comp, cur))
			*cur = end;
		if (++*printed >= count) {
			*cur = to == -1 ? end : to;
			break;
		}
	}
}

static void print_osts(struct scribe_out *out, const struct scribe_lustre_record *l, const struct scribe_dxt_segment *s)
{
	const int64_t *osts = (const int64_t *)(l->comps + l->num_comps);
	int64_t cur = s->offset, first = 0, printed = 0, end;

	/* A segment with an unknown offset (-1) lacks targets, as in Darshan's tool. */
	if (s->offset < 0 || __builtin_add_overflow(s->offset, s->length, &end))
		return;
	for (int64_t i = 0; i < l->num_comps; i++) {
		const int64_t *c = l->comps[i].counters;
		int64_t count = c[SCRIBE_LUSTRE_COMP_STRIPE_COUNT], from = c[SCRIBE_LUSTRE_COMP_EXT_START];
		int64_t to = c[SCRIBE_LUSTRE_COMP_EXT_END];

		if (count <= 0 || c[SCRIBE_LUSTRE_COMP_STRIPE_SIZE] <= 0)
			continue; /* data on the metadata server */
		if (count > l->num_stripes - first)
			return; /* the record lacks some targets */
		if (from >= 0 && cur >= from && (cur < to || to == -1))
			print_targets(out, c, osts + first, &cur, end, &printed);
		first += count;
	}
}

static char *put_right(char *to, const char *text, size_t n, size_t width)
{
	if (n < width) {
		memset(to, ' ', width - n);
		to += width - n;
	}
	memcpy(to, text, n);
	return to + n;
}

static char *put_int(char *to, int64_t v, size_t width)
{
	char text[24];

	/* Not printf, which would take most of the time for millions of lines. */
	return put_right(to, text, (size_t)(scribe_put_i64(text, v) - text), width);
}

static char *put_real(char *to, double v, size_t width)
{
	char text[SCRIBE_NUMBER_MAX];

	return put_right(to, text, (size_t)(scribe_put_fixed(text, v, 4) - text), width);
}

struct tag {
	const char *text;
	int trailing;
};

struct lines {
	struct scribe_out *out;
	struct tag tag;
	int64_t rank;
	const struct scribe_lustre_record *layout;
	bool threads;
};

/* Prints segments, numbered from `at`. */
static void print_segments(const struct lines *l, const struct scribe_dxt_segment *s, int64_t at, int64_t n,
			   const char *kind)
{
	struct scribe_out *out = l->out;

	for (int64_t i = 0; i < n; i++, s++) {
		char *p = scribe_out_room(out, 1024); /* longer than any line without targets */

		memcpy(p, l->tag.text, 8);
		p = put_int(p + 8, l->rank, 8);
		p = put_right(p, kind, strlen(kind), 7);
		p = put_int(p, at + i, 9);
		p = put_int(p, s->offset, 16);
		p = put_int(p, s->length, 16);
		p = put_real(p, s->start, 12);
		p = put_real(p, s->end, 12);
		memcpy(p, "   ", 3);
		scribe_out_done(out, p + (l->threads ? 2 : l->tag.trailing));
		if (l->layout)
			print_osts(out, l->layout, s);
		if (l->threads && l->layout && l->layout->num_comps)
			scribe_out_text(out, "  ");
		if (l->threads)
			scribe_out_printf(out, " %4llu", (unsigned long long)s->thread);
		scribe_out_bytes(out, "\n", 1);
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* 0: out of memory. */
static size_t count_threads(const struct scribe_dxt_record *r)
{
	size_t n = (size_t)(r->write_count + r->read_count), distinct = 1;
	uint64_t *ids;

	if (n == 0)
		return 1;
	ids = malloc(n * sizeof(*ids));
	if (!ids)
		return 0;
	for (size_t i = 0; i < n; i++)
		ids[i] = r->segments[i].thread;
	qsort(ids, n, sizeof(*ids), compare_u64);
	for (size_t i = 1; i < n; i++)
		distinct += ids[i] != ids[i - 1];
	free(ids);
	return distinct;
}

static struct lines lines_of(struct scribe_out *out, int module, int64_t rank, const struct scribe_dxt_place *at,
			     bool threads)
{
	bool posix = module == SCRIBE_MOD_DXT_POSIX;

	/* As in Darshan's tool, only DXT_POSIX has targets and trailing blanks. */
	return (struct lines){.out = out,
			      .tag = posix ? (struct tag){" X_POSIX", 3} : (struct tag){" X_MPIIO", 0},
			      .rank = rank,
			      .layout = posix ? at->layout : NULL,
			      .threads = threads};
}

/* distinct: number of threads. */
static void print_head(const struct lines *l, const struct scribe_dxt_head *h, const struct scribe_dxt_place *at,
		       size_t distinct)
{
	struct scribe_out *out = l->out;

	scribe_out_printf(out, "\n# DXT, file_id: %llu, file_name: ", (unsigned long long)h->base.id);
	scribe_out_bytes(out, at->name ? at->name : NO_NAME, at->name ? at->name_len : strlen(NO_NAME));
	scribe_out_printf(out, "\n# DXT, rank: %lld, hostname: %.*s\n", (long long)h->base.rank,
			  (int)sizeof(h->hostname), h->hostname);
	if (l->threads)
		scribe_out_printf(out, "# DXT, number of threads: %zu\n", distinct);
	scribe_out_printf(out, "# DXT, write_count: %lld, read_count: %lld\n", (long long)h->write_count,
			  (long long)h->read_count);
	scribe_out_printf(out, "# DXT, mnt_pt: %s, fs_type: %s\n", at->mount, at->fs);
	if (l->layout)
		print_layout(out, l->layout);
	scribe_out_printf(out,
			  "# Module    Rank  Wt/Rd  Segment          Offset       %sLength    Start(s)"
			  "      End(s)",
			  l->threads ? "   " : "");
	if (l->layout)
		scribe_out_text(out, "   [OST]");
	scribe_out_text(out, l->threads ? "   Pthread-ID\n" : "\n");
}

void scribe_dxt_text(struct scribe_out *out, int module, const struct scribe_dxt_record *r,
		     const struct scribe_dxt_place *at, bool threads)
{
	struct lines l = lines_of(out, module, r->base.rank, at, threads);
	struct scribe_dxt_head head;

	memcpy(&head, r, sizeof(head));
	print_head(&l, &head, at, threads ? count_threads(r) : 0);
	print_segments(&l, r->segments, 0, r->write_count, "write");
	print_segments(&l, r->segments + r->write_count, 0, r->read_count, "read");
}

void scribe_dxt_text_piece(struct scribe_out *out, int module, const struct scribe_dxt_piece *p,
			   const struct scribe_dxt_place *at)
{
	struct lines l = lines_of(out, module, p->head.base.rank, at, false);
	int64_t writes = p->head.write_count - p->first;

	/* The first piece has the head; a piece may contain the end of the writes and the start of the reads. */
	if (p->first == 0)
		print_head(&l, &p->head, at, 0);
	writes = writes < 0 ? 0 : writes < p->n ? writes : p->n;
	print_segments(&l, p->segments, p->first, writes, "write");
	print_segments(&l, p->segments + writes, p->first + writes - p->head.write_count, p->n - writes, "read");
}
