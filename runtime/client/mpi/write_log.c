/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Third step: each rank compresses its parts; scans give their offsets. Some ranks write, also what other ranks
 * of their group send; rank 0 adds job record and, last, the header. Runs in MPI_Finalize; memory: coll.c;
 * finalize.c closes the descriptor. Must not know where records come from.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/file/writer.h"
#include "runtime/client/mpi/final.h"
#include "runtime/client/mpi/zlib_compress.h"
#include "runtime/client/process/daemon_link.h"

/* In file order. */
enum { REGION_JOB, REGION_NAMES, REGION_MODULE, REGION_COUNT = REGION_MODULE + SCRIBE_MAX_MODULES };

#define NS_PER_S 1000000000ll

#define GROUP_LEAST  16        /* ranks per writer … */
#define WRITERS_MOST 64        /* … and writers */
#define HANDED_MOST  (1 << 20) /* bytes; larger ranks write themselves */

struct part {
	void *bytes; /* compressed */
	size_t n;
};

/* Sent to the writer before the parts. */
struct handed {
	int64_t bytes; /* that come; 0: none, or it writes them itself */
	int64_t sizes[REGION_COUNT];
};

/* Empty for n 0. */
static int pack(struct scribe_final *f, const void *in, size_t n, struct part *ret_part)
{
	void *out;

	if (!n)
		return 0;
	out = scribe_coll_alloc(&f->coll, scribe_zlib_compress_bound(n));
	if (!out)
		return -1;
	ret_part->bytes = out;
	ret_part->n = scribe_zlib_compress(in, n, out);
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

static bool named_below(const struct scribe_final *f, uint64_t id)
{
	const struct scribe_shared_id *e = scribe_shared_find(f->ids, f->nids, id, SCRIBE_SHARED_NAMES);

	return e && scribe_shared_first(e) < f->rank;
}

static int pack_names(struct scribe_final *f, struct part *ret_part)
{
	size_t at = 0, used = 0, len, cap = f->image.header->name_map.len;
	char *raw = scribe_coll_alloc(&f->coll, cap);
	const char *name;
	uint64_t id;

	if (!raw)
		return -1;
	/* The lowest rank that has a name writes it, as far as the search found out. */
	while (scribe_log_image_name(&f->image, &at, &id, &name, &len))
		if (!named_below(f, id))
			used += scribe_name_encode(id, name, len, raw + used, cap - used);
	return pack(f, raw, used, ret_part);
}

static int pack_module(struct scribe_final *f, const struct scribe_final_module *m, struct part *ret_part)
{
	size_t step, used = 0;
	char *raw;

	if (!m->mine.n) /* empty, or variable length: copied unchanged */
		return pack(f, m->mine.records, m->mine.bytes, ret_part);
	step = m->mine.module->record_bytes;
	raw = scribe_coll_alloc(&f->coll, m->mine.n * step);
	if (!raw)
		return -1;
	for (size_t i = 0; i < m->mine.n; i++) {
		struct scribe_base_record base;

		/* Reduced records appear once, at the end, from rank 0. */
		if (m->nshared && m->shared[i])
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
	/* An empty region does not appear in the header. */
	return 0;
}

static int write_at(int fd, const void *bytes, size_t n, int64_t off)
{
	/* pwrite: no shared file position. */
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
	/* Written last: without a header the file is not a log. */
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

static int open_log(struct scribe_final *f)
{
	/* Rank 0 created it; no O_CREAT here. */
	if (f->fd < 0)
		f->fd = scribe_fd_high(open(f->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY));
	return f->fd < 0 ? -1 : 0;
}

/* `moving`: next offset per region in this group, advanced. */
static int write_parts(struct scribe_final *f, const char *bytes, const int64_t *sizes, int64_t *moving)
{
	for (int i = 0; i < REGION_COUNT; i++) {
		if (sizes[i] && write_at(f->fd, bytes, (size_t)sizes[i], moving[i]) < 0)
			return -1;
		bytes += sizes[i];
		moving[i] += sizes[i];
	}
	return 0;
}

static int group_ranks(int size)
{
	int group = (size + WRITERS_MOST - 1) / WRITERS_MOST;

	return group < GROUP_LEAST ? GROUP_LEAST : group;
}

static bool any_bytes(const int64_t *sizes)
{
	int64_t sum = 0;

	for (int i = 0; i < REGION_COUNT; i++)
		sum += sizes[i];
	return sum > 0;
}

static void write_group(struct scribe_final *f, int group, int64_t *moving)
{
	int end = f->size - f->rank < group ? f->size : f->rank + group;
	struct handed *handed = scribe_coll_alloc(&f->coll, sizeof(*handed));
	char *bytes = scribe_coll_alloc(&f->coll, HANDED_MOST);

	if (!handed || !bytes) {
		f->coll.broken = true;
		return;
	}
	for (int from = f->rank + 1; from < end; from++) {
		if (scribe_coll_exchange(&f->coll, -1, NULL, 0, from, handed, sizeof(*handed)) < 0)
			return;
		if (handed->bytes < 0 || handed->bytes > HANDED_MOST) {
			f->coll.broken = true; /* not a valid rank of ours */
			return;
		}
		if (handed->bytes &&
		    scribe_coll_exchange(&f->coll, -1, NULL, 0, from, bytes, (size_t)handed->bytes) < 0)
			return;
		if (!handed->bytes)
			for (int i = 0; i < REGION_COUNT; i++)
				moving[i] += handed->sizes[i];
		else if (f->failed || open_log(f) < 0 || write_parts(f, bytes, handed->sizes, moving) < 0)
			f->failed = true; /* the others still send theirs */
	}
	scribe_coll_release(&f->coll, handed);
	scribe_coll_release(&f->coll, bytes);
}

/* To the group's first rank; large ones are written here. */
static void hand_over(struct scribe_final *f, int to, const char *bytes, size_t n, const int64_t *sizes,
		      int64_t *places)
{
	struct handed *handed = scribe_coll_alloc(&f->coll, sizeof(*handed));

	if (!handed) {
		f->coll.broken = true;
		return;
	}
	memcpy(handed->sizes, sizes, sizeof(handed->sizes));
	handed->bytes = n <= HANDED_MOST ? (int64_t)n : 0;
	if (scribe_coll_exchange(&f->coll, to, handed, sizeof(*handed), -1, NULL, 0) < 0)
		return;
	if (handed->bytes)
		scribe_coll_exchange(&f->coll, to, bytes, n, -1, NULL, 0);
	else if (n && (open_log(f) < 0 || write_parts(f, bytes, sizes, places) < 0))
		f->failed = true;
	scribe_coll_release(&f->coll, handed);
}

/* Offsets per region. */
static void places_of(const int64_t *before, const int64_t *total, int64_t *ret_places)
{
	int64_t off = sizeof(struct scribe_log_header);

	for (int i = 0; i < REGION_COUNT; i++) {
		ret_places[i] = off + before[i];
		off += total[i];
	}
}

/* NULL: no memory. */
static char *joined(struct scribe_final *f, const struct part *parts, size_t *ret_n)
{
	size_t n = 0;
	char *all;

	for (int i = 0; i < REGION_COUNT; i++)
		n += parts[i].n;
	all = scribe_coll_alloc(&f->coll, n);
	*ret_n = 0;
	for (int i = 0; all && i < REGION_COUNT; i++) {
		if (parts[i].n)
			memcpy(all + *ret_n, parts[i].bytes, parts[i].n);
		*ret_n += parts[i].n;
		scribe_coll_release(&f->coll, parts[i].bytes);
	}
	return all;
}

void scribe_final_write(struct scribe_final *f)
{
	int group = group_ranks(f->size), head = f->rank - f->rank % group;
	struct part parts[REGION_COUNT] = {0};
	int64_t *mine, *before, *total, *places;
	size_t n = 0;
	char *bytes;

	if (f->coll.broken || f->failed_any)
		return;
	mine = scribe_coll_alloc(&f->coll, 4 * REGION_COUNT * sizeof(*mine));
	if (!mine) {
		f->coll.broken = true;
		return;
	}
	before = mine + REGION_COUNT;
	total = before + REGION_COUNT;
	places = total + REGION_COUNT;
	bytes = pack_all(f, parts) == 0 ? joined(f, parts, &n) : NULL;
	for (int i = 0; bytes && i < REGION_COUNT; i++)
		mine[i] = (int64_t)parts[i].n;
	if (!bytes)
		f->failed = true; /* reported to the others at the vote */
	if (scribe_coll_offsets(&f->coll, mine, before, total, REGION_COUNT) < 0)
		return;
	places_of(before, total, places);
	if (f->rank != head) {
		hand_over(f, head, bytes, n, mine, places);
		return;
	}
	if (any_bytes(mine) && (open_log(f) < 0 || write_parts(f, bytes, mine, places) < 0))
		f->failed = true;
	write_group(f, group, places);
	if (f->rank == 0 && !f->failed && write_header(f, total) < 0)
		f->failed = true;
}
