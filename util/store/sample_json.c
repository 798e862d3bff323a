// SPDX-License-Identifier: BSD-3-Clause
/* Samples of nodes from JSON lines. Must not know what metrics mean. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "util/store/event.h"
#include "util/store/json_numbers.h"
#include "util/store/sample.h"
#include "util/text/quoted.h"

#define SCHEMA    "ioscribe_node"
#define MAX_DEPTH 16    /* nesting accepted; a sample has 2 */
#define MAX_TEXT  32768 /* of all texts with their NULs */

enum what { WHAT_OTHER, WHAT_SCHEMA, WHAT_NODE, WHAT_TIME, WHAT_VALUES, WHAT_VALUE };

struct scribe_sample_json {
	struct scribe_sample *sample;
	struct scribe_err *err;
	enum what what;
	int depth;
	bool in_values, is_sample, done;
	size_t used;
	char text[MAX_TEXT];
};

static int refuse(struct scribe_sample_json *r, const char *what)
{
	scribe_err_set(r->err, -SCRIBE_E_FORMAT, "%s", what);
	return 0; /* makes YAJL stop */
}

/* Copies with a NUL. NULL: refused. */
static const char *keep_text(struct scribe_sample_json *r, const unsigned char *s, size_t len)
{
	char *to = r->text + r->used;

	if (!len || len > SCRIBE_SAMPLE_MAX_NAME || memchr(s, 0, len) || len >= sizeof(r->text) - r->used ||
	    !scribe_text_utf8((const char *)s, len)) {
		refuse(r, "a name that is empty, longer than 255 bytes, not UTF-8 or with a NUL, or 32 KiB "
			  "of names");
		return NULL;
	}
	memcpy(to, s, len);
	to[len] = 0;
	r->used += len + 1;
	return to;
}

static int on_number(void *ctx, const char *s, size_t len)
{
	struct scribe_sample_json *r = ctx;
	const enum what what = r->what;
	int64_t v;

	r->what = WHAT_OTHER;
	if (what == WHAT_TIME) {
		if (!scribe_json_time(s, len, &v) || v <= 0)
			return refuse(r, "timestamp: no time after 1970");
		r->sample->time_us = scribe_event_us(v);
	} else if (what == WHAT_VALUE) {
		if (!scribe_json_int(s, len, &v) || v < 0)
			return refuse(r, "values: no number from 0 to 2^63 - 1");
		r->sample->values[r->sample->n++].value = v;
	} else if (what != WHAT_OTHER) {
		return refuse(r, "a number where another value is expected");
	}
	return 1;
}

static int on_text(void *ctx, const unsigned char *s, size_t len)
{
	struct scribe_sample_json *r = ctx;
	const enum what what = r->what;

	r->what = WHAT_OTHER;
	if (what == WHAT_SCHEMA) {
		r->is_sample = len == sizeof(SCHEMA) - 1 && !memcmp(s, SCHEMA, len);
		return 1;
	}
	if (what == WHAT_NODE)
		return (r->sample->node = keep_text(r, s, len)) != NULL;
	return what == WHAT_OTHER ? 1 : refuse(r, "a text where another value is expected");
}

static int on_key(void *ctx, const unsigned char *s, size_t len)
{
	static const char *const keys[] = {
		[WHAT_SCHEMA] = "schema",
		[WHAT_NODE] = "ProducerName",
		[WHAT_TIME] = "timestamp",
		[WHAT_VALUES] = "values",
	};
	struct scribe_sample_json *r = ctx;

	r->what = WHAT_OTHER;
	if (r->in_values && r->depth == 2) {
		if (r->sample->n == SCRIBE_SAMPLE_MAX_VALUES)
			return refuse(r, "more than 256 values");
		r->what = WHAT_VALUE;
		return (r->sample->values[r->sample->n].metric = keep_text(r, s, len)) != NULL;
	}
	for (int i = WHAT_SCHEMA; i <= WHAT_VALUES && r->depth == 1; i++)
		if (strlen(keys[i]) == len && !memcmp(keys[i], s, len))
			r->what = (enum what)i;
	return 1;
}

