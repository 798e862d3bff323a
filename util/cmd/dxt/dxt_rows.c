// SPDX-License-Identifier: BSD-3-Clause
/*
 * Traced operations as rows of JSON (one array) or CSV, written as they come. For `ioscribe dxt`. Must not know
 * logs.
 */
#include "util/cmd/dxt/dxt_rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "util/text/number.h"
#include "util/text/quoted.h"

#define CAPACITY 32

void scribe_dxt_rows_begin(struct scribe_dxt_rows *r)
{
	scribe_out_text(r->out, r->format == SCRIBE_DXT_JSON
					? "["
					: "module,rank,name,host,operation,number,offset,length,start,end,thread\n");
}

void scribe_dxt_rows_end(struct scribe_dxt_rows *r)
{
	if (r->format == SCRIBE_DXT_JSON)
		scribe_out_text(r->out, r->rows ? "\n]\n" : "]\n");
}

static void put_key(struct scribe_dxt_rows *r, const char *key)
{
	if (r->format == SCRIBE_DXT_CSV)
		scribe_out_bytes(r->out, ",", 1);
	else
		scribe_out_printf(r->out, ",\"%s\":", key);
}

static void put_int(struct scribe_dxt_rows *r, const char *key, int64_t v)
{
	put_key(r, key);
	scribe_out_done(r->out, scribe_put_i64(scribe_out_room(r->out, CAPACITY), v));
}

static void put_real(struct scribe_dxt_rows *r, const char *key, double v)
{
	put_key(r, key);
	if (isfinite(v))
		scribe_json_real(r->out, v);
	else if (r->format == SCRIBE_DXT_JSON)
		scribe_out_text(r->out, "null");
}

static void put_thread(struct scribe_dxt_rows *r, bool threads, uint64_t thread)
{
	const char *quote = r->format == SCRIBE_DXT_JSON ? "\"" : "";

	put_key(r, "thread");
	if (!threads) {
		scribe_out_text(r->out, r->format == SCRIBE_DXT_JSON ? "null" : "");
		return;
	}
	/* A string in JSON: 64 bits exceed what its numbers hold exactly. */
	scribe_out_text(r->out, quote);
	scribe_out_done(r->out, scribe_put_u64(scribe_out_room(r->out, CAPACITY), thread));
	scribe_out_text(r->out, quote);
}

static int put_text(struct scribe_dxt_rows *r, const char *key, const char *bytes, size_t len)
{
	if (r->format == SCRIBE_DXT_JSON) {
		scribe_out_bytes(r->out, ",", 1);
		if (bytes)
			return scribe_json_text(r->out, key, bytes, len);
		scribe_out_printf(r->out, "\"%s\":null", key);
		return 0;
	}
	scribe_out_bytes(r->out, ",", 1);
	return bytes ? scribe_csv_text(r->out, bytes, len) : 0;
}

int scribe_dxt_rows_piece(struct scribe_dxt_rows *r, int module, const struct scribe_dxt_piece *p,
			  const struct scribe_dxt_place *at, bool threads)
{
	const char *module_name = scribe_module_by_id(module)->name;
	const int64_t writes = p->head.write_count;

	for (int64_t i = 0; i < p->n; i++) {
		const struct scribe_dxt_segment *s = &p->segments[i];
		const int64_t number = p->first + i;
		const bool is_write = number < writes;

		if (r->format == SCRIBE_DXT_JSON)
			scribe_out_printf(r->out, "%s{\"module\":\"%s\"", r->rows ? ",\n" : "\n", module_name);
		else
			scribe_out_text(r->out, module_name);
		r->rows++;
		put_int(r, "rank", p->head.base.rank);
		if (put_text(r, "name", at->name, at->name_len) < 0 ||
		    put_text(r, "host", p->head.hostname, strnlen(p->head.hostname, sizeof(p->head.hostname))) < 0 ||
		    put_text(r, "operation", is_write ? "write" : "read", is_write ? 5 : 4) < 0)
			return -ENOMEM;
		put_int(r, "number", is_write ? number : number - writes);
		put_int(r, "offset", s->offset);
		put_int(r, "length", s->length);
		put_real(r, "start", s->start);
		put_real(r, "end", s->end);
		put_thread(r, threads, s->thread);
		scribe_out_text(r->out, r->format == SCRIBE_DXT_JSON ? "}" : "\n");
	}
	return 0;
}
