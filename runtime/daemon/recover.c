/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a job's journal, which may be damaged. Main thread, at start (resume.c). */
#include "runtime/daemon/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/hash.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/attach/syscall_attach.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/base/sd_notify.h"
#include "runtime/daemon/config/library_selection.h"
#include "runtime/daemon/control/job_session.h"
#include "runtime/daemon/control/run_session.h"
#include "runtime/daemon/events/drain.h"
#include "runtime/daemon/events/modules.h"
#include "runtime/daemon/journal/entries.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/journal/saved_binary.h"
#include "runtime/daemon/lookup/exclusion_check.h"
#include "runtime/daemon/lookup/file_xattrs.h"
#include "runtime/daemon/operations/segments.h"
#include "runtime/daemon/output/log_finalize.h"
#include "runtime/daemon/privsep/procfs_reader.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/programs/shm_records.h"
#include "runtime/daemon/programs/shm_recover.h"
#include "runtime/daemon/state/record_policy.h"
#include "runtime/daemon/tables/held_events.h"
#include "runtime/daemon/tables/job_env.h"
#include "runtime/daemon/tables/slot_names.h"

struct pending {
	const void *data;
	size_t bytes;
};

/* Pending data points into the journal's mapping. */
struct resume {
	struct scribe_daemon *d;
	struct scribe_job *w; /* NULL before the BEGIN entry */
	uint32_t index;
	struct pending *pending; /* records still without a DRAINED entry */
	size_t n, capacity;
	struct scribe_err *err;
};

/* With the client's credentials of that time. */
static int begin(struct resume *r, const struct scribe_job_journal_begin *h, const char *text, size_t bytes)
{
	struct scribe_client as = {.fd = -1, .pid = h->pid, .uid = h->uid, .gid = h->gid};
	int rc = r->w     ? -EIO
		 : h->run ? scribe_runlink_resume(r->d, &as, r->index, text, bytes, &r->w, r->err)
			  : scribe_jobs_resume(r->d, &as, r->index, text, bytes, &r->w, r->err);

	if (rc < 0)
		return rc;
	r->w->client.ticks = h->ticks;
	r->w->begun_ns = h->begun_ns;
	r->w->realtime_ns = h->realtime_ns;
	return 0;
}

static int process(struct resume *r, const struct scribe_job_journal_process *h)
{
	struct scribe_process *p = scribe_worlds_fork(&r->w->worlds, h->proc_id, h->parent, h->start_ns);

	if (!p)
		return -ENOMEM;
	p->job = r->w;
	p->index = h->index;
	p->tgid = h->tgid;
	p->uid = h->uid;
	memcpy(p->comm, h->comm, sizeof(p->comm));
	p->comm[sizeof(p->comm) - 1] = 0;
	if (!h->parent && !r->w->client.first_proc_id) {
		r->w->client.first_proc_id = h->proc_id;
		if (r->w->client.pid && !r->w->config.job_number[0])
			r->w->log_job_id = h->tgid;
	}
	return p->tgid ? scribe_map_put(&r->d->by_tgid, (uint64_t)p->tgid, p) : 0;
}

/* Slots and generations are still valid, because the kernel's maps survive. */
static int name(struct resume *r, const struct scribe_job_journal_name *h, const char *text, size_t bytes)
{
	struct scribe_name_entry *name = scribe_name_table_intern(&r->w->names, text, bytes);

	if (!name)
		return -ENOMEM;
	if (h->file_id)
		name->file_id = h->file_id;
	scribe_slot_name_set(r->d, r->w, h->slot, h->generation, name);
	scribe_file_xattrs_request(r->w, name);
	return 0;
}

static int exec(struct resume *r, struct scribe_process *p, const struct scribe_job_journal_exec *h, const char *text,
		size_t bytes)
{
	char exe[4096];

	if (h->exe_bytes > bytes || h->exe_bytes >= sizeof(exe))
		return -EIO;
	memcpy(exe, text, h->exe_bytes);
	exe[h->exe_bytes] = 0;
	p->own_root_dir = h->own_root_dir;
	p->root_id = !h->own_root_dir;
	scribe_shm_counters_forget(r->d, p); /* those of the previous program were taken */
	memcpy(p->comm, h->comm, sizeof(p->comm));
	if (scribe_worlds_exec(&r->w->worlds, p, text + h->exe_bytes, bytes - h->exe_bytes, h->exe_bytes ? exe : NULL) <
	    0)
		return -ENOMEM;
	scribe_exclusion_check_program(p);
	if (!p->env)
		p->env = malloc(sizeof(*p->env));
	if (p->env)
		scribe_envreader_begin(p->env);
	return p->env ? 0 : -ENOMEM;
}

