// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls are counted by folder in a small table, which is evaluated and cleared after a look. Records hold sums since
 * their start: what was seen of each before is subtracted. Must not know what a call does.
 */
#include "runtime/daemon/tables/folder_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/clock.h"
#include "logfmt/base/keyed.h"
#include "runtime/core/core.h"

#define FOLDERS   128
#define WINDOW_NS 1000000000ull
#define LOOKED_NS 3000000000ull /* a look longer ago: what records hold is not of the last second */
#define MANY      100           /* calls a second */

struct folder {
	uint64_t hash, calls; /* calls 0: unused */
	uint32_t bytes;
	char path[SCRIBE_FOLDER_BYTES];
};

struct scribe_folder_load {
	uint64_t window_ns, looked_ns; /* begin of the window; last look */
	bool learning;                 /* in this look, sums are taken in without being counted */
	uint64_t calls;
	struct folder folder[FOLDERS];
	double part; /* of the last window */
	char most[SCRIBE_FOLDER_BYTES];
};

/* The path without its last component; at most SCRIBE_FOLDER_BYTES - 1. */
static size_t folder_of(const char *name, size_t bytes)
{
	const char *slash = bytes && name[0] == '/' ? memrchr(name, '/', bytes) : NULL;
	size_t n = slash ? (size_t)(slash - name) : 0;

	while (n >= SCRIBE_FOLDER_BYTES)
		n = (size_t)((const char *)memrchr(name, '/', n) - name);
	return n;
}

static void add(struct scribe_folder_load *l, const char *name, size_t bytes, uint64_t calls)
{
	const size_t n = folder_of(name, bytes);
	const uint64_t hash = scribe_keyed(name, n);

	l->calls += calls;
	for (unsigned i = 0; i < 8; i++) {
		struct folder *f = &l->folder[(hash + i) % FOLDERS];

		if (f->calls && (f->hash != hash || f->bytes != n || memcmp(f->path, name, n)))
			continue;
		if (!f->calls) {
			*f = (struct folder){.hash = hash, .bytes = (uint32_t)n};
			memcpy(f->path, name, n);
		}
		f->calls += calls;
		return;
	}
	/* Without a place only the sum of the job has it. */
}

static bool is_below(const struct folder *f, const char *path, size_t n)
{
	return f->calls && f->bytes >= n && !memcmp(f->path, path, n) && (f->bytes == n || f->path[n] == '/');
}

static uint64_t calls_below(const struct scribe_folder_load *l, const char *path, size_t n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < FOLDERS; i++)
		sum += is_below(&l->folder[i], path, n) ? l->folder[i].calls : 0;
	return sum;
}

/* The longest path below which at least half of the calls are. */
static void evaluate(struct scribe_folder_load *l, uint64_t ns)
{
	size_t n = 0;
	uint64_t part = 0;

	for (bool longer = l->calls >= MANY * ns / 1000000000; longer;) {
		longer = false;
		for (unsigned i = 0; i < FOLDERS && !longer; i++) {
			const struct folder *f = &l->folder[i];
			const char *end;
			size_t next;
			uint64_t calls;

			if (!is_below(f, l->most, n) || f->bytes == n)
				continue;
			end = memchr(f->path + n + 1, '/', f->bytes - n - 1);
			next = end ? (size_t)(end - f->path) : f->bytes;
			calls = calls_below(l, f->path, next);
			if (2 * calls < l->calls)
				continue;
			memcpy(l->most, f->path, next);
			n = next;
			part = calls;
			longer = true;
		}
	}
	l->most[n] = 0;
	l->part = part ? (double)part / (double)l->calls : 0;
}

void scribe_folder_load_look(struct scribe_job *job, uint64_t now_ns)
{
	if (!job->folder_load)
		job->folder_load = calloc(1, sizeof(*job->folder_load));
	if (!job->folder_load)
		return;
	job->folder_load->learning = now_ns - job->folder_load->looked_ns > LOOKED_NS;
	job->folder_load->looked_ns = now_ns;
	if (!job->folder_load->window_ns)
		job->folder_load->window_ns = now_ns;
}

void scribe_folder_load_looked(struct scribe_job *job, uint64_t now_ns)
{
	struct scribe_folder_load *l = job->folder_load;

	if (!l || now_ns - l->window_ns < WINDOW_NS)
		return;
	evaluate(l, now_ns - l->window_ns);
	for (unsigned i = 0; i < FOLDERS; i++)
		l->folder[i].calls = 0;
	l->calls = 0;
	l->window_ns = now_ns;
}

void scribe_folder_load_count(struct scribe_process *p, uint32_t slot, uint32_t generation, uint64_t calls)
{
	struct scribe_folder_load *l = p->job->folder_load;
	struct scribe_slot_name *s;
	uint64_t before, now_ns;

	if (!l || slot >= p->job->daemon->slots)
		return;
	s = &p->job->daemon->slot[slot];
	if (!s->name || s->generation != generation)
		return;
	before = s->calls_seen;
	s->calls_seen = calls;
	if (calls <= before)
		return;
	now_ns = scribe_now_ns();
	/* Nothing is known of the time before; a process that began since then is new as a whole. */
	if ((l->learning || now_ns - l->looked_ns > LOOKED_NS) && !before && now_ns - p->start_ns > LOOKED_NS)
		return;
	add(l, s->name->text, s->name->bytes, calls - before);
}

bool scribe_folder_load_most(struct scribe_job *job, struct scribe_folder_most *ret_most)
{
	struct scribe_folder_load *l = job->folder_load;

	if (!l || l->part <= 0)
		return false;
	ret_most->part = l->part;
	memcpy(ret_most->path, l->most, sizeof(ret_most->path));
	ret_most->mount = scribe_mount_of(job->mounts.mount, job->mounts.n, l->most);
	return true;
}

void scribe_folder_load_free(struct scribe_job *job)
{
	free(job->folder_load);
	job->folder_load = NULL;
}
