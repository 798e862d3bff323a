// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes 3 times 10 bytes to the stream "half" and is then killed half way through
 * counting a fourth call: it makes its own record of the stream look like that, in
 * the memory in which libioscribe-inside.so counts. Exit 2: there is none.
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/rules/streams.h"

static struct scribe_shm_counters *memory(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long at = 0;
	char line[4200];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "ioscribe-streams") && sscanf(line, "%lx", &at) == 1)
			break;
	return (struct scribe_shm_counters *)at;
}

int main(void)
{
	FILE *f = fopen("half", "w");
	struct scribe_shm_counters *m;

	for (int i = 0; f && i < 3; i++)
		fputs("0123456789", f);
	if (!f || fflush(f))
		err(1, "half");
	m = memory();
	for (uint32_t i = 0; m && i < m->used; i++) {
		struct scribe_posix_shard *p = &m->stream[i].shard[SCRIBE_SHARD_OWNER];

		if (p->ops[SCRIBE_OP_WRITE] != 3)
			continue;
		p->lock += 1;
		p->ops[SCRIBE_OP_WRITE] += 1;
		kill(getpid(), SIGKILL);
	}
	return 2;
}
