// SPDX-License-Identifier: BSD-3-Clause
/* Reads /proc for the daemon and its helpers. A process may end at any time: callers treat 0 and false as unknown. */
#include "runtime/daemon/base/procfs.h"

#include <stdio.h>
#include <string.h>

/* Fields after the program's name, which may contain anything; NULL: none. */
static const char *stat_fields(uint32_t pid, char *text, size_t cap)
{
	char path[64];
	const char *at;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	n = fread(text, 1, cap - 1, f); /* not fgets(): the name may contain a newline */
	text[n] = 0;
	at = strrchr(text, ')');
	fclose(f);
	return at ? at + 1 : NULL;
}

uint64_t scribe_start_ticks(uint32_t pid)
{
	unsigned long long ticks = 0;
	char text[1024];
	const char *at = stat_fields(pid, text, sizeof(text));

	/* Field 22 of the file; fields 1 and 2 are cut off. */
	if (at && sscanf(at, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			 &ticks) != 1)
		ticks = 0;
	return ticks;
}

/* Of /proc/PID/status, which no exec of the process delays; true: `ret` has what follows the name. */
static bool status_field(uint32_t pid, const char *name, char *ret, size_t cap)
{
	size_t n = strlen(name);
	bool found = false;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(ret, (int)cap, f))
		found = !strncmp(ret, name, n);
	if (f)
		fclose(f);
	if (found)
		memmove(ret, ret + n, strlen(ret + n) + 1);
	return found;
}

uint32_t scribe_parent_pid(uint32_t pid)
{
	unsigned parent = 0;
	char text[256];

	return status_field(pid, "PPid:", text, sizeof(text)) && sscanf(text, "%u", &parent) == 1 ? parent : 0;
}

char scribe_process_state(uint32_t pid)
{
	char text[256], state = 0;

	return status_field(pid, "State:", text, sizeof(text)) && sscanf(text, " %c", &state) == 1 ? state : 0;
}

bool scribe_process_is_called(uint32_t pid, const char *prefix)
{
	char path[64], name[32];
	FILE *f;
	bool is;

	/* At most 15 characters, set by the process itself: only a hint. */
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	is = f && fgets(name, sizeof(name), f) && !strncmp(name, prefix, strlen(prefix));
	if (f)
		fclose(f);
	return is;
}
