/* SPDX-License-Identifier: BSD-3-Clause */
/* The error type. Knows nothing of logs; prints nothing. */
#include "logfmt/base/err.h"

#include <stdarg.h>
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

int scribe_err_set(struct scribe_err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	for (char *c = e->text; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	}
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
