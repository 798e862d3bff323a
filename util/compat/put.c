/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing of logs, in the format's order. Job, exe and mounts share a region, so they are kept until something follows.
 */
#include "util/compat/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static darshan_fd new_fd(const char *name)
{
	darshan_fd fd = calloc(1, sizeof(*fd));

	if (fd)
		fd->state = calloc(1, sizeof(*fd->state));
	if (fd && fd->state)
		fd->state->path = strdup(name);
	if (fd && fd->state && fd->state->path)
		return fd;
	compat_error("out of memory.");
	if (fd)
		free(fd->state);
	free(fd);
	return NULL;
}

static darshan_fd drop_fd(darshan_fd fd)
{
	free(fd->state->path);
	free(fd->state);
	free(fd);
	return NULL;
}

/* Overwrites, as in Darshan's library; darshan_log_close removes a log that failed. */
darshan_fd darshan_log_create(const char *name, enum darshan_comp_type comp_type, int partial_flag)
{
	struct scribe_writer_options options = {.compression = (enum scribe_compression)comp_type,
						.dxt_threads = DARSHAN_DXT_THREADS};
	darshan_fd fd = new_fd(name);
	struct scribe_err err;
	int file, rc;

	if (!fd)
		return NULL;
	file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0400);
	if (file < 0) {
		compat_error("darshan_log_create failed to open darshan log file %s: %s.", name, strerror(errno));
		return drop_fd(fd);
	}
	rc = scribe_writer_create_fd(file, &options, &fd->state->writer, &err);
	close(file);
	if (rc) {
		compat_error("%s", err.text);
		unlink(name);
		return drop_fd(fd);
	}
	fd->comp_type = comp_type;
	fd->partial_flag = (uint64_t)(int64_t)partial_flag;
	for (int i = 0; i < DARSHAN_MAX_MODS; i++) {
		if (fd->partial_flag >> i & 1)
			scribe_writer_partial(fd->state->writer, i);
	}
	return fd;
}

/* Modules may be put several times, everything else once. */
static struct darshan_fd_int_state *put(darshan_fd fd, enum put_stage stage, const char *what)
{
	static const char *const names[] = {"nothing", "the job", "the exe", "the mounts", "the names", "a module"};
	struct darshan_fd_int_state *s = fd ? fd->state : NULL;

	if (!s || !s->writer) {
		compat_error("invalid Darshan log file handle.");
		return NULL;
	}
	if (s->stage == PUT_NOTHING && stage != PUT_JOB) {
		compat_error("%s must not be written before the job.", what);
		return NULL;
	}
	if (stage < s->stage || (stage == s->stage && stage != PUT_MODULES)) {
		compat_error("%s must not be written after %s.", what,
			     names[s->stage < PUT_MODULES ? s->stage : PUT_MODULES]);
		return NULL;
	}
	s->stage = stage;
	return s;
}

static int put_failed(struct darshan_fd_int_state *s)
{
	return compat_error("%s", scribe_writer_error(s->writer)->text);
}

int compat_begin(darshan_fd fd)
{
	struct darshan_fd_int_state *s = fd->state;

	if (s->job_written)
		return 0;
	s->job_written = true;
	if (scribe_writer_job(s->writer, &s->job, s->exe, s->mounts, s->nmounts) == 0)
		return 0;
	s->failed = true;
	return put_failed(s);
}

int darshan_log_put_job(darshan_fd fd, struct darshan_job *job)
{
	struct darshan_fd_int_state *s = put(fd, PUT_JOB, "the job");
	size_t n;

	if (!s)
		return -1;
	memcpy(&s->job, job, sizeof(s->job));
	s->job.metadata[sizeof(s->job.metadata) - 1] = 0;
	n = strlen(s->job.metadata);
	if (n > 0 && n < sizeof(s->job.metadata) - 1 && s->job.metadata[n - 1] != '\n')
		s->job.metadata[n] = '\n'; /* programs for Darshan's library omit the last newline */
	return 0;
}

int darshan_log_put_exe(darshan_fd fd, char *buf)
{
	struct darshan_fd_int_state *s = put(fd, PUT_EXE, "the exe");

	if (!s)
		return -1;
	s->exe = strdup(buf);
	if (s->exe)
		return 0;
	s->failed = true;
	return compat_error("out of memory.");
}

int darshan_log_put_mounts(darshan_fd fd, struct darshan_mnt_info *mnt_data_array, int count)
{
	struct darshan_fd_int_state *s = put(fd, PUT_MOUNTS, "the mounts");

	if (!s)
		return -1;
	s->mounts = calloc(count > 0 ? (size_t)count : 1, sizeof(*s->mounts));
	for (int i = count - 1; s->mounts && i >= 0; i--) { /* reverse order, as in Darshan's library */
		struct scribe_mount *m = &s->mounts[s->nmounts++];

		m->type = strdup(mnt_data_array[i].mnt_type);
		m->path = strdup(mnt_data_array[i].mnt_path);
		if (!m->type || !m->path)
			s->failed = true;
	}
	if (s->mounts && !s->failed)
		return 0;
	s->failed = true;
	return compat_error("out of memory.");
}

int darshan_log_put_namehash(darshan_fd fd, struct darshan_name_record_ref *hash)
{
	struct darshan_fd_int_state *s = put(fd, PUT_NAMES, "the names");
	struct darshan_name_record_ref *ref, *next;

	if (!s || compat_begin(fd))
		return -1;
	HASH_ITER(hlink, hash, ref, next)
	{
		const char *name = (const char *)ref->name_record + sizeof(ref->name_record->id);

		if (scribe_writer_name(s->writer, ref->name_record->id, name, strlen(name))) {
			s->failed = true;
			return put_failed(s);
		}
	}
	return 0;
}

/* Not checked. */
int darshan_log_put_mod(darshan_fd fd, darshan_module_id mod_id, void *mod_buf, int mod_buf_sz, int ver)
{
	struct darshan_fd_int_state *s;

	if ((unsigned)mod_id >= DARSHAN_KNOWN_MODULE_COUNT || mod_buf_sz < 0)
		return compat_error("invalid Darshan module id.");
	s = put(fd, PUT_MODULES, "a module");
	if (!s || compat_begin(fd))
		return -1;
	if (scribe_writer_raw(s->writer, (int)mod_id, (unsigned)ver, mod_buf, (size_t)mod_buf_sz))
		return put_failed(s);
	return 0;
}
