/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sequential writer: regions one after another, each one compressed stream,
 * header last. Knows no module's meaning.
 */
#include "logfmt/writer.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "logfmt/header.h"
#include "logfmt/module.h"
#include "logfmt/names.h"

#define OUT_BYTES (256u << 10)
#define BZIP2_WORK 30
#define STAND_IN_BYTES 1024 /* room for the escape of a name with a NUL, for readers that need one */

/* Where the writer is; modules follow as STAGE_MODULES + id. */
enum stage { STAGE_START, STAGE_JOB, STAGE_NAMES, STAGE_MODULES, STAGE_DONE = STAGE_MODULES + SCRIBE_MAX_MODULES };

struct scribe_writer {
	int fd;
	char *path; /* to be removed unless finished; NULL: the file is the caller's */
	struct scribe_writer_options options;
	struct scribe_log_header header;
	int stage;
	int failed;
	uint64_t off;       /* where the next bytes go */
	uint64_t region_at; /* start of the open region */
	bool open;          /* a region is open */
	z_stream z;
	bz_stream bz;
	unsigned char *out;
	size_t out_have;
	void *scratch; /* a record on its way */
	size_t scratch_room;
	char *exact; /* names with a NUL, as they will stand in the file */
	size_t exact_bytes, exact_room;
	struct scribe_err err;
};

static int fail(struct scribe_writer *w, int code, const char *what)
{
	w->failed = code;
	return scribe_err_set(&w->err, code, "cannot write the log at offset %llu: %s%s%s", (unsigned long long)w->off,
			      what, code > -4000 ? ": " : "", code > -4000 ? strerror(-code) : "");
}

static int write_at(struct scribe_writer *w, const void *bytes, size_t n, uint64_t off)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t done = pwrite(w->fd, p, n, (off_t)off);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return fail(w, -errno, "write");
		p += done;
		off += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

static int flush_out(struct scribe_writer *w)
{
	int rc = write_at(w, w->out, w->out_have, w->off);

	w->off += w->out_have;
	w->out_have = 0;
	return rc;
}

static int put_zlib(struct scribe_writer *w, const void *bytes, size_t n, int flush)
{
	int rc = Z_OK;

	w->z.next_in = (Bytef *)bytes;
	while (n > 0 || w->z.avail_in > 0 || (flush == Z_FINISH && rc != Z_STREAM_END)) {
		if (w->z.avail_in == 0) {
			w->z.avail_in = n > (1u << 30) ? 1u << 30 : (uInt)n;
			n -= w->z.avail_in;
		}
		w->z.next_out = w->out + w->out_have;
		w->z.avail_out = (uInt)(OUT_BYTES - w->out_have);
		rc = deflate(&w->z, n == 0 ? flush : Z_NO_FLUSH);
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return fail(w, -SCRIBE_E_COMPRESSION, "zlib failed");
		w->out_have = OUT_BYTES - w->z.avail_out;
		if (w->out_have == OUT_BYTES && flush_out(w))
			return w->failed;
	}
	return 0;
}

static int put_bzip2(struct scribe_writer *w, const void *bytes, size_t n, int action)
{
	int rc = BZ_RUN_OK;

	w->bz.next_in = (char *)bytes;
	while (n > 0 || w->bz.avail_in > 0 || (action == BZ_FINISH && rc != BZ_STREAM_END)) {
		if (w->bz.avail_in == 0) {
			w->bz.avail_in = n > (1u << 30) ? 1u << 30 : (unsigned)n;
			n -= w->bz.avail_in;
		}
		w->bz.next_out = (char *)w->out + w->out_have;
		w->bz.avail_out = (unsigned)(OUT_BYTES - w->out_have);
		rc = BZ2_bzCompress(&w->bz, action);
		if (rc < 0)
			return fail(w, -SCRIBE_E_COMPRESSION, "bzip2 failed");
		w->out_have = OUT_BYTES - w->bz.avail_out;
		if (w->out_have == OUT_BYTES && flush_out(w))
			return w->failed;
	}
	return 0;
}

