/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sequential writer: order of a log's regions, header last. Regions are compressed as they come; only names
 * with a NUL stay in memory. Removes a file that it created but did not finish. Must not know what a module
 * means.
 */
#include "logfmt/file/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/counters/module.h"
#include "logfmt/file/escape.h"
#include "logfmt/file/header.h"
#include "logfmt/file/writer_put.h"
#include "logfmt/file/writer_state.h"
#include "logfmt/file/writer_unified.h"

/* Opens the region of `stage` and ends the one before. `what` is for messages. */
static int put_stage(struct scribe_writer *w, int stage, const char *what)
{
	char buf[24];
	int rc;

	if (w->failed)
		return w->failed;
	if (w->stage == stage && scribe_log_put_is_open(w))
		return 0;
	if (w->stage == STAGE_START && stage != STAGE_JOB)
		return scribe_err_set(&w->err, -SCRIBE_E_ORDER, "log written out of order: %s before the job record",
				      what);
	if (stage <= w->stage)
		return scribe_err_set(&w->err, -SCRIBE_E_ORDER, "log written out of order: %s after %s", what,
				      w->stage == STAGE_DONE    ? "the end"
				      : w->stage == STAGE_JOB   ? "the job record"
				      : w->stage == STAGE_NAMES ? "names"
								: scribe_module_label(w->stage - STAGE_MODULES, buf));
	if (scribe_log_is_unified(w))
		return scribe_unified_put_stage(w, stage);
	rc = scribe_log_put_end(w);
	return rc ? rc : scribe_log_put_begin(w, stage);
}

static int create_owned(int fd, const char *path, const struct scribe_writer_options *options,
			struct scribe_writer **ret_w, struct scribe_err *err)
{
	struct scribe_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		close(fd);
		return scribe_err_set(err, -ENOMEM, "out of memory for a log writer");
	}
	w->fd = fd;
	if (options)
		w->options = *options;
	w->path = path ? strdup(path) : NULL;
	if (path && !w->path) {
		scribe_writer_free(w);
		return scribe_err_set(err, -ENOMEM, "out of memory for a log writer");
	}
	scribe_log_header_init(&w->header);
	w->header.comp_type = (uint8_t)w->options.compression;
	w->off = scribe_log_is_unified(w) ? sizeof(w->unified) : sizeof(w->header);
	*ret_w = w;
	return 0;
}

static int check_options(const struct scribe_writer_options *o, struct scribe_err *err)
{
	if (!o)
		return 0;
	if ((unsigned)o->compression > SCRIBE_COMP_ZSTD)
		return scribe_err_set(err, -EINVAL, "unknown compression %d", (int)o->compression);
	if ((unsigned)o->layout > SCRIBE_LAYOUT_UNIFIED)
		return scribe_err_set(err, -EINVAL, "unknown layout %d", (int)o->layout);
	/* Darshan's readers would take zstd for damage. */
	if (o->compression == SCRIBE_COMP_ZSTD && o->layout != SCRIBE_LAYOUT_UNIFIED)
		return scribe_err_set(err, -EINVAL, "Darshan's layout has no zstd: zlib, bzip2 or none");
	if (o->level < 0 || o->level > 9)
		return scribe_err_set(err, -EINVAL, "compression level %d is not 1 to 9", o->level);
	return 0;
}

int scribe_writer_create_fd(int fd, const struct scribe_writer_options *options, struct scribe_writer **ret_w,
			    struct scribe_err *err)
{
	int rc = check_options(options, err);
	int own;

	if (rc)
		return rc;
	/* 3 or above: the log must not become a standard descriptor that was closed. */
	own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own < 0)
		return scribe_err_set(err, -errno, "cannot duplicate the log's descriptor: %s", strerror(errno));
	return create_owned(own, NULL, options, ret_w, err);
}

int scribe_writer_create(const char *path, const struct scribe_writer_options *options, struct scribe_writer **ret_w,
			 struct scribe_err *err)
{
	int rc = check_options(options, err);
	int fd;

	if (rc)
		return rc;
	/* 0400: a finished log does not change, and others can read it only if the caller changes the mode. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd < 0)
		return scribe_err_set(err, -errno, "%.200s: cannot create: %s", path, strerror(errno));
	return create_owned(fd, path, options, ret_w, err);
}

struct scribe_writer *scribe_writer_free(struct scribe_writer *w)
{
	if (!w)
		return NULL;
	scribe_pack_free(w->pack);
	if (w->path && w->stage != STAGE_DONE)
		unlink(w->path);
	close(w->fd);
	free(w->path);
	free(w->scratch);
	free(w->exact);
	free(w->job);
	free(w->chunk);
	free(w->block);
	free(w);
	return NULL;
}

const struct scribe_err *scribe_writer_error(const struct scribe_writer *w)
{
	return &w->err;
}

int scribe_writer_job(struct scribe_writer *w, const struct scribe_log_job *job, const char *exe,
		      const struct scribe_mount *mounts, size_t n)
{
	int rc = w->stage == STAGE_JOB
			 ? scribe_err_set(&w->err, -SCRIBE_E_ORDER, "log written out of order: a second job record")
			 : put_stage(w, STAGE_JOB, "the job record");
	void *bytes;
	size_t len;

	if (rc)
		return rc;
	rc = scribe_job_region_encode(job, exe, mounts, n, &bytes, &len, &w->err);
	if (rc)
		return w->failed = rc;
	if (scribe_log_is_unified(w)) {
		w->job = bytes;
		w->job_bytes = len;
		return 0;
	}
	/* Readers of uncompressed logs expect the region's full length. */
	rc = scribe_log_put(w, bytes, w->options.compression == SCRIBE_COMP_NONE ? SCRIBE_JOB_REGION_BYTES : len);
	free(bytes);
	return rc;
}

