// SPDX-License-Identifier: BSD-3-Clause
/*
 * Compares the traced operations of two records by number: writes with writes, reads with reads. Must not know
 * where records come from.
 */
#include "util/cmd/diff/segments.h"

#include <inttypes.h>
#include <stdbool.h>

static void row(struct scribe_out *out, const struct scribe_module *m, const struct scribe_diff_segments *in, char mark,
		bool write, int64_t number)
{
	const struct scribe_dxt_record *r = in->record;
	const struct scribe_dxt_segment *s = &r->segments[number + (write ? 0 : r->write_count)];

	/* Nine decimals: finer than the 15 ns resolution of DXT times. */
	scribe_out_printf(out, "%c %s\t%" PRId64 "\t%" PRIu64 "\t%s %" PRId64, mark, m->name, r->base.rank, r->base.id,
			  write ? "write" : "read", number);
	scribe_out_printf(out, "\toffset %" PRId64 " length %" PRId64 " start %.9f end %.9f", s->offset, s->length,
			  s->start, s->end);
	if (s->thread)
		scribe_out_printf(out, " thread %" PRIu64, s->thread);
	scribe_out_text(out, "\t");
	scribe_out_bytes(out, in->name ? in->name : "", in->name ? in->len : 0);
	scribe_out_text(out, "\n");
}

static bool is_same(const struct scribe_dxt_segment *a, const struct scribe_dxt_segment *b)
{
	/* Negated comparisons, so that two NaN are equal. */
	return a->offset == b->offset && a->length == b->length && !(a->start != b->start) && !(a->end != b->end) &&
	       a->thread == b->thread;
}

static int64_t count(const struct scribe_dxt_record *r, bool write)
{
	if (!r)
		return 0;
	return write ? r->write_count : r->read_count;
}

static void diff_side(struct scribe_out *out, const struct scribe_module *m, const struct scribe_diff_segments in[2],
		      bool write)
{
	const int64_t n[2] = {count(in[0].record, write), count(in[1].record, write)};

	for (int64_t i = 0; i < n[0] || i < n[1]; i++) {
		if (i < n[0] && i < n[1] &&
		    is_same(&in[0].record->segments[i + (write ? 0 : in[0].record->write_count)],
			    &in[1].record->segments[i + (write ? 0 : in[1].record->write_count)]))
			continue;
		if (i < n[0])
			row(out, m, &in[0], '-', write, i);
		if (i < n[1])
			row(out, m, &in[1], '+', write, i);
	}
}

void scribe_diff_segments(struct scribe_out *out, const struct scribe_module *m,
			  const struct scribe_diff_segments in[2])
{
	diff_side(out, m, in, true);
	diff_side(out, m, in, false);
}
