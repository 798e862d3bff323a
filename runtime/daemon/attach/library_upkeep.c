// SPDX-License-Identifier: BSD-3-Clause
/*
 * Removes entries of ended processes from the kernel's tables and moves access patterns to jobs. The cost is
 * bounded by the number of ended processes. Must not know libraries or logs.
 */
#include "runtime/daemon/attach/library_probes_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "logfmt/base/clock.h"
#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/config/library_selection.h"
#include "uprobes/attach/kernel_tables.h"
#include "uprobes/wire.h"

#define SWEEP_NS    2000000000ull
#define SWEEP_ENDED 32 /* or after so many processes */

static int by_proc_id(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sorted; read at first use. */
struct living {
	const struct scribe_daemon *d;
	uint32_t *proc_id;
	size_t n;
};

static bool is_living(void *ctx, uint32_t proc_id)
{
	struct living *l = ctx;

	if (!l->proc_id) {
		l->proc_id = malloc((l->d->processes + 1) * sizeof(*l->proc_id));
		if (!l->proc_id)
			/* never remove what may be in use */
			return true;
		for (uint32_t i = 1; i <= l->d->processes; i++) {
			const struct scribe_proc *p = scribe_bpf_proc(l->d->bpf, i);

			if (p && p->proc_id)
				l->proc_id[l->n++] = p->proc_id;
		}
		qsort(l->proc_id, l->n, sizeof(*l->proc_id), by_proc_id);
	}
	return l->n && bsearch(&proc_id, l->proc_id, l->n, sizeof(proc_id), by_proc_id);
}

static void sweep_table(struct scribe_daemon *d, const char *name)
{
	/* read after the table's entries, or those of a new process could be removed */
	struct living living = {.d = d};

	scribe_tables_sweep(scribe_uprobes_table(d->libs->uprobes, name), is_living, &living);
	free(living.proc_id);
}

static void take_pattern(void *ctx, int64_t key, const struct scribe_access_pattern *pattern)
{
	struct scribe_daemon *d = ctx;
	struct scribe_access_pattern known;

	/* any job may have a record with this key */
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		if (job->patterns.by_key.used < SCRIBE_ACCESS_PATTERNS_MAX &&
		    !scribe_access_patterns_find(&job->patterns, key, &known) &&
		    scribe_access_patterns_keep(&job->patterns, key, pattern) < 0)
			job->losses.memory++;
}

void scribe_libs_ended(struct scribe_daemon *d)
{
	if (d->libs)
		d->libs->ended++;
}

void scribe_libs_sweep(struct scribe_daemon *d)
{
	struct scribe_libs *l = d->libs;
	uint64_t now = scribe_now_ns();

	if (!l || !l->ended || (l->ended < SWEEP_ENDED && now - l->swept_ns < SWEEP_NS))
		return;
	sweep_table(d, "scribe_handles");
	sweep_table(d, "scribe_above");
	scribe_tables_move_shapes(scribe_uprobes_table(l->uprobes, "scribe_access_patterns"), take_pattern, d);
	l->ended = 0;
	l->swept_ns = now;
}

bool scribe_libs_shape(const struct scribe_daemon *d, int64_t key, struct scribe_access_pattern *ret_shape)
{
	return d->libs && scribe_uprobes_shape(d->libs->uprobes, key, ret_shape);
}

enum scribe_process_role scribe_libs_role(const struct scribe_config *c)
{
	return scribe_libs_wanted(c) && scribe_uprobes_need_admin(scribe_libs_level(c)) ? SCRIBE_PROCESS_ADMIN
											: SCRIBE_PROCESS_DAEMON;
}
