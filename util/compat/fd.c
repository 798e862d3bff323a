/* SPDX-License-Identifier: BSD-3-Clause */
/* Darshan's C interface: open, job data, close. */
#include "util/compat/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPAT_VERSION "3.5.0" /* release of the interface */

_Static_assert(sizeof(struct darshan_job) == sizeof(struct scribe_log_job), "job record");
_Static_assert(sizeof(struct darshan_header) == sizeof(struct scribe_log_header), "header");

static struct scribe_reader *reader_of(darshan_fd fd)
{
	if (!fd || !fd->state || !fd->state->reader) {
		compat_error("invalid Darshan log file handle.");
		return NULL;
	}
	return fd->state->reader;
}

/* Programs read these fields directly. */
static void copy_header(darshan_fd fd, const struct scribe_reader *r)
{
	const struct scribe_log_header *h = scribe_reader_header(r);
	const struct scribe_reader_info *info = scribe_reader_info(r);

	memcpy(fd->version, h->version, sizeof(fd->version));
	fd->swap_flag = info->swapped;
	fd->partial_flag = h->partial_flag;
	fd->comp_type = (enum darshan_comp_type)h->comp_type;
	fd->job_map = (struct darshan_log_map){info->job_off, info->job_len};
	fd->name_map = (struct darshan_log_map){h->name_map.off, h->name_map.len};
	for (int i = 0; i < SCRIBE_OWN_FIRST; i++) { /* without our own modules */
		fd->mod_map[i] = (struct darshan_log_map){h->mod_map[i].off, h->mod_map[i].len};
		fd->mod_ver[i] = h->mod_ver[i];
	}
}

void compat_region(darshan_fd fd, int region)
{
	struct darshan_fd_int_state *s = fd->state;

	if (s->region == region)
		return;
	s->region = region;
	if (region < 0)
		return;
	/* Darshan's library has one region open: returning to another starts over, which programs rely on. */
	scribe_reader_rewind(s->reader, region);
	s->raw[region].len = 0;
}

darshan_fd darshan_log_open(const char *name)
{
	darshan_fd fd = calloc(1, sizeof(*fd));
	struct scribe_err err;

	if (fd)
		fd->state = calloc(1, sizeof(*fd->state));
	if (!fd || !fd->state) {
		free(fd);
		compat_error("out of memory.");
		return NULL;
	}
	if (scribe_reader_open(name, &fd->state->reader, &err)) {
		compat_error("%s", err.text);
		free(fd->state);
		free(fd);
		return NULL;
	}
	/* As Darshan's library: with its errors for old records, and names up to a NUL. */
	scribe_reader_as_stock(fd->state->reader, true);
	scribe_reader_plain_names(fd->state->reader, true);
	copy_header(fd, fd->state->reader);
	return fd;
}

static void close_written(darshan_fd fd)
{
	struct darshan_fd_int_state *s = fd->state;

	if (!s->failed && s->stage != PUT_NOTHING && compat_begin(fd) == 0) {
		if (scribe_writer_finish(s->writer)) {
			compat_error("%s", scribe_writer_error(s->writer)->text);
			s->failed = true;
		}
	}
	/* As in Darshan's library; a log with only a job is complete, one without is removed. */
	if (s->failed || s->stage == PUT_NOTHING) {
		fprintf(stderr, "Unlinking darshan log file %s ...\n", s->path);
		unlink(s->path);
	}
	scribe_writer_free(s->writer);
}

void darshan_log_close(darshan_fd fd)
{
	struct darshan_fd_int_state *s;

	if (!fd)
		return;
	s = fd->state;
	if (s->writer)
		close_written(fd);
	scribe_reader_free(s->reader);
	for (size_t i = 0; i < s->nmounts; i++) {
		free((char *)s->mounts[i].type);
		free((char *)s->mounts[i].path);
	}
	free(s->mounts);
	free(s->exe);
	free(s->path);
	free(s);
	free(fd);
}

int darshan_log_get_job(darshan_fd fd, struct darshan_job *job)
{
	struct scribe_reader *r = reader_of(fd);

	if (!r)
		return -1;
	compat_region(fd, REGION_JOB);
	memcpy(job, scribe_reader_job(r), sizeof(*job));
	return 0;
}

