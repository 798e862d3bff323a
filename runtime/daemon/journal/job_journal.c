/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a job's journal (read by recover.c), where the state changes. Open only in service mode with --pin. */
#include "runtime/daemon/journal/job_journal.h"

#define BPF_FS "/sys/fs/bpf"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/daemon/journal/entries.h"

int scribe_job_journal_path(const struct scribe_daemon *d, uint32_t index, char *ret_path, size_t cap)
{
	int n = snprintf(ret_path, cap, "%s/state/%u", d->service->dir, index);

	return n < 0 || (size_t)n >= cap ? -ENAMETOOLONG : 0;
}

static const char *name_of(const struct scribe_job *job)
{
	return job->spec.id[0] ? job->spec.id : "(run)";
}

static void put_pieces(struct scribe_job *job, enum scribe_job_journal_type type,
		       const struct scribe_journal_piece *piece, unsigned n)
{
	if (!job || !scribe_journal_is_open(&job->journal) || scribe_journal_is_broken(&job->journal))
		return;
	/* The first error marks the journal as broken, so the message appears once. */
	if (scribe_journal_put(&job->journal, type, piece, n) < 0)
		fprintf(stderr,
			"ioscribed: job %s of uid %u: its journal cannot grow beyond %llu MiB: should this daemon die, "
			"its log will be incomplete\n",
			name_of(job), (unsigned)job->config.uid, (unsigned long long)(job->journal.bytes >> 20));
}

static void put(struct scribe_job *job, enum scribe_job_journal_type type, const void *head, size_t head_bytes,
		const void *text, size_t bytes)
{
	struct scribe_journal_piece piece[2] = {{head, head_bytes}, {text, bytes}};

	put_pieces(job, type, piece, 2);
}

void scribe_job_journal_begin(struct scribe_job *job, const struct scribe_client *c, const char *text, size_t bytes)
{
	struct scribe_job_journal_begin head = {.uid = c->uid,
						.gid = c->gid,
						.pid = c->pid,
						.run = !job->spec.id[0],
						.ticks = job->client.ticks,
						.begun_ns = job->begun_ns,
						.realtime_ns = job->realtime_ns};
	struct scribe_daemon *d = job->daemon;
	char path[160];
	int rc;

	if (!d->service || !d->service->pin || scribe_job_journal_path(d, job->index, path, sizeof(path)) < 0)
		return;
	/* An old file of this index is of a job that is over. */
	unlink(path);
	rc = scribe_journal_create(&job->journal, path, scribe_job_journal_layout());
	if (rc < 0)
		fprintf(stderr, "ioscribed: %s: %s: job %s of uid %u will not survive this daemon\n", path,
			strerror(-rc), name_of(job), (unsigned)c->uid);
	put(job, SCRIBE_ENTRY_BEGIN, &head, sizeof(head), text, bytes);
}

void scribe_job_journal_process(struct scribe_process *p)
{
	struct scribe_job_journal_process head = {.proc_id = p->proc_id,
						  .parent = p->parent_serial,
						  .index = p->index,
						  .tgid = p->tgid,
						  .uid = p->uid,
						  .start_ns = p->start_ns};

	memcpy(head.comm, p->comm, sizeof(head.comm));
	put(p->job, SCRIBE_ENTRY_PROCESS, &head, sizeof(head), NULL, 0);
}

void scribe_job_journal_name(struct scribe_job *job, uint32_t slot, uint32_t generation,
			     const struct scribe_name_entry *name)
{
	struct scribe_job_journal_name head = {.slot = slot, .generation = generation, .file_id = name->file_id};

	put(job, SCRIBE_ENTRY_NAME, &head, sizeof(head), name->text, name->bytes);
}

void scribe_job_journal_exec(struct scribe_process *p, const char *argv, size_t bytes, const char *exe)
{
	struct scribe_job_journal_exec head = {
		.proc_id = p->proc_id, .own_root_dir = p->own_root_dir, .exe_bytes = exe ? (uint32_t)strlen(exe) : 0};
	struct scribe_journal_piece piece[3] = {{&head, sizeof(head)}, {exe, head.exe_bytes}, {argv, bytes}};

	memcpy(head.comm, p->comm, sizeof(head.comm));
	put_pieces(p->job, SCRIBE_ENTRY_EXEC, piece, 3);
}

void scribe_job_journal_parent_cmdline(struct scribe_process *p, const char *argv, size_t bytes)
{
	put(p->job, SCRIBE_ENTRY_PARENT_CMDLINE, &p->proc_id, sizeof(p->proc_id), argv, bytes);
}

void scribe_job_journal_bypass(struct scribe_process *p, const char *library)
{
	put(p->job, SCRIBE_ENTRY_BYPASS, &p->proc_id, sizeof(p->proc_id), library, strlen(library));
}

