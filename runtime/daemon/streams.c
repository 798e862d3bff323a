// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of counted streams: taken over, read, forgotten. Must not know: how
 * programs count, logs.
 */
#include "runtime/daemon/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/rules/streams.h"
#include "runtime/daemon/keep.h"
#include "runtime/daemon/libs.h"

#define MEMORIES_MAX   16384              /* of all processes */
#define MEMORIES_A_JOB (MEMORIES_MAX / 2) /* a descriptor each: no job takes them all */
#define LOCK_TRIES     200
#define SINCE_MAX      256

/* What the kernel has said of a place. */
struct place {
	uint32_t gen, slot, birth;
	bool file;        /* of MPI-IO */
	uint32_t unknown; /* a closed use that was not announced when last looked at */
	struct scribe_label *label;
};

/* One memory of a process; a process has one for each program it has executed. */
struct scribe_memory {
	uint32_t id, serial;
	int fd;           /* -1: announced, not come yet */
	uint64_t made_ns; /* as its process says; 0: not come yet */
	uint32_t nplaces;
	uint32_t image; /* 1 + its MPI among the images, 0 none */
	bool noted[2];  /* that it counts streams, files: in the journal */
	bool uncovered; /* its program has been told the bytes beneath that one's probes */
	uint32_t since; /* announced since closed ones were last taken */
	struct place *place;
	struct scribe_process *process;
	struct scribe_memory *next;        /* of the process */
	struct scribe_memory *after, **at; /* of all */
};

static struct scribe_memory *memory_of(struct scribe_daemon *d, struct scribe_process *p, uint32_t id)
{
	struct scribe_memory *first = scribe_map_get(&d->streams, p->serial), *m;
	uint32_t own = 0;

	for (m = first; m; m = m->next)
		if (m->id == id)
			return m;
	for (m = d->memories; m; m = m->after)
		own += m->process->work == p->work;
	m = d->nmemories < MEMORIES_MAX && own < MEMORIES_A_JOB ? calloc(1, sizeof(*m)) : NULL;
	if (!m)
		return NULL;
	*m = (struct scribe_memory){.id = id, .serial = p->serial, .fd = -1, .process = p, .next = first};
	if (scribe_map_put(&d->streams, p->serial, m) < 0) {
		free(m);
		return NULL;
	}
	m->after = d->memories;
	m->at = &d->memories;
	if (m->after)
		m->after->at = &m->after;
	d->memories = m;
	d->nmemories++;
	return m;
}

/* A file in memory of the right size that cannot be cut. */
static bool is_sound(int fd)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_size == (off_t)sizeof(struct scribe_streams) && seals >= 0 && (seals & F_SEAL_SHRINK);
}

/* A program that counts its files is told what its MPI is without probes. */
static void uncover(const struct scribe_daemon *d, struct scribe_memory *m)
{
	struct scribe_probe_byte byte[SCRIBE_PROBE_BYTES_MAX];
	uint64_t n;

	if (m->uncovered || m->fd < 0 || !m->image)
		return;
	m->uncovered = true;
	n = scribe_libs_covered(d, m->image - 1, byte);
	if (n && pwrite(m->fd, byte, n * sizeof(*byte), (off_t)offsetof(struct scribe_streams, byte)) ==
			 (ssize_t)(n * sizeof(*byte)))
		m->uncovered =
			pwrite(m->fd, &n, sizeof(n), (off_t)offsetof(struct scribe_streams, nbytes)) > 0;
}

void scribe_streams_offered(struct scribe_daemon *d, struct scribe_process *p,
			    const struct scribe_msg_streams *message, int fd)
{
	struct scribe_memory *m = is_sound(fd) ? memory_of(d, p, message->id) : NULL;

	if (!m || m->fd >= 0) {
		close(fd);
		return;
	}
	m->fd = fd;
	m->made_ns = message->made_ns;
	uncover(d, m);
}

