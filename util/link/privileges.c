// SPDX-License-Identifier: BSD-3-Clause
/*
 * Capabilities and user namespace of this process, read from /proc. Used by `run` and `doctor` to
 * tell beforehand whether the daemon can trace. Must not know what is done with them.
 */
#include "util/link/privileges.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* The effective set as a bit mask; 0 where /proc is missing. */
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

/*
 * Programs may be loaded with CAP_SYS_ADMIN, or with CAP_BPF and CAP_PERFMON, of the initial user
 * namespace.
 */
bool scribe_may_trace(void)
{
	uint64_t caps = effective();
	bool can = geteuid() == 0 || caps >> SCRIBE_CAP_ADMIN & 1 ||
		   (caps >> SCRIBE_CAP_BPF & caps >> SCRIBE_CAP_PERFMON & 1);

	return can && !scribe_in_user_ns();
}

/* The initial namespace maps all ids onto themselves. */
bool scribe_in_user_ns(void)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned first = 0, parent_first = 0, n = UINT32_MAX;
	int fields;

	if (!f)
		return false; /* a kernel without, or no /proc */
	fields = fscanf(f, "%u %u %u", &first, &parent_first, &n);
	fclose(f);
	return fields != 3 || first || parent_first || n != UINT32_MAX;
}
