/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the daemon's log image. Every offset is checked although the sender is trusted: nothing may crash the
 * program. The mapping is private and writable, because record times are moved. Runs in MPI_Finalize. Must not
 * know sockets or MPI.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/client/mpi/log_image.h"

#define NS_PER_S 1000000000ll
/* Then accesses cannot fault and contents cannot change. */
#define SEALS_NEEDED (F_SEAL_SHRINK | F_SEAL_WRITE)

static bool is_within(const struct scribe_log_image *image, const struct scribe_log_map *m)
{
	return m->off <= image->bytes && m->len <= image->bytes - m->off;
}

/* Start of the region after the job's, or the end of the file. */
static uint64_t job_region_end(const struct scribe_log_image *image)
{
	const struct scribe_log_header *h = image->header;

	if (h->name_map.len)
		return h->name_map.off;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (h->mod_map[i].len)
			return h->mod_map[i].off;
	return image->bytes;
}

/* -EPROTO: not an uncompressed log of this version, or a bad region. */
static int check(struct scribe_log_image *image)
{
	const struct scribe_log_header *h = (const struct scribe_log_header *)image->map;
	uint64_t end;

	image->header = h;
	if (strncmp(h->version, SCRIBE_LOG_VERSION, sizeof(h->version)) != 0 || h->magic != SCRIBE_LOG_MAGIC ||
	    h->comp_type != SCRIBE_COMP_NONE)
		return -EPROTO;
	if (!is_within(image, &h->name_map))
		return -EPROTO;
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		if (!is_within(image, &h->mod_map[i]))
			return -EPROTO;
	end = job_region_end(image);
	if (end > image->bytes || end < sizeof(*h) + sizeof(image->job) + 1)
		return -EPROTO;
	memcpy(&image->job, image->map + sizeof(*h), sizeof(image->job));
	image->job.metadata[sizeof(image->job.metadata) - 1] = 0;
	image->exe = image->map + sizeof(*h) + sizeof(image->job);
	image->exe_bytes = strnlen(image->exe, end - sizeof(*h) - sizeof(image->job));
	if (image->exe + image->exe_bytes == image->map + end || image->exe_bytes > SCRIBE_EXE_BYTES)
		return -EPROTO;
	return 0;
}

int scribe_log_image_open(struct scribe_log_image *ret_image, int fd, uint64_t bytes)
{
	struct scribe_log_image image = {.bytes = bytes};
	int seals = fcntl(fd, F_GET_SEALS);
	int rc = 0;

	if (seals < 0 || (seals & SEALS_NEEDED) != SEALS_NEEDED || lseek(fd, 0, SEEK_END) != (off_t)bytes ||
	    bytes < sizeof(struct scribe_log_header)) {
		close(fd);
		return -EPROTO;
	}
	image.map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (image.map == MAP_FAILED) {
		image.map = NULL;
		rc = -errno;
	}
	close(fd);
	if (rc == 0)
		rc = check(&image);
	if (rc < 0) {
		scribe_log_image_close(&image);
		return rc;
	}
	*ret_image = image;
	return 0;
}

void scribe_log_image_close(struct scribe_log_image *image)
{
	if (image->map)
		munmap(image->map, image->bytes);
	image->map = NULL;
}

bool scribe_log_image_module(const struct scribe_log_image *image, int id, struct scribe_log_image_module *ret_m)
{
	const struct scribe_log_map *map = &image->header->mod_map[id];
	struct scribe_log_image_module m = {.module = scribe_module_by_id(id)};

	if (!map->len)
		return false;
	m.records = image->map + map->off;
	m.bytes = map->len;
	if (m.module && m.module->record_bytes)
		m.n = m.bytes / m.module->record_bytes;
	*ret_m = m;
	return true;
}

/* False: end, or an incomplete name. */
bool scribe_log_image_name(const struct scribe_log_image *image, size_t *at, uint64_t *ret_id, const char **ret_name,
			   size_t *ret_len)
{
	const struct scribe_log_map *map = &image->header->name_map;
	const char *p = image->map + map->off + *at;
	size_t left, len;

	if (*at >= map->len)
		return false;
	left = map->len - *at;
	if (left <= sizeof(*ret_id))
		return false;
	len = strnlen(p + sizeof(*ret_id), left - sizeof(*ret_id));
	if (len == left - sizeof(*ret_id))
		return false;
	memcpy(ret_id, p, sizeof(*ret_id));
	*ret_name = p + sizeof(*ret_id);
	*ret_len = len;
	*at += sizeof(*ret_id) + len + 1;
	return true;
}

int64_t scribe_log_image_start_ns(const struct scribe_log_image *image)
{
	return image->job.start_time_sec * NS_PER_S + image->job.start_time_nsec;
}

int64_t scribe_log_image_end_ns(const struct scribe_log_image *image)
{
	return image->job.end_time_sec * NS_PER_S + image->job.end_time_nsec;
}

/* By Darshan's names. */
static bool is_time_of_day(const char *name)
{
	static const char tail[] = "_TIMESTAMP";
	size_t n = strlen(name);

	return n >= sizeof(tail) && strcmp(name + n - (sizeof(tail) - 1), tail) == 0;
}

void scribe_log_image_rebase(const struct scribe_log_image_module *m, int64_t later_ns)
{
	if (!m->n || later_ns == 0)
		return;
	for (int i = 0; i < m->module->nfcounters; i++) {
		if (!is_time_of_day(m->module->fcounters[i].name))
			continue;
		for (size_t r = 0; r < m->n; r++) {
			char *at = m->records + r * m->module->record_bytes + m->module->fcounters_at +
				   (size_t)i * sizeof(double);
			double v;

			memcpy(&v, at, sizeof(v));
			if (v != 0)
				v += (double)later_ns / NS_PER_S;
			memcpy(at, &v, sizeof(v));
		}
	}
}
