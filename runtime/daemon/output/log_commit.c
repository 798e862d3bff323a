/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the log of a unit in a memory file, from the daemon's records (deferred) or from the ranks' own log
 * and later I/O (collective), in a snapshot if possible. Plans, images and paths: main thread.
 */
#include "runtime/daemon/output/log_commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/attach/syscall_attach.h"
#include "runtime/daemon/events/modules.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/lookup/file_xattrs.h"
#include "runtime/daemon/operations/publish.h"
#include "runtime/daemon/operations/segment_windows.h"
#include "runtime/daemon/operations/segments.h"
#include "runtime/daemon/output/log_build.h"
#include "runtime/daemon/output/log_path.h"
#include "runtime/daemon/output/node_parts.h"
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/state/job_nodes.h"
#include "runtime/daemon/tables/heatmaps.h"

uint64_t scribe_commit_partial(struct scribe_job *job, struct scribe_ledger *ret_ledger)
{
	bool dropped = job->losses.memory;
	uint64_t late, partial;

	memset(ret_ledger, 0, sizeof(*ret_ledger));
	if (job->daemon->bpf)
		scribe_bpf_ledger(job->daemon->bpf, job->index, ret_ledger);
	ret_ledger->v[SCRIBE_L_LATE_PROCS] += scribe_sysattach_late(job);
	ret_ledger->v[SCRIBE_L_NAME_LOST] = job->losses.names;
	ret_ledger->v[SCRIBE_L_NAME_UNRESOLVED] += job->losses.names_unresolved;
	ret_ledger->v[SCRIBE_L_NOT_JUDGED] = job->exclusion.given_up;
	/* Moved between counters: files that were excluded or merged after they were counted. */
	late = job->losses.excluded_late <= ret_ledger->v[SCRIBE_L_RECORDED] ? job->losses.excluded_late : 0;
	ret_ledger->v[SCRIBE_L_EVENTS] -= late;
	ret_ledger->v[SCRIBE_L_RECORDED] -= late;
	ret_ledger->v[SCRIBE_L_EXCLUDED] += late;
	late = job->losses.overflowed_late <= ret_ledger->v[SCRIBE_L_RECORDED] ? job->losses.overflowed_late : 0;
	ret_ledger->v[SCRIBE_L_RECORDED] -= late;
	ret_ledger->v[SCRIBE_L_OVERFLOWED] += late;
	ret_ledger->v[SCRIBE_L_OVERFLOWED_FILES] += job->losses.files_overflowed;
	ret_ledger->v[SCRIBE_L_APPROX_TIME] += job->losses.untimed;
	ret_ledger->v[SCRIBE_L_LAYOUT_TIMEOUT] = scribe_file_xattrs_silent(job);
	partial = scribe_segments_ledger(job, ret_ledger);
	for (int i = 0; i < SCRIBE_L_LATE_PROCS; i++)
		dropped |= ret_ledger->v[i] && scribe_ledger_meaning(i) == SCRIBE_IS_DROP;
	return dropped ? partial | 1ull << SCRIBE_MOD_POSIX : partial;
}

/* The ledger for a log, in which events and records must add up. */
static uint64_t partial_of_log(struct scribe_job *job, struct scribe_ledger *ret_ledger)
{
	uint64_t partial = scribe_commit_partial(job, ret_ledger), *v = ret_ledger->v, undrained[2];
	uint64_t drained = v[SCRIBE_L_RECORDED] + v[SCRIBE_L_OVERFLOWED];
	uint64_t missing = v[SCRIBE_L_EVENTS] > drained ? v[SCRIBE_L_EVENTS] - drained : 0;

	if (!missing || !job->daemon->bpf)
		return partial;
	/*
	 * Ended threads have reported their counts, but their process's records may not be drained yet: another program
	 * of the job still runs or has just ended.
	 */
	scribe_bpf_undrained(job->daemon->bpf, job->index, undrained);
	if (undrained[1] > missing)
		undrained[1] = missing;
	v[SCRIBE_L_EVENTS] -= undrained[1];
	v[SCRIBE_L_EXCLUDED] += undrained[1];
	missing -= undrained[1];
	v[SCRIBE_L_RECORDED] += undrained[0] < missing ? undrained[0] : missing;
	return partial;
}

