// SPDX-License-Identifier: BSD-3-Clause
/*
 * JSON messages into struct scribe_store_event. Numbers arrive as text, so that a record id keeps 64 bits and a
 * time its ns. Must not know where lines come from.
 */
#include "util/store/event_json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "util/store/json_numbers.h"
#include "util/store/json_plain.h"
#include "util/text/quoted.h"

#define MAX_DEPTH  16 /* nesting accepted; messages have 3 */
#define MAX_FIELDS 16 /* keys of a message or operation */

/* KIND_ID: unsigned; KIND_TIME: seconds, stored as ns. */
enum kind { KIND_INT, KIND_ID, KIND_TEXT, KIND_TIME };

struct field {
	const char *key;
	size_t len;
	enum kind kind;
	size_t at; /* offset in the event or its segment */
};

static const struct field fields[] = {
#define SCRIBE_X(k, f) {k, sizeof(k) - 1, KIND_INT, offsetof(struct scribe_store_event, f)},
	SCRIBE_EVENT_INTS(SCRIBE_X)
#undef SCRIBE_X
#define SCRIBE_X(k, f) {k, sizeof(k) - 1, KIND_TEXT, offsetof(struct scribe_store_event, f)},
		SCRIBE_EVENT_TEXTS(SCRIBE_X)
#undef SCRIBE_X
			{"record_id", 9, KIND_ID, offsetof(struct scribe_store_event, record_id)},
	{NULL, 0, KIND_INT, 0},
};
static const struct field seg_fields[] = {
#define SCRIBE_X(k, f) {k, sizeof(k) - 1, KIND_INT, offsetof(struct scribe_event_seg, f)},
	SCRIBE_EVENT_SEG_INTS(SCRIBE_X)
#undef SCRIBE_X
#define SCRIBE_X(k, f) {k, sizeof(k) - 1, KIND_TIME, offsetof(struct scribe_event_seg, f)},
		SCRIBE_EVENT_SEG_TIMES(SCRIBE_X)
#undef SCRIBE_X
			{NULL, 0, KIND_INT, 0},
};

_Static_assert(sizeof(fields) / sizeof(fields[0]) <= MAX_FIELDS, "known keys of a message");
_Static_assert(sizeof(seg_fields) / sizeof(seg_fields[0]) <= MAX_FIELDS, "known keys of an operation");

struct scribe_event_json {
	yajl_handle yajl;
	struct scribe_store_event *event;
	struct scribe_err *err;
	const struct field *field; /* of the next value; NULL: skip it */
	/* [message, operation]: last known key, and the key that followed each one before */
	uint8_t last[2], after[2][MAX_FIELDS];
	int depth;   /* open braces and brackets */
	bool in_seg; /* within "seg" */
	bool seg_next, has_id, done;
	bool any_bytes; /* input of YAJL; json_plain.h passes only ASCII */
	size_t used;
	char text[SCRIBE_EVENT_MAX_TEXT];
};

static int refuse(struct scribe_event_json *r, const char *what)
{
	scribe_err_set(r->err, -SCRIBE_E_FORMAT, "%s%s%s", r->field ? r->field->key : "", r->field ? ": " : "", what);
	return 0; /* makes YAJL stop */
}

static bool is_key(const struct field *f, const unsigned char *key, size_t len)
{
	return f->len == len && f->key[0] == (char)key[0] && !memcmp(f->key, key, len);
}

static const struct field *field_find(struct scribe_event_json *r, const unsigned char *key, size_t len)
{
	const struct field *table = r->in_seg ? seg_fields : fields;
	uint8_t *after = &r->after[r->in_seg][r->last[r->in_seg]];

	/* A sender writes keys in a fixed order, so the key that followed last time is tried first. */
	if (is_key(&table[*after], key, len)) {
		r->last[r->in_seg] = *after;
		return &table[*after];
	}
	for (const struct field *f = table; f->key; f++)
		if (is_key(f, key, len)) {
			*after = r->last[r->in_seg] = (uint8_t)(f - table);
			return f;
		}
	return NULL;
}

static void *target(struct scribe_event_json *r)
{
	return (r->in_seg ? (char *)&r->event->segs[r->event->nsegs] : (char *)r->event) + r->field->at;
}

static bool is_ours(const struct scribe_event_json *r)
{
	return r->depth == (r->in_seg ? 3 : 1);
}