static int put_plain(struct scribe_writer *w, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n > 0) {
		size_t room = OUT_BYTES - w->out_have;
		size_t now = n < room ? n : room;

		memcpy(w->out + w->out_have, p, now);
		w->out_have += now;
		p += now;
		n -= now;
		if (w->out_have == OUT_BYTES && flush_out(w))
			return w->failed;
	}
	return 0;
}

static int put(struct scribe_writer *w, const void *bytes, size_t n)
{
	switch (w->options.compression) {
	case SCRIBE_COMP_ZLIB:
		return put_zlib(w, bytes, n, Z_NO_FLUSH);
	case SCRIBE_COMP_BZIP2:
		return put_bzip2(w, bytes, n, BZ_RUN);
	default:
		return put_plain(w, bytes, n);
	}
}

static int region_begin(struct scribe_writer *w, int stage)
{
	int level = w->options.level;
	int rc = 0;

	w->stage = stage;
	w->region_at = w->off;
	if (w->options.compression == SCRIBE_COMP_ZLIB) {
		memset(&w->z, 0, sizeof(w->z));
		rc = deflateInit(&w->z, level ? level : Z_DEFAULT_COMPRESSION);
	} else if (w->options.compression == SCRIBE_COMP_BZIP2) {
		memset(&w->bz, 0, sizeof(w->bz));
		rc = BZ2_bzCompressInit(&w->bz, level ? level : 9, 0, BZIP2_WORK);
	}
	if (rc)
		return fail(w, -ENOMEM, "compression");
	w->open = true;
	return 0;
}

static void compressor_end(struct scribe_writer *w)
{
	if (!w->open)
		return;
	if (w->options.compression == SCRIBE_COMP_ZLIB)
		deflateEnd(&w->z);
	else if (w->options.compression == SCRIBE_COMP_BZIP2)
		BZ2_bzCompressEnd(&w->bz);
	w->open = false;
}

/* Ends the open region and notes where it lies. */
static int region_end(struct scribe_writer *w)
{
	struct scribe_log_map map;
	int rc = 0;

	if (!w->open)
		return 0;
	if (w->options.compression == SCRIBE_COMP_ZLIB)
		rc = put_zlib(w, NULL, 0, Z_FINISH);
	else if (w->options.compression == SCRIBE_COMP_BZIP2)
		rc = put_bzip2(w, NULL, 0, BZ_FINISH);
	if (rc == 0)
		rc = flush_out(w);
	compressor_end(w);
	if (rc)
		return rc;
	map = (struct scribe_log_map){w->region_at, w->off - w->region_at};
	if (w->stage == STAGE_JOB) /* where the job ends is known by where names would start */
		w->header.name_map.off = w->off;
	else if (w->stage == STAGE_NAMES)
		w->header.name_map = map;
	else if (w->stage >= STAGE_MODULES)
		w->header.mod_map[w->stage - STAGE_MODULES] = map;
	return 0;
}

/* Make `stage` the open region; stages only go up. */
static int go_to(struct scribe_writer *w, int stage, const char *what)
{
	char buf[24];
	int rc;

	if (w->failed)
		return w->failed;
	if (w->stage == stage && w->open)
		return 0;
	if (w->stage == STAGE_START && stage != STAGE_JOB)
		return scribe_err_set(&w->err, -SCRIBE_E_ORDER,
				      "log written out of order: %s before the job record", what);
	if (stage <= w->stage)
		return scribe_err_set(&w->err, -SCRIBE_E_ORDER, "log written out of order: %s after %s", what,
				      w->stage == STAGE_DONE    ? "the end"
				      : w->stage == STAGE_JOB   ? "the job record"
				      : w->stage == STAGE_NAMES ? "names"
				      : scribe_module_label(w->stage - STAGE_MODULES, buf));
	rc = region_end(w);
	return rc ? rc : region_begin(w, stage);
}

static int scratch_room(struct scribe_writer *w, size_t n)
{
	void *bytes;

	if (n <= w->scratch_room)
		return 0;
	bytes = realloc(w->scratch, n);
	if (!bytes)
		return fail(w, -ENOMEM, "record");
	w->scratch = bytes;
	w->scratch_room = n;
	return 0;
}

