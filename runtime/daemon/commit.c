/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commit: one finished log for a unit. Records come from this daemon's memory
 * (deferred) or from the ranks' own reduced log (collective), to which later
 * I/O, the process table and the ledger are added.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/daemon/attrs.h"
#include "runtime/daemon/daemon.h"
#include "runtime/daemon/deliver.h"
#include "runtime/daemon/keep.h"
#include "runtime/daemon/libs.h"
#include "runtime/daemon/gather.h"
#include "runtime/daemon/parts.h"
#include "runtime/daemon/sources.h"

uint64_t scribe_commit_partial(struct scribe_work *w, struct scribe_ledger *ret_ledger)
{
	uint64_t late;

	memset(ret_ledger, 0, sizeof(*ret_ledger));
	if (w->daemon->bpf)
		scribe_bpf_ledger(w->daemon->bpf, w->index, ret_ledger);
	ret_ledger->v[SCRIBE_L_NAME_LOST] = w->names_lost;
	ret_ledger->v[SCRIBE_L_NAME_AS_GIVEN] = w->names_as_given;
	ret_ledger->v[SCRIBE_L_NOT_JUDGED] = w->judge.given_up;
	late = w->excluded_late <= ret_ledger->v[SCRIBE_L_RECORDED] ? w->excluded_late : 0;
	ret_ledger->v[SCRIBE_L_EVENTS] -= late;
	ret_ledger->v[SCRIBE_L_RECORDED] -= late;
	ret_ledger->v[SCRIBE_L_EXCLUDED] += late;
	ret_ledger->v[SCRIBE_L_STREAMS_STOPPED] = w->streams_stopped;
	ret_ledger->v[SCRIBE_L_LAYOUTS_LATE] = scribe_attrs_silent(w);
	if (ret_ledger->v[SCRIBE_L_DROP_NO_SLOT] || ret_ledger->v[SCRIBE_L_DROP_NO_PROC] ||
	    ret_ledger->v[SCRIBE_L_DROP_STORAGE] || w->memory_out)
		return 1ull << SCRIBE_MOD_POSIX;
	return 0;
}

static void fill_job(struct scribe_work *w, const struct scribe_unit *u, uint64_t base_ns, uint64_t end_ns,
		     const char *how, struct scribe_log_job *job)
{
	uint64_t start = base_ns + (uint64_t)w->realtime_ns, end = end_ns + (uint64_t)w->realtime_ns;

	memset(job, 0, sizeof(*job));
	job->uid = w->config.uid;
	job->start_time_sec = (int64_t)(start / 1000000000);
	job->start_time_nsec = (int64_t)(start % 1000000000);
	job->end_time_sec = (int64_t)(end / 1000000000);
	job->end_time_nsec = (int64_t)(end % 1000000000);
	job->nprocs = scribe_unit_nprocs(u);
	job->jobid = u->jobid >= 0 && !w->config.job_number[0] ? u->jobid : w->number;
	snprintf(job->metadata, sizeof(job->metadata), "lib_ver=%s\ntracer=ioscribe\nfinalize=%s\n%s%s%s",
		 IOSCRIBE_VERSION, how, w->config.log_hints[0] ? "h=" : "", w->config.log_hints,
		 w->config.log_hints[0] ? "\n" : "");
}

/* Why library calls may be missing, for who reads the log. */
static void add_why(struct scribe_log_job *job, const struct scribe_unit *u)
{
	size_t n = strlen(job->metadata);

	if (u->missed && u->why[0] && n + strlen(u->why) + sizeof("incomplete=\n") <= sizeof(job->metadata))
		sprintf(job->metadata + n, "incomplete=%s\n", u->why);
}

/* The metadata of a part: that of a log, and what it is a part of. */
static int fill_part(struct scribe_work *w, struct scribe_unit *u, struct scribe_log_job *job)
{
	char text[sizeof(job->metadata)];
	int n = scribe_parts_describe(w, u, text, sizeof(text));

	if (n < 0 || (size_t)n + strlen(job->metadata) >= sizeof(job->metadata))
		return -ENAMETOOLONG;
	strcat(job->metadata, text);
	return 0;
}

