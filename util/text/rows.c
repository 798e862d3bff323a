// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counter rows: the end of a row and the start of the next are one precomputed piece, the "tie". Must not know
 * what counters mean.
 */
#include "util/text/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "util/text/number.h"

#define SLACK 64 /* bytes that copies may overrun */
/* Longer names and text values are cut. */
#define NAME_CAPACITY 256
#define TEXT_CAPACITY 1100

/* Copies in steps of 32 bytes; reads and writes up to 31 bytes too many. */
static inline char *copy_over(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i += 32)
		memcpy(to + i, from + i, 32);
	return to + n;
}

static char *append(char *to, const char *text, size_t n)
{
	memcpy(to, text, n);
	return to + n;
}

int scribe_rows_begin(struct scribe_rows *r, const struct scribe_row_place *at, struct scribe_err *err)
{
	const char *name = at->name ? at->name : "(null)";
	size_t name_len = at->name ? at->name_len : strlen(name);
	size_t module = strlen(at->module), mount = strlen(at->mount), fs = strlen(at->fs);
	size_t need = name_len + module + mount + fs + 64 + SLACK;
	char *p, *start;

	if (scribe_out_fit(r->out, 2 * need + NAME_CAPACITY + TEXT_CAPACITY, err) < 0)
		return err ? err->code : -ENOMEM;
	if (need > r->cap) {
		char *bigger = realloc(r->tie, need + need / 2);

		if (!bigger)
			return scribe_err_set(err, -ENOMEM, "row of %zu bytes: out of memory", need);
		r->tie = bigger;
		r->cap = need + need / 2;
		memset(bigger, 0, r->cap);
	}
	/* The tie: tail (name, mount, file system, newline), then head (module, rank, id) of the next row. */
	p = r->tie;
	*p++ = '\t';
	p = append(p, name, name_len);
	*p++ = '\t';
	p = append(p, at->mount, mount);
	*p++ = '\t';
	p = append(p, at->fs, fs);
	*p++ = '\n';
	r->tail_len = (size_t)(p - r->tie);
	start = p;
	p = append(p, at->module, module);
	*p++ = '\t';
	p = scribe_put_i64(p, at->rank);
	*p++ = '\t';
	p = scribe_put_u64(p, at->id);
	*p++ = '\t';
	r->tie_len = (size_t)(p - r->tie);
	scribe_out_bytes(r->out, start, (size_t)(p - start));
	return 0;
}

void scribe_rows_end(struct scribe_rows *r)
{
	/* Remove the start of a row that does not follow. */
	r->out->len -= r->tie_len - r->tail_len;
}

void scribe_rows_free(struct scribe_rows *r)
{
	free(r->tie);
	memset(r, 0, sizeof(*r));
}

static char *row_capacity(struct scribe_rows *r, size_t value_capacity)
{
	size_t head = r->tie_len - r->tail_len;
	size_t need = NAME_CAPACITY + value_capacity + r->tie_len + SLACK;
	struct scribe_out *o = r->out;

	/*
	 * Before a flush the start of the next row, already in the buffer, is removed, and written again
	 * afterwards.
	 */
	if (o->cap - o->len >= need)
		return o->buf + o->len;
	o->len -= head;
	scribe_out_room(o, need + head);
	scribe_out_bytes(o, r->tie + r->tail_len, head);
	return o->buf + o->len;
}

void scribe_rows_ints(struct scribe_rows *r, const struct scribe_row_label *labels, const int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *p = row_capacity(r, 24);

		memcpy(p, labels[i].text, sizeof(labels[i].text));
		p += labels[i].len;
		p = scribe_put_i64(p, values[i]);
		scribe_out_done(r->out, copy_over(p, r->tie, r->tie_len));
	}
}

void scribe_rows_reals(struct scribe_rows *r, const struct scribe_row_label *labels, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *p = row_capacity(r, SCRIBE_NUMBER_MAX);

		memcpy(p, labels[i].text, sizeof(labels[i].text));
		p += labels[i].len;
		p = scribe_put_f6(p, values[i]);
		scribe_out_done(r->out, copy_over(p, r->tie, r->tie_len));
	}
}

static char *named(struct scribe_rows *r, const char *name, size_t value_capacity)
{
	char *p = row_capacity(r, value_capacity);
	size_t n = strnlen(name, NAME_CAPACITY - 1);

	p = append(p, name, n);
	*p++ = '\t';
	return p;
}

static void tied(struct scribe_rows *r, char *p)
{
	scribe_out_done(r->out, copy_over(p, r->tie, r->tie_len));
}

void scribe_rows_int(struct scribe_rows *r, const char *name, int64_t v)
{
	tied(r, scribe_put_i64(named(r, name, 24), v));
}

void scribe_rows_unsigned(struct scribe_rows *r, const char *name, uint64_t v)
{
	tied(r, scribe_put_u64(named(r, name, 24), v));
}

void scribe_rows_real(struct scribe_rows *r, const char *name, double v)
{
	tied(r, scribe_put_f6(named(r, name, SCRIBE_NUMBER_MAX), v));
}

void scribe_rows_text(struct scribe_rows *r, const char *name, const char *v)
{
	char *p = named(r, name, TEXT_CAPACITY);

	tied(r, append(p, v, strnlen(v, TEXT_CAPACITY - 1)));
}