/* ---- public ---- */

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
	w->out = malloc(OUT_BYTES);
	if (!w->out || (path && !w->path)) {
		scribe_writer_free(w);
		return scribe_err_set(err, -ENOMEM, "out of memory for a log writer");
	}
	scribe_log_header_init(&w->header);
	w->header.comp_type = (uint8_t)w->options.compression;
	w->off = sizeof(w->header);
	*ret_w = w;
	return 0;
}

static int check_options(const struct scribe_writer_options *o, struct scribe_err *err)
{
	if (!o)
		return 0;
	if ((unsigned)o->compression > SCRIBE_COMP_NONE)
		return scribe_err_set(err, -EINVAL, "unknown compression %d", (int)o->compression);
	if (o->level < 0 || o->level > 9)
		return scribe_err_set(err, -EINVAL, "compression level %d is not 1 to 9", o->level);
	return 0;
}

int scribe_writer_create_fd(int fd, const struct scribe_writer_options *options,
			    struct scribe_writer **ret_w, struct scribe_err *err)
{
	int rc = check_options(options, err);
	int own;

	if (rc)
		return rc;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own < 0)
		return scribe_err_set(err, -errno, "cannot duplicate the log's descriptor: %s", strerror(errno));
	return create_owned(own, NULL, options, ret_w, err);
}

int scribe_writer_create(const char *path, const struct scribe_writer_options *options,
			 struct scribe_writer **ret_w, struct scribe_err *err)
{
	int rc = check_options(options, err);
	int fd;

	if (rc)
		return rc;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd < 0)
		return scribe_err_set(err, -errno, "%.200s: cannot create: %s", path, strerror(errno));
	return create_owned(fd, path, options, ret_w, err);
}

struct scribe_writer *scribe_writer_free(struct scribe_writer *w)
{
	if (!w)
		return NULL;
	compressor_end(w);
	if (w->path && w->stage != STAGE_DONE)
		unlink(w->path);
	close(w->fd);
	free(w->path);
	free(w->scratch);
	free(w->exact);
	free(w->out);
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
	int rc = w->stage == STAGE_JOB ? scribe_err_set(&w->err, -SCRIBE_E_ORDER,
							"log written out of order: a second job record")
				       : go_to(w, STAGE_JOB, "the job record");
	void *bytes;
	size_t len;

	if (rc)
		return rc;
	rc = scribe_job_region_encode(job, exe, mounts, n, &bytes, &len, &w->err);
	if (rc)
		return w->failed = rc;
	/* Readers of uncompressed logs expect the whole region. */
	rc = put(w, bytes, w->options.compression == SCRIBE_COMP_NONE ? SCRIBE_JOB_REGION_BYTES : len);
	free(bytes);
	return rc;
}