/* For the end of the log, in the exact region's form: id, length, bytes. */
static int keep_exact(struct scribe_writer *w, uint64_t id, const char *bytes, size_t len)
{
	uint32_t len32 = (uint32_t)len;
	size_t need = w->exact_bytes + sizeof(id) + sizeof(len32) + len;
	char *to;

	if (need > w->exact_capacity) {
		char *more = realloc(w->exact, 2 * need);

		if (!more)
			return scribe_log_put_failed(w, -ENOMEM, "name");
		w->exact = more;
		w->exact_capacity = 2 * need;
	}
	to = w->exact + w->exact_bytes;
	memcpy(to, &id, sizeof(id));
	memcpy(to + sizeof(id), &len32, sizeof(len32));
	memcpy(to + sizeof(id) + sizeof(len32), bytes, len);
	w->exact_bytes = need;
	return 0;
}

int scribe_writer_name(struct scribe_writer *w, uint64_t id, const char *bytes, size_t len)
{
	char shown[SCRIBE_STAND_IN_BYTES];
	size_t need;
	int rc;

	if (len > SCRIBE_MAX_NAME_BYTES)
		return scribe_err_set(&w->err, -EINVAL, "a name of %zu bytes, at most %u", len, SCRIBE_MAX_NAME_BYTES);
	rc = put_stage(w, STAGE_NAMES, "a name");
	if (scribe_log_is_unified(w))
		return rc ? rc : scribe_unified_put_name(w, id, bytes, len);
	need = scribe_name_encode(id, bytes, len, NULL, 0);
	/* In Darshan's layout a name with a NUL is stored escaped, for other tools, and exactly at the log's end. */
	if (rc == 0 && need == 0) {
		rc = keep_exact(w, id, bytes, len);
		scribe_name_escape(bytes, len, shown, sizeof(shown));
		bytes = shown;
		len = strlen(shown);
		need = scribe_name_encode(id, bytes, len, NULL, 0);
	}
	if (rc == 0)
		rc = scribe_log_put_scratch(w, need);
	if (rc)
		return rc;
	scribe_name_encode(id, bytes, len, w->scratch, need);
	return scribe_log_put(w, w->scratch, need);
}

static int put_described(struct scribe_writer *w, const struct scribe_module *m, const void *rec, size_t len)
{
	int rc;

	if (m->record_bytes ? len != m->record_bytes : len < sizeof(struct scribe_base_record))
		return scribe_err_set(&w->err, -EINVAL, "%zu bytes are not a %s record", len, m->name);
	rc = put_stage(w, STAGE_MODULES + m->id, m->name);
	if (rc)
		return rc;
	w->header.mod_ver[m->id] = m->version;
	return scribe_log_is_unified(w) ? scribe_unified_put_record(w, m->id, rec, len) : scribe_log_put(w, rec, len);
}

int scribe_writer_module(struct scribe_writer *w, const struct scribe_module *m)
{
	if (m->id < 0 || m->id >= SCRIBE_EXACT_NAMES || scribe_module_by_id(m->id))
		return scribe_err_set(&w->err, -EINVAL, "module %d needs no description", m->id);
	if (m->ncounters > SCRIBE_UNIFIED_COUNTERS || m->nfcounters > SCRIBE_UNIFIED_COUNTERS)
		return scribe_err_set(&w->err, -EINVAL, "module %d: more than %d counters", m->id,
				      SCRIBE_UNIFIED_COUNTERS);
	w->described[m->id] = m;
	return 0;
}

int scribe_writer_record(struct scribe_writer *w, int module, const void *rec, size_t len)
{
	const struct scribe_module *m = scribe_module_by_id(module);
	bool dxt = module == SCRIBE_MOD_DXT_POSIX || module == SCRIBE_MOD_DXT_MPIIO;
	size_t need;
	int rc;

	if (!m && module >= 0 && module < SCRIBE_MAX_MODULES && w->described[module])
		return put_described(w, w->described[module], rec, len);
	if (!m)
		return scribe_err_set(&w->err, -EINVAL, "no module has id %d", module);
	need = scribe_record_encode(module, w->options.dxt_threads, rec, len, NULL, 0);
	if (need == 0)
		return scribe_err_set(&w->err, -EINVAL, "%zu bytes are not a %s record", len, m->name);
	rc = put_stage(w, STAGE_MODULES + module, m->name);
	if (rc)
		return rc;
	w->header.mod_ver[module] = dxt && w->options.dxt_threads ? m->accepts : m->version;
	if (dxt && !w->options.dxt_threads) {
		rc = scribe_log_put_scratch(w, need);
		if (rc)
			return rc;
		scribe_record_encode(module, false, rec, len, w->scratch, need);
		rec = w->scratch;
		len = need;
	}
	return scribe_log_is_unified(w) ? scribe_unified_put_record(w, module, rec, len) : scribe_log_put(w, rec, len);
}

