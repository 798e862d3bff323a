/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of errors, also in traced programs. Must not print. */
#include "logfmt/base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int code;
	const char *text;
} errors[] = {
#define SCRIBE_X(name, code, text) {code, text},
	SCRIBE_ERRORS(SCRIBE_X)
#undef SCRIBE_X
};

static void put_shortened(struct scribe_err *e, const char *fmt, va_list ap)
{
	char whole[8192];
	int n = vsnprintf(whole, sizeof(whole), fmt, ap);
	size_t len = n < 0 ? 0 : (size_t)n < sizeof(whole) ? (size_t)n : sizeof(whole) - 1;
	size_t head = sizeof(e->text) / 2, tail = sizeof(e->text) - head - 1;

	/*
	 * A long text is cut in its middle, because the reason is at its end. No allocation: memory may be
	 * exhausted.
	 */
	if (len < sizeof(e->text))
		return;
	memcpy(e->text + head - 3, "...", 3);
	memcpy(e->text + head, whole + len - tail, tail);
}

static void show_controls(struct scribe_err *e)
{
	static const char hex[] = "0123456789abcdef";
	char raw[sizeof(e->text)], *to = e->text;
	const char *c = raw;

	/* Names may contain any bytes, and the line goes to terminals and logs with a line per entry. */
	memcpy(raw, e->text, sizeof(raw));
	for (; *c; c++) {
		unsigned char byte = (unsigned char)*c;
		bool shown = byte < 0x20 || byte == 0x7f;

		if (to + (shown ? 4 : 1) >= e->text + sizeof(e->text)) /* cut between escapes */
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

const char *scribe_strerror(int code)
{
	int positive = code < 0 ? -code : code;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (errors[i].code == positive)
			return errors[i].text;
	}
	return strerror(positive);
}
