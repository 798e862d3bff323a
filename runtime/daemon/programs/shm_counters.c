// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory in which programs count streams and MPI-IO calls. Counts are used once the kernel has reported the
 * record. Closed uses are taken by sweeps, others at the end of the process, at FETCH or at exec.
 * Must not know how programs count, or logs.
 */
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/base/subuids.h"
#include "runtime/daemon/tables/slot_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "logfmt/rules/streams.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/lookup/exclusion_check.h"
#include "runtime/daemon/programs/shm_records.h"
#include "runtime/daemon/programs/shm_segments.h"
#include "runtime/daemon/state/record_policy.h"
#include "runtime/daemon/tables/heatmaps.h"
#include "runtime/daemon/tables/held_events.h"

#define MEMORIES_MAX   16384
#define MEMORIES_A_JOB (MEMORIES_MAX / 2) /* not all descriptors for one job */
#define LOCK_TRIES     200                /* per memory */
#define SINCE_MAX      256
#define FOUND_MAX      1024
#define FOUND_S        10 /* events from before the restart are processed then */

static const char no_place[] = "more files were open at once than the program could count";
static const char no_size[] = "the program has sealed itself: what formatted and wide calls moved could not be told";
static const char none_given[] = "a program got no memory in time to count its streams in";
static const char no_memory[] = "what the program counted in its own memory has not reached the daemon";

/* Found in a process, but possibly of its parent: fork keeps the mapping. */
struct scribe_found_memory {
	uint32_t id;
	int fd;
	uint64_t made_ns, until_ns;
	const struct scribe_job *job;
	struct scribe_found_memory *next;
};

/* Frees memory that was found and not claimed in time; `job` NULL: of all jobs. */
static void forget_found(struct scribe_daemon *d, const struct scribe_job *job, uint64_t now_ns)
{
	struct scribe_found_memory **at = &d->found, *f;

	while ((f = *at)) {
		if ((job && f->job != job) || f->until_ns > now_ns) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		d->nfound--;
		close(f->fd);
		free(f);
	}
}

/* NULL: a limit is reached. */
static struct scribe_memory *memory_of(struct scribe_daemon *d, struct scribe_process *p, uint32_t id)
{
	struct scribe_memory *first = scribe_map_get(&d->streams, p->proc_id), *m;
	uint32_t own = 0;

