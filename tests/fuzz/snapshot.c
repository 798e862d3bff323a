// SPDX-License-Identifier: BSD-3-Clause
/* The daemon's snapshots, in the fuzzed process itself: what a copy would do is done when it begins. */
#include "runtime/daemon/privsep/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
	pid_t pid;
	int rc;
	char *answer;
} at_work[SCRIBE_SNAPSHOTS_MAX];
static pid_t last;

int scribe_snapshot_start(struct scribe_snapshot *s, const int *fds, size_t nfds, scribe_snapshot_fn fn, void *ctx,
			  size_t answer_bytes)
{
	(void)fds;
	(void)nfds;
	for (int i = 0; i < SCRIBE_SNAPSHOTS_MAX; i++) {
		if (at_work[i].pid)
			continue;
		at_work[i].pid = s->pid = ++last;
		at_work[i].answer = calloc(1, answer_bytes);
		if (!at_work[i].answer)
			abort();
		at_work[i].rc = fn(ctx, at_work[i].answer);
		return 0;
	}
	return -EAGAIN;
}

static void take(struct scribe_snapshot *s, void *answer, size_t answer_bytes, int *ret_rc)
{
	for (int i = 0; i < SCRIBE_SNAPSHOTS_MAX; i++) {
		if (!s->pid || at_work[i].pid != s->pid)
			continue;
		if (answer)
			memcpy(answer, at_work[i].answer, answer_bytes);
		if (ret_rc)
			*ret_rc = at_work[i].rc;
		free(at_work[i].answer);
		at_work[i].pid = 0;
	}
	*s = (struct scribe_snapshot){0};
}

bool scribe_snapshot_answered(struct scribe_snapshot *s, void *answer, size_t answer_bytes, int *ret_rc)
{
	take(s, answer, answer_bytes, ret_rc);
	return true;
}

void scribe_snapshot_stop(struct scribe_snapshot *s)
{
	take(s, NULL, 0, NULL);
}

void scribe_snapshots_reap(void)
{
}

double scribe_snapshots_cpu(void)
{
	return 0;
}
