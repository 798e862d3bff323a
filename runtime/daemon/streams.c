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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "logfmt/rules/streams.h"
#include "runtime/daemon/keep.h"
#include "runtime/daemon/libs.h"

#define MEMORIES_MAX   16384              /* of all processes */
#define MEMORIES_A_JOB (MEMORIES_MAX / 2) /* a descriptor each: no job takes them all */
#define LOCK_TRIES     200
#define SINCE_MAX      256
#define MEMORY_NAME    "/memfd:ioscribe-streams (deleted)" /* in /proc/PID/maps */
#define FOUND_MAX      1024
#define FOUND_S        10 /* what the kernel said without a daemon has been read by then */

/* What the kernel has said of a place. */
static const char no_place[] = "more files were open at once than the program could count";
static const char no_memory[] = "what the program counted in its own memory has not reached the daemon";

struct place {
	uint32_t gen, slot, birth;
	bool file;           /* of MPI-IO */
	uint32_t unknown;    /* a closed use that was not announced when last looked at: */
	uint64_t unknown_at; /* it was before the event ring had come that far */
	uint32_t taken;      /* the use that was taken last, as the journal knows */
	struct scribe_label *label;
};

/* One memory of a process; a process has one for each program it has executed. */
struct scribe_memory {
	uint32_t id, serial;
	int fd;           /* -1: announced, not come yet */
	uint64_t made_ns; /* as its process says; 0: not come yet */
	uint32_t nplaces;
	uint32_t image; /* 1 + its MPI among the images, 0 none */
	bool uncovered; /* its program has been told the bytes beneath that one's probes */
	uint32_t since; /* announced since closed ones were last taken */
	struct place *place;
	struct scribe_process *process;
	struct scribe_memory *next;        /* of the process */
	struct scribe_memory *after, **at; /* of all */
};

/* Found in a process, but perhaps its parent's: a fork leaves it mapped. */
struct scribe_found_memory {
	uint32_t id;
	int fd;
	uint64_t made_ns, until_ns;
	const struct scribe_work *work;
	struct scribe_found_memory *next;
};

/* Those of `w` (NULL: of all) that nobody has asked for by `now_ns`. */
static void forget_found(struct scribe_daemon *d, const struct scribe_work *w, uint64_t now_ns)
{
	struct scribe_found_memory **at = &d->found, *f;

	while ((f = *at)) {
		if ((w && f->work != w) || f->until_ns > now_ns) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		d->nfound--;
		close(f->fd);
		free(f);
	}
}

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

