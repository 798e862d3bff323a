/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The error type: a code and one line of text in the caller's struct scribe_err, no memory of its
 * own. Linked into every program and library of the project; the preloaded runtime library runs it
 * inside the traced program. Knows nothing of logs; prints nothing.
 */
#include "logfmt/base/err.h"

#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Our own codes and their texts, from the list in err.h; codes below 4000 are errno values. */
static const struct {
	int code;
	const char *text;
} errors[] = {
#define SCRIBE_X(name, code, text) {code, text},
	SCRIBE_ERRORS(SCRIBE_X)
#undef SCRIBE_X
};

/*
 * A text that is too long (of a long path) loses its middle, because what is wrong stands at its
 * end. The line is formatted a second time into 8 KiB of stack: no memory is allocated after a
 * failure. The first half of e->text is there already from the caller's vsnprintf.
 */
static void put_shortened(struct scribe_err *e, const char *fmt, va_list ap)
{
	char whole[8192];
	int n = vsnprintf(whole, sizeof(whole), fmt, ap);
	size_t len = n < 0 ? 0 : (size_t)n < sizeof(whole) ? (size_t)n : sizeof(whole) - 1;
	size_t head = sizeof(e->text) / 2, tail = sizeof(e->text) - head - 1;

	if (len < sizeof(e->text))
		return;
	memcpy(e->text + head - 3, "...", 3);
	memcpy(e->text + head, whole + len - tail, tail);
}

/*
 * Control bytes become \x1b, \n: the line may hold bytes of a file's name, and it goes to terminals
 * and to logs of one line an entry. Where the text grows beyond its buffer it is cut between
 * escapes.
 */
static void show_controls(struct scribe_err *e)
{
	static const char hex[] = "0123456789abcdef";
	char raw[sizeof(e->text)], *to = e->text;
	const char *c = raw;

	memcpy(raw, e->text, sizeof(raw));
	for (; *c; c++) {
		unsigned char byte = (unsigned char)*c;
		bool shown = byte < 0x20 || byte == 0x7f;

		if (to + (shown ? 4 : 1) >= e->text + sizeof(e->text))
			break;
		if (!shown) {
			*to++ = *c;
			continue;
		}
		*to++ = '\\';
		*to++ = byte == '\n' ? 'n' : 'x';
		if (byte == '\n')
			continue;
		*to++ = hex[byte >> 4];
		*to++ = hex[byte & 15];
	}
	*to = 0;
}

int scribe_err_set(struct scribe_err *e, int code, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!e)
		return code;
	e->code = code;
	va_start(ap, fmt);
	n = vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(e->text)) {
		va_start(ap, fmt);
		put_shortened(e, fmt, ap);
		va_end(ap);
	}
	show_controls(e);
	return code;
}

/* Works with either sign, so that callers may pass a return code as it is. */
const char *scribe_strerror(int code)
{
	int positive = code < 0 ? -code : code;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (errors[i].code == positive)
			return errors[i].text;
	}
	return strerror(positive);
}
