/* SPDX-License-Identifier: BSD-3-Clause */
/* From POSIX expressions to those of PCRE2. Must not allocate, must not recurse. */
#include "runtime/core/ere.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NOTHING SIZE_MAX

struct translation {
	const char *at;
	char *out;
	size_t n;                          /* written */
	size_t open[SCRIBE_ERE_DEPTH_MAX]; /* where groups began */
	unsigned number[SCRIBE_ERE_DEPTH_MAX], depth, groups;
	unsigned closed; /* bit i: group i is complete */
	size_t atom;     /* where what a repetition is for began, NOTHING: there is nothing */
	unsigned repeated;
	bool full;
};

static void put(struct translation *t, const char *text, size_t bytes)
{
	if (t->full || bytes >= SCRIBE_PCRE_BYTES_MAX - t->n) {
		t->full = true;
		return;
	}
	memcpy(t->out + t->n, text, bytes);
	t->n += bytes;
}

static void put_text(struct translation *t, const char *text)
{
	put(t, text, strlen(text));
}

static void begin_atom(struct translation *t)
{
	t->atom = t->n;
	t->repeated = 0;
}

static bool is_word(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

static void put_literal(struct translation *t, char c)
{
	begin_atom(t);
	if (!is_word((unsigned char)c))
		put(t, "\\", 1);
	put(t, &c, 1);
}

/* ---- what stands in brackets ---- */

enum element { ONE, CLASS, EQUIVALENT };

struct bracket {
	bool in[256];
	enum element kind;
	unsigned char one;
};

static bool in_class(const char *name, size_t n, unsigned c, bool *ret_in)
{
	const bool low = c >= 'a' && c <= 'z', up = c >= 'A' && c <= 'Z', digit = c >= '0' && c <= '9';
	const bool graph = c > ' ' && c < 0x7f;
	const struct {
		const char *name;
		bool in;
	} classes[] = {
		{"alpha", low || up},
		{"digit", digit},
		{"alnum", low || up || digit},
		{"lower", low},
		{"upper", up},
		{"space", c == ' ' || (c >= 9 && c <= 13)},
		{"blank", c == ' ' || c == '\t'},
		{"punct", graph && !(low || up || digit)},
		{"print", graph || c == ' '},
		{"graph", graph},
		{"cntrl", c < ' ' || c == 0x7f},
		{"xdigit", digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')},
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == n && !strncmp(classes[i].name, name, n)) {
			*ret_in = classes[i].in;
			return true;
		}
	return false;
}

/* "[:alpha:]", "[=a=]", "[.a.]", or a character. */
static int element(struct translation *t, struct bracket *b, bool hyphen)
{
	const char *at = t->at, *end;
	char kind = at[0] == '[' ? at[1] : 0;

	b->kind = ONE;
	if (!*at || (*at == '-' && !hyphen && at[1] != ']'))
		return -EINVAL;
	if (kind != ':' && kind != '=' && kind != '.') {
		b->one = (unsigned char)*t->at++;
		return 0;
	}
	at += 2;
	for (end = at + (*at != 0); *end && !(end[0] == kind && end[1] == ']');)
		end++;
	if (!*end)
		return -EINVAL;
	t->at = end + 2;
	b->one = (unsigned char)*at;
	b->kind = kind == ':' ? CLASS : kind == '=' ? EQUIVALENT : ONE;
	if (kind != ':')
		return end == at + 1 ? 0 : -EINVAL;
	for (unsigned c = 0; c < 256; c++) {
		bool in = false;

		if (!in_class(at, (size_t)(end - at), c, &in))
			return -EINVAL;
		b->in[c] |= in;
	}
	return 0;
}

static int read_bracket(struct translation *t, struct bracket *b)
{
	bool first = true;

	for (; first || *t->at != ']'; first = false) {
		unsigned char from;
		int rc = element(t, b, first);

		if (rc < 0)
			return rc;
		if (b->kind == CLASS)
			continue;
		from = b->one;
		if (b->kind == ONE && t->at[0] == '-' && t->at[1] != ']') {
			t->at++;
			if (element(t, b, true) < 0 || b->kind != ONE || b->one < from)
				return -EINVAL;
		}
		for (unsigned c = from; c <= b->one; c++)
			b->in[c] = true;
	}
	t->at++;
	return 0;
}

static int bracket(struct translation *t)
{
	struct bracket b = {0};
	bool out = *t->at == '^';
	int rc;

	t->at += out;
	rc = read_bracket(t, &b);
	if (rc < 0)
		return rc;
	begin_atom(t);
	put_text(t, out ? "[^" : "[");
	for (unsigned c = 0; c < 256; c++) {
		unsigned last = c;
		char range[16];

		if (!b.in[c])
			continue;
		while (last < 255 && b.in[last + 1])
			last++;
		snprintf(range, sizeof(range), last > c ? "\\x%02x-\\x%02x" : "\\x%02x", c, last);
		put_text(t, range);
		c = last;
	}
	put_text(t, "]");
	return 0;
}

/* ---- repetition ---- */

/* Once more of what is repeated already is a group of its own: "a*?" means other things elsewhere. */
static int repeat(struct translation *t, const char *how)
{
	if (t->atom == NOTHING)
		return -EINVAL;
	if (t->repeated && !t->full) {
		if (t->repeated > SCRIBE_ERE_DEPTH_MAX)
			return -E2BIG;
		put_text(t, "(?:)");
		if (t->full)
			return -E2BIG;
		memmove(t->out + t->atom + 3, t->out + t->atom, t->n - t->atom - 4);
		memcpy(t->out + t->atom, "(?:", 3);
		t->out[t->n - 1] = ')';
	}
	t->repeated++;
	put_text(t, how);
	return 0;
}

static bool number(struct translation *t, unsigned *ret)
{
	bool any = false;

	for (*ret = 0; *t->at >= '0' && *t->at <= '9'; t->at++, any = true)
		if (*ret <= SCRIBE_ERE_REPEAT_MAX)
			*ret = *ret * 10 + (unsigned)(*t->at - '0');
	return any;
}

/* "{2}", "{2,}", "{,3}", "{2,3}" */
static int braces(struct translation *t)
{
	unsigned from, to = 0;
	bool has_from = number(t, &from), comma = *t->at == ',', has_to;
	char how[40];

	if (!has_from && !comma)
		return -EINVAL;
	t->at += comma;
	has_to = comma && number(t, &to);
	if (*t->at++ != '}' || (has_to && to < from))
		return -EINVAL;
	if (from > SCRIBE_ERE_REPEAT_MAX || to > SCRIBE_ERE_REPEAT_MAX)
		return -E2BIG;
	if (has_to)
		snprintf(how, sizeof(how), "{%u,%u}", from, to);
	else
		snprintf(how, sizeof(how), comma ? "{%u,}" : "{%u}", from);
	return repeat(t, how);
}

/* ---- groups, and what follows a backslash ---- */

static int open_group(struct translation *t)
{
	if (t->depth == SCRIBE_ERE_DEPTH_MAX)
		return -E2BIG;
	t->number[t->depth] = ++t->groups;
	t->open[t->depth++] = t->n;
	put_text(t, "(");
	t->atom = NOTHING;
	return 0;
}

static void close_group(struct translation *t)
{
	if (!t->depth) {
		put_literal(t, ')');
		return;
	}
	t->depth--;
	put_text(t, ")");
	t->atom = t->open[t->depth];
	t->repeated = 0;
	if (t->number[t->depth] < 10)
		t->closed |= 1u << t->number[t->depth];
}

static void anchor(struct translation *t, const char *text)
{
	put_text(t, text);
	t->atom = NOTHING;
}

static int escaped(struct translation *t)
{
	static const struct {
		char c;
		const char *anchor;
	} anchors[] = {{'b', "\\b"},       {'B', "\\B"}, {'<', "\\b(?=\\w)"}, {'>', "\\b(?<=\\w)"},
		       {'`', "\\A"}, {'\'', "\\z"}};
	char c = *t->at, text[8];

	if (!c)
		return -EINVAL;
	t->at++;
	for (size_t i = 0; i < sizeof(anchors) / sizeof(anchors[0]); i++)
		if (anchors[i].c == c) {
			anchor(t, anchors[i].anchor);
			return 0;
		}
	if (c >= '1' && c <= '9') {
		if (!(t->closed & 1u << (c - '0')))
			return -EINVAL;
		begin_atom(t);
		snprintf(text, sizeof(text), "\\g{%c}", c);
		put_text(t, text);
	} else if (strchr("wWsS", c)) {
		begin_atom(t);
		snprintf(text, sizeof(text), "\\%c", c);
		put_text(t, text);
	} else {
		put_literal(t, c);
	}
	return 0;
}

static int one(struct translation *t, char c)
{
	switch (c) {
	case '\\':
		return escaped(t);
	case '[':
		return bracket(t);
	case '(':
		return open_group(t);
	case ')':
		close_group(t);
		return 0;
	case '{':
		return braces(t);
	case '*':
		return repeat(t, "*");
	case '+':
		return repeat(t, "+");
	case '?':
		return repeat(t, "?");
	case '|':
		anchor(t, "|");
		return 0;
	case '^':
		anchor(t, "^");
		return 0;
	case '$':
		anchor(t, "$");
		return 0;
	case '.':
		begin_atom(t);
		put_text(t, ".");
		return 0;
	default:
		put_literal(t, c);
		return 0;
	}
}

int scribe_ere_translate(const char *ere, char ret[SCRIBE_PCRE_BYTES_MAX])
{
	struct translation t = {.at = ere, .out = ret, .atom = NOTHING};
	int rc = strnlen(ere, SCRIBE_ERE_BYTES_MAX) < SCRIBE_ERE_BYTES_MAX ? 0 : -E2BIG;

	while (rc == 0 && *t.at) {
		char c = *t.at++;

		rc = one(&t, c);
	}
	if (rc == 0 && t.depth)
		rc = -EINVAL;
	if (rc == 0 && t.full)
		rc = -E2BIG;
	if (rc == 0)
		ret[t.n] = 0;
	return rc;
}
