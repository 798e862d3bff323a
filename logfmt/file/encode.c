/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building blocks of a log. Returned memory belongs to the caller. Used by the writer, the merge of nodes, and
 * ranks that write parts of one file at MPI_Finalize. Must not know files.
 */
#include "logfmt/file/encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "logfmt/counters/module.h"
#include "logfmt/file/variable_bytes.h"

/* As in Darshan. */
static const char cut_mark[] = "<TRUNCATED>";

void scribe_log_header_init(struct scribe_log_header *ret_header)
{
	memset(ret_header, 0, sizeof(*ret_header));
	memcpy(ret_header->version, SCRIBE_LOG_VERSION, sizeof(SCRIBE_LOG_VERSION));
	ret_header->magic = SCRIBE_LOG_MAGIC;
	ret_header->comp_type = SCRIBE_COMP_ZLIB;
}

int scribe_deflate_region(const void *in, size_t n, void **ret_out, size_t *ret_n, struct scribe_err *err)
{
	/*
	 * The worst case, so that compress2 cannot fail for lack of space. The preloaded runtime does not link
	 * zlib.
	 */
	uLongf got = compressBound(n);
	unsigned char *out = malloc(got);
	int rc;

	if (!out)
		return scribe_err_set(err, -ENOMEM, "out of memory to compress %zu bytes", n);
	rc = compress2(out, &got, n ? in : (const Bytef *)"", n, Z_DEFAULT_COMPRESSION);
	if (rc != Z_OK) {
		free(out);
		return scribe_err_set(err, rc == Z_MEM_ERROR ? -ENOMEM : -SCRIBE_E_COMPRESSION,
				      "zlib cannot compress %zu bytes (%d)", n, rc);
	}
	*ret_out = out;
	*ret_n = got;
	return 0;
}

/* At most `cap` bytes, without NUL. */
static size_t copy_text(char *to, const char *from, size_t cap)
{
	size_t n = 0;

	for (; from[n] && n < cap; n++)
		to[n] = from[n] == '\n' ? ' ' : from[n]; /* a newline would end the field */
	return n;
}

/* Command line and mounts, cut to what the format holds; returns the length with NUL. */
static size_t put_text(char *to, const char *exe, const struct scribe_mount *mounts, size_t n)
{
	size_t at = copy_text(to, exe ? exe : "", SCRIBE_EXE_BYTES);

	if (exe && exe[at]) {
		memcpy(to + at - (sizeof(cut_mark) - 1), cut_mark, sizeof(cut_mark) - 1);
		to[at] = 0;
		return at + 1;
	}
	for (size_t i = 0; i < n; i++) {
		size_t type = strlen(mounts[i].type), path = strlen(mounts[i].path);

		if (at + type + path + 2 > SCRIBE_EXE_BYTES)
			break;
		to[at++] = '\n';
		at += copy_text(to + at, mounts[i].type, type);
		to[at++] = '\t';
		at += copy_text(to + at, mounts[i].path, path);
	}
	to[at] = 0;
	return at + 1;
}

int scribe_job_region_encode(const struct scribe_log_job *job, const char *exe, const struct scribe_mount *mounts,
			     size_t n, void **ret_out, size_t *ret_n, struct scribe_err *err)
{
	char *out = calloc(1, SCRIBE_JOB_REGION_BYTES);

	if (!out)
		return scribe_err_set(err, -ENOMEM, "out of memory for the job record");
	memcpy(out, job, sizeof(*job));
	*ret_n = sizeof(*job) + put_text(out + sizeof(*job), exe, mounts, n);
	*ret_out = out;
	return 0;
}

size_t scribe_name_encode(uint64_t id, const char *bytes, size_t len, void *out, size_t cap)
{
	size_t n = sizeof(id) + len + 1;
	char *to = out;

	/* Darshan's form is id, bytes, NUL: a name with a NUL cannot be stored. */
	if (len && memchr(bytes, 0, len))
		return 0;
	if (cap < n)
		return n;
	memcpy(to, &id, sizeof(id));
	if (len)
		memcpy(to + sizeof(id), bytes, len);
	to[n - 1] = 0;
	return n;
}

size_t scribe_record_encode(int module, bool dxt_threads, const void *rec, size_t len, void *out, size_t cap)
{
	size_t need = scribe_record_length(module, rec, len);

	/* A record with wrong counts would shift all that follow it. */
	if (need == 0 || need != len)
		return 0;
	return scribe_variable_encode(module, dxt_threads, rec, len, out, cap);
}