static const char *exe_line(struct scribe_work *w, const struct scribe_unit *u)
{
	struct scribe_process *leader = scribe_place_leader(w, u);

	if (!leader)
		return "";
	return leader->args && leader->args[0] ? leader->args : leader->exe ? leader->exe : leader->comm;
}

/* Names of all ids that the bundle's records speak of, each once. */
static int write_names(struct scribe_work *w, struct scribe_bundle *b, const struct scribe_unit *u,
		       struct scribe_writer *wr)
{
	struct scribe_map done = {0};
	char name[128];
	size_t bytes;
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++) {
		const struct scribe_bundled *r = b->rec[i];
		const struct scribe_bundle_name *had = scribe_map_get(&b->names, r->id);
		const struct scribe_label *label = scribe_labels_by_id(&w->labels, r->id);

		if (scribe_map_get(&done, r->id))
			continue;
		rc = scribe_map_put(&done, r->id, b);
		if (rc < 0)
			break;
		bytes = scribe_gather_name(w, r, name, sizeof(name));
		if (bytes) {
			rc = scribe_writer_name(wr, r->id, name, bytes);
		} else if (label) {
			rc = scribe_writer_name(wr, r->id, label->text, label->bytes);
		} else if (had) {
			rc = scribe_writer_name(wr, r->id, had->text, had->bytes);
		}
	}
	(void)u;
	scribe_map_clear(&done);
	return rc;
}

static int write_log(struct scribe_work *w, struct scribe_bundle *b, const struct scribe_unit *u,
		     const struct scribe_log_job *job, const char *exe, int fd, bool compressed,
		     uint64_t partial, struct scribe_err *err)
{
	struct scribe_writer_options options = {.compression =
							compressed ? SCRIBE_COMP_ZLIB : SCRIBE_COMP_NONE,
						.list_own = !compressed /* the runtime reads the header */};
	struct scribe_writer *wr = NULL;
	int rc = scribe_writer_create_fd(fd, &options, &wr, err);

	if (rc < 0)
		return rc;
	rc = scribe_writer_job(wr, job, exe, w->mounts.mount, w->mounts.n);
	if (rc == 0)
		rc = write_names(w, b, u, wr);
	if (rc == 0)
		rc = scribe_bundle_write(b, wr);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (partial & 1ull << i)
			scribe_writer_partial(wr, i);
	if (rc == 0)
		rc = scribe_writer_finish(wr);
	if (rc < 0 && err) {
		*err = *scribe_writer_error(wr);
		if (!err->text[0])
			scribe_err_set(err, rc, "cannot write the log: %s", scribe_strerror(rc));
		if (rc == -EFBIG)
			scribe_err_set(
				err, rc,
				"the log is beyond the limit of file sizes here (ulimit -f): raise it");
	}
	scribe_writer_free(wr);
	return rc;
}

int scribe_commit_image(struct scribe_work *w, struct scribe_unit *u, struct scribe_rank *r,
			uint64_t *ret_bytes, uint64_t *ret_partial, struct scribe_err *err)
{
	struct scribe_bundle b = {0};
	struct scribe_ledger ledger;
	struct scribe_log_job job;
	uint64_t partial = scribe_commit_partial(w, &ledger) | u->missed;
	struct stat st;
	int fd = memfd_create("ioscribe-records", MFD_CLOEXEC | MFD_ALLOW_SEALING), rc;

	if (fd < 0)
		return scribe_err_set(err, -errno, "cannot make a memory file: %s", strerror(errno));
	fill_job(w, u, u->base_ns, scribe_now_ns(), "collective", &job);
	rc = scribe_gather_rank(w, r, u->base_ns, &b, &partial);
	if (rc < 0)
		scribe_err_set(err, rc, "out of memory");
	else
		rc = write_log(w, &b, u, &job, exe_line(w, u), fd, false, partial, err);
	scribe_bundle_clear(&b);
	if (rc == 0 && (fstat(fd, &st) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0))
		rc = scribe_err_set(err, -errno, "cannot seal the memory file: %s", strerror(errno));
	if (rc < 0) {
		close(fd);
		return rc;
	}
	*ret_bytes = (uint64_t)st.st_size;
	*ret_partial = partial;
	return fd;
}

