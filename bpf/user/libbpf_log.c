// SPDX-License-Identifier: BSD-3-Clause
/* Keeps the end of libbpf's output, in static memory. Main thread. Must not know its meaning (refusal.c). */
#include "bpf/user/libbpf_log.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAID_MAX 16384u

static char said[SAID_MAX];
static size_t said_bytes;
static bool said_verbose;

static void store_text(const char *text, size_t n)
{
	const size_t capacity = SAID_MAX - 1;

	if (n > capacity) {
		text += n - capacity;
		n = capacity;
	}
	if (said_bytes + n > capacity) {
		/* The oldest text is dropped: the verifier's verdict is at the end. */
		size_t drop = said_bytes + n - capacity;

		memmove(said, said + drop, said_bytes - drop);
		said_bytes -= drop;
	}
	memcpy(said + said_bytes, text, n);
	said_bytes += n;
	said[said_bytes] = 0;
}

static int on_print(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text;
	int n;

	if (!said_verbose && level == LIBBPF_DEBUG)
		return 0;
	n = vasprintf(&text, format, args);
	if (n < 0)
		return 0;
	if (said_verbose)
		fputs(text, stderr);
	if (level != LIBBPF_DEBUG)
		store_text(text, (size_t)n);
	free(text);
	return n;
}

void scribe_said_begin(bool verbose)
{
	said_verbose = verbose;
	said_bytes = 0;
	said[0] = 0;
	libbpf_set_print(on_print);
}

const char *scribe_said(void)
{
	return said;
}