/* To the log's metadata, if there is space. */
static void add_line(struct scribe_log_job *header, const char *key, const char *value)
{
	const size_t n = strlen(header->metadata);

	if (n + strlen(key) + strlen(value) + sizeof("=\n") <= sizeof(header->metadata))
		sprintf(header->metadata + n, "%s=%s\n", key, value);
}

static void fill_job(struct scribe_job *job, const struct scribe_log_unit *u, uint64_t base_ns, uint64_t end_ns,
		     const char *how, struct scribe_log_job *header)
{
	uint64_t start = base_ns + (uint64_t)job->realtime_ns, end = end_ns + (uint64_t)job->realtime_ns;
	char bypass[160];

	memset(header, 0, sizeof(*header));
	header->uid = job->config.uid;
	header->start_time_sec = (int64_t)(start / 1000000000);
	header->start_time_nsec = (int64_t)(start % 1000000000);
	header->end_time_sec = (int64_t)(end / 1000000000);
	header->end_time_nsec = (int64_t)(end % 1000000000);
	header->nprocs = scribe_log_unit_nprocs(u);
	header->jobid = u->jobid >= 0 && !job->config.job_number[0] ? u->jobid : job->log_job_id;
	snprintf(header->metadata, sizeof(header->metadata), "lib_ver=%s\ntracer=ioscribe\nfinalize=%s\n%s%s%s",
		 IOSCRIBE_VERSION, how, job->config.log_hints[0] ? "h=" : "", job->config.log_hints,
		 job->config.log_hints[0] ? "\n" : "");
	scribe_log_unit_bypass(u, bypass, sizeof(bypass));
	if (bypass[0])
		add_line(header, "bypass", bypass);
	if (!u->id && job->worlds.launchers[0])
		add_line(header, "launchers", job->worlds.launchers);
	if (!u->id && job->worlds.unknown_ranks) {
		snprintf(bypass, sizeof(bypass), "%llu", (unsigned long long)job->worlds.unknown_ranks);
		add_line(header, "ranks_unknown", bypass);
	}
}

int scribe_commit_plan(struct scribe_job *job, struct scribe_log_unit *u, struct scribe_commit_plan *plan,
		       struct scribe_err *err)
{
	memset(plan, 0, sizeof(*plan));
	plan->account.partial = partial_of_log(job, &plan->account.ledger) | u->missed;
	scribe_log_build_account(job, &plan->account);
	if (scribe_node_parts_unit(job, u) && scribe_node_parts_describe(job, u, plan->part, sizeof(plan->part)) < 0)
		return scribe_err_set(err, -ENAMETOOLONG, "the log's path is too long");
	return 0;
}

static int fill_part(const struct scribe_commit_plan *plan, struct scribe_log_job *header)
{
	if (strlen(plan->part) + strlen(header->metadata) >= sizeof(header->metadata))
		return -ENAMETOOLONG;
	strcat(header->metadata, plan->part);
	return 0;
}

static const char *exe_line(struct scribe_job *job, const struct scribe_log_unit *u)
{
	struct scribe_process *leader = scribe_log_path_leader(job, u);

	if (!leader)
		return "";
	return leader->args && leader->args[0] ? leader->args : leader->exe ? leader->exe : leader->comm;
}

struct naming {
	struct scribe_job *w;
	const struct scribe_bundle *b;
	struct scribe_writer *wr;
	struct scribe_map done; /* ids already written */
};

static int write_name(void *ctx, uint64_t id)
{
	struct naming *x = ctx;
	const struct scribe_bundle_name *had = scribe_map_get(&x->b->names, id);
	const struct scribe_name_entry *name = scribe_name_table_by_id(&x->w->names, id);
	int rc = scribe_map_get(&x->done, id) ? 0 : scribe_map_put(&x->done, id, x);

	if (rc < 0 || (!name && !had))
		return rc;
	return name ? scribe_writer_name(x->wr, id, name->text, name->bytes)
		    : scribe_writer_name(x->wr, id, had->text, had->bytes);
}

