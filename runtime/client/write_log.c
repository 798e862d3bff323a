/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Last steps of the collective finalize: each rank compresses its part of every
 * region and writes it, by plain pwrite, at the offset that a scan over the
 * ranks gives; rank 0 adds the job record and, when all sizes are known, the
 * header. Must not know how the records came to be.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/writer.h"
#include "runtime/client/daemon_link.h"
#include "runtime/client/final.h"
#include "runtime/client/squeeze.h"

/* Regions in the order of the file. */
enum { REGION_JOB, REGION_NAMES, REGION_MODULE, REGION_COUNT = REGION_MODULE + SCRIBE_MAX_MODULES };

#define NS_PER_S 1000000000ll

struct part {
	void *bytes; /* compressed */
	size_t n;
};

/* Compress `n` bytes into the part; nothing for nothing. */
static int pack(struct scribe_final *f, const void *in, size_t n, struct part *ret_part)
{
	void *out;

	if (!n)
		return 0;
	out = scribe_coll_alloc(&f->coll, scribe_squeeze_bound(n));
	if (!out)
		return -1;
	ret_part->bytes = out;
	ret_part->n = scribe_squeeze(in, n, out);
	return 0;
}

static int pack_job(struct scribe_final *f, struct part *ret_part)
{
	struct scribe_log_job job = f->image.job;
	char *raw = scribe_coll_alloc(&f->coll, sizeof(job) + f->image.exe_bytes + 1);

	if (!raw)
		return -1;
	job.start_time_sec = f->start_ns / NS_PER_S;
	job.start_time_nsec = f->start_ns % NS_PER_S;
	job.end_time_sec = f->end_ns / NS_PER_S;
	job.end_time_nsec = f->end_ns % NS_PER_S;
	job.nprocs = f->size;
	memcpy(raw, &job, sizeof(job));
	memcpy(raw + sizeof(job), f->image.exe, f->image.exe_bytes + 1);
	return pack(f, raw, sizeof(job) + f->image.exe_bytes + 1, ret_part);
}

/* A name that rank 0 writes: it has a record of that id. */
static bool root_names(const struct scribe_final *f, uint64_t id)
{
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (f->module[i].active && scribe_final_root_place(&f->module[i], id) >= 0)
			return true;
	return false;
}

static int pack_names(struct scribe_final *f, struct part *ret_part)
{
	size_t at = 0, used = 0, len, cap = f->image.header->name_map.len;
	char *raw = scribe_coll_alloc(&f->coll, cap);
	const char *name;
	uint64_t id;

	if (!raw)
		return -1;
	while (scribe_image_name(&f->image, &at, &id, &name, &len))
		if (f->rank == 0 || !root_names(f, id))
			used += scribe_name_encode(id, name, len, raw + used, cap - used);
	return pack(f, raw, used, ret_part);
}

/* Own records by id, without those reduced; then, on rank 0, the shared ones. */
static int pack_module(struct scribe_final *f, const struct scribe_final_module *m, struct part *ret_part)
{
	size_t step, used = 0;
	char *raw;

	if (!m->mine.n) /* nothing, or records of variable length: taken over whole */
		return pack(f, m->mine.records, m->mine.bytes, ret_part);
	step = m->mine.module->record_bytes;
	raw = scribe_coll_alloc(&f->coll, m->mine.n * step);
	if (!raw)
		return -1;
	for (size_t i = 0; i < m->mine.n; i++) {
		struct scribe_base_record base;
		long place = m->shared ? scribe_final_root_place(m, m->places[i].id) : -1;

		if (place >= 0 && m->shared[place])
			continue;
		memcpy(raw + used, m->mine.records + m->places[i].at * step, step);
		memcpy(&base, raw + used, sizeof(base));
		base.rank = f->rank;
		memcpy(raw + used, &base, sizeof(base));
		used += step;
	}
	memcpy(raw + used, m->reduced ? m->reduced : raw, m->nreduced * step);
	return pack(f, raw, used + m->nreduced * step, ret_part);
}

static int pack_all(struct scribe_final *f, struct part *parts)
{
	if (f->rank == 0 && pack_job(f, &parts[REGION_JOB]) < 0)
		return -1;
	if (pack_names(f, &parts[REGION_NAMES]) < 0)
		return -1;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (pack_module(f, &f->module[i], &parts[REGION_MODULE + i]) < 0)
			return -1;
	return 0;
}

static int write_at(int fd, const void *bytes, size_t n, int64_t off)
{
	while (n) {
		ssize_t done = pwrite(fd, bytes, n, off);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		bytes = (const char *)bytes + done;
		n -= (size_t)done;
		off += done;
	}
	return 0;
}

static int write_header(struct scribe_final *f, const int64_t *total)
{
	struct scribe_log_header h;
	uint64_t off = sizeof(h) + (uint64_t)total[REGION_JOB];

	scribe_log_header_init(&h);
	h.partial_flag = f->partial;
	if (total[REGION_NAMES])
		h.name_map = (struct scribe_log_map){off, (uint64_t)total[REGION_NAMES]};
	off += (uint64_t)total[REGION_NAMES];
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		uint64_t len = (uint64_t)total[REGION_MODULE + i];
		const struct scribe_module *module = scribe_module_by_id(i);

		if (!len)
			continue;
		h.mod_map[i] = (struct scribe_log_map){off, len};
		h.mod_ver[i] = module ? module->version : f->image.header->mod_ver[i];
		off += len;
	}
	return write_at(f->fd, &h, sizeof(h), 0);
}

/* Rank 0 has made the file; the others open that file and no other. */
static int open_log(struct scribe_final *f)
{
	if (f->fd < 0)
		f->fd = scribe_fd_high(open(f->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY));
	return f->fd < 0 ? -1 : 0;
}

static int write_parts(struct scribe_final *f, const struct part *parts, const int64_t *before,
		       const int64_t *total)
{
	int64_t off = sizeof(struct scribe_log_header);
	bool any = false;

	for (int i = 0; i < REGION_COUNT; i++)
		any = any || parts[i].n;
	if (!any)
		return 0;
	if (open_log(f) < 0)
		return -1;
	for (int i = 0; i < REGION_COUNT; i++) {
		if (parts[i].n && write_at(f->fd, parts[i].bytes, parts[i].n, off + before[i]) < 0)
			return -1;
		off += total[i];
	}
	return f->rank == 0 ? write_header(f, total) : 0;
}

void scribe_final_write(struct scribe_final *f)
{
	struct part *parts;
	int64_t *mine, *before, *total;

	if (f->coll.broken || f->failed_any)
		return;
	parts = scribe_coll_alloc(&f->coll, REGION_COUNT * sizeof(*parts));
	mine = scribe_coll_alloc(&f->coll, 3 * REGION_COUNT * sizeof(*mine));
	if (!parts || !mine) {
		f->coll.broken = true;
		return;
	}
	before = mine + REGION_COUNT;
	total = before + REGION_COUNT;
	if (pack_all(f, parts) < 0)
		f->failed = true; /* the others learn it at the vote */
	for (int i = 0; i < REGION_COUNT; i++)
		mine[i] = (int64_t)parts[i].n;
	if (scribe_coll_offsets(&f->coll, mine, before, total, REGION_COUNT) < 0)
		return;
	if (!f->failed && write_parts(f, parts, before, total) < 0)
		f->failed = true;
}