/* Have all ranks of the world, all of them here, agreed that their log is complete? */
bool scribe_commit_agreed(const struct scribe_unit *u)
{
	if (!u->partial || !scribe_map_get(&u->ranks, 0))
		return false;
	for (size_t i = 0; i < u->ranks.places; i++) {
		const struct scribe_rank *r = u->ranks.place[i].value;

		if (r && r->state != SCRIBE_RANK_DONE)
			return false;
	}
	return true;
}

/* The ranks' own log, from the copy that was fetched. */
static int read_partial(const struct scribe_unit *u, int fd, struct scribe_bundle *b,
			struct scribe_log_job *ret_job, uint64_t *ret_partial, struct scribe_err *err)
{
	struct scribe_reader *r = NULL;
	int rc = scribe_reader_open_fd(fd, u->partial, &r, err);

	if (rc < 0)
		return rc;
	*ret_job = *scribe_reader_job(r);
	*ret_partial = scribe_reader_header(r)->partial_flag;
	/* a user may have written it: times that can be reckoned with */
	if (ret_job->start_time_sec < 0 || ret_job->start_time_sec >= 1ll << 33 ||
	    ret_job->start_time_nsec < 0 || ret_job->start_time_nsec >= 1000000000)
		rc = scribe_err_set(err, -EINVAL, "%s: begins at an impossible time", u->partial);
	if (rc == 0)
		rc = scribe_bundle_read(b, r, err);
	scribe_reader_free(r);
	return rc;
}

static void sum_up(const struct scribe_bundle *b, struct scribe_msg_log *m)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct scribe_posix_record *r = (const void *)b->rec[i]->data;

		if (b->rec[i]->module != SCRIBE_MOD_POSIX)
			continue;
		m->bytes_read += (uint64_t)r->counters[SCRIBE_POSIX_BYTES_READ];
		m->bytes_written += (uint64_t)r->counters[SCRIBE_POSIX_BYTES_WRITTEN];
		m->read_seconds += r->fcounters[SCRIBE_POSIX_F_READ_TIME];
		m->write_seconds += r->fcounters[SCRIBE_POSIX_F_WRITE_TIME];
		m->meta_seconds += r->fcounters[SCRIBE_POSIX_F_META_TIME];
	}
}

static void count_files(const struct scribe_bundle *b, struct scribe_msg_log *m)
{
	struct scribe_map seen = {0};

	for (size_t i = 0; i < b->n; i++) {
		const struct scribe_bundled *r = b->rec[i];

		if (r->module != SCRIBE_MOD_POSIX || scribe_map_get(&seen, r->id))
			continue;
		m->files++;
		if (scribe_map_put(&seen, r->id, m) < 0)
			break;
	}
	scribe_map_clear(&seen);
}

static void describe(struct scribe_work *w, const struct scribe_unit *u, const struct scribe_bundle *b,
		     struct scribe_msg_log *m)
{
	snprintf(m->world, sizeof(m->world), "%.255s", u->key);
	snprintf(m->exe, sizeof(m->exe), "%s", exe_line(w, u));
	m->nprocs = (uint32_t)scribe_unit_nprocs(u);
	m->still_running = u->live;
	m->failed = (uint32_t)u->failed;
	m->processes = u->processes;
	m->operations = u->unlisted.operations;
	m->folded_files = u->unlisted.folded_files;
	for (const struct scribe_process *p = u->first; p; p = p->next) {
		m->operations += p->totals.operations;
		m->folded_files += p->totals.folded_files;
	}
	sum_up(b, m);
	count_files(b, m);
}