static int on_number(void *ctx, const char *s, size_t len)
{
	struct scribe_event_json *r = ctx;
	int64_t v;

	if (!r->depth)
		return refuse(r, "no JSON object");
	if (!r->field || !is_ours(r)) /* unknown or nested deeper */
		return 1;
	if (r->field->kind == KIND_TEXT)
		return refuse(r, "a number where a text is expected");
	if (r->field->kind == KIND_ID) {
		r->has_id = scribe_json_id(s, len, target(r));
		return r->has_id ? 1 : refuse(r, "no unsigned 64-bit number");
	}
	if (!(r->field->kind == KIND_TIME ? scribe_json_time : scribe_json_int)(s, len, &v))
		return refuse(r, r->field->kind == KIND_TIME ? "no time in seconds" : "no 64-bit number");
	*(int64_t *)target(r) = v;
	return 1;
}

static int on_text(void *ctx, const unsigned char *s, size_t len)
{
	struct scribe_event_json *r = ctx;

	if (!r->depth)
		return refuse(r, "no JSON object");
	if (!r->field || !is_ours(r))
		return 1;
	if (r->field->kind != KIND_TEXT)
		return refuse(r, "a text where a number is expected");
	if (len == 3 && !memcmp(s, "N/A", 3)) /* the connector's text for an absent value */
		return 1;
	if (memchr(s, 0, len))
		return refuse(r, "a text with a NUL");
	if (r->any_bytes && !scribe_text_utf8((const char *)s, len))
		return refuse(r, "a text that is not UTF-8");
	if (len >= sizeof(r->text) - r->used)
		return refuse(r, "texts of more than 64 KiB");
	memcpy(r->text + r->used, s, len);
	r->text[r->used + len] = 0;
	*(const char **)target(r) = r->text + r->used;
	r->used += len + 1;
	return 1;
}

static int on_key(void *ctx, const unsigned char *s, size_t len)
{
	struct scribe_event_json *r = ctx;

	r->field = NULL;
	r->seg_next = false;
	if (!is_ours(r))
		return 1;
	r->field = field_find(r, s, len);
	r->seg_next = !r->in_seg && len == 3 && !memcmp(s, "seg", 3);
	return 1;
}

static int open_level(struct scribe_event_json *r)
{
	if (r->field && is_ours(r))
		return refuse(r, "a list or an object where one value is expected");
	/* Limits YAJL's memory for a hostile line. */
	return ++r->depth <= MAX_DEPTH ? 1 : refuse(r, "nested too deep");
}

static int on_open_object(void *ctx)
{
	struct scribe_event_json *r = ctx;
	struct scribe_event_seg *seg;

	if (!r->depth && r->done)
		return refuse(r, "more than one object in a line");
	if (r->in_seg && r->depth == 2) {
		if (r->event->nsegs == SCRIBE_EVENT_MAX_SEGS)
			return refuse(r, "seg with more than 64 operations");
		seg = &r->event->segs[r->event->nsegs];
#define SCRIBE_X(key, f) seg->f = SCRIBE_EVENT_NONE;
		SCRIBE_EVENT_SEG_INTS(SCRIBE_X)
		SCRIBE_EVENT_SEG_TIMES(SCRIBE_X)
#undef SCRIBE_X
	}
	return open_level(r);
}

static int on_close_object(void *ctx)
{
	struct scribe_event_json *r = ctx;

	r->depth--;
	r->field = NULL;
	if (r->in_seg && r->depth == 2)
		r->event->nsegs++;
	r->done |= r->depth == 0;
	return 1;
}

static int on_open_array(void *ctx)
{
	struct scribe_event_json *r = ctx;

	if (!r->depth)
		return refuse(r, "no JSON object");
	r->in_seg |= r->seg_next && r->depth == 1;
	r->seg_next = false;
	r->field = NULL;
	return open_level(r);
}

static int on_close_array(void *ctx)
{
	struct scribe_event_json *r = ctx;

	r->depth--;
	r->in_seg &= r->depth > 1;
	return 1;
}

/* Not valid for a known key. */
static int on_other(void *ctx)
{
	struct scribe_event_json *r = ctx;

	if (!r->depth)
		return refuse(r, "no JSON object");
	return r->field && is_ours(r) ? refuse(r, "null or a truth value") : 1;
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
	.yajl_end_map = on_close_object,
	.yajl_start_array = on_open_array,
	.yajl_end_array = on_close_array,
};

int scribe_event_json_new(struct scribe_event_json **ret_reader, struct scribe_err *err)
{
	struct scribe_event_json *r = calloc(1, sizeof(*r));

	if (!r)
		return scribe_err_set(err, -ENOMEM, "messages: out of memory");
	*ret_reader = r;
	return 0;
}