static int env_part(struct scribe_process *p, const void *data, size_t bytes)
{
	if (bytes != sizeof(*p->env))
		return -EIO;
	if (p->env)
		memcpy(p->env, data, bytes);
	return 0;
}

static int env_whole(struct resume *r, struct scribe_process *p, const struct scribe_job_journal_env *h,
		     const void *data, size_t bytes)
{
	struct scribe_rankenv env;

	if (bytes != sizeof(env))
		return -EIO;
	memcpy(&env, data, sizeof(env));
	env.world[sizeof(env.world) - 1] = 0;
	free(p->env);
	p->env = NULL;
	p->disabled = p->disabled || h->disabled;
	return scribe_worlds_env(&r->w->worlds, p, &env);
}

/* -EIO: damaged. */
static long take(const char **at, size_t *have, void *ret, size_t bytes)
{
	long n = scribe_unpack(*at, *have, ret, bytes);

	if (n < 0)
		return -EIO;
	*at += n;
	*have -= (size_t)n;
	return 0;
}

static int record(struct resume *r, const void *data, size_t bytes)
{
	/* Rebuilds the view of a kernel slot. Static: 1 MiB is too much for the stack. */
	static struct scribe_slot slot[1 + SCRIBE_EXTRA_SHARDS];
	static struct scribe_value_table table[1 + SCRIBE_EXTRA_SHARDS][2];
	static struct scribe_heat_table heat[1 + SCRIBE_EXTRA_SHARDS];
	const struct scribe_job_journal_record *h = data;
	const char *at = (const char *)(h + 1);
	size_t have = bytes - sizeof(*h);
	struct scribe_slot_view v = {.index = h->slot, .slot = &slot[0], .nshards = h->shards};
	struct scribe_process *p = scribe_worlds_find(&r->w->worlds, h->proc_id);
	long rc = h->shards < 1 || h->shards > 1 + SCRIBE_EXTRA_SHARDS ? -EIO : 0;

	for (unsigned i = 0; rc == 0 && i < h->shards; i++) {
		rc = take(&at, &have, &slot[i], sizeof(slot[i]));
		for (int k = 0; rc == 0 && k < 2; k++)
			if (h->tables[i] & (1u << k))
				rc = take(&at, &have, &table[i][k], sizeof(table[i][k]));
		if (rc == 0 && h->tables[i] & 4)
			rc = take(&at, &have, &heat[i], sizeof(heat[i]));
		v.shard[i] = &slot[i].shard;
		v.ext[i] = &slot[i].ext;
		v.part[i] = &slot[i];
		v.access[i] = h->tables[i] & 1 ? &table[i][0] : NULL;
		v.stride[i] = h->tables[i] & 2 ? &table[i][1] : NULL;
		v.heat[i] = &slot[i].heat;
		v.heat_table[i] = h->tables[i] & 4 ? &heat[i] : NULL;
	}
	if (rc < 0 || !p)
		return rc < 0 ? (int)rc : 0;
	return scribe_drain_kept(r->d, p, &v);
}

