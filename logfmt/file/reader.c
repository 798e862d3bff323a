/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader: a stream per region in use, records converted to the newest layout. Owns its descriptor, the
 * streams, the job region's text and descriptions of unknown modules. Must not know what a module means.
 */
#include "logfmt/file/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logfmt/file/header.h"
#include "logfmt/file/layout.h"
#include "logfmt/file/reader_region.h"
#include "logfmt/file/reader_state.h"

/* Pieces point into r->text, which is cut by NULs. */
static int split_text(struct scribe_reader *r)
{
	char *line = strchr(r->text, '\n');
	size_t n = 0;

	r->exe = r->text;
	for (const char *c = r->text; *c; c++)
		n += *c == '\n';
	if (n > SCRIBE_MAX_MOUNTS)
		return scribe_err_set(&r->err, -SCRIBE_E_LIMIT, "%.160s: job region: %zu mounts, at most %d", r->label,
				      n, SCRIBE_MAX_MOUNTS);
	r->mounts = calloc(n ? n : 1, sizeof(*r->mounts));
	if (!r->mounts)
		return scribe_err_set(&r->err, -ENOMEM, "%.160s: out of memory", r->label);
	while (line) {
		char *next = strchr(line + 1, '\n');
		char *tab;

		*line++ = 0;
		if (next)
			*next = 0;
		tab = strchr(line, '\t');
		if (tab && tab[1]) {
			*tab = 0;
			r->mounts[r->nmounts++] = (struct scribe_mount){line, tab + 1};
		}
		line = next;
	}
	return 0;
}

static int take_unified_job(struct scribe_reader *r, const char *bytes, size_t len)
{
	size_t text = 0, end;
	int rc = scribe_job_decode(r->label, &r->info, bytes, len, &r->job, &text, &r->err);

	if (rc)
		return rc;
	end = text + strnlen(bytes + text, len - text);
	if (end == len || end - text > SCRIBE_EXE_BYTES)
		return scribe_err_set(&r->err, -SCRIBE_E_FORMAT,
				      "%.160s: job region: no end of the command line and mounts", r->label);
	r->text = strdup(bytes + text);
	if (!r->text)
		return scribe_err_set(&r->err, -ENOMEM, "%.160s: out of memory", r->label);
	rc = scribe_unified_table_decode(r->label, bytes + end + 1, len - end - 1, &r->records, &r->header, &r->info,
					 &r->table, &r->err);
	return rc ? rc : split_text(r);
}

static int read_unified_job(struct scribe_reader *r)
{
	struct scribe_region_stream *s =
		scribe_region_stream_new(r->fd, r->label, "job", r->info.job_off, r->info.job_len, r->header.comp_type);
	const void *bytes = NULL;
	size_t len = 0;
	int rc;

	if (!s)
		return scribe_err_set(&r->err, -ENOMEM, "%.160s: out of memory", r->label);
	rc = scribe_region_stream_need(s, SCRIBE_UNIFIED_JOB_BYTES + 1, &bytes, &len, &r->err);
	if (rc == 0 && len > SCRIBE_UNIFIED_JOB_BYTES)
		rc = scribe_region_stream_error(s, &r->err, -SCRIBE_E_LIMIT, "more than %u plain bytes",
						SCRIBE_UNIFIED_JOB_BYTES);
	if (rc == 0)
		rc = take_unified_job(r, bytes, len);
	scribe_region_stream_free(s);
	return rc;
}

