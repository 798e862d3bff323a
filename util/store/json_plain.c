// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fast parser for JSON, in one pass without copies: YAJL took a third of the store's time. Everything unusual
 * is left to YAJL, also errors. Must not know what the text means.
 */
#include "util/store/json_plain.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define MAX_LEVELS 32 /* bits in `objects` */

struct scan {
	const yajl_callbacks *cb;
	void *ctx;
	const char *at, *end;
	uint32_t objects; /* bit per level, innermost lowest: 1 for braces */
	int depth;
};

static bool have(struct scan *s, char c)
{
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static void skip_blanks(struct scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r'))
		s->at++;
}

static bool skip_digits(struct scan *s)
{
	const char *begin = s->at, *p = begin;

	while (p < s->end && *p >= '0' && *p <= '9')
		p++;
	s->at = p;
	return p > begin;
}

static bool scan_number(struct scan *s)
{
	const char *begin = s->at;

	have(s, '-');
	if (!have(s, '0') && !skip_digits(s))
		return false;
	if (have(s, '.') && !skip_digits(s))
		return false;
	if (have(s, 'e') || have(s, 'E')) {
		if (!have(s, '+'))
			have(s, '-');
		if (!skip_digits(s))
			return false;
	}
	return s->cb->yajl_number(s->ctx, begin, (size_t)(s->at - begin));
}

static uint64_t eight(uint8_t byte)
{
	return byte * 0x0101010101010101ULL;
}

/* Printable ASCII except quote and backslash. */
static unsigned plain_of_eight(const char *p)
{
	uint64_t v, quote, slash, marks;

	memcpy(&v, p, sizeof(v));
	v = le64toh(v);
	quote = v ^ eight('"');
	slash = v ^ eight('\\');
	/* Subtraction borrows into higher bytes only after a match, so the lowest mark is always right. */
	marks = ((v - eight(' ')) | (quote - eight(1)) | (slash - eight(1)) | v) & eight(0x80);
	return marks ? (unsigned)__builtin_ctzll(marks) / 8 : 8;
}

/* NULL: not plain, or without end. */
static const char *scan_quoted(struct scan *s, size_t *ret_len)
{
	const char *begin = s->at, *p = begin;
	unsigned n = 8;

	while (n == 8 && s->end - p >= 8) {
		n = plain_of_eight(p);
		p += n;
	}
	while (n == 8 && p < s->end && *p >= ' ' && *p <= '~' && *p != '"' && *p != '\\')
		p++;
	*ret_len = (size_t)(p - begin);
	s->at = p;
	return have(s, '"') ? begin : NULL;
}

static bool scan_text(struct scan *s)
{
	size_t len;
	const char *text = scan_quoted(s, &len);

	return text && s->cb->yajl_string(s->ctx, (const unsigned char *)text, len);
}

static bool scan_key(struct scan *s)
{
	const char *key;
	size_t len;

	skip_blanks(s);
	key = have(s, '"') ? scan_quoted(s, &len) : NULL;
	if (!key || !s->cb->yajl_map_key(s->ctx, (const unsigned char *)key, len))
		return false;
	skip_blanks(s);
	return have(s, ':');
}

static bool open_level(struct scan *s, bool object)
{
	if (s->depth == MAX_LEVELS)
		return false;
	s->depth++;
	s->objects = s->objects << 1 | object;
	return object ? s->cb->yajl_start_map(s->ctx) : s->cb->yajl_start_array(s->ctx);
}

/* Closes levels up to the next value, or the end of the outer object. */
static bool close_levels(struct scan *s)
{
	while (s->depth) {
		bool object = s->objects & 1;

		skip_blanks(s);
		if (have(s, ','))
			return !object || scan_key(s);
		if (!have(s, object ? '}' : ']'))
			return false;
		s->depth--;
		s->objects >>= 1;
		if (!(object ? s->cb->yajl_end_map(s->ctx) : s->cb->yajl_end_array(s->ctx)))
			return false;
	}
	return true;
}

static bool scan_open(struct scan *s, bool object)
{
	if (!open_level(s, object))
		return false;
	skip_blanks(s);
	if (s->at == s->end || *s->at == ',')
		return false;
	if (*s->at == (object ? '}' : ']'))
		return close_levels(s);
	return !object || scan_key(s);
}

static bool scan_value(struct scan *s)
{
	skip_blanks(s);
	if (have(s, '{'))
		return scan_open(s, true);
	if (have(s, '['))
		return scan_open(s, false);
	return (have(s, '"') ? scan_text(s) : scan_number(s)) && close_levels(s);
}

bool scribe_json_plain(const yajl_callbacks *callbacks, void *ctx, const char *text, size_t len)
{
	struct scan s = {.cb = callbacks, .ctx = ctx, .at = text, .end = text + len};

	skip_blanks(&s);
	if (!have(&s, '{') || !scan_open(&s, true))
		return false;
	while (s.depth)
		if (!scan_value(&s))
			return false;
	skip_blanks(&s);
	return s.at == s.end;
}