struct log_spec {
	const struct scribe_log_job *job;
	const char *exe;
	bool compressed;
	uint64_t partial;
	const struct scribe_log_unit *traced; /* its segments; or NULL */
	const struct scribe_window *window;   /* or NULL */
	uint64_t base_ns;                     /* zero of their times */
};

static int write_names(struct scribe_job *job, struct scribe_bundle *b, const struct log_spec *s,
		       struct scribe_writer *wr)
{
	struct naming x = {.w = job, .b = b, .wr = wr};
	char name[SCRIBE_LOG_BUILD_NAME];
	size_t bytes;
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++) {
		const struct scribe_bundled *r = b->rec[i];

		if (scribe_map_get(&x.done, r->id))
			continue;
		bytes = scribe_log_build_name(job, r, name, sizeof(name));
		if (!bytes) {
			rc = write_name(&x, r->id);
			continue;
		}
		rc = scribe_map_put(&x.done, r->id, b);
		if (rc == 0)
			rc = scribe_writer_name(wr, r->id, name, bytes);
	}
	if (rc == 0 && s->traced)
		rc = scribe_segments_names(s->traced, write_name, &x);
	if (rc == 0 && s->window)
		rc = scribe_window_names(s->window, write_name, &x);
	scribe_map_clear(&x.done);
	return rc;
}

/* In rising order of modules, with the traces in between. */
static int write_records(struct scribe_job *job, struct scribe_bundle *b, const struct log_spec *s,
			 struct scribe_writer *wr)
{
	int rc = scribe_bundle_write_modules(b, wr, 0, SCRIBE_MOD_DXT_MPIIO + 1);

	if (rc == 0 && s->traced)
		rc = scribe_segments_write(job, s->traced, s->base_ns, wr);
	if (rc == 0 && s->window)
		rc = scribe_window_write(job, s->window, s->base_ns, wr);
	return rc < 0 ? rc : scribe_bundle_write_modules(b, wr, SCRIBE_MOD_DXT_MPIIO + 1, SCRIBE_MAX_MODULES);
}

static int write_log(struct scribe_job *job, struct scribe_bundle *b, const struct log_spec *s, int fd,
		     struct scribe_err *err)
{
	struct scribe_writer_options options = {.compression = s->compressed ? SCRIBE_COMP_ZLIB : SCRIBE_COMP_NONE,
						.list_own = !s->compressed /* the runtime reads the header */};
	struct scribe_writer *wr = NULL;
	int rc = scribe_writer_create_fd(fd, &options, &wr, err);

	if (rc < 0)
		return rc;
	rc = scribe_writer_job(wr, s->job, s->exe, job->mounts.mount, job->mounts.n);
	if (rc == 0)
		rc = write_names(job, b, s, wr);
	if (rc == 0)
		rc = write_records(job, b, s, wr);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (s->partial & 1ull << i)
			scribe_writer_partial(wr, i);
	if (rc == 0)
		rc = scribe_writer_finish(wr);
	if (rc < 0 && err) {
		*err = *scribe_writer_error(wr);
		if (!err->text[0])
			scribe_err_set(err, rc, "cannot write the log: %s", scribe_strerror(rc));
		if (rc == -EFBIG)
			scribe_err_set(err, rc, "the log is beyond the limit of file sizes here (ulimit -f): raise it");
	}
	scribe_writer_free(wr);
	return rc;
}

static int write_traced(struct scribe_job *job, struct scribe_bundle *b, struct log_spec *s, int fd,
			struct scribe_err *err)
{
	int rc = write_log(job, b, s, fd, err);

	if (rc == 0 || !scribe_segments_broken(job))
		return rc;
	/* Unreadable segments are left out, and the log is marked incomplete. */
	s->traced = NULL;
	s->partial |= 1ull << SCRIBE_MOD_DXT_POSIX | 1ull << SCRIBE_MOD_DXT_MPIIO;
	return ftruncate(fd, 0) < 0 ? -errno : write_log(job, b, s, fd, err);
}

