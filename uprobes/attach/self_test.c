// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests attaching. The links stay until the caller frees struct scribe_uprobes. Runs in the process that
 * detects features (runtime/daemon/attach/features.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "uprobes/attach/attach_state.h"

/* File offset of code at an address. */
static int offset_of(const void *code, uint64_t *ret_offset)
{
	uint64_t at = (uint64_t)(uintptr_t)code, from, to, offset;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &from, &to, &offset) == 3 && at >= from &&
			at < to;
		if (found)
			*ret_offset = at - from + offset;
	}
	if (f)
		fclose(f);
	return found ? 0 : -ENOENT;
}

static __attribute__((noinline, used)) void never_called(void)
{
	__asm__ volatile("nop");
}

int scribe_uprobes_try(struct scribe_uprobes *u, struct scribe_err *err)
{
	struct scribe_batch *b = calloc(1, sizeof(*b));
	uint64_t offset = 0;
	int rc = b ? offset_of((const void *)(uintptr_t)never_called, &offset) : -ENOMEM, of = -1;

	for (uint32_t layer = 0; rc == 0 && layer < SCRIBE_LAYERS; layer++) {
		if (!(scribe_uprobes_layers(u) & 1u << layer))
			continue;
		rc = scribe_uprobes_load(u, layer, err);
		if (rc)
			break;
		of = (int)layer;
	}
	if (rc || of < 0) {
		free(b);
		return rc;
	}
	scribe_batch_add(b, offset, (uint64_t)(uintptr_t)never_called, 0, SCRIBE_COOKIE_RETURN);
	rc = scribe_batch_attach(u, (enum scribe_layer)of, "/proc/self/exe", b, true);
	b->cookie[0] = SCRIBE_POINTS_MAX; /* not a valid point: the program ignores it */
	if (rc == 0)
		rc = scribe_batch_attach(u, (enum scribe_layer)of, "/proc/self/exe", b, false);
	free(b);
	return rc == 0 ? 0 : scribe_batch_refused(u, rc, "probing libraries", err);
}