/* Keep a name with a NUL for the end of the log. */
static int keep_exact(struct scribe_writer *w, uint64_t id, const char *bytes, size_t len)
{
	uint32_t len32 = (uint32_t)len;
	size_t need = w->exact_bytes + sizeof(id) + sizeof(len32) + len;
	char *to;

	if (need > w->exact_room) {
		char *more = realloc(w->exact, 2 * need);

		if (!more)
			return fail(w, -ENOMEM, "name");
		w->exact = more;
		w->exact_room = 2 * need;
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
	char shown[STAND_IN_BYTES];
	size_t need;
	int rc;

	if (len > SCRIBE_MAX_NAME_BYTES)
		return scribe_err_set(&w->err, -EINVAL, "a name of %zu bytes, at most %u", len,
				      SCRIBE_MAX_NAME_BYTES);
	rc = go_to(w, STAGE_NAMES, "a name");
	need = scribe_name_encode(id, bytes, len, NULL, 0);
	if (rc == 0 && need == 0) {
		rc = keep_exact(w, id, bytes, len);
		scribe_name_escape(bytes, len, shown, sizeof(shown));
		bytes = shown;
		len = strlen(shown);
		need = scribe_name_encode(id, bytes, len, NULL, 0);
	}
	if (rc == 0)
		rc = scratch_room(w, need);
	if (rc)
		return rc;
	scribe_name_encode(id, bytes, len, w->scratch, need);
	return put(w, w->scratch, need);
}

int scribe_writer_record(struct scribe_writer *w, int module, const void *rec, size_t len)
{
	const struct scribe_module *m = scribe_module_by_id(module);
	bool dxt = module == SCRIBE_MOD_DXT_POSIX || module == SCRIBE_MOD_DXT_MPIIO;
	size_t need;
	int rc;

	if (!m)
		return scribe_err_set(&w->err, -EINVAL, "no module has id %d", module);
	need = scribe_record_encode(module, w->options.dxt_threads, rec, len, NULL, 0);
	if (need == 0)
		return scribe_err_set(&w->err, -EINVAL, "%zu bytes are not a %s record", len, m->name);
	rc = go_to(w, STAGE_MODULES + module, m->name);
	if (rc)
		return rc;
	w->header.mod_ver[module] = dxt && w->options.dxt_threads ? m->accepts : m->version;
	if (!dxt || w->options.dxt_threads)
		return put(w, rec, len);
	rc = scratch_room(w, need);
	if (rc)
		return rc;
	scribe_record_encode(module, false, rec, len, w->scratch, need);
	return put(w, w->scratch, need);
}

int scribe_writer_raw(struct scribe_writer *w, int module, unsigned version, const void *bytes, size_t len)
{
	char buf[24];
	int rc;

	if (module < 0 || module >= SCRIBE_MAX_MODULES || module == SCRIBE_EXACT_NAMES)
		return scribe_err_set(&w->err, -EINVAL, "no module can have id %d", module);
	rc = go_to(w, STAGE_MODULES + module, scribe_module_label(module, buf));
	if (rc)
		return rc;
	w->header.mod_ver[module] = version;
	return put(w, bytes, len);
}

void scribe_writer_partial(struct scribe_writer *w, int module)
{
	if (module >= 0 && module < SCRIBE_MAX_MODULES)
		w->header.partial_flag |= 1ull << module;
}

/* Our own modules out of the header and into a trailer. */
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
	if (!any || w->options.list_own)
		return 0;
	memset(&h->mod_map[SCRIBE_OWN_FIRST], 0, sizeof(t.map));
	memset(&h->mod_ver[SCRIBE_OWN_FIRST], 0, sizeof(t.ver));
	h->partial_flag &= ~(~0ull << SCRIBE_OWN_FIRST);
	memcpy(h->pad, SCRIBE_TRAILER_MARK, sizeof(h->pad));
	memcpy(t.magic, SCRIBE_TRAILER_MAGIC, sizeof(t.magic));
	return write_at(w, &t, sizeof(t), w->off);
}

static int put_exact(struct scribe_writer *w)
{
	int rc;

	if (w->exact_bytes == 0)
		return 0;
	rc = go_to(w, STAGE_MODULES + SCRIBE_EXACT_NAMES, "names with a NUL");
	if (rc)
		return rc;
	w->header.mod_ver[SCRIBE_EXACT_NAMES] = SCRIBE_EXACT_NAMES_VERSION;
	return put(w, w->exact, w->exact_bytes);
}

int scribe_writer_finish(struct scribe_writer *w)
{
	int rc = w->failed;

	if (rc)
		return rc;
	if (w->stage == STAGE_START || w->stage == STAGE_DONE)
		return scribe_err_set(&w->err, -SCRIBE_E_ORDER, "log written out of order: the end %s",
				      w->stage == STAGE_DONE ? "twice" : "before the job record");
	rc = put_exact(w);
	if (rc == 0)
		rc = region_end(w);
	if (rc == 0)
		rc = put_trailer(w);
	if (rc == 0)
		rc = write_at(w, &w->header, sizeof(w->header), 0);
	if (rc == 0)
		w->stage = STAGE_DONE;
	return rc;
}