	for (m = first; m; m = m->next)
		if (m->id == id)
			return m;
	for (m = d->memories; m; m = m->after)
		own += m->process->job == p->job;
	if (scribe_daemon_may(d, p->job->config.uid, SCRIBE_QUOTA_DESCRIPTORS, NULL) < 0)
		return NULL;
	m = d->nmemories < MEMORIES_MAX && own < MEMORIES_A_JOB ? calloc(1, sizeof(*m)) : NULL;
	if (!m)
		return NULL;
	*m = (struct scribe_memory){.id = id, .proc_id = p->proc_id, .fd = -1, .process = p, .next = first};
	if (scribe_map_put(&d->streams, p->proc_id, m) < 0) {
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

unsigned scribe_shm_counters_of_user(const struct scribe_daemon *d, uid_t uid)
{
	unsigned n = 0;

	for (const struct scribe_memory *m = d->memories; m; m = m->after)
		n += scribe_subuids_same(m->process->job->config.uid, uid);
	return n;
}

static void give_back(const struct scribe_memory *m, uint32_t i, uint32_t gen)
{
	/* release: the program may now reuse the index */
	__atomic_store_n(&m->map->taken[i], gen, __ATOMIC_RELEASE);
}

/* Takes over `fd`, also on failure. */
static bool add_memory(struct scribe_memory *m, int fd, uint64_t made_ns)
{
	if (!scribe_shm_open(m, fd, made_ns)) {
		close(fd);
		return false;
	}
	scribe_shm_segments_attach(m);
	__atomic_store_n(&m->map->heat_base_ns, scribe_heatmaps_base(m->process), __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < m->nplaces; i++) {
		uint32_t gen;

		/* an earlier daemon may not have given it back */
		if (m->entry[i].taken &&
		    scribe_shm_read(m, offsetof(struct scribe_shm_counters, gen) + i * sizeof(gen), &gen,
				    sizeof(gen)) &&
		    gen == m->entry[i].taken)
			give_back(m, i, gen);
	}
	return true;
}

static void attach_found(struct scribe_daemon *d, struct scribe_memory *m)
{
	struct scribe_found_memory **at = &d->found, *f;

	while ((f = *at) && (f->id != m->id || f->job != m->process->job))
		at = &f->next;
	if (!f)
		return;
	*at = f->next;
	d->nfound--;
	(void)add_memory(m, f->fd, f->made_ns);
	free(f);
}

/* A memfd that the program cannot truncate: the mapping cannot fault. */
static bool is_sound(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	/* seals first: other kinds of files may hang */
	return seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_size == (off_t)sizeof(struct scribe_shm_counters);
}

static int new_file(void)
{
	int fd = memfd_create("ioscribe-streams", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, sizeof(struct scribe_shm_counters)) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

int scribe_shm_counters_make(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_msg_streams *ask)
{
	struct scribe_memory *m = memory_of(d, p, ask->id);
	int fd = m && m->fd < 0 ? new_file() : -1;

	if (fd < 0 || !add_memory(m, fd, ask->made_ns))
		return -1;
	m->map->magic = SCRIBE_SHM_COUNTERS_MAGIC;
	m->map->id = ask->id;
	m->map->made_ns = ask->made_ns;
	return fd;
}

static bool is_wanted(struct scribe_daemon *d, const struct scribe_process *p, struct scribe_shm_entry *at)
{
	if (!at->name)
		at->name = scribe_counter_name_entry(d, p, at->slot, at->generation);
	return !scribe_drain_is_excluded(p, at->file ? SCRIBE_KIND_MPIIO : SCRIBE_KIND_STDIO) && at->name &&
	       !at->name->excluded;
}

static uint64_t module_of(const struct scribe_shm_entry *at)
{
	return 1ull << (at->file ? SCRIBE_MOD_MPIIO : SCRIBE_MOD_STDIO);
}

static int add(struct scribe_daemon *d, struct scribe_process *p, struct scribe_memory *m, uint32_t i,
	       const struct scribe_stream_copy *c, struct scribe_records *records)
{
	struct scribe_shm_entry *at = &m->entry[i];
	struct scribe_stream_use use = {.memory = m->id, .index = i, .gen = at->gen, .file = at->file};

	at->taken = at->gen;
	if (!is_wanted(d, p, at))
		return 0;
	/* before the counts are added, as for slots */
	scribe_job_journal_stream(p, &use, at->name->id, c);
	return scribe_shm_counters_add(p, at->file, at->name->id, c, records);
}

/* Can the event of an unknown use still be in the ring? */
static bool is_on_the_way(const struct scribe_job *job, struct scribe_shm_entry *at, uint32_t gen)
{
	const struct scribe_daemon *d = job->daemon;

	if (at->unknown == gen)
		/* not if the ring has been read beyond */
		return d->bpf && scribe_held_taken(job) < at->unknown_at;
	at->unknown = gen;
	at->unknown_at = d->bpf ? scribe_bpf_put(d->bpf) : 0;
	return true;
}

static void take_notes(struct scribe_process *p, struct scribe_memory *m)
{
	uint32_t lost = 0, unsized = 0, untimed = 0;

	if (scribe_shm_read(m, offsetof(struct scribe_shm_counters, lost), &lost, sizeof(lost)) && lost)
		scribe_mark_incomplete(p, 1ull << SCRIBE_MOD_MPIIO, no_place);
	if (scribe_shm_read(m, offsetof(struct scribe_shm_counters, unsized), &unsized, sizeof(unsized)) && unsized)
		scribe_mark_incomplete(p, 1ull << SCRIBE_MOD_STDIO, no_size);
	if (scribe_shm_read(m, offsetof(struct scribe_shm_counters, untimed), &untimed, sizeof(untimed)) &&
	    untimed > m->untimed) {
		p->job->losses.untimed += untimed - m->untimed;
		m->untimed = untimed;
	}
}

/* `all`: also open uses. The program can write anything. */
static int take(struct scribe_daemon *d, struct scribe_process *p, struct scribe_memory *m,
		struct scribe_records *records, bool all)
{
	static uint32_t gen[SCRIBE_SHM_COUNTERS_MAX], closed[SCRIBE_SHM_COUNTERS_MAX], taken[SCRIBE_SHM_COUNTERS_MAX];
	static struct scribe_stream_copy copy;
	uint32_t used = 0;
	unsigned tries = LOCK_TRIES;
	int rc = 0;

	if (m->fd < 0) {
		for (uint32_t i = 0; all && i < m->nplaces; i++)
			if (m->entry[i].gen != m->entry[i].taken && is_wanted(d, p, &m->entry[i]))
				scribe_mark_incomplete(p, module_of(&m->entry[i]), no_memory);
		return 0;
	}
	if (!scribe_shm_read(m, offsetof(struct scribe_shm_counters, used), &used, sizeof(used)) ||
	    used > SCRIBE_SHM_COUNTERS_MAX ||
	    !scribe_shm_read(m, offsetof(struct scribe_shm_counters, gen), gen, used * sizeof(*gen)) ||
	    !scribe_shm_read(m, offsetof(struct scribe_shm_counters, closed), closed, used * sizeof(*closed)) ||
	    !scribe_shm_read(m, offsetof(struct scribe_shm_counters, taken), taken, used * sizeof(*taken)))
		return 0;
	if (all)
		take_notes(p, m);
	scribe_shm_segments_take(m, all && p->drained);
	for (uint32_t i = 0; i < used; i++) {
		struct scribe_shm_entry *at = i < m->nplaces ? &m->entry[i] : NULL;

		if (!gen[i] || taken[i] == gen[i] || (!all && closed[i] != gen[i]))
			continue;
		if (!at || at->gen != gen[i]) {
			/* not counted here, unless its event is in the ring */
			if (all || !at || is_on_the_way(p->job, at, gen[i]))
				continue;
		} else if (at->taken == gen[i]) {
			/* giving back has failed: the memory may be sealed */
		} else if (scribe_stream_copy_read(m->fd, i, at->file, &copy, &tries) &&
			   add(d, p, m, i, &copy, records) < 0) {
			rc = -ENOMEM;
		}
		give_back(m, i, gen[i]);
	}
	return rc;
}

int scribe_shm_counters_take(struct scribe_daemon *d, struct scribe_process *p, struct scribe_records *records)
{
	int rc = 0;

	for (struct scribe_memory *m = scribe_map_get(&d->streams, p->proc_id); m; m = m->next)
		if (take(d, p, m, records, true) < 0)
			rc = -ENOMEM;
	return rc;
}

bool scribe_shm_counters_peek(struct scribe_daemon *d, struct scribe_process *p, uint32_t *at, unsigned tries,
			      struct scribe_live_record *ret_record)
{
	static struct scribe_stream_copy copy;
	struct scribe_memory *m = scribe_map_get(&d->streams, p->proc_id);
	uint32_t i = (*at)++, gen;
	struct scribe_shm_entry *entry;

	while (m && i >= m->nplaces) {
		i -= m->nplaces;
		m = m->next;
	}
	if (!m)
		return false;
	*ret_record = (struct scribe_live_record){0};
	entry = &m->entry[i];
	if (m->fd < 0 || !entry->gen || entry->gen == entry->taken || !is_wanted(d, p, entry) ||
	    !scribe_shm_read(m, offsetof(struct scribe_shm_counters, gen) + i * sizeof(gen), &gen, sizeof(gen)) ||
	    gen != entry->gen || !scribe_stream_copy_read(m->fd, i, entry->file, &copy, &tries))
		return true;
	scribe_shm_counters_sum(p, entry->file, entry->name->id, &copy, ret_record);
	ret_record->slot = SCRIBE_LIVE_SHM | (*at - 1);
	ret_record->generation = gen;
	return true;
}

static void take_closed(struct scribe_daemon *d, struct scribe_process *p, struct scribe_memory *m)
{
	struct scribe_records *records = scribe_drain_records(p);

	/* it may be excluded */
	if (m->fd < 0 || p->ended || scribe_exclusion_check_busy(p->job))
		return;
	if (!records || take(d, p, m, records, false) < 0)
		p->job->losses.memory++;
}

void scribe_shm_counters_sweep(struct scribe_daemon *d)
{
	for (struct scribe_memory *m = d->memories; m; m = m->after)
		take_closed(d, m->process, m);
	forget_found(d, NULL, scribe_now_ns());
}

/* False: out of memory. */
static bool set_place(struct scribe_daemon *d, struct scribe_memory *m, const struct scribe_stream_use *use,
		      uint32_t slot, uint32_t generation)
{
	if (use->index >= m->nplaces) {
		uint32_t n = use->index + 32;
		struct scribe_shm_entry *more = realloc(m->entry, n * sizeof(*more));

		if (!more)
			return false;
		memset(more + m->nplaces, 0, (n - m->nplaces) * sizeof(*more));
		m->entry = more;
		m->nplaces = n;
	}
	m->entry[use->index] =
		(struct scribe_shm_entry){.gen = use->gen,
					  .file = use->file,
					  .slot = slot,
					  .generation = generation,
					  .taken = m->entry[use->index].taken,
					  .name = scribe_counter_name_entry(d, m->process, slot, generation)};
	return true;
}

static bool is_same(const struct scribe_memory *m, const struct scribe_stream_use *use, uint32_t slot,
		    uint32_t generation)
{
	const struct scribe_shm_entry *at = use->index < m->nplaces ? &m->entry[use->index] : NULL;

	return at && at->gen == use->gen && at->file == use->file && at->slot == slot && at->generation == generation;
}

void scribe_shm_counters_announced(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_ev_stream *e)
{
	struct scribe_stream_use use = {.memory = e->memory, .index = e->index, .gen = e->use, .file = e->is_file};
	struct scribe_memory *m = use.index < SCRIBE_SHM_COUNTERS_MAX ? memory_of(d, p, use.memory) : NULL;

	if (!m) {
		/* not counted at all; without slot and index: the program got no memory */
		scribe_mark_incomplete(p, 1ull << (use.file ? SCRIBE_MOD_MPIIO : SCRIBE_MOD_STDIO),
				       !e->slot && use.index >= SCRIBE_SHM_COUNTERS_MAX ? none_given : no_memory);
		return;
	}
	if (m->fd < 0)
		attach_found(d, m);
	scribe_shm_segments_take(m, false);
	if (is_same(m, &use, e->slot, e->generation))
		return; /* the program only requests a sweep */
	/* a program must not run out of indexes */
	if (++m->since >= SINCE_MAX) {
		m->since = 0;
		take_closed(d, p, m);
	}
	if (set_place(d, m, &use, e->slot, e->generation))
		scribe_job_journal_place(p, &use, e->slot, e->generation);
	else
		p->job->losses.memory++;
}

int scribe_shm_counters_known(struct scribe_daemon *d, struct scribe_process *p, const struct scribe_stream_use *use,
			      uint32_t slot, uint32_t generation)
{
	struct scribe_memory *m = use->index < SCRIBE_SHM_COUNTERS_MAX ? memory_of(d, p, use->memory) : NULL;

	return m && set_place(d, m, use, slot, generation) ? 0 : -ENOMEM;
}

void scribe_shm_counters_known_taken(struct scribe_daemon *d, struct scribe_process *p,
				     const struct scribe_stream_use *use)
{
	struct scribe_memory *m = scribe_map_get(&d->streams, p->proc_id);

	while (m && m->id != use->memory)
		m = m->next;
	if (m && use->index < m->nplaces)
		m->entry[use->index].taken = use->gen;
}

void scribe_shm_counters_found(struct scribe_daemon *d, const struct scribe_job *job, int fd)
{
	struct scribe_memory *m = d->memories;
	struct scribe_found_memory *f;
	uint64_t made_ns;
	uint32_t id;

	if (!is_sound(fd) ||
	    pread(fd, &id, sizeof(id), offsetof(struct scribe_shm_counters, id)) != (ssize_t)sizeof(id) ||
	    pread(fd, &made_ns, sizeof(made_ns), offsetof(struct scribe_shm_counters, made_ns)) !=
		    (ssize_t)sizeof(made_ns)) {
		close(fd);
		return;
	}
	while (m && (m->process->job != job || m->id != id))
		m = m->after;
	if (m && m->fd < 0) {
		(void)add_memory(m, fd, made_ns);
		return;
	}
	for (f = d->found; !m && f && (f->job != job || f->id != id);)
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
					  .job = job,
					  .next = d->found};
	d->found = f;
	d->nfound++;
}

static void drop(struct scribe_daemon *d, struct scribe_memory *m)
{
	*m->at = m->after;
	if (m->after)
		m->after->at = m->at;
	d->nmemories--;
	scribe_shm_close(m);
	free(m->entry);
	free(m);
}

void scribe_shm_counters_forget(struct scribe_daemon *d, struct scribe_process *p)
{
	struct scribe_memory *m = scribe_map_take(&d->streams, p->proc_id), *next;

	for (; m; m = next) {
		next = m->next;
		drop(d, m);
	}
}

int scribe_shm_counters_replaced(struct scribe_daemon *d, struct scribe_process *p, struct scribe_records *records,
				 uint64_t when_ns)
{
	struct scribe_memory *m = scribe_map_take(&d->streams, p->proc_id), *kept = NULL, *next;
	int rc = 0;

	for (; m; m = next) {
		next = m->next;
		if (m->made_ns > when_ns) {
			/* of the new program: its request precedes EXEC */
			m->next = kept;
			kept = m;
			continue;
		}
		if (take(d, p, m, records, true) < 0)
			rc = -ENOMEM;
		drop(d, m);
	}
	if (kept && scribe_map_put(&d->streams, p->proc_id, kept) < 0)
		rc = -ENOMEM;
	return rc;
}

void scribe_shm_counters_end_work(struct scribe_daemon *d, const struct scribe_job *job)
{
	struct scribe_memory *m = d->memories;

	forget_found(d, job, UINT64_MAX);
	while (m) {
		if (m->process->job != job) {
			m = m->after;
			continue;
		}
		scribe_shm_counters_forget(d, m->process);
		m = d->memories;
	}
}

void scribe_shm_counters_clear(struct scribe_daemon *d)
{
	while (d->memories)
		drop(d, d->memories);
	forget_found(d, NULL, UINT64_MAX);
	scribe_map_clear(&d->streams);
}