int scribe_writer_raw(struct scribe_writer *w, int module, unsigned version, const void *bytes, size_t len)
{
	char buf[24];
	int rc;

	if (module < 0 || module >= SCRIBE_MAX_MODULES || module == SCRIBE_EXACT_NAMES)
		return scribe_err_set(&w->err, -EINVAL, "no module can have id %d", module);
	rc = put_stage(w, STAGE_MODULES + module, scribe_module_label(module, buf));
	if (rc)
		return rc;
	w->header.mod_ver[module] = version;
	return scribe_log_is_unified(w) ? scribe_unified_put_raw(w, bytes, len) : scribe_log_put(w, bytes, len);
}

int scribe_writer_packed(struct scribe_writer *w, int module, const void *bytes, size_t len)
{
	const struct scribe_module *m = scribe_module_by_id(module);
	int rc;

	if (scribe_log_is_unified(w) || w->options.compression != SCRIBE_COMP_ZLIB || (!m && module != -1))
		return scribe_err_set(&w->err, -EINVAL, "module %d cannot be written packed", module);
	rc = put_stage(w, m ? STAGE_MODULES + module : STAGE_NAMES, m ? m->name : "names");
	if (rc)
		return rc;
	if (m)
		w->header.mod_ver[module] = m->version;
	return scribe_log_put_packed(w, bytes, len);
}

void scribe_writer_partial(struct scribe_writer *w, int module)
{
	if (module >= 0 && module < SCRIBE_MAX_MODULES)
		w->header.partial_flag |= 1ull << module;
}

static int put_trailer(struct scribe_writer *w)
{
	struct scribe_log_header *h = &w->header;
	struct scribe_log_trailer t = {.partial_flag = h->partial_flag & ~0ull << SCRIBE_OWN_FIRST};
	bool any = false;

	for (int i = 0; i < SCRIBE_OWN_MODULES; i++) {
		int id = SCRIBE_OWN_FIRST + i;

		any |= h->mod_map[id].len > 0;
		t.map[i] = h->mod_map[id];
		t.ver[i] = h->mod_ver[id];
	}
	/*
	 * Stock readers stop at an unknown module (docs/format.md, "The trailer"); logs to the runtime keep the
	 * maps.
	 */
	if (!any || w->options.list_own)
		return 0;
	memset(&h->mod_map[SCRIBE_OWN_FIRST], 0, sizeof(t.map));
	memset(&h->mod_ver[SCRIBE_OWN_FIRST], 0, sizeof(t.ver));
	h->partial_flag &= ~(~0ull << SCRIBE_OWN_FIRST);
	memcpy(h->pad, SCRIBE_TRAILER_MARK, sizeof(h->pad));
	memcpy(t.magic, SCRIBE_TRAILER_MAGIC, sizeof(t.magic));
	return scribe_log_put_at(w, &t, sizeof(t), w->off);
}

static int put_exact(struct scribe_writer *w)
{
	int rc;

	if (w->exact_bytes == 0)
		return 0;
	rc = put_stage(w, STAGE_MODULES + SCRIBE_EXACT_NAMES, "names with a NUL");
	if (rc)
		return rc;
	w->header.mod_ver[SCRIBE_EXACT_NAMES] = SCRIBE_EXACT_NAMES_VERSION;
	return scribe_log_put(w, w->exact, w->exact_bytes);
}

static int finish_default(struct scribe_writer *w)
{
	int rc = put_exact(w);

	if (rc == 0)
		rc = scribe_log_put_end(w);
	if (rc == 0)
		rc = put_trailer(w);
	/* The header goes last: a file that was cut off before lacks a version, so it is not taken for a log. */
	return rc ? rc : scribe_log_put_at(w, &w->header, sizeof(w->header), 0);
}

int scribe_writer_finish(struct scribe_writer *w)
{
	int rc = w->failed;

	if (rc)
		return rc;
	if (w->stage == STAGE_START || w->stage == STAGE_DONE)
		return scribe_err_set(&w->err, -SCRIBE_E_ORDER, "log written out of order: the end %s",
				      w->stage == STAGE_DONE ? "twice" : "before the job record");
	rc = scribe_log_is_unified(w) ? scribe_unified_put_finish(w) : finish_default(w);
	if (rc == 0)
		w->stage = STAGE_DONE;
	return rc;
}