void scribe_job_journal_env(struct scribe_process *p, const struct scribe_rankenv *env)
{
	struct scribe_job_journal_env head = {.proc_id = p->proc_id, .disabled = p->disabled};

	if (env)
		put(p->job, SCRIBE_ENTRY_ENV, &head, sizeof(head), env, sizeof(*env));
	/* The pieces so far are no longer in the ring, so the reader's state is saved. */
	else if (p->env)
		put(p->job, SCRIBE_ENTRY_READER, &head, sizeof(head), p->env, sizeof(*p->env));
}

/* Called before the slot is freed, so that kernel or journal has the record. */
void scribe_job_journal_record(struct scribe_process *p, const struct scribe_slot_view *v, bool lives)
{
	/* Four shards with all tables. */
	static uint64_t capacity[(scribe_pack_room(sizeof(struct scribe_slot)) +
				  2 * scribe_pack_room(sizeof(struct scribe_value_table)) +
				  scribe_pack_room(sizeof(struct scribe_heat_table))) /
				 8 * 4];
	struct scribe_job_journal_record head = {
		.proc_id = p->proc_id, .slot = v->index, .shards = v->nshards, .lives = lives};
	char *at = (char *)capacity;
	struct scribe_slot slot;

	if (!scribe_journal_is_open(&p->job->journal))
		return;
	slot = *v->slot;
	for (unsigned i = 0; i < v->nshards; i++) {
		/* Further shards need only their counters. */
		if (i)
			memset(&slot, 0, sizeof(slot));
		slot.ext = *v->ext[i];
		memcpy(slot.cache_often, v->part[i]->cache_often, sizeof(slot.cache_often));
		memcpy(slot.cache_seldom, v->part[i]->cache_seldom, sizeof(slot.cache_seldom));
		slot.shard = *v->shard[i];
		slot.heat = *v->heat[i];
		head.tables[i] = (v->access[i] ? 1 : 0) | (v->stride[i] ? 2 : 0) | (v->heat_table[i] ? 4 : 0);
		at += scribe_pack(&slot, sizeof(slot), at);
		if (v->access[i])
			at += scribe_pack(v->access[i], sizeof(*v->access[i]), at);
		if (v->stride[i])
			at += scribe_pack(v->stride[i], sizeof(*v->stride[i]), at);
		if (v->heat_table[i])
			at += scribe_pack(v->heat_table[i], sizeof(*v->heat_table[i]), at);
	}
	put(p->job, SCRIBE_ENTRY_RECORD, &head, sizeof(head), capacity, (size_t)(at - (char *)capacity));
}

void scribe_job_journal_place(struct scribe_process *p, const struct scribe_stream_use *use, uint32_t slot,
			      uint32_t generation)
{
	struct scribe_job_journal_place head = {
		.proc_id = p->proc_id, .use = *use, .slot = slot, .generation = generation};

	put(p->job, SCRIBE_ENTRY_PLACE, &head, sizeof(head), NULL, 0);
}

void scribe_job_journal_stream(struct scribe_process *p, const struct scribe_stream_use *use, uint64_t id,
			       const struct scribe_stream_copy *c)
{
	static uint64_t capacity[(scribe_pack_room(sizeof(c->s.shard[0])) + scribe_pack_room(sizeof(c->s.heat[0])) +
				  scribe_pack_room(sizeof(c->more.ext[0])) +
				  scribe_pack_room(sizeof(c->more.access[0])) + scribe_pack_room(sizeof(c->heat[0]))) /
				 8 * SCRIBE_STREAM_SHARDS];
	struct scribe_job_journal_stream head = {.proc_id = p->proc_id, .use = *use, .id = id};
	char *at = (char *)capacity;

	if (!scribe_journal_is_open(&p->job->journal))
		return;
	/* The program's shadow is not needed any more. */
	for (int i = SCRIBE_SHARD_OWNER; i <= SCRIBE_SHARD_SHARED; i++) {
		at += scribe_pack(&c->s.shard[i], sizeof(c->s.shard[i]), at);
		at += scribe_pack(&c->s.heat[i], sizeof(c->s.heat[i]), at);
		if (c->s.heat[i].table)
			at += scribe_pack(&c->heat[i], sizeof(c->heat[i]), at);
		if (!use->file)
			continue;
		at += scribe_pack(&c->more.ext[i], sizeof(c->more.ext[i]), at);
		at += scribe_pack(&c->more.access[i], sizeof(c->more.access[i]), at);
	}
	put(p->job, SCRIBE_ENTRY_STREAM, &head, sizeof(head), capacity, (size_t)(at - (char *)capacity));
}