static bool read_at(const struct scribe_memory *m, size_t at, void *to, size_t bytes)
{
	return pread(m->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

/* Its program may use the place again. */
static void give_back(const struct scribe_memory *m, uint32_t i, uint32_t gen)
{
	/* should it fail, the place stays used */
	(void)!pwrite(m->fd, &gen, sizeof(gen),
		      (off_t)(offsetof(struct scribe_streams, taken) + i * sizeof(gen)));
}

/* A memory of an earlier daemon is at hand again. Uses that it took may not have been given back. */
static void attach(struct scribe_memory *m, int fd, uint64_t made_ns)
{
	m->fd = fd;
	m->made_ns = made_ns;
	for (uint32_t i = 0; i < m->nplaces; i++) {
		uint32_t gen;

		if (m->place[i].taken &&
		    read_at(m, offsetof(struct scribe_streams, gen) + i * sizeof(gen), &gen, sizeof(gen)) &&
		    gen == m->place[i].taken)
			give_back(m, i, gen);
	}
}

static void attach_found(struct scribe_daemon *d, struct scribe_memory *m)
{
	struct scribe_found_memory **at = &d->found, *f;

	while ((f = *at) && (f->id != m->id || f->work != m->process->work))
		at = &f->next;
	if (!f)
		return;
	*at = f->next;
	d->nfound--;
	attach(m, f->fd, f->made_ns);
	free(f);
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
	attach(m, fd, message->made_ns);
	uncover(d, m);
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

/* Does its record go into the log? */
static bool is_wanted(struct scribe_daemon *d, const struct scribe_process *p, struct place *at)
{
	if (!at->label)
		at->label = scribe_slot_label(d, at->slot, at->birth);
	return !scribe_drain_left_out(p, at->file ? SCRIBE_KIND_MPIIO : SCRIBE_KIND_STDIO) && at->label &&
	       !at->label->excluded;
}

static uint64_t module_of(const struct place *at)
{
	return 1ull << (at->file ? SCRIBE_MOD_MPIIO : SCRIBE_MOD_STDIO);
}

static int add(struct scribe_daemon *d, struct scribe_process *p, struct scribe_memory *m, uint32_t i,
	       const struct scribe_stream *s, const struct scribe_stream_more *more,
	       struct scribe_records *records)
{
	struct place *at = &m->place[i];
	struct scribe_stream_use use = {.memory = m->id, .index = i, .gen = at->gen, .file = at->file};

	at->taken = at->gen;
	if (!is_wanted(d, p, at))
		return 0;
	scribe_keep_stream(p, &use, at->label->id, s, more);
	return scribe_streams_add(p, at->file, at->label->id, s, more, records);
}

/* Can the kernel's word of a closed use still be in the ring? */
static bool is_on_the_way(const struct scribe_daemon *d, struct place *at, uint32_t gen)
{
	if (at->unknown == gen)
		return d->bpf && scribe_bpf_taken(d->bpf) < at->unknown_at;
	at->unknown = gen;
	at->unknown_at = d->bpf ? scribe_bpf_put(d->bpf) : 0;
	return true;
}

static int take(struct scribe_daemon *d, struct scribe_process *p, struct scribe_memory *m,
		struct scribe_records *records, bool all)
{
	static uint32_t gen[SCRIBE_STREAMS_MAX], closed[SCRIBE_STREAMS_MAX], taken[SCRIBE_STREAMS_MAX];
	uint32_t used = 0, lost = 0;
	int rc = 0;

	if (m->fd < 0) {
		for (uint32_t i = 0; all && i < m->nplaces; i++)
			if (m->place[i].gen != m->place[i].taken && is_wanted(d, p, &m->place[i]))
				scribe_missed(p, module_of(&m->place[i]), no_memory);
		return 0;
	}
	if (!read_at(m, offsetof(struct scribe_streams, used), &used, sizeof(used)) ||
	    used > SCRIBE_STREAMS_MAX ||
	    !read_at(m, offsetof(struct scribe_streams, gen), gen, used * sizeof(*gen)) ||
	    !read_at(m, offsetof(struct scribe_streams, closed), closed, used * sizeof(*closed)) ||
	    !read_at(m, offsetof(struct scribe_streams, taken), taken, used * sizeof(*taken)))
		return 0;
	if (all && read_at(m, offsetof(struct scribe_streams, lost), &lost, sizeof(lost)) && lost)
		scribe_missed(p, 1ull << SCRIBE_MOD_MPIIO, no_place);
	for (uint32_t i = 0; i < used; i++) {
		struct place *at = i < m->nplaces ? &m->place[i] : NULL;
		struct scribe_stream_more more;
		struct scribe_stream s;

		if (!gen[i] || taken[i] == gen[i] || (!all && closed[i] != gen[i]))
			continue;
		if (!at || at->gen != gen[i]) {
			/* not the kernel's word: it counts itself, or its event is on the way */
			if (all || !at || is_on_the_way(d, at, gen[i]))
				continue;
		} else if (read_place(m, i, &s, at->file ? &more : NULL) &&
			   add(d, p, m, i, &s, &more, records) < 0) {
			rc = -ENOMEM;
		}
		give_back(m, i, gen[i]);
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

	/* not before it is known whether its program counts */
	if (m->fd < 0 || p->ended || scribe_judge_busy(p->work))
		return;
	if (!records || take(d, p, m, records, false) < 0)
		p->work->memory_out++;
}

void scribe_streams_sweep(struct scribe_daemon *d)
{
	for (struct scribe_memory *m = d->memories; m; m = m->after)
		take_closed(d, m->process, m);
	forget_found(d, NULL, scribe_now_ns());
}

/* The kernel has said whose record a place is. False: no memory for it. */
static bool set_place(struct scribe_daemon *d, struct scribe_memory *m, const struct scribe_stream_use *use,
		      uint32_t slot, uint32_t birth)
{
	if (use->index >= m->nplaces) {
		uint32_t n = use->index + 32;
		struct place *more = realloc(m->place, n * sizeof(*more));

		if (!more)
			return false;
		memset(more + m->nplaces, 0, (n - m->nplaces) * sizeof(*more));
		m->place = more;
		m->nplaces = n;
	}
	m->place[use->index] = (struct place){.gen = use->gen,
					      .file = use->file,
					      .slot = slot,
					      .birth = birth,
					      .taken = m->place[use->index].taken,
					      .label = scribe_slot_label(d, slot, birth)};
	return true;
}

void scribe_streams_announced(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_event *e)
{
	struct scribe_stream_use use = {
		.memory = e->flags, .index = e->chain_bytes, .gen = e->string_bytes, .file = e->status > 0};
	struct scribe_memory *m = use.index < SCRIBE_STREAMS_MAX ? memory_of(d, p, use.memory) : NULL;

	if (!m) {
		/* neither the program nor the kernel counts it */
		scribe_missed(p, 1ull << (use.file ? SCRIBE_MOD_MPIIO : SCRIBE_MOD_STDIO), no_memory);
		return;
	}
	if (m->fd < 0)
		attach_found(d, m);
	if (use.file) {
		m->image = (uint32_t)e->status;
		uncover(d, m);
	}
	if (++m->since >= SINCE_MAX) {
		m->since = 0;
		take_closed(d, p, m);
	}
	if (set_place(d, m, &use, e->slot, e->birth))
		scribe_keep_place(p, &use, e->slot, e->birth);
	else
		p->work->memory_out++;
}

int scribe_streams_known(struct scribe_daemon *d, struct scribe_process *p,
			 const struct scribe_stream_use *use, uint32_t slot, uint32_t birth)
{
	struct scribe_memory *m = use->index < SCRIBE_STREAMS_MAX ? memory_of(d, p, use->memory) : NULL;

	return m && set_place(d, m, use, slot, birth) ? 0 : -ENOMEM;
}

void scribe_streams_known_taken(struct scribe_daemon *d, struct scribe_process *p,
				const struct scribe_stream_use *use)
{
	struct scribe_memory *m = scribe_map_get(&d->streams, p->serial);

	while (m && m->id != use->memory)
		m = m->next;
	if (m && use->index < m->nplaces)
		m->place[use->index].taken = use->gen;
}

/* Belongs to a process of the job, the one at hand or one above it. */
static void found(struct scribe_daemon *d, const struct scribe_work *w, int fd)
{
	struct scribe_memory *m = d->memories;
	struct scribe_found_memory *f;
	uint64_t made_ns;
	uint32_t id;

	if (!is_sound(fd) ||
	    pread(fd, &id, sizeof(id), offsetof(struct scribe_streams, id)) != (ssize_t)sizeof(id) ||
	    pread(fd, &made_ns, sizeof(made_ns), offsetof(struct scribe_streams, made_ns)) !=
		    (ssize_t)sizeof(made_ns)) {
		close(fd);
		return;
	}
	while (m && (m->process->work != w || m->id != id))
		m = m->after;
	if (m && m->fd < 0) {
		attach(m, fd, made_ns);
		return;
	}
	for (f = d->found; !m && f && (f->work != w || f->id != id);)
		f = f->next;
	f = !m && !f && d->nfound < FOUND_MAX ? malloc(sizeof(*f)) : NULL;
	if (!f) {
		close(fd);
		return;
	}
	*f = (struct scribe_found_memory){.id = id,
					  .fd = fd,
					  .made_ns = made_ns,
					  .until_ns = scribe_now_ns() + FOUND_S * 1000000000ull,
					  .work = w,
					  .next = d->found};
	d->found = f;
	d->nfound++;
}

/*
 * The device of files in memory. A file of a user's may have any name, and opening it may never come
 * back; none but such a file stands on this device.
 */
static dev_t memory_device(void)
{
	int fd = memfd_create("ioscribe-device", MFD_CLOEXEC);
	struct stat st = {0};

	if (fd >= 0) {
		(void)fstat(fd, &st);
		close(fd);
	}
	return st.st_dev;
}

static void recover_process(struct scribe_daemon *d, const struct scribe_process *p, dev_t device)
{
	char path[96], line[512];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)p->tgid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start, end;
		unsigned major, minor;
		int fd;

		if (!strstr(line, MEMORY_NAME) ||
		    sscanf(line, "%lx-%lx %*s %*s %x:%x", &start, &end, &major, &minor) != 4 ||
		    makedev(major, minor) != device)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)p->tgid, start, end);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			found(d, p->work, fd);
		else if (errno != ENOENT)
			fprintf(stderr,
				"ioscribed: %s: %s: what process %d has counted itself cannot be "
				"reached\n",
				path, strerror(errno), (int)p->tgid);
	}
	if (maps)
		fclose(maps);
}

void scribe_streams_recover(struct scribe_daemon *d, struct scribe_work *w)
{
	dev_t device = memory_device();

	for (struct scribe_unit *u = w->worlds.units; u; u = u->next)
		for (struct scribe_process *p = u->first; p; p = p->next)
			if (!p->ended && p->tgid)
				recover_process(d, p, device);
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

	forget_found(d, w, UINT64_MAX);
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
	forget_found(d, NULL, UINT64_MAX);
	scribe_map_clear(&d->streams);
}
