// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the daemon and its helpers read in /proc about one process; see procfs.h. Files are opened
 * and closed in each call. A process may end at any time: then 0, NULL or false is returned, and
 * callers take that for "unknown". A process id alone does not identify a process, since ids are
 * reused; its start time (field 22 of stat, in clock ticks since boot) does, together with the id.
 */
#include "runtime/daemon/base/procfs.h"

#include <stdio.h>
#include <string.h>

/* The fields of /proc/PID/stat behind the program's name, which may hold anything; NULL: there are none. */
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
	n = fread(text, 1, cap - 1, f); /* not a line: the name may have a newline */
	text[n] = 0;
	at = strrchr(text, ')');
	fclose(f);
	return at ? at + 1 : NULL;
}

/* Eighteen fields of no interest are skipped; the name, field 2, is behind us already. */
uint64_t scribe_start_ticks(uint32_t pid)
{
	unsigned long long ticks = 0;
	char text[1024];
	const char *at = stat_fields(pid, text, sizeof(text));

	if (at &&
	    sscanf(at, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &ticks) != 1)
		ticks = 0;
	return ticks;
}

uint32_t scribe_parent_pid(uint32_t pid)
{
	char text[1024];
	const char *at = stat_fields(pid, text, sizeof(text));
	unsigned parent = 0;

	return at && sscanf(at, " %*c %u", &parent) == 1 ? parent : 0;
}

/*
 * /proc/PID/comm is at most 15 characters and can be set by the process itself: good for a hint
 * only.
 */
bool scribe_process_is_called(uint32_t pid, const char *prefix)
{
	char path[64], name[32];
	FILE *f;
	bool is;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	is = f && fgets(name, sizeof(name), f) && !strncmp(name, prefix, strlen(prefix));
	if (f)
		fclose(f);
	return is;
}