static int read_job(struct scribe_reader *r)
{
	struct scribe_log_map map = {r->info.job_off, r->info.job_len};
	struct scribe_region_stream *s =
		scribe_region_stream_new(r->fd, r->label, "job", map.off, map.len, r->header.comp_type);
	const void *bytes = NULL;
	size_t len = 0, text;
	int rc;

	if (!s)
		return scribe_err_set(&r->err, -ENOMEM, "%.160s: out of memory", r->label);
	/* Uncompressed logs pad the region, so only a compressed one is refused for its length. */
	rc = scribe_region_stream_need(s, SCRIBE_JOB_REGION_BYTES + 1, &bytes, &len, &r->err);
	if (rc == 0 && len > SCRIBE_JOB_REGION_BYTES && r->header.comp_type != SCRIBE_COMP_NONE)
		rc = scribe_region_stream_error(s, &r->err, -SCRIBE_E_LIMIT, "more than %d plain bytes",
						SCRIBE_JOB_REGION_BYTES);
	if (len > SCRIBE_JOB_REGION_BYTES)
		len = SCRIBE_JOB_REGION_BYTES;
	if (rc == 0)
		rc = scribe_job_decode(r->label, &r->info, bytes, len, &r->job, &text, &r->err);
	if (rc == 0) {
		r->text = strndup((const char *)bytes + text, len - text);
		rc = r->text ? split_text(r) : scribe_err_set(&r->err, -ENOMEM, "%.160s: out of memory", r->label);
	}
	scribe_region_stream_free(s);
	return rc;
}