static bool read_at(const struct scribe_memory *m, size_t at, void *to, size_t bytes)
{
	return pread(m->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

/*
 * A place as it is between two calls of its owner; after many tries, which the
 * owner has not outlived, as it was before the last one. `ret_more` NULL: a stream's.
 */
static bool read_place(const struct scribe_memory *m, uint32_t i, struct scribe_stream *ret,
		       struct scribe_stream_more *ret_more)
{
	size_t at = offsetof(struct scribe_streams, stream) + i * sizeof(*ret),
	       beside = offsetof(struct scribe_streams, more) + i * sizeof(*ret_more);

	for (int n = 0; n < LOCK_TRIES; n++) {
		uint32_t after;

		if (!read_at(m, at, ret, sizeof(*ret)) ||
		    (ret_more && !read_at(m, beside, ret_more, sizeof(*ret_more))) ||
		    !read_at(m, at + offsetof(struct scribe_stream, part[SCRIBE_PART_OWN].lock), &after,
			     sizeof(after)))
			return false;
		if (!(after & 1) && after == ret->part[SCRIBE_PART_OWN].lock)
			return true;
	}
	if (!(ret->part[SCRIBE_PART_OWN].lock & 1))
		return true;
	ret->part[SCRIBE_PART_OWN] = ret->part[SCRIBE_PART_AGAIN];
	if (ret_more) {
		ret_more->ext[SCRIBE_PART_OWN] = ret_more->ext[SCRIBE_PART_AGAIN];
		ret_more->access[SCRIBE_PART_OWN] = ret_more->access[SCRIBE_PART_AGAIN];
	}
	return true;
}

int scribe_streams_add(struct scribe_process *p, bool file, uint64_t id, const struct scribe_stream *s,
		       const struct scribe_stream_more *more, struct scribe_records *records)
{
	struct scribe_file *f =
		scribe_records_at_module(records, file ? SCRIBE_MOD_MPIIO : SCRIBE_MOD_STDIO, id);

	for (int i = SCRIBE_PART_OWN; i <= SCRIBE_PART_OTHERS; i++) {
		const struct scribe_posix_part *part = &s->part[i];

		if (!part->events)
			continue;
		if (!f || scribe_posix_acc_add(&f->acc, part, file ? &more->access[i] : NULL, NULL) < 0 ||
		    (file && scribe_posix_acc_add_ext(&f->acc, &more->ext[i]) < 0))
			return -ENOMEM;
		p->totals.operations += part->events;
		if (file)
			continue; /* its bytes are those of the system calls beneath */
		p->totals.bytes_read += part->bytes[0];
		p->totals.bytes_written += part->bytes[1];
	}
	return 0;
}

static int add(struct scribe_daemon *d, struct scribe_process *p, struct place *at,
	       const struct scribe_stream *s, const struct scribe_stream_more *more,
	       struct scribe_records *records)
{
	if (!at->label)
		at->label = scribe_slot_label(d, at->slot, at->birth);
	if (scribe_drain_left_out(p, at->file ? SCRIBE_KIND_MPIIO : SCRIBE_KIND_STDIO) || !at->label ||
	    at->label->excluded)
		return 0;
	scribe_keep_stream(p, at->file, at->label->id, s, more);
	return scribe_streams_add(p, at->file, at->label->id, s, more, records);
}

static int take(struct scribe_daemon *d, struct scribe_process *p, struct scribe_memory *m,
		struct scribe_records *records, bool all)
{
	static uint32_t gen[SCRIBE_STREAMS_MAX], closed[SCRIBE_STREAMS_MAX], taken[SCRIBE_STREAMS_MAX];
	uint32_t used = 0;
	int rc = 0;

	if (m->fd < 0) {
		for (uint32_t i = 0; all && i < m->nplaces; i++)
			if (m->place[i].gen)
				p->unit->missed |=
					1ull << (m->place[i].file ? SCRIBE_MOD_MPIIO : SCRIBE_MOD_STDIO);
		return 0;
	}
	if (!read_at(m, offsetof(struct scribe_streams, used), &used, sizeof(used)) ||
	    used > SCRIBE_STREAMS_MAX ||
	    !read_at(m, offsetof(struct scribe_streams, gen), gen, used * sizeof(*gen)) ||
	    !read_at(m, offsetof(struct scribe_streams, closed), closed, used * sizeof(*closed)) ||
	    !read_at(m, offsetof(struct scribe_streams, taken), taken, used * sizeof(*taken)))
		return 0;
	for (uint32_t i = 0; i < used; i++) {
		struct place *at = i < m->nplaces ? &m->place[i] : NULL;
		struct scribe_stream_more more;
		struct scribe_stream s;

		if (!gen[i] || taken[i] == gen[i] || (!all && closed[i] != gen[i]))
			continue;
		if (!at || at->gen != gen[i]) {
			/* not the kernel's word: it counts itself, or its event is on the way */
			if (all || !at || at->unknown != gen[i]) {
				if (at)
					at->unknown = gen[i];
				continue;
			}
		} else if (read_place(m, i, &s, at->file ? &more : NULL) &&
			   add(d, p, at, &s, &more, records) < 0) {
			rc = -ENOMEM;
		}
		if (pwrite(m->fd, &gen[i], sizeof(gen[i]),
			   (off_t)(offsetof(struct scribe_streams, taken) + i * sizeof(*taken))) < 0)
			rc = rc ? rc : 0; /* the place stays used */
	}
	return rc;
}

int scribe_streams_take(struct scribe_daemon *d, struct scribe_process *p, struct scribe_records *records)
{
	int rc = 0;

	for (struct scribe_memory *m = scribe_map_get(&d->streams, p->serial); m; m = m->next)
		if (take(d, p, m, records, true) < 0)
			rc = -ENOMEM;
	return rc;
}

static void take_closed(struct scribe_daemon *d, struct scribe_process *p, struct scribe_memory *m)
{
	struct scribe_records *records = scribe_drain_records(p);

	if (m->fd < 0 || p->ended)
		return;
	if (!records || take(d, p, m, records, false) < 0)
		p->work->memory_out++;
}

void scribe_streams_sweep(struct scribe_daemon *d)
{
	for (struct scribe_memory *m = d->memories; m; m = m->after)
		take_closed(d, m->process, m);
}

void scribe_streams_announced(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e)
{
	uint32_t index = e->chain_bytes;
	struct scribe_memory *m = index < SCRIBE_STREAMS_MAX ? memory_of(d, p, e->flags) : NULL;
	bool file = e->status > 0;
	struct place *more;

	if (!m) {
		/* neither the program nor the kernel counts it */
		p->unit->missed |= 1ull << (file ? SCRIBE_MOD_MPIIO : SCRIBE_MOD_STDIO);
		return;
	}
	if (!m->noted[file])
		scribe_keep_memory(p, file);
	m->noted[file] = true;
	if (file) {
		m->image = (uint32_t)e->status;
		uncover(d, m);
	}
	if (++m->since >= SINCE_MAX) {
		m->since = 0;
		take_closed(d, p, m);
	}
	if (index >= m->nplaces) {
		uint32_t n = index + 32;

		more = realloc(m->place, n * sizeof(*more));
		if (!more) {
			p->work->memory_out++;
			return;
		}
		memset(more + m->nplaces, 0, (n - m->nplaces) * sizeof(*more));
		m->place = more;
		m->nplaces = n;
	}
	m->place[index] = (struct place){.gen = e->string_bytes,
					 .file = file,
					 .slot = e->slot,
					 .birth = e->birth,
					 .label = scribe_slot_label(d, e->slot, e->birth)};
}

static void drop(struct scribe_daemon *d, struct scribe_memory *m)
{
	*m->at = m->after;
	if (m->after)
		m->after->at = m->at;
	d->nmemories--;
	if (m->fd >= 0)
		close(m->fd);
	free(m->place);
	free(m);
}

void scribe_streams_forget(struct scribe_daemon *d, struct scribe_process *p)
{
	struct scribe_memory *m = scribe_map_take(&d->streams, p->serial), *next;

	for (; m; m = next) {
		next = m->next;
		drop(d, m);
	}
}

int scribe_streams_replaced(struct scribe_daemon *d, struct scribe_process *p, struct scribe_records *records,
			    uint64_t when_ns)
{
	struct scribe_memory *m = scribe_map_take(&d->streams, p->serial), *kept = NULL, *next;
	int rc = 0;

	for (; m; m = next) {
		next = m->next;
		if (m->made_ns > when_ns) {
			/* the next program's has come before the news of it */
			m->next = kept;
			kept = m;
			continue;
		}
		if (take(d, p, m, records, true) < 0)
			rc = -ENOMEM;
		drop(d, m);
	}
	if (kept && scribe_map_put(&d->streams, p->serial, kept) < 0)
		rc = -ENOMEM;
	return rc;
}

void scribe_streams_end_work(struct scribe_daemon *d, const struct scribe_work *w)
{
	struct scribe_memory *m = d->memories;

	while (m) {
		if (m->process->work != w) {
			m = m->after;
			continue;
		}
		scribe_streams_forget(d, m->process);
		m = d->memories;
	}
}

void scribe_streams_clear(struct scribe_daemon *d)
{
	while (d->memories)
		drop(d, d->memories);
	scribe_map_clear(&d->streams);
}