/* All of the unit's records, however they came. */
static int gather(struct scribe_work *w, struct scribe_unit *u, int theirs_fd, struct scribe_bundle *b,
		  struct scribe_log_job *job, uint64_t *partial, struct scribe_msg_log *m)
{
	uint64_t base = u->base_ns ? u->base_ns : u->start_ns;
	uint64_t end = u->live || u->end_ns < base ? scribe_now_ns() : u->end_ns;
	struct scribe_log_job theirs;
	struct scribe_err why;
	uint64_t flags = 0;

	fill_job(w, u, base, end, "deferred", job);
	if (scribe_parts_unit(w, u)) {
		int rc = fill_part(w, u, job);

		/* what the ranks had fetched stands in a file of its own */
		return rc < 0 ? rc : scribe_gather_late(w, u, base, b, partial);
	}
	if (theirs_fd >= 0 && read_partial(u, theirs_fd, b, &theirs, &flags, &why) == 0) {
		base = (uint64_t)(theirs.start_time_sec * 1000000000 + theirs.start_time_nsec -
				  w->realtime_ns);
		/* clocks of nodes differ */
		fill_job(w, u, base, end < base ? base : end, "collective", job);
		*partial |= flags;
		m->collective = 1;
		return scribe_gather_late(w, u, base, b, partial);
	}
	scribe_bundle_clear(b);
	return scribe_gather_deferred(w, u, base, b, partial);
}

/* Where the log is written first, and where it belongs. */
static int place(struct scribe_work *w, struct scribe_unit *u, char *ret_partial, struct scribe_msg_log *m,
		 struct scribe_err *err)
{
	int rc = 0;

	if (scribe_parts_unit(w, u)) {
		rc = scribe_parts_unit_path(w, u, SCRIBE_PART_LATE, m->path, sizeof(m->path));
		snprintf(ret_partial, SCRIBE_PATH_MAX, "%.4000s", m->path);
		u->part = true;
		m->part = 1;
	} else {
		if (u->partial)
			snprintf(ret_partial, SCRIBE_PATH_MAX, "%s", u->partial);
		else
			rc = scribe_place_partial(w, u, ret_partial, SCRIBE_PATH_MAX, err);
		if (rc == 0)
			rc = scribe_place_final(w, ret_partial, (uint64_t)m->seconds + 1, m->path,
						sizeof(m->path));
	}
	return rc < 0 ? scribe_err_set(err, -ENAMETOOLONG, "the log's path is too long") : 0;
}

int scribe_commit_build_first(struct scribe_work *w, struct scribe_unit *u, int fd, struct scribe_err *err)
{
	struct scribe_rank **ranks = NULL;
	struct scribe_bundle b = {0};
	struct scribe_ledger ledger;
	struct scribe_log_job job;
	uint64_t partial = scribe_commit_partial(w, &ledger) | u->missed;
	size_t n = 0, with = 0;
	int rc = scribe_unit_ranks(u, &ranks, &n);

	for (size_t i = 0; rc == 0 && i < n; i++)
		if (ranks[i]->fetched) {
			rc = scribe_gather_rank(w, ranks[i], u->base_ns, &b, &partial);
			with++;
		}
	free(ranks);
	if (rc < 0)
		scribe_err_set(err, rc, "cannot collect the records: %s", scribe_strerror(rc));
	if (rc == 0 && with) {
		fill_job(w, u, u->base_ns, u->end_ns > u->base_ns ? u->end_ns : scribe_now_ns(), "first",
			 &job);
		rc = write_log(w, &b, u, &job, exe_line(w, u), fd, true, partial, err);
	}
	scribe_bundle_clear(&b);
	return rc < 0 ? rc : !with;
}

int scribe_commit_build(struct scribe_work *w, struct scribe_unit *u, int theirs, int fd, char *ret_partial,
			struct scribe_msg_log *m, struct scribe_err *err)
{
	struct scribe_bundle b = {0};
	struct scribe_ledger ledger;
	struct scribe_log_job job;
	uint64_t partial = scribe_commit_partial(w, &ledger) | u->missed;
	uint64_t base;
	int rc = gather(w, u, theirs, &b, &job, &partial, m);