static int read_header(struct scribe_reader *r)
{
	unsigned char bytes[sizeof(struct scribe_log_header)];
	struct stat st;
	size_t have = 0;

	if (fstat(r->fd, &st) != 0)
		return scribe_err_set(&r->err, -errno, "%.160s: %s", r->label, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return scribe_err_set(&r->err, -EISDIR, "%.160s: a directory, not a log", r->label);
	r->info.file_bytes = (uint64_t)st.st_size;
	while (have < sizeof(bytes)) {
		ssize_t n = pread(r->fd, bytes + have, sizeof(bytes) - have, (off_t)have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return scribe_err_set(&r->err, -errno, "%.160s: cannot read: %s", r->label,
					      errno == ESPIPE ? "a log must be a file, not a pipe" : strerror(errno));
		if (n == 0)
			break;
		have += (size_t)n;
	}
	if (scribe_unified_is(bytes, have))
		return scribe_unified_decode(r->label, bytes, have, &r->header, &r->records, &r->sorted, &r->columns,
					     &r->info, &r->err);
	return scribe_header_decode(r->label, bytes, have, &r->header, &r->info, &r->err);
}

static int read_trailer(struct scribe_reader *r)
{
	struct scribe_log_trailer t = {.magic = ""};
	ssize_t n = 0;
	int rc;

	if (!scribe_header_has_trailer(&r->header))
		return 0;
	if (r->info.file_bytes >= sizeof(r->header) + sizeof(t))
		n = pread(r->fd, &t, sizeof(t), (off_t)(r->info.file_bytes - sizeof(t)));
	if (n < 0)
		return scribe_err_set(&r->err, -errno, "%.160s: cannot read: %s", r->label, strerror(errno));
	rc = scribe_trailer_decode(r->label, &t, &r->info, &r->header, &r->err);
	for (int i = SCRIBE_OWN_FIRST; i < SCRIBE_MAX_MODULES; i++) {
		if (r->header.mod_map[i].len && !scribe_module_by_id(i))
			r->info.unknown |= 1ull << i;
	}
	return rc;
}

static int take_exact(struct scribe_reader *r)
{
	struct scribe_log_map *map = &r->header.mod_map[SCRIBE_EXACT_NAMES];
	uint32_t version = r->header.mod_ver[SCRIBE_EXACT_NAMES];

	if (map->len == 0)
		return 0;
	if (version != SCRIBE_EXACT_NAMES_VERSION)
		return scribe_err_set(&r->err, -SCRIBE_E_VERSION,
				      "%.160s: exact name region (file offset %llu): version %u, this program knows %d",
				      r->label, (unsigned long long)map->off, version, SCRIBE_EXACT_NAMES_VERSION);
	/* Moved to r->exact_map, so that callers do not find names with a NUL as an unknown module. */
	r->exact_map = *map;
	*map = (struct scribe_log_map){0, 0};
	r->header.mod_ver[SCRIBE_EXACT_NAMES] = 0;
	r->info.unknown &= ~(1ull << SCRIBE_EXACT_NAMES);
	return 0;
}

/* Owns `fd`, also on failure. */
static int open_owned(int fd, const char *label, struct scribe_reader **ret_r, struct scribe_err *err)
{
	struct scribe_reader *r = calloc(1, sizeof(*r));
	int rc;

	if (!r) {
		close(fd);
		return scribe_err_set(err, -ENOMEM, "%.160s: out of memory", label);
	}
	r->fd = fd;
	scribe_log_label(r->label, sizeof(r->label), label);
	/* The trailer needs the header, exact names need the trailer's maps, the job region's end needs all maps. */
	rc = read_header(r);
	if (rc == 0)
		rc = read_trailer(r);
	if (rc == 0)
		rc = take_exact(r);
	if (rc == 0)
		rc = r->info.layout == SCRIBE_LAYOUT_UNIFIED ? read_unified_job(r) : read_job(r);
	if (rc) {
		if (err)
			*err = r->err;
		scribe_reader_free(r);
		return rc;
	}
	*ret_r = r;
	return 0;
}

int scribe_reader_open(const char *path, struct scribe_reader **ret_r, struct scribe_err *err)
{
	/* Non-blocking, so that a FIFO passed by mistake is an error instead of a wait. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return scribe_err_set(err, -errno, "%.160s: cannot open: %s", path, strerror(errno));
	return open_owned(fd, path, ret_r, err);
}

int scribe_reader_open_fd(int fd, const char *label, struct scribe_reader **ret_r, struct scribe_err *err)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (own < 0)
		return scribe_err_set(err, -errno, "%.160s: cannot duplicate the descriptor: %s", label,
				      strerror(errno));
	return open_owned(own, label, ret_r, err);
}

struct scribe_reader *scribe_reader_free(struct scribe_reader *r)
{
	if (!r)
		return NULL;
	scribe_log_region_reset(&r->names);
	scribe_log_region_reset(&r->exact);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		scribe_log_region_reset(&r->modules[i]);
	scribe_framed_free(r->parked);
	scribe_unified_table_free(&r->table);
	free(r->stand_in);
	free(r->mounts);
	free(r->text);
	close(r->fd);
	free(r);
	return NULL;
}

const struct scribe_reader_info *scribe_reader_info(const struct scribe_reader *r)
{
	return &r->info;
}

const struct scribe_log_header *scribe_reader_header(const struct scribe_reader *r)
{
	return &r->header;
}

const struct scribe_log_job *scribe_reader_job(const struct scribe_reader *r)
{
	return &r->job;
}

const char *scribe_reader_exe(const struct scribe_reader *r)
{
	return r->exe;
}

size_t scribe_reader_mounts(const struct scribe_reader *r, const struct scribe_mount **ret_mounts)
{
	*ret_mounts = r->mounts;
	return r->nmounts;
}

const struct scribe_err *scribe_reader_error(const struct scribe_reader *r)
{
	return &r->err;
}

bool scribe_reader_has(const struct scribe_reader *r, int module)
{
	return scribe_module_by_id(module) && r->header.mod_map[module].len > 0;
}

const struct scribe_module *scribe_reader_module(const struct scribe_reader *r, int module)
{
	const struct scribe_module *m = scribe_module_by_id(module);

	return m || module < 0 || module >= SCRIBE_MAX_MODULES ? m : r->table.modules[module];
}

void scribe_reader_as_stock(struct scribe_reader *r, bool on)
{
	r->as_stock = on;
}

void scribe_reader_plain_names(struct scribe_reader *r, bool on)
{
	r->plain_names = on;
}

void scribe_reader_dxt_in_pieces(struct scribe_reader *r, bool on)
{
	r->dxt_in_pieces = on;
}

double scribe_reader_runtime(const struct scribe_reader *r)
{
	const struct scribe_log_job *j = &r->job;

	if (r->info.version < 341)
		return (double)(j->end_time_sec - j->start_time_sec + 1);
	return ((double)j->end_time_sec + (double)j->end_time_nsec / 1e9) -
	       ((double)j->start_time_sec + (double)j->start_time_nsec / 1e9);
}

static int open_module(struct scribe_reader *r, int module, struct scribe_log_region *g)
{
	const struct scribe_module *m = scribe_reader_module(r, module);
	unsigned version = r->header.mod_ver[module];

	/* A failure is permanent: after damage the position in the region is unknown. */
	if (g->failed || g->stream)
		return g->failed;
	if (version == 0 || version > m->accepts)
		return g->failed = scribe_err_set(
			       &r->err, -SCRIBE_E_VERSION,
			       "%.160s: %s region (file offset %llu): record version %u, this program knows 1 to %u",
			       r->label, m->name, (unsigned long long)r->header.mod_map[module].off, version,
			       m->accepts);
	g->var.module = module;
	g->var.version = version;
	g->var.swapped = r->info.swapped;
	g->var.in_pieces = r->dxt_in_pieces;
	return scribe_log_region_module(r, module, m->name,
					version == m->version ? m->record_bytes : scribe_disk_bytes(module, version),
					false);
}

static void stock_faults(struct scribe_posix_record *p, unsigned version, bool swapped)
{
	/*
	 * Reproduces faults of the stock reader of 3.5.0. It does not swap three times of logs in the other byte
	 * order, and converting versions 2 and 3 it loses the last four (version 2) or two (version 3) reals.
	 */
	int lost = version == 2 ? 4 : version == 3 ? 2 : 0;

	if (swapped)
		scribe_swap_words(&p->fcounters[SCRIBE_POSIX_F_META_TIME], 3);
	for (int i = 0; i < lost; i++)
		p->fcounters[SCRIBE_POSIX_F_COUNT - 1 - i] = 0;
}

/* 1, or 0: the record is left out. */
static int convert(struct scribe_reader *r, const struct scribe_module *m, struct scribe_log_region *g, size_t disk,
		   const void *p)
{
	unsigned version = g->var.version;
	int rc = 1;

	memcpy(g->fixed, p, disk);
	if (r->info.swapped)
		scribe_disk_swap(m->id, version, g->fixed);
	if (version != m->version)
		rc = scribe_disk_upgrade(m->id, version, g->fixed);
	if (rc && r->as_stock && m->id == SCRIBE_MOD_POSIX && version < 4)
		stock_faults((struct scribe_posix_record *)(void *)g->fixed, version, r->info.swapped);
	return rc;
}

static void turn_described(const struct scribe_module *m, char *rec)
{
	scribe_swap_words(rec, sizeof(struct scribe_base_record) / 8);
	scribe_swap_words(rec + m->counters_at, (size_t)m->ncounters);
	scribe_swap_words(rec + m->fcounters_at, (size_t)m->nfcounters);
}

static int next_described(struct scribe_reader *r, const struct scribe_module *m, struct scribe_log_region *g,
			  const void **ret_rec, size_t *ret_len)
{
	size_t ints = m->ncounters ? m->counters_at + (size_t)m->ncounters * 8 : sizeof(struct scribe_base_record);
	size_t reals = m->nfcounters ? m->fcounters_at + (size_t)m->nfcounters * 8 : 0;
	const void *p;
	size_t len;
	int rc = scribe_region_stream_need_record(g->stream, &p, &len, &r->err);

	if (rc || len == 0)
		return rc;
	if (len < ints || len < reals)
		return scribe_region_stream_error(g->stream, &r->err, -SCRIBE_E_FORMAT,
						  "a record of %zu bytes, its counters need %zu", len,
						  ints > reals ? ints : reals);
	scribe_region_stream_skip(g->stream, len);
	if (r->info.swapped)
		turn_described(m, (char *)p);
	*ret_rec = p;
	*ret_len = len;
	return 1;
}

static int next_fixed(struct scribe_reader *r, const struct scribe_module *m, struct scribe_log_region *g,
		      const void **ret_rec, size_t *ret_len)
{
	unsigned version = g->var.version;
	bool as_is = version == m->version && !r->info.swapped;
	size_t disk = as_is ? m->record_bytes : scribe_disk_bytes(m->id, version);
	const void *p;
	size_t avail;
	int rc;

	if (!as_is && !g->fixed) {
		g->fixed = malloc(SCRIBE_FIXED_MAX_BYTES);
		if (!g->fixed)
			return scribe_err_set(&r->err, -ENOMEM, "%.160s: out of memory", r->label);
	}
	do {
		rc = scribe_region_stream_need(g->stream, disk, &p, &avail, &r->err);
		if (rc || avail == 0)
			return rc;
		if (avail < disk)
			return scribe_region_stream_error(g->stream, &r->err, -SCRIBE_E_TRUNCATED,
							  "ends in the middle of a record (%zu of %zu bytes)", avail,
							  disk);
		scribe_region_stream_skip(g->stream, disk);
		rc = as_is ? 1 : convert(r, m, g, disk, p);
	} while (rc == 0);
	*ret_rec = as_is ? p : g->fixed;
	*ret_len = m->record_bytes;
	return 1;
}

static int next_record(struct scribe_reader *r, const struct scribe_module *m, struct scribe_log_region *g,
		       const void **ret_rec, size_t *ret_len)
{
	/* The base record's length does not agree with the record's counts: damage. */
	if (g->var.left == 0 && scribe_region_stream_mid_record(g->stream))
		return scribe_region_stream_error(g->stream, &r->err, -SCRIBE_E_FORMAT,
						  "a record is longer than what it holds");
	if (r->table.modules[m->id])
		return next_described(r, m, g, ret_rec, ret_len);
	return m->record_bytes ? next_fixed(r, m, g, ret_rec, ret_len)
			       : scribe_variable_next(&g->var, g->stream, ret_rec, ret_len, &r->err);
}

int scribe_reader_borrow_record(struct scribe_reader *r, int module, const void **ret_rec, size_t *ret_len)
{
	const struct scribe_module *m = scribe_reader_module(r, module);
	struct scribe_log_region *g;
	int rc;

	if (!m || r->header.mod_map[module].len == 0)
		return 0;
	g = &r->modules[module];
	if (!g->stream || g->failed) {
		rc = open_module(r, module, g);
		if (rc)
			return rc;
	}
	if (g->pending) {
		*ret_rec = g->pending;
		*ret_len = g->pending_len;
		g->pending = NULL;
		return 1;
	}
	rc = next_record(r, m, g, ret_rec, ret_len);
	if (rc < 0)
		g->failed = rc;
	if (rc == 0)
		scribe_log_region_park(r, module);
	return rc;
}

int scribe_reader_next_record(struct scribe_reader *r, int module, void *buf, size_t cap, size_t *ret_len)
{
	const void *rec;
	int rc = scribe_reader_borrow_record(r, module, &rec, ret_len);

	if (rc <= 0)
		return rc;
	if (*ret_len > cap) {
		r->modules[module].pending = rec;
		r->modules[module].pending_len = *ret_len;
		return scribe_err_set(&r->err, -SCRIBE_E_BUFFER,
				      "%.160s: a %s record of %zu bytes does not fit into "
				      "%zu",
				      r->label, scribe_reader_module(r, module)->name, *ret_len, cap);
	}
	memcpy(buf, rec, *ret_len);
	return 1;
}

int scribe_reader_borrow_raw(struct scribe_reader *r, int module, const void **ret_bytes, size_t *ret_len)
{
	struct scribe_log_region *g;
	char buf[24];
	int rc;

	if (module < 0 || module >= SCRIBE_MAX_MODULES || r->header.mod_map[module].len == 0)
		return 0;
	g = &r->modules[module];
	rc = scribe_log_region_module(r, module, scribe_module_label(module, buf), 0, true);
	if (rc == 0)
		rc = scribe_region_stream_need(g->stream, 1, ret_bytes, ret_len, &r->err);
	if (rc)
		return g->failed = rc;
	if (*ret_len == 0) {
		scribe_log_region_park(r, module);
		return 0;
	}
	scribe_region_stream_skip(g->stream, *ret_len);
	return 1;
}

void scribe_reader_rewind(struct scribe_reader *r, int module)
{
	if (module >= 0 && module < SCRIBE_MAX_MODULES)
		scribe_log_region_reset(&r->modules[module]);
}
