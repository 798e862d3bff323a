/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments by slot. Packed bytes are in stores with common limits of memory and file space. Must not know
 * ranks, logs, or how segments are packed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/daemon/operations/segments_private.h"

#define MIB           (1ull << 20)
#define SEGBUFS_AHEAD 1024u /* 86,000 segments */
/* each processor's threads fill their own buffers */
#define SEGBUFS_A_CPU 16u

struct scribe_traced *scribe_traced_at(struct scribe_segments *s, uint32_t slot, uint32_t generation)
{
	const uint64_t key = (uint64_t)generation << 32 | slot;
	struct scribe_segpool *pool = s->store.pool;
	struct scribe_traced *e = scribe_map_get(&s->by_slot, key);

	if (e)
		return e;
	/* limits programs that create millions of files, too */
	if (pool->memory + sizeof(*e) > pool->memory_most)
		return NULL;
	e = calloc(1, sizeof(*e));
	if (e && scribe_map_put(&s->by_slot, key, e) < 0) {
		free(e);
		return NULL;
	}
	if (e)
		pool->memory += sizeof(*e);
	return e;
}

void scribe_segment_keep(struct scribe_segments *s, const struct scribe_segment *from, uint64_t thread)
{
	const struct scribe_seg seg = {.offset = from->offset,
				       .bytes = from->bytes,
				       .start_ns = from->start_ns,
				       .end_ns = from->end_ns > from->start_ns ? from->end_ns : from->start_ns,
				       .thread = thread};
	struct scribe_traced *e;

	e = scribe_traced_at(s, from->slot, from->generation);
	if (e && e->state == SCRIBE_TRACED_DROPPED)
		return;
	if (e && e->track.side[0].n + e->track.side[1].n < SCRIBE_SEGMENTS_MOST &&
	    scribe_track_add(&s->store, &e->track, from->op, &seg) == 0)
		s->kept++;
	/* an operation is never stored in part */
	else
		s->no_room++;
}

/* From the service's configuration, or in a private daemon from the job's. */
static void set_pool(struct scribe_segpool *pool, const struct scribe_config *c)
{
	pool->memory_most = c->dxt_memory * MIB;
	pool->file_most = c->dxt_spool * MIB;
	pool->dir[0] = 0;
	if (c->dxt_spool)
		snprintf(pool->dir, sizeof(pool->dir), "%s", c->dxt_dir);
}

int scribe_segments_job_begins(struct scribe_job *job, struct scribe_err *err)
{
	struct scribe_daemon *d = job->daemon;
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int rc = scribe_bpf_want_segbufs(d->bpf, SEGBUFS_AHEAD + SEGBUFS_A_CPU * (uint32_t)(cpus > 0 ? cpus : 1));

	if (rc < 0)
		return scribe_err_set(err, rc, "no memory for single operations (dxt): %s", strerror(-rc));
	/* limits are set by the first of concurrent jobs */
	if (!d->tracing++)
		set_pool(&d->segpool, d->service ? &d->service->config : &job->config);
	return 0;
}

void scribe_segments_job_ends(struct scribe_job *job)
{
	job->daemon->tracing--;
}

void scribe_segments_clear(struct scribe_segments *s)
{
	for (size_t i = 0; i < s->by_slot.buckets; i++) {
		struct scribe_traced *e = s->by_slot.entry[i].value;

		if (!e)
			continue;
		scribe_track_clear(&s->store, &e->track);
		s->store.pool->memory -= sizeof(*e);
		free(e);
	}
	scribe_map_clear(&s->by_slot);
	scribe_segstore_close(&s->store);
}
