// SPDX-License-Identifier: BSD-3-Clause
/* Quantities for readers: bytes in powers of 1024, grouped digits, text without control characters. */
#include "util/text/human.h"

#include <stdio.h>
#include <string.h>

#include "logfmt/file/names.h"

const char *scribe_human_bytes(int64_t bytes, char *to, size_t cap)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double v = (double)bytes;
	int unit = 0;

	/* 1023.95 would be rounded to 1024.0. */
	while ((v >= 1023.95 || v <= -1023.95) && unit < 6) {
		v /= 1024;
		unit++;
	}
	snprintf(to, cap, unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
	return to;
}

const char *scribe_human_count(int64_t n, char *to, size_t cap)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", n < 0 ? 0 - (unsigned long long)n : (unsigned long long)n);
	size_t at = 0;

	if (n < 0 && cap > 1)
		to[at++] = '-';
	for (int i = 0; i < len && at + 2 < cap; i++) {
		if (i && (len - i) % 3 == 0)
			to[at++] = ',';
		to[at++] = digits[i];
	}
	to[at] = '\0';
	return to;
}

const char *scribe_human_text(const char *text, char *to, size_t cap)
{
	size_t at = 0;

	for (const char *p = text; *p; p++) {
		/* Backslashes are copied, so that an escape in the text is not escaped again. */
		size_t run = strcspn(p, "\\"), need = scribe_name_escape(p, run, to + at, cap - at);

		while (need >= cap - at && run > 0) {
			/* Never half an escape; a cut character becomes escapes of its first bytes. */
			size_t excess = (need - (cap - at)) / 4 + 1;

			run -= excess < run ? excess : run;
			need = scribe_name_escape(p, run, to + at, cap - at);
		}
		at += need;
		p += run;
		if (*p != '\\' || at + 2 > cap)
			break;
		to[at++] = '\\';
		to[at] = 0;
	}
	if (!*text)
		to[0] = 0;
	return to;
}