	base = (uint64_t)(job.start_time_sec * 1000000000 + job.start_time_nsec - w->realtime_ns);
	if (rc == 0)
		rc = scribe_sources_files(w, &b, &partial);
	if (rc == 0)
		rc = scribe_gather_processes(w, &b, u, base);
	if (rc == 0)
		rc = scribe_gather_ledger(w, &b, u, &ledger);
	if (rc < 0)
		scribe_err_set(err, rc, "cannot collect the records: %s", scribe_strerror(rc));
	describe(w, u, &b, m);
	/* what libraries' probes have missed has a line of its own */
	m->partial = (u->why[0] ? partial & ~u->missed : partial) != 0;
	snprintf(m->missing, sizeof(m->missing), "%s", u->missed ? u->why : "");
	add_why(&job, u);
	m->seconds = (double)(job.end_time_sec - job.start_time_sec) +
		     (double)(job.end_time_nsec - job.start_time_nsec) / 1e9;
	if (rc == 0)
		rc = place(w, u, ret_partial, m, err);
	if (rc == 0)
		rc = write_log(w, &b, u, &job, exe_line(w, u), fd, true, partial, err);
	scribe_bundle_clear(&b);
	return rc;
}

static bool has_records(const struct scribe_unit *u)
{
	for (size_t i = 0; i < u->ranks.places; i++) {
		const struct scribe_rank *r = u->ranks.place[i].value;

		if (r && (scribe_records_speak(r->records) || scribe_records_speak(r->fetched)))
			return true;
	}
	return false;
}

void scribe_commit_forget(struct scribe_work *w, struct scribe_unit *u)
{
	for (size_t i = 0; i < u->ranks.places; i++) {
		struct scribe_rank *r = u->ranks.place[i].value;

		if (r) {
			r->records = scribe_records_free(r->records);
			r->fetched = scribe_records_free(r->fetched);
		}
	}
	scribe_worlds_forget(&w->worlds, u);
}

struct scribe_msg_log *scribe_commit_message(struct scribe_work *w)
{
	if (w->logs == w->logs_room) {
		size_t room = w->logs_room ? w->logs_room * 2 : 4;
		struct scribe_msg_log *more = realloc(w->log, room * sizeof(*more));

		if (!more)
			return NULL;
		w->log = more;
		w->logs_room = room;
	}
	memset(&w->log[w->logs], 0, sizeof(*w->log));
	return &w->log[w->logs++];
}

static void commit_unit(struct scribe_work *w, struct scribe_unit *u)
{
	for (struct scribe_process *p = u->first; p; p = p->next)
		if (!p->ended)
			scribe_drain_living(w->daemon, p);
	u->committed = true;
	/* launchers alone, with no recorded I/O of their own, make no log */
	if (!u->id && !u->others && !has_records(u)) {
		scribe_keep_committed(w, u, NULL);
		return;
	}
	if (scribe_commit_message(w))
		scribe_deliver_unit(w, u, w->logs - 1);
}

void scribe_commit_resumed(struct scribe_work *w, uint32_t unit, const struct scribe_msg_log *m)
{
	struct scribe_unit *u = w->worlds.units;
	struct scribe_msg_log *to;

	while (u && u->id != unit)
		u = u->next;
	if (!u)
		return;
	u->committed = true;
	u->part = m && m->part;
	to = m ? scribe_commit_message(w) : NULL;
	if (to)
		*to = *m;
	scribe_commit_forget(w, u);
}

void scribe_commit_due(struct scribe_work *w, bool all)
{
	struct scribe_unit *u;

	if (w->over)
		return;
	for (u = w->worlds.units; u; u = u->next)
		if (u->id && !u->committed && (all || scribe_unit_is_over(&w->worlds, u)))
			commit_unit(w, u);
	/* the rest of the job comes last: only its end says that it is over */
	if (all && !w->worlds.rest->committed)
		commit_unit(w, w->worlds.rest);
}