struct scribe_event_json *scribe_event_json_free(struct scribe_event_json *r)
{
	if (r && r->yajl)
		yajl_free(r->yajl);
	free(r);
	return NULL;
}

/* NULL: valid. Impossible values would spoil sums and the job's times. */
static const char *impossible(const struct scribe_event_seg *s)
{
	const int64_t start = s->start_ns == SCRIBE_EVENT_NONE ? 0 : s->start_ns;
	const int64_t dur = s->dur_ns == SCRIBE_EVENT_NONE ? 0 : s->dur_ns, end = s->time_ns;

	if (s->len != SCRIBE_EVENT_NONE &&
	    (s->len < -1 || s->len > SCRIBE_EVENT_MAX_LEN || (s->off > 0 && s->len > INT64_MAX - s->off)))
		return "seg.len or seg.off: no operation moves such bytes";
	if (start > end || start < -end || dur < -end || dur > end - (start > 0 ? start : 0))
		return "seg.start or seg.dur: it would have begun before 1970";
	return NULL;
}

static int check(const struct scribe_event_json *r, struct scribe_err *err)
{
	const struct scribe_store_event *e = r->event;
	const char *none = NULL;

	if (!r->done)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "the object does not end in its line");
	none = e->job_id == SCRIBE_EVENT_NONE ? "job_id"
	       : e->rank == SCRIBE_EVENT_NONE ? "rank"
	       : !r->has_id                   ? "record_id"
	       : !e->module                   ? "module"
	       : !e->op                       ? "op"
	       : !e->nsegs                    ? "seg"
					      : NULL;
	for (int i = 0; i < e->nsegs && !none; i++)
		none = e->segs[i].time_ns == SCRIBE_EVENT_NONE ? "seg.timestamp"
		       : e->segs[i].time_ns <= 0               ? "seg.timestamp after 1970"
							       : NULL;
	if (none)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "it has no %s", none);
	for (int i = 0; i < e->nsegs && !none; i++)
		none = impossible(&e->segs[i]);
	return none ? scribe_err_set(err, -SCRIBE_E_FORMAT, "%s", none) : 0;
}

static void reset(struct scribe_event_json *r, struct scribe_store_event *e, struct scribe_err *err)
{
	r->event = e;
	r->err = err;
	r->field = NULL;
	r->depth = 0;
	r->used = 0;
	r->in_seg = r->seg_next = r->has_id = r->done = false;
	e->record_id = 0;
	e->nsegs = 0;
#define SCRIBE_X(key, f) e->f = SCRIBE_EVENT_NONE;
	SCRIBE_EVENT_INTS(SCRIBE_X)
#undef SCRIBE_X
#define SCRIBE_X(key, f) e->f = NULL;
	SCRIBE_EVENT_TEXTS(SCRIBE_X)
#undef SCRIBE_X
}

int scribe_event_json_read(struct scribe_event_json *r, const char *line, size_t len,
			   struct scribe_store_event *ret_event, struct scribe_err *err)
{
	yajl_status status;
	int rc = 0;

	r->any_bytes = false;
	reset(r, ret_event, err);
	/* The fast scanner stops at anything unusual; YAJL then starts over and reports errors. */
	if (scribe_json_plain(&callbacks, r, line, len))
		return check(r, err);
	if (!r->yajl) {
		r->yajl = yajl_alloc(&callbacks, NULL, r);
		if (!r->yajl)
			return scribe_err_set(err, -ENOMEM, "messages: out of memory");
		/* Accepted by YAJL, so that on_open_object can refuse it with a better message. */
		yajl_config(r->yajl, yajl_allow_multiple_values, 1);
	}
	r->any_bytes = true;
	reset(r, ret_event, err);
	status = yajl_parse(r->yajl, (const unsigned char *)line, len);
	/* A newline completes a number at the end. */
	if (status == yajl_status_ok)
		status = yajl_parse(r->yajl, (const unsigned char *)"\n", 1);
	if (status == yajl_status_error)
		rc = scribe_err_set(err, -SCRIBE_E_FORMAT, "no JSON from byte %zu on",
				    yajl_get_bytes_consumed(r->yajl) + 1);
	else if (status == yajl_status_client_canceled)
		rc = -SCRIBE_E_FORMAT; /* the message is set */
	else
		rc = check(r, err);
	/* After an error the parser cannot be reused. */
	if (rc < 0) {
		yajl_free(r->yajl);
		r->yajl = NULL;
	}
	return rc;
}
