// SPDX-License-Identifier: BSD-3-Clause
/* Parses the output that libbpf_log.c kept. Must not know what follows from it (refusal.c). */
#include "bpf/user/verifier_log.h"

#include <stdio.h>
#include <string.h>

bool scribe_log_word(const char *log, const char *before, const char *end, char *ret, size_t cap)
{
	const char *at = NULL;
	size_t n;

	for (const char *p = log; (p = strstr(p, before)); p += strlen(before))
		at = p + strlen(before);
	n = at ? strcspn(at, end) : 0;
	if (!n || n >= cap || !at[n])
		return false;
	memcpy(ret, at, n);
	ret[n] = 0;
	return true;
}

/* Statistics after the verifier's verdict. */
static bool is_figures(const char *line)
{
	static const char *const begin[] = {"processed ", "verification time ", "stack depth ", "peak_states "};

	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		if (!strncmp(line, begin[i], strlen(begin[i])))
			return true;
	return !line[0];
}

void scribe_verdict(const char *log, char *ret, size_t cap)
{
	const char *end = NULL;

	ret[0] = 0;
	for (const char *p = log; (p = strstr(p, "-- END PROG LOAD LOG")); p++)
		end = p;
	while (end && end > log) {
		const char *line = end - 1;
		char text[256];
		size_t n;

		while (line > log && line[-1] != '\n')
			line--;
		n = strcspn(line, "\n");
		snprintf(text, sizeof(text), "%.*s", (int)(n < sizeof(text) ? n : sizeof(text) - 1), line);
		if (strstr(text, "-- BEGIN PROG"))
			return;
		if (!is_figures(text)) {
			snprintf(ret, cap, "%s", text);
			return;
		}
		end = line;
	}
}