/* An uncompressed log. Returns a descriptor, owned by the caller. */
int scribe_commit_image(struct scribe_job *job, struct scribe_log_unit *u, struct scribe_rank *r, uint64_t *ret_bytes,
			uint64_t *ret_partial, struct scribe_err *err)
{
	struct scribe_bundle b = {0};
	struct scribe_ledger ledger;
	struct scribe_log_job header;
	uint64_t partial = partial_of_log(job, &ledger) | u->missed;
	struct stat st;
	int fd = memfd_create("ioscribe-records", MFD_CLOEXEC | MFD_ALLOW_SEALING), rc;

	if (fd < 0)
		return scribe_err_set(err, -errno, "cannot make a memory file: %s", strerror(errno));
	fill_job(job, u, u->base_ns, scribe_now_ns(), "collective", &header);
	rc = scribe_daemon_modules_records(job, r->rank, r->fetched, u->base_ns, &b);
	if (rc < 0)
		scribe_err_set(err, rc, "out of memory");
	else
		rc = write_log(job, &b, &(struct log_spec){.job = &header, .exe = exe_line(job, u), .partial = partial},
			       fd, err);
	scribe_bundle_clear(&b);
	/* The rank must not change it. */
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

bool scribe_commit_agreed(const struct scribe_log_unit *u)
{
	if (!u->partial || !scribe_map_get(&u->ranks, 0))
		return false;
	for (size_t i = 0; i < u->ranks.buckets; i++) {
		const struct scribe_rank *r = u->ranks.entry[i].value;

		if (r && r->state != SCRIBE_RANK_DONE)
			return false;
	}
	return true;
}

static int read_partial(const struct scribe_log_unit *u, int fd, struct scribe_bundle *b,
			struct scribe_log_job *ret_job, uint64_t *ret_partial, struct scribe_err *err)
{
	struct scribe_reader *r = NULL;
	int rc = scribe_reader_open_fd(fd, u->partial, &r, err);

	if (rc < 0)
		return rc;
	*ret_job = *scribe_reader_job(r);
	*ret_partial = scribe_reader_header(r)->partial_flag;
	/* A user may have written it: reject times that would overflow below. */
	if (ret_job->start_time_sec < 0 || ret_job->start_time_sec >= 1ll << 33 || ret_job->start_time_nsec < 0 ||
	    ret_job->start_time_nsec >= 1000000000)
		rc = scribe_err_set(err, -EINVAL, "the log of the ranks begins at an impossible time");
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

static void describe(struct scribe_job *job, const struct scribe_log_unit *u, const struct scribe_bundle *b,
		     struct scribe_msg_log *m)
{
	snprintf(m->world, sizeof(m->world), "%.255s", u->key);
	snprintf(m->exe, sizeof(m->exe), "%s", exe_line(job, u));
	m->nprocs = (uint32_t)scribe_log_unit_nprocs(u);
	m->still_running = u->live;
	m->failed = (uint32_t)u->failed;
	m->processes = u->processes;
	m->operations = u->summed_processes.operations;
	m->overflowed_files = u->summed_processes.overflowed_files;
	for (const struct scribe_process *p = u->first; p; p = p->next) {
		m->operations += p->totals.operations;
		m->overflowed_files += p->totals.overflowed_files;
	}
	sum_up(b, m);
	count_files(b, m);
}

static int collect_records(struct scribe_job *job, struct scribe_log_unit *u, const struct scribe_commit_plan *plan,
			   int theirs_fd, struct scribe_bundle *b, struct scribe_log_job *header, uint64_t *partial,
			   struct scribe_msg_log *m)
{
	uint64_t base = u->base_ns ? u->base_ns : u->start_ns;
	uint64_t end = u->live || u->end_ns < base ? scribe_now_ns() : u->end_ns;
	struct scribe_log_job theirs;
	struct scribe_err why;
	uint64_t flags = 0;

	fill_job(job, u, base, end, "deferred", header);
	if (scribe_node_parts_unit(job, u)) {
		int rc = fill_part(plan, header);

		/* Fetched records are in another file (WHAT_FIRST). */
		return rc < 0 ? rc : scribe_log_build_late(job, u, base, b, partial);
	}
	if (theirs_fd >= 0 && read_partial(u, theirs_fd, b, &theirs, &flags, &why) == 0) {
		base = (uint64_t)(theirs.start_time_sec * 1000000000 + theirs.start_time_nsec - job->realtime_ns);
		/* The clocks of nodes differ. */
		fill_job(job, u, base, end < base ? base : end, "collective", header);
		*partial |= flags;
		m->collective = 1;
		return scribe_log_build_late(job, u, base, b, partial);
	}
	scribe_bundle_clear(b);
	return scribe_log_build_deferred(job, u, base, b, partial);
}

int scribe_commit_place(struct scribe_job *job, struct scribe_log_unit *u, char *ret_partial, struct scribe_msg_log *m,
			struct scribe_err *err)
{
	int rc = 0;

	if (scribe_node_parts_unit(job, u)) {
		rc = scribe_parts_unit_path(job, u, SCRIBE_PART_LATE, m->path, sizeof(m->path));
		snprintf(ret_partial, SCRIBE_PATH_MAX, "%.4000s", m->path);
		u->part = true;
		m->part = 1;
	} else if (u->claimed) {
		/* A helper of the earlier daemon may still write to the original temporary name. */
		snprintf(ret_partial, SCRIBE_PATH_MAX, "%.4000s_%d", u->claimed, (int)getpid());
		snprintf(m->path, sizeof(m->path), "%s", u->claimed);
	} else {
		if (u->partial)
			snprintf(ret_partial, SCRIBE_PATH_MAX, "%s", u->partial);
		else
			rc = scribe_log_path_partial(job, u, ret_partial, SCRIBE_PATH_MAX, err);
		if (rc == 0)
			rc = scribe_log_path_final(job, ret_partial, (uint64_t)m->seconds + 1, m->path,
						   sizeof(m->path));
	}
	return rc < 0 ? scribe_err_set(err, -ENAMETOOLONG, "the log's path is too long") : 0;
}

int scribe_commit_build_first(struct scribe_job *job, struct scribe_log_unit *u, const struct scribe_commit_plan *plan,
			      int fd, struct scribe_err *err)
{
	struct scribe_rank **ranks = NULL;
	struct scribe_bundle b = {0};
	struct scribe_log_job header;
	uint64_t partial = plan->account.partial;
	size_t n = 0, with = 0;
	int rc = scribe_log_unit_ranks(u, &ranks, &n);

	for (size_t i = 0; rc == 0 && i < n; i++)
		if (ranks[i]->fetched) {
			rc = scribe_daemon_modules_records(job, ranks[i]->rank, ranks[i]->fetched, u->base_ns, &b);
			with++;
		}
	free(ranks);
	if (rc < 0)
		scribe_err_set(err, rc, "cannot collect the records: %s", scribe_strerror(rc));
	if (rc == 0 && with) {
		fill_job(job, u, u->base_ns, u->end_ns > u->base_ns ? u->end_ns : scribe_now_ns(), "first", &header);
		rc = write_log(job, &b,
			       &(struct log_spec){
				       .job = &header, .exe = exe_line(job, u), .compressed = true, .partial = partial},
			       fd, err);
	}
	scribe_bundle_clear(&b);
	return rc < 0 ? rc : !with;
}

static uint64_t span_of(const struct scribe_log_job *header)
{
	int64_t span = (header->end_time_sec - header->start_time_sec) * 1000000000 + header->end_time_nsec -
		       header->start_time_nsec;

	return span > 0 ? (uint64_t)span : 0;
}

int scribe_commit_build(struct scribe_job *job, struct scribe_log_unit *u, const struct scribe_commit_plan *plan,
			int theirs, int fd, struct scribe_msg_log *m, struct scribe_err *err)
{
	struct scribe_bundle b = {0};
	struct scribe_log_job header;
	uint64_t partial = plan->account.partial;
	uint64_t base;
	int rc = collect_records(job, u, plan, theirs, &b, &header, &partial, m);

	base = (uint64_t)(header.start_time_sec * 1000000000 + header.start_time_nsec - job->realtime_ns);
	if (rc == 0)
		rc = scribe_daemon_modules_files(job, &b, &partial);
	if (rc == 0)
		rc = scribe_heatmaps_gather(job, u, base, base + span_of(&header), &b, &partial);
	if (rc == 0)
		rc = scribe_log_build_processes(job, &b, u, &plan->account, base);
	if (rc == 0)
		rc = scribe_log_build_ledger(job, &b, u, &plan->account);
	if (rc == 0)
		rc = scribe_log_build_mounts(job, &b, &plan->account);
	if (rc < 0)
		scribe_err_set(err, rc, "cannot collect the records: %s", scribe_strerror(rc));
	describe(job, u, &b, m);
	/* Losses of library probes have another line in the metadata. */
	m->partial = (u->why[0] ? partial & ~u->missed : partial) != 0;
	snprintf(m->missing, sizeof(m->missing), "%s", u->missed ? u->why : "");
	if (u->missed && u->why[0])
		add_line(&header, "incomplete", u->why);
	scribe_windows_describe(job, base, base + span_of(&header), header.metadata, sizeof(header.metadata));
	scribe_publish_describe(job, header.metadata, sizeof(header.metadata));
	m->seconds = (double)(header.end_time_sec - header.start_time_sec) +
		     (double)(header.end_time_nsec - header.start_time_nsec) / 1e9;
	if (rc == 0)
		rc = write_traced(job, &b,
				  &(struct log_spec){.job = &header,
						     .exe = exe_line(job, u),
						     .compressed = true,
						     .partial = partial,
						     .traced = job->segments ? u : NULL,
						     .base_ns = base},
				  fd, err);
	scribe_bundle_clear(&b);
	return rc;
}

/* The log of a window is named after the last world that still runs, otherwise after the rest. */
static const struct scribe_log_unit *main_unit(const struct scribe_job *job)
{
	const struct scribe_log_unit *best = job->worlds.rest;

	for (const struct scribe_log_unit *u = job->worlds.units; u; u = u->next)
		if (u->id && (u->live || best == job->worlds.rest))
			best = u;
	return best;
}

/* The command line, also after the unit's log has been written. */
static const char *window_exe(struct scribe_job *job, const struct scribe_log_unit *u)
{
	const char *exe = exe_line(job, u);

	for (size_t i = job->logs; i > 0 && !exe[0]; i--)
		exe = job->log[i - 1].exe;
	return exe;
}

void scribe_commit_plan_window(struct scribe_job *job, const struct scribe_window *x, struct scribe_commit_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->account.ledger = scribe_window_sums(x).ledger;
	scribe_log_build_account(job, &plan->account);
}

int scribe_commit_window(struct scribe_job *job, const struct scribe_window *x, const struct scribe_commit_plan *plan,
			 int fd, struct scribe_err *err)
{
	const struct scribe_window_sums sums = scribe_window_sums(x);
	const struct scribe_log_unit *u = main_unit(job);
	struct scribe_bundle b = {0};
	struct scribe_log_job header;
	int rc = scribe_log_build_ledger(job, &b, u, &plan->account);

	fill_job(job, u, sums.begin_ns, sums.end_ns, "window", &header);
	if (rc < 0)
		scribe_err_set(err, rc, "out of memory");
	else
		rc = write_log(job, &b,
			       &(struct log_spec){.job = &header,
						  .exe = window_exe(job, u),
						  .partial = sums.partial,
						  .window = x,
						  .base_ns = sums.begin_ns},
			       fd, err);
	scribe_bundle_clear(&b);
	return rc;
}

void scribe_commit_forget(struct scribe_job *job, struct scribe_log_unit *u)
{
	for (size_t i = 0; i < u->ranks.buckets; i++) {
		struct scribe_rank *r = u->ranks.entry[i].value;

		if (r) {
			r->records = scribe_records_free(r->records);
			r->fetched = scribe_records_free(r->fetched);
			scribe_segments_forget(r);
			scribe_heatmaps_forget(r);
		}
	}
	scribe_worlds_forget(&job->worlds, u);
}