int darshan_log_get_exe(darshan_fd fd, char *buf)
{
	struct scribe_reader *r = reader_of(fd);
	const struct scribe_mount *mounts;
	size_t n;

	if (!r)
		return -1;
	n = strnlen(scribe_reader_exe(r), DARSHAN_EXE_LEN);
	/* As in Darshan's library: a command line that fills its field without a newline after it is dropped. */
	if (n + 1 >= DARSHAN_EXE_LEN && scribe_reader_mounts(r, &mounts) == 0)
		n = 0;
	memcpy(buf, scribe_reader_exe(r), n);
	buf[n] = 0;
	return 0;
}

int darshan_log_get_mounts(darshan_fd fd, struct darshan_mnt_info **mnt_data_array, int *count)
{
	struct scribe_reader *r = reader_of(fd);
	const struct scribe_mount *mounts;
	struct darshan_mnt_info *out;
	size_t n;

	*count = 0;
	if (!r)
		return -1;
	n = scribe_reader_mounts(r, &mounts);
	if (n == 0)
		return 0;
	out = calloc(n, sizeof(*out));
	if (!out)
		return compat_error("out of memory.");
	for (size_t i = 0; i < n; i++) { /* longest path first, otherwise in the log's order */
		struct darshan_mnt_info *at = &out[i];

		for (; at > out && strlen(at[-1].mnt_path) < strlen(mounts[i].path); at--)
			*at = at[-1];
		snprintf(at->mnt_type, sizeof(at->mnt_type), "%s", mounts[i].type);
		snprintf(at->mnt_path, sizeof(at->mnt_path), "%s", mounts[i].path);
	}
	*mnt_data_array = out;
	*count = (int)n;
	return 0;
}

int darshan_log_get_mod(darshan_fd fd, darshan_module_id mod_id, void *mod_buf, int mod_buf_sz)
{
	struct scribe_reader *r = reader_of(fd);
	int done = 0;

	if (!r || (unsigned)mod_id >= DARSHAN_KNOWN_MODULE_COUNT || mod_buf_sz < 0)
		return -1;
	compat_region(fd, (int)mod_id);
	while (done < mod_buf_sz) {
		const char **bytes = &fd->state->raw[mod_id].bytes;
		size_t *left = &fd->state->raw[mod_id].len;
		size_t n;

		/* The rest of a piece larger than the caller's buffer waits in s->raw. */
		if (*left == 0) {
			int rc = scribe_reader_borrow_raw(r, (int)mod_id, (const void **)bytes, left);

			if (rc < 0)
				return compat_error("%s", scribe_reader_error(r)->text);
			if (rc == 0) {
				fd->state->region = REGION_NONE; /* the next read starts over */
				break;
			}
		}
		n = *left < (size_t)(mod_buf_sz - done) ? *left : (size_t)(mod_buf_sz - done);
		memcpy((char *)mod_buf + done, *bytes, n);
		*bytes += n;
		*left -= n;
		done += (int)n;
	}
	return done;
}

void darshan_log_print_version_warnings(const char *version_string)
{
	if (strcmp(version_string, "3.20") != 0)
		return;
	printf("# WARNING: Darshan logs generated by runtime version 3.2.0 likely exhibit some corruption in "
	       "counter values.\n"
	       "#          This bug clearly results in bogus values for some COMMON_ACCESS counters (POSIX, MPIIO, "
	       "H5 modules),\n"
	       "#          but preceding data may also be corrupted.\n");
}

char *darshan_log_get_lib_version(void)
{
	static char version[] = COMPAT_VERSION;

	return version;
}

int darshan_log_get_job_runtime(darshan_fd fd, struct darshan_job job, double *runtime)
{
	struct scribe_reader *r = reader_of(fd);

	*runtime = 0;
	if (!r)
		return -1;
	/* Computed from the caller's copy, which it may have changed. */
	if (scribe_reader_info(r)->version < 341)
		*runtime = (double)(job.end_time_sec - job.start_time_sec + 1);
	else
		*runtime = ((double)job.end_time_sec + (double)job.end_time_nsec / 1e9) -
			   ((double)job.start_time_sec + (double)job.start_time_nsec / 1e9);
	return 0;
}

void darshan_free(void *ptr)
{
	free(ptr);
}
