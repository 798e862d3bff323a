// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/daemon/base/command_line.h"

#include <linux/prctl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define STAT_CODE 26 /* fields of /proc/PID/stat: start, end of the code, start of the stack */
#define STAT_DATA 45 /* start, end of the data, start of the heap, of arguments and environment each start, end */

static unsigned long long field(const char *text, int n)
{
	unsigned long long value = 0;
	const char *at = strrchr(text, ')');

	/* the first after the name is field 3 */
	for (int i = 2; at && i < n; i++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%llu", &value) == 1 ? value : 0;
}

void scribe_empty_command_line(void)
{
	struct prctl_mm_map map = {.exe_fd = (unsigned)-1};
	char text[1024];
	size_t n;
	FILE *f = fopen("/proc/self/stat", "re");

	if (!f)
		return;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	map.start_code = field(text, STAT_CODE);
	map.end_code = field(text, STAT_CODE + 1);
	map.start_stack = field(text, STAT_CODE + 2);
	map.start_data = field(text, STAT_DATA);
	map.end_data = field(text, STAT_DATA + 1);
	map.start_brk = field(text, STAT_DATA + 2);
	map.brk = (unsigned long long)(uintptr_t)sbrk(0);
	map.arg_start = map.arg_end = field(text, STAT_DATA + 3);
	map.env_start = field(text, STAT_DATA + 5);
	map.env_end = field(text, STAT_DATA + 6);
	(void)prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0);
}