/* Without the DRAINED entry the records of an ending process are still in the kernel. */
static int hold(struct resume *r, const void *data, size_t bytes)
{
	if (((const struct scribe_job_journal_record *)data)->lives)
		return record(r, data, bytes);
	if (r->n == r->capacity) {
		size_t capacity = r->capacity ? r->capacity * 2 : 64;
		struct pending *more = realloc(r->pending, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		r->pending = more;
		r->capacity = capacity;
	}
	r->pending[r->n++] = (struct pending){data, bytes};
	return 0;
}

static int drained(struct resume *r, struct scribe_process *p, const struct scribe_job_journal_drained *h)
{
	int rc = 0;

	if (h->records > r->n)
		return -EIO;
	for (size_t i = r->n - h->records; rc == 0 && i < r->n; i++)
		rc = record(r, r->pending[i].data, r->pending[i].bytes);
	r->n = 0;
	p->drained = true;
	p->totals.overflowed_files = h->overflowed_files;
	p->totals.cpu_ns = h->cpu_ns;
	p->totals.cost_ns = h->cost_ns;
	p->totals.cost_calls = h->cost_calls;
	return rc;
}

static int shm_counter(struct resume *r, struct scribe_process *p, const struct scribe_job_journal_place *h)
{
	return scribe_shm_counters_known(r->d, p, &h->use, h->slot, h->generation);
}

static int stream(struct resume *r, struct scribe_process *p, const struct scribe_job_journal_stream *h, const char *at,
		  size_t have)
{
	static struct scribe_stream_copy c;
	struct scribe_records *records = scribe_drain_records(p);
	long rc = records ? 0 : -ENOMEM;

	for (int i = SCRIBE_SHARD_OWNER; rc == 0 && i <= SCRIBE_SHARD_SHARED; i++) {
		rc = take(&at, &have, &c.s.shard[i], sizeof(c.s.shard[i]));
		if (rc == 0)
			rc = take(&at, &have, &c.s.heat[i], sizeof(c.s.heat[i]));
		if (rc == 0 && c.s.heat[i].table)
			rc = take(&at, &have, &c.heat[i], sizeof(c.heat[i]));
		if (rc == 0 && h->use.file)
			rc = take(&at, &have, &c.more.ext[i], sizeof(c.more.ext[i]));
		if (rc == 0 && h->use.file)
			rc = take(&at, &have, &c.more.access[i], sizeof(c.more.access[i]));
	}
	if (rc < 0)
		return (int)rc;
	scribe_shm_counters_known_taken(r->d, p, &h->use);
	return scribe_shm_counters_add(p, h->use.file != 0, h->id, &c, records);
}

static int ended(struct resume *r, struct scribe_process *p, const struct scribe_job_journal_end *h)
{
	/* The earlier daemon may have died before it freed the entries. */
	if (p->drained && scribe_bpf_proc_of(r->d->bpf, p->index, p->proc_id))
		scribe_bpf_drain_and_free(r->d->bpf, p->index, NULL, NULL);
	if (scribe_map_get(&r->d->by_tgid, (uint64_t)p->tgid) == p)
		scribe_map_take(&r->d->by_tgid, (uint64_t)p->tgid);
	p->status = h->status;
	p->end_ns = h->end_ns;
	scribe_shm_counters_forget(r->d, p);
	scribe_daemon_modules_process_end(p);
	scribe_worlds_exit(&r->w->worlds, p, (enum scribe_process_end)h->kind, h->status, h->end_ns);
	return 0;
}

static int hello(struct resume *r, struct scribe_process *p, struct scribe_job_journal_hello h)
{
	h.name[sizeof(h.name) - 1] = 0;
	if (scribe_worlds_hello(&r->w->worlds, p, h.rank, h.size, h.name) < 0)
		return -ENOMEM;
	/* The rank's connection is lost, so the daemon writes the log. */
	if (p->rank)
		p->rank->state = SCRIBE_RANK_FAILED;
	return 0;
}

static int committed(struct resume *r, const void *data, size_t bytes)
{
	static struct scribe_msg_log m;
	uint32_t unit;

	memcpy(&unit, data, sizeof(unit));
	if (bytes != sizeof(unit) && bytes != sizeof(unit) + sizeof(m))
		return -EIO;
	if (bytes > sizeof(unit))
		memcpy(&m, (const char *)data + sizeof(unit), sizeof(m));
	scribe_commit_resumed(r->w, unit, bytes > sizeof(unit) ? &m : NULL);
	return 0;
}

/* The earlier daemon or one of its helpers may have written the log there. */
static int claimed(struct resume *r, const struct scribe_job_journal_claimed *h, const char *path, size_t bytes)
{
	struct scribe_log_unit *u = r->w->worlds.units;

	while (u && u->id != h->unit)
		u = u->next;
	if (!u || bytes >= SCRIBE_PATH_MAX)
		return u ? -EIO : 0;
	free(u->claimed);
	u->claimed = strndup(path, bytes);
	if (h->number > r->w->nlogs)
		r->w->nlogs = h->number;
	return u->claimed ? 0 : -ENOMEM;
}

/* The earlier daemon may have processed it: see forget_processed(). */
static int held(struct resume *r, const struct scribe_job_journal_held *h, const char *text, size_t bytes)
{
	struct scribe_event e = h->event;

	if (e.text_bytes != bytes)
		return -EIO;
	return scribe_held_restore(r->w, h->begin, h->end, &e, text);
}

/* Returns the ring position up to which events are in the journal. */
static uint64_t forget_processed(struct scribe_job *job, uint64_t position)
{
	while (job->held.first && job->held.first->end <= position)
		scribe_held_drop(job);
	return job->held.last ? job->held.last->end : position;
}

static int missed(struct scribe_process *p, const struct scribe_job_journal_missed *h, const char *text, size_t bytes)
{
	char why[320];

	snprintf(why, sizeof(why), "%.*s", (int)bytes, text);
	scribe_worlds_missed(p, h->modules, bytes ? why : NULL);
	return 0;
}

static int mapped(struct scribe_process *p, const char *text, size_t bytes)
{
	char name[SCRIBE_LIBRARY_NAME];

	snprintf(name, sizeof(name), "%.*s", (int)bytes, text);
	scribe_worlds_mapped(p, name);
	return 0;
}

static int process_entry(struct resume *r, uint32_t type, const void *data, size_t bytes)
{
	struct scribe_process *p = scribe_worlds_find(&r->w->worlds, *(const uint32_t *)data);

	if (!p || p->ended)
		return 0;
#define BODY(type) (const char *)data + sizeof(type), bytes - sizeof(type)
	switch (type) {
	case SCRIBE_ENTRY_PARENT_CMDLINE:
		scribe_worlds_parent_cmdline(p, BODY(uint32_t));
		return 0;
	case SCRIBE_ENTRY_BYPASS:
		return mapped(p, BODY(uint32_t));
	case SCRIBE_ENTRY_EXEC:
		return exec(r, p, data, BODY(struct scribe_job_journal_exec));
	case SCRIBE_ENTRY_READER:
		return env_part(p, BODY(struct scribe_job_journal_env));
	case SCRIBE_ENTRY_ENV:
		return env_whole(r, p, data, BODY(struct scribe_job_journal_env));
	case SCRIBE_ENTRY_DRAINED:
		return drained(r, p, data);
	case SCRIBE_ENTRY_MISSED:
		return missed(p, data, BODY(struct scribe_job_journal_missed));
	case SCRIBE_ENTRY_PLACE:
		return shm_counter(r, p, data);
	case SCRIBE_ENTRY_STREAM:
		return stream(r, p, data, BODY(struct scribe_job_journal_stream));
	case SCRIBE_ENTRY_END:
		return ended(r, p, data);
	case SCRIBE_ENTRY_HELLO:
		return hello(r, p, *(const struct scribe_job_journal_hello *)data);
	default:
		return -EIO;
	}
}

/* Bytes of an entry, at least. */
static const size_t least[] = {
	[SCRIBE_ENTRY_BEGIN] = sizeof(struct scribe_job_journal_begin),
	[SCRIBE_ENTRY_PROCESS] = sizeof(struct scribe_job_journal_process),
	[SCRIBE_ENTRY_NAME] = sizeof(struct scribe_job_journal_name),
	[SCRIBE_ENTRY_EXEC] = sizeof(struct scribe_job_journal_exec),
	[SCRIBE_ENTRY_READER] = sizeof(struct scribe_job_journal_env),
	[SCRIBE_ENTRY_ENV] = sizeof(struct scribe_job_journal_env),
	[SCRIBE_ENTRY_RECORD] = sizeof(struct scribe_job_journal_record),
	[SCRIBE_ENTRY_DRAINED] = sizeof(struct scribe_job_journal_drained),
	[SCRIBE_ENTRY_END] = sizeof(struct scribe_job_journal_end),
	[SCRIBE_ENTRY_HELLO] = sizeof(struct scribe_job_journal_hello),
	[SCRIBE_ENTRY_ENDING] = sizeof(uint64_t),
	[SCRIBE_ENTRY_CLAIMED] = sizeof(struct scribe_job_journal_claimed),
	[SCRIBE_ENTRY_COMMITTED] = sizeof(uint32_t),
	[SCRIBE_ENTRY_SETTINGS] = 1,
	[SCRIBE_ENTRY_PLACE] = sizeof(struct scribe_job_journal_place),
	[SCRIBE_ENTRY_STREAM] = sizeof(struct scribe_job_journal_stream),
	[SCRIBE_ENTRY_PARENT_CMDLINE] = sizeof(uint32_t),
	[SCRIBE_ENTRY_BYPASS] = sizeof(uint32_t) + 1,
	[SCRIBE_ENTRY_MISSED] = sizeof(struct scribe_job_journal_missed),
	[SCRIBE_ENTRY_BUDGET] = sizeof(((struct scribe_budget *)NULL)->ended_ns),
	[SCRIBE_ENTRY_HELD] = sizeof(struct scribe_job_journal_held),
};

static int entry(void *ctx, uint32_t type, const void *data, size_t bytes)
{
	struct resume *r = ctx;

	if (type >= sizeof(least) / sizeof(least[0]) || !least[type] || bytes < least[type] ||
	    (type != SCRIBE_ENTRY_BEGIN && !r->w))
		return -EIO;
	switch (type) {
	case SCRIBE_ENTRY_BEGIN:
		return begin(r, data, BODY(struct scribe_job_journal_begin));
	case SCRIBE_ENTRY_PROCESS:
		return process(r, data);
	case SCRIBE_ENTRY_NAME:
		return name(r, data, BODY(struct scribe_job_journal_name));
	case SCRIBE_ENTRY_RECORD:
		return hold(r, data, bytes);
	case SCRIBE_ENTRY_HELD:
		return held(r, data, BODY(struct scribe_job_journal_held));
	case SCRIBE_ENTRY_ENDING:
		r->w->state = SCRIBE_JOB_ENDING;
		memcpy(&r->w->ending_deadline_ns, data, sizeof(uint64_t));
		return 0;
	case SCRIBE_ENTRY_BUDGET:
		memcpy(r->w->budget.ended_ns, data, sizeof(r->w->budget.ended_ns));
		if (r->w->budget.ended_ns[SCRIBE_BUDGET_OPERATIONS])
			scribe_segments_stop(r->w);
		return 0;
	case SCRIBE_ENTRY_CLAIMED:
		return claimed(r, data, BODY(struct scribe_job_journal_claimed));
	case SCRIBE_ENTRY_COMMITTED:
		return committed(r, data, bytes);
	case SCRIBE_ENTRY_SETTINGS:
		r->w->has_env_settings = true;
		r->d->resuming = r->index + 1;
		scribe_jobenv_apply(r->w, data, bytes);
		r->d->resuming = 0;
		return 0;
	default:
		return process_entry(r, type, data, bytes);
	}
}

static void resume_libraries(struct scribe_daemon *d, struct scribe_process *p)
{
	static struct scribe_process_look at;

	scribe_procfs_look(p->job->config.uid, p->tgid, &at);
	scribe_libs_exec(d, p, &at, 0);
	scribe_libs_resumed(d, p);
}

uint64_t scribe_recover_job(struct scribe_daemon *d, uint32_t index)
{
	struct scribe_err err = {0};
	struct resume r = {.d = d, .index = index, .err = &err};
	struct scribe_journal j;
	uint64_t position = 0;
	char path[160];
	int rc = scribe_job_journal_path(d, index, path, sizeof(path));

	if (rc == 0)
		rc = scribe_journal_open(&j, path, scribe_job_journal_layout());
	if (rc == -ENOENT)
		return 0;
	if (rc == 0) {
		j.head->read++;
		rc = scribe_journal_each(&j, entry, &r);
		position = r.w ? forget_processed(r.w, j.head->position) : 0;
		if (rc < 0)
			j.head->broken = 1; /* entries added later would not be found */
		free(r.pending);
		if (r.w)
			r.w->journal = j; /* continue with what was read */
		else
			scribe_journal_close(&j);
	}
	if (rc < 0)
		fprintf(stderr, "ioscribed: %s: %s\n", path, err.text[0] ? err.text : strerror(-rc));
	if (!r.w)
		unlink(path);
	if (r.w)
		scribe_shm_recover(d, r.w);
	for (struct scribe_log_unit *u = r.w ? r.w->worlds.units : NULL; u; u = u->next) {
		if (scribe_journal_is_broken(&r.w->journal))
			u->missed |= 1ull << SCRIBE_MOD_POSIX | scribe_libs_wanted(&d->service->config);
		for (struct scribe_process *p = u->first; p; p = p->next)
			if (!p->ended)
				resume_libraries(d, p);
	}
	return position;
}
