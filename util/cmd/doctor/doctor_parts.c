// SPDX-License-Identifier: BSD-3-Clause
/*
 * One line of `ioscribe doctor`, control characters escaped. Counts the FIX lines, which decide the exit
 * status.
 */
#include "util/cmd/doctor/doctor_parts.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/text/human.h"

int scribe_doctor_lines_to_fix;

void scribe_doctor_line(enum scribe_doctor v, const char *what, const char *fmt, ...)
{
	static const char *const word[] = {"ok", "note", "FIX"};
	char text[512], shown[4 * sizeof(text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printf("%-5s %-22s %s\n", word[v], what, scribe_human_text(text, shown, sizeof(shown)));
	scribe_doctor_lines_to_fix += v == SCRIBE_DOCTOR_FIX;
}
