// SPDX-License-Identifier: BSD-3-Clause
/* Copies parts of a log. An output is written beside the file that it replaces and renamed. */
#include "util/logs/copy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/tool/leftover.h"

#define NSEC 1000000000

struct scribe_log_job scribe_copy_job(const struct scribe_reader *r)
{
	struct scribe_log_job job = *scribe_reader_job(r);

	if (scribe_reader_info(r)->version < 341) {
		job.start_time_nsec = 0;
		job.end_time_nsec = NSEC;
	}
	return job;
}

bool scribe_copy_has_threads(const struct scribe_reader *r)
{
	const struct scribe_log_header *h = scribe_reader_header(r);

	/* DXT_POSIX 2 and DXT_MPIIO 3 introduced thread ids. */
	return h->mod_ver[SCRIBE_MOD_DXT_POSIX] > 1 || h->mod_ver[SCRIBE_MOD_DXT_MPIIO] > 2;
}

int scribe_copy_check(const struct scribe_writer *w, int rc, struct scribe_err *err)
{
	if (rc < 0 && err)
		*err = *scribe_writer_error(w);
	return rc;
}

int scribe_copy_unknown(struct scribe_reader *r, struct scribe_writer *w, int module, struct scribe_err *err)
{
	unsigned version = scribe_reader_header(r)->mod_ver[module];
	const void *bytes;
	size_t len;
	int rc;

	/* Without the layout the bytes cannot be swapped. */
	if (scribe_reader_info(r)->swapped)
		return scribe_err_set(err, -SCRIBE_E_UNSUPPORTED,
				      "module id %d is unknown and in the other byte order: it cannot be carried over",
				      module);
	while ((rc = scribe_reader_borrow_raw(r, module, &bytes, &len)) > 0)
		if (scribe_copy_check(w, scribe_writer_raw(w, module, version, bytes, len), err) < 0)
			return -1;
	if (rc < 0)
		*err = *scribe_reader_error(r);
	return rc;
}

int scribe_copy_described(struct scribe_reader *r, struct scribe_writer *w, int module, struct scribe_err *err)
{
	if (scribe_reader_info(r)->swapped)
		return scribe_err_set(err, -SCRIBE_E_UNSUPPORTED,
				      "module id %d is unknown and in the other byte order: it cannot be carried over",
				      module);
	return scribe_copy_check(w, scribe_writer_module(w, scribe_reader_module(r, module)), err);
}

int scribe_output_create(struct scribe_output *o, const char *path, bool replace, bool as_stock,
			 const struct scribe_writer_options *options, struct scribe_err *err)
{
	struct stat st;
	int rc;

	*o = (struct scribe_output){.path = path};
	replace |= as_stock && access(path, W_OK) == 0;
	/* Only regular files are replaced by rename; for a pipe or device the writer reports -EEXIST. */
	if (replace && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    asprintf(&o->partial, "%s.%ld.partial", path, (long)getpid()) < 0) {
		o->partial = NULL;
		return scribe_err_set(err, -ENOMEM, "%s: out of memory", path);
	}
	rc = scribe_writer_create(o->partial ? o->partial : path, options, &o->writer, err);
	if (rc >= 0)
		scribe_leftover_add(o->partial ? o->partial : o->path);
	if (rc < 0 && rc != -ENOMEM && o->partial)
		return scribe_err_set(err, rc, "%s: cannot be replaced: no file can be made beside it: %s", path,
				      strerror(-rc));
	if (rc == -EEXIST && !replace)
		return scribe_err_set(err, rc, "%s: File exists (--force replaces it)", path);
	return rc;
}

int scribe_output_finish(struct scribe_output *o, struct scribe_err *err)
{
	int rc = scribe_copy_check(o->writer, scribe_writer_finish(o->writer), err);

	if (rc < 0)
		return rc;
	if (!o->partial) {
		scribe_leftover_forget(o->path);
		return rc;
	}
	if (rename(o->partial, o->path) < 0) {
		rc = scribe_err_set(err, -errno, "%s: cannot be replaced: %s", o->path, strerror(errno));
		unlink(o->partial);
	}
	return rc;
}

void scribe_output_free(struct scribe_output *o)
{
	o->writer = scribe_writer_free(o->writer);
	scribe_leftover_forget(o->partial ? o->partial : o->path);
	free(o->partial);
	o->partial = NULL;
}