static int open_level(struct scribe_sample_json *r)
{
	if (r->what != WHAT_OTHER)
		return refuse(r, "a list or an object where one value is expected");
	return ++r->depth <= MAX_DEPTH ? 1 : refuse(r, "nested too deep");
}

static int on_open_object(void *ctx)
{
	struct scribe_sample_json *r = ctx;

	if (!r->depth && r->done)
		return refuse(r, "more than one object in a line");
	if (r->what == WHAT_VALUES) {
		r->in_values = true;
		r->what = WHAT_OTHER;
	}
	return open_level(r);
}

static int on_open_array(void *ctx)
{
	return open_level(ctx);
}

static int on_close(void *ctx)
{
	struct scribe_sample_json *r = ctx;

	r->depth--;
	r->what = WHAT_OTHER;
	r->in_values &= r->depth > 1;
	r->done |= r->depth == 0;
	return 1;
}

static int on_other(void *ctx)
{
	struct scribe_sample_json *r = ctx;

	return r->what == WHAT_OTHER ? 1 : refuse(r, "null or a truth value where another value is expected");
}

static int on_bool(void *ctx, int value)
{
	return on_other(ctx);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_other,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_text,
	.yajl_start_map = on_open_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_close,
	.yajl_start_array = on_open_array,
	.yajl_end_array = on_close,
};

int scribe_sample_json_new(struct scribe_sample_json **ret_reader, struct scribe_err *err)
{
	*ret_reader = calloc(1, sizeof(**ret_reader));
	return *ret_reader ? 0 : scribe_err_set(err, -ENOMEM, "samples: out of memory");
}

struct scribe_sample_json *scribe_sample_json_free(struct scribe_sample_json *r)
{
	free(r);
	return NULL;
}

static int check(const struct scribe_sample_json *r, struct scribe_err *err)
{
	const struct scribe_sample *s = r->sample;
	const char *none = !r->done      ? "end in its line"
			   : !s->node    ? "ProducerName"
			   : !s->time_us ? "timestamp"
			   : !s->n       ? "values"
					 : NULL;

	return none ? scribe_err_set(err, -SCRIBE_E_FORMAT, "it has no %s", none) : 1;
}

int scribe_sample_json_read(struct scribe_sample_json *r, const char *line, size_t len,
			    struct scribe_sample *ret_sample, struct scribe_err *err)
{
	yajl_handle yajl;
	yajl_status status;
	size_t at;

	/* The text may also belong to another key: `is_sample` decides below. */
	if (!memmem(line, len, "\"" SCHEMA "\"", sizeof(SCHEMA) + 1))
		return 0;
	yajl = yajl_alloc(&callbacks, NULL, r);
	if (!yajl)
		return scribe_err_set(err, -ENOMEM, "samples: out of memory");
	yajl_config(yajl, yajl_allow_multiple_values, 1);
	r->sample = ret_sample;
	r->err = err;
	r->what = WHAT_OTHER;
	r->depth = 0;
	r->used = 0;
	r->in_values = r->is_sample = r->done = false;
	ret_sample->node = NULL;
	ret_sample->time_us = 0;
	ret_sample->n = 0;
	status = yajl_parse(yajl, (const unsigned char *)line, len);
	if (status == yajl_status_ok)
		status = yajl_complete_parse(yajl);
	at = yajl_get_bytes_consumed(yajl) + 1;
	yajl_free(yajl);
	if (!r->is_sample)
		return 0;
	if (status == yajl_status_client_canceled)
		return -SCRIBE_E_FORMAT; /* the message is set */
	return status == yajl_status_ok ? check(r, err)
					: scribe_err_set(err, -SCRIBE_E_FORMAT, "no JSON from byte %zu on", at);
}
