// SPDX-License-Identifier: BSD-3-Clause
/* Capabilities and user namespace of this process, from /proc. For `run` and `doctor`. */
#include "util/link/privileges.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* 0 without /proc. */
static uint64_t effective(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	uint64_t caps = 0;
	char text[256];

	while (f && fgets(text, sizeof(text), f))
		if (sscanf(text, "CapEff: %" SCNx64, &caps) == 1)
			break;
	if (f)
		fclose(f);
	return caps;
}

bool scribe_has_cap(unsigned number)
{
	return effective() >> number & 1;
}

bool scribe_may_trace(void)
{
	uint64_t caps = effective();
	/* Loading needs CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON, in the initial user namespace. */
	bool can = geteuid() == 0 || caps >> SCRIBE_CAP_ADMIN & 1 ||
		   (caps >> SCRIBE_CAP_BPF & caps >> SCRIBE_CAP_PERFMON & 1);

	return can && !scribe_in_user_ns();
}

bool scribe_in_user_ns(void)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned first = 0, parent_first = 0, n = UINT32_MAX;
	int fields;

	if (!f)
		return false;
	fields = fscanf(f, "%u %u %u", &first, &parent_first, &n);
	fclose(f);
	/* Only the initial namespace maps all ids to themselves. */
	return fields != 3 || first || parent_first || n != UINT32_MAX;
}
