// SPDX-License-Identifier: BSD-3-Clause
/*
 * Output files, renamed at the end: readers see only whole files, and a failure keeps the old one. Must not
 * know what is in them.
 */
#include "util/tool/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/tool/leftover.h"

int scribe_output_file_open(struct scribe_output_file *f, const char *path, struct scribe_err *err)
{
	struct stat st;
	int there = lstat(path, &st) == 0, may, rc;

	*f = (struct scribe_output_file){.fd = -1, .path = strdup(path)};
	/* A link, a pipe or a terminal is written in place, not replaced. */
	if (f->path && (!there || S_ISREG(st.st_mode)) &&
	    asprintf(&f->partial, "%s.%ld.partial", path, (long)getpid()) < 0) {
		free(f->path);
		f->path = f->partial = NULL;
	}
	if (!f->path)
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", path);
	/* rename needs only a writable directory: a file that may not be written must not be replaced either. */
	rc = there && f->partial && access(path, W_OK) < 0 ? -errno : 0;
	may = there && f->partial && rc == 0;
	if (rc == 0)
		f->fd = open(f->partial ? f->partial : path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (rc == 0 && f->fd < 0)
		rc = -errno;
	if (rc == 0 && f->partial)
		scribe_leftover_add(f->partial);
	if (rc == 0 && there && f->partial)
		(void)fchmod(f->fd, st.st_mode & 0777);
	if (rc < 0) {
		scribe_err_set(err, rc, "%s: %s%s", path, may ? "no file can be made beside it: " : "", strerror(-rc));
		free(f->path);
		free(f->partial);
		*f = (struct scribe_output_file){.fd = -1};
	}
	return rc;
}

int scribe_output_file_written(struct scribe_output_file *f, struct scribe_err *err)
{
	int rc = f->fd >= 0 ? close(f->fd) : 0;

	f->fd = -1;
	return rc < 0 ? scribe_err_set(err, -errno, "%s: %s", f->path, strerror(errno)) : 0;
}

int scribe_output_file_end(struct scribe_output_file *f, int drop, struct scribe_err *err)
{
	int rc = f->path ? scribe_output_file_written(f, err) : 0;

	drop |= rc < 0;
	if (f->partial && !drop && rename(f->partial, f->path) < 0)
		rc = scribe_err_set(err, -errno, "%s: %s", f->path, strerror(errno));
	if (f->partial && (drop || rc < 0))
		unlink(f->partial);
	scribe_leftover_forget(f->partial);
	free(f->path);
	free(f->partial);
	*f = (struct scribe_output_file){.fd = -1};
	return rc;
}