void scribe_job_journal_drained(struct scribe_process *p, uint64_t records)
{
	struct scribe_job_journal_drained head = {.proc_id = p->proc_id,
						  .records = records,
						  .overflowed_files = p->totals.overflowed_files,
						  .cpu_ns = p->totals.cpu_ns,
						  .cost_ns = p->totals.cost_ns,
						  .cost_calls = p->totals.cost_calls};

	put(p->job, SCRIBE_ENTRY_DRAINED, &head, sizeof(head), NULL, 0);
}

void scribe_mark_incomplete(struct scribe_process *p, uint64_t modules, const char *why)
{
	struct scribe_job_journal_missed head = {.proc_id = p->proc_id, .modules = modules};

	/* Many calls report the same library. */
	if (!(modules & ~p->missed))
		return;
	scribe_worlds_missed(p, modules, why);
	put(p->job, SCRIBE_ENTRY_MISSED, &head, sizeof(head), why, why ? strlen(why) : 0);
}

void scribe_job_journal_end(struct scribe_process *p, enum scribe_process_end kind)
{
	struct scribe_job_journal_end head = {
		.proc_id = p->proc_id, .kind = kind, .status = p->status, .end_ns = p->end_ns};

	put(p->job, SCRIBE_ENTRY_END, &head, sizeof(head), NULL, 0);
}

void scribe_job_journal_hello(struct scribe_process *p, int64_t rank, int64_t size, const char *name)
{
	struct scribe_job_journal_hello head = {.proc_id = p->proc_id, .rank = rank, .size = size};

	snprintf(head.name, sizeof(head.name), "%s", name ? name : "");
	put(p->job, SCRIBE_ENTRY_HELLO, &head, sizeof(head), NULL, 0);
}

void scribe_job_journal_settings(struct scribe_job *job, const char *lines, size_t bytes)
{
	put(job, SCRIBE_ENTRY_SETTINGS, lines, bytes, NULL, 0);
}

void scribe_job_journal_budget(struct scribe_job *job)
{
	put(job, SCRIBE_ENTRY_BUDGET, job->budget.ended_ns, sizeof(job->budget.ended_ns), NULL, 0);
}

void scribe_job_journal_ending(struct scribe_job *job)
{
	put(job, SCRIBE_ENTRY_ENDING, &job->ending_deadline_ns, sizeof(job->ending_deadline_ns), NULL, 0);
}

void scribe_job_journal_claimed(struct scribe_job *job, const struct scribe_log_unit *u, const char *path)
{
	struct scribe_job_journal_claimed head = {.unit = u->id, .number = job->nlogs};

	put(job, SCRIBE_ENTRY_CLAIMED, &head, sizeof(head), path, strlen(path));
}

void scribe_job_journal_committed(struct scribe_job *job, const struct scribe_log_unit *u,
				  const struct scribe_msg_log *m)
{
	put(job, SCRIBE_ENTRY_COMMITTED, &u->id, sizeof(u->id), m, m ? sizeof(*m) : 0);
}

void scribe_job_journal_held(struct scribe_job *job, uint64_t begin, uint64_t end, const struct scribe_event *e,
			     const char *text)
{
	const struct scribe_job_journal_held head = {.begin = begin, .end = end, .event = *e};

	put(job, SCRIBE_ENTRY_HELD, &head, sizeof(head), text, e->text_bytes);
}

void scribe_job_journal_position(struct scribe_job *job, uint64_t position)
{
	/* After the entries of those events: a daemon that dies in between takes events twice, but loses none. */
	if (scribe_journal_is_open(&job->journal) && !scribe_journal_is_broken(&job->journal))
		__atomic_store_n(&job->journal.head->position, position, __ATOMIC_RELEASE);
}

void scribe_job_journal_survived(struct scribe_daemon *d)
{
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		if (scribe_journal_is_open(&job->journal))
			job->journal.head->read = 0;
}

void scribe_job_journal_forget(struct scribe_job *job)
{
	char path[160];

	if (!scribe_journal_is_open(&job->journal))
		return;
	scribe_journal_close(&job->journal);
	if (scribe_job_journal_path(job->daemon, job->index, path, sizeof(path)) == 0)
		unlink(path);
}

void scribe_job_journal_pins(const char *dir, char *ret_path, size_t cap)
{
	/* Services with other directories must not share pins. */
	if (!strcmp(dir, SCRIBE_SERVICE_DIR))
		snprintf(ret_path, cap, BPF_FS "/ioscribe");
	else
		snprintf(ret_path, cap, BPF_FS "/ioscribe-%016llx",
			 (unsigned long long)scribe_record_id(dir, strlen(dir)));
}
