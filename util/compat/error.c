/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors, printed on standard error as callers expect. */
#include "util/compat/state.h"

#include <stdarg.h>
#include <stdio.h>

int compat_error(const char *fmt, ...)
{
	va_list ap;

	fputs("Error: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return -1;
}
