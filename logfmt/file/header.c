/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Header and job record of every log version from 3.00 on, and the trailer: decoded into the newest form, in native
 * order, with the module ids of 3.41. Every map must lie within the file. Allocates nothing and must not read files.
 */
#include "logfmt/file/header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "logfmt/file/layout.h"

/* Darshan's header before 3.41. */
#define OLD_MODULES        16
#define OLD_HEADER_BYTES   360
#define FIRST_WIDE_VERSION 341 /* 64 modules, nanoseconds in the job record */

struct old_header {
	char version[8];
	int64_t magic;
	uint8_t comp_type;
	uint32_t partial_flag;
	struct scribe_log_map name_map;
	struct scribe_log_map mod_map[OLD_MODULES];
	uint32_t mod_ver[OLD_MODULES];
};
_Static_assert(sizeof(struct old_header) == OLD_HEADER_BYTES, "old header");

static int not_a_log(const char *label, struct scribe_err *err, const unsigned char *b, size_t len)
{
	static const struct {
		const char *start, *what;
	} known[] = {
		{"\x1f\x8b", "gzip data: a log of Darshan 2 or older, or a compressed file"},
		{"BZh", "bzip2 data: a log of Darshan 2 or older, or a compressed file"},
		{"\x7f"
		 "ELF",
		 "a program"},
		{"# darshan log", "text that darshan-parser printed"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i].start);

		if (len >= n && memcmp(b, known[i].start, n) == 0)
			return scribe_err_set(err, -SCRIBE_E_FORMAT, "%.200s: not a Darshan log: %s", label,
					      known[i].what);
	}
	return scribe_err_set(err, -SCRIBE_E_FORMAT, "%.200s: not a Darshan log: no log version in its first 8 bytes",
			      label);
}

/* "3.41" to 341; 0: not of that form. */
static unsigned version_of(const char *b)
{
	unsigned major, minor;
	char text[9], tail;

	memcpy(text, b, 8);
	/* The first byte must be a digit: sscanf would skip leading spaces. */
	text[8] = 0;
	if (text[0] < '0' || text[0] > '9' || sscanf(text, "%1u.%2u%c", &major, &minor, &tail) != 2)
		return 0;
	return major * 100 + minor;
}

static int check_version(const char *label, unsigned version, struct scribe_err *err)
{
	/* Those that Darshan has released. A newer version can change any field, so it is refused. */
	static const unsigned known[] = {300, 310, 320, 321, 341};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (version == known[i])
			return 0;
	}
	return scribe_err_set(err, -SCRIBE_E_VERSION,
			      "%.200s: header (offset 0): log version %u.%02u is not one this program knows "
			      "(3.00, 3.10, 3.20, 3.21, 3.41)",
			      label, version / 100, version % 100);
}

static void swap_maps(struct scribe_log_header *h)
{
	h->partial_flag = __builtin_bswap64(h->partial_flag);
	scribe_swap_words(&h->name_map, 2);
	scribe_swap_words(h->mod_map, 2 * SCRIBE_MAX_MODULES);
	for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
		h->mod_ver[i] = __builtin_bswap32(h->mod_ver[i]);
}

static void make_place(struct scribe_log_header *h, int id)
{
	/* H5D was inserted with 3.20 and PNETCDF_VAR with 3.41: later ids moved up by one. */
	uint64_t lower_bits = (1ull << id) - 1;
	size_t n = SCRIBE_MAX_MODULES - 1 - (size_t)id;

	memmove(&h->mod_map[id + 1], &h->mod_map[id], n * sizeof(h->mod_map[0]));
	memmove(&h->mod_ver[id + 1], &h->mod_ver[id], n * sizeof(h->mod_ver[0]));
	h->mod_map[id] = (struct scribe_log_map){0, 0};
	h->mod_ver[id] = 0;
	h->partial_flag = (h->partial_flag & lower_bits) | ((h->partial_flag & ~lower_bits) << 1);
}

/* To the new form, still in the file's byte order. */
static void widen(const struct old_header *old, bool swapped, struct scribe_log_header *h)
{
	uint32_t partial = old->partial_flag;

	memset(h, 0, sizeof(*h));
	memcpy(h->version, old->version, sizeof(h->version));
	h->magic = old->magic;
	h->comp_type = old->comp_type;
	h->name_map = old->name_map;
	memcpy(h->mod_map, old->mod_map, sizeof(old->mod_map));
	memcpy(h->mod_ver, old->mod_ver, sizeof(old->mod_ver));
	h->partial_flag = swapped ? __builtin_bswap64(__builtin_bswap32(partial)) : partial;
}

static int check_map(const char *label, const char *what, const struct scribe_log_map *map, uint64_t header,
		     uint64_t file, struct scribe_err *err)
{
	bool truncated;

	if (map->len == 0)
		return 0;
	if (map->off >= header && map->off <= file && map->len <= file - map->off)
		return 0;
	/*
	 * A plausible map past the file's end: the file is cut short. From 256 TiB (2^48) on it is taken for
	 * damage.
	 */
	truncated = map->off >= header && map->off < (1ull << 48) && map->len < (1ull << 48);
	return scribe_err_set(err, truncated ? -SCRIBE_E_TRUNCATED : -SCRIBE_E_FORMAT,
			      "%.200s: header: %s region of %llu bytes at offset %llu is not within the file "
			      "(%llu bytes)%s",
			      label, what, (unsigned long long)map->len, (unsigned long long)map->off,
			      (unsigned long long)file, truncated ? ": the file is cut short" : "");
}

const char *scribe_module_label(int id, char buf[24])
{
	const struct scribe_module *m = scribe_module_by_id(id);

	if (m)
		return m->name;
	if (id == SCRIBE_MOD_APXC)
		return "APXC";
	snprintf(buf, 24, "module %d", id);
	return buf;
}

static int find_job(const char *label, const struct scribe_log_header *h, uint64_t header,
		    struct scribe_reader_info *info, struct scribe_err *err)
{
	/*
	 * The header lacks a map of the job region: it ends at the name region, or without names at the first
	 * module's region.
	 */
	uint64_t end = h->name_map.off;

	if (end == 0) {
		end = info->file_bytes;
		for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
			if (h->mod_map[i].len && h->mod_map[i].off < end)
				end = h->mod_map[i].off;
		}
	}
	if (end > info->file_bytes)
		return scribe_err_set(err, -SCRIBE_E_TRUNCATED,
				      "%.200s: header: name region at offset %llu is beyond the end of the file "
				      "(%llu bytes)",
				      label, (unsigned long long)end, (unsigned long long)info->file_bytes);
	if (end <= header)
		return scribe_err_set(err, -SCRIBE_E_TRUNCATED,
				      "%.200s: header: no job region behind the header (offset %llu)", label,
				      (unsigned long long)header);
	info->job_off = header;
	info->job_len = end - header;
	return 0;
}

/* Also notes modules with data that are not in the registry. */
static int check_maps(const char *label, const struct scribe_log_header *h, uint64_t header,
		      struct scribe_reader_info *info, struct scribe_err *err)
{
	int rc = check_map(label, "name", &h->name_map, header, info->file_bytes, err);

	for (int i = 0; i < SCRIBE_MAX_MODULES && rc == 0; i++) {
		char buf[24];

		if (!h->mod_map[i].len)
			continue; /* common, and building the label would cost most of the time here */
		rc = check_map(label, scribe_module_label(i, buf), &h->mod_map[i], header, info->file_bytes, err);
		if (h->mod_map[i].len && !scribe_module_by_id(i))
			info->unknown |= 1ull << i;
	}
	return rc ? rc : find_job(label, h, header, info, err);
}

int scribe_header_decode(const char *label, const void *bytes, size_t len, struct scribe_log_header *ret_header,
			 struct scribe_reader_info *info, struct scribe_err *err)
{
	struct old_header old;
	size_t need;
	int64_t magic;
	int rc;

	/* The version decides the header's length and the magic number its byte order: this sequence is needed. */
	if (len == 0)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%.200s: not a Darshan log: the file is empty", label);
	info->version = len >= 8 ? version_of(bytes) : 0;
	if (info->version == 0)
		return not_a_log(label, err, bytes, len);
	rc = check_version(label, info->version, err);
	if (rc)
		return rc;
	need = info->version >= FIRST_WIDE_VERSION ? sizeof(*ret_header) : OLD_HEADER_BYTES;
	if (len < need)
		return scribe_err_set(err, -SCRIBE_E_TRUNCATED,
				      "%.200s: header: %zu of %zu bytes: the file is cut short", label, len, need);
	memcpy(&magic, (const char *)bytes + 8, sizeof(magic));
	info->swapped = magic == (int64_t)__builtin_bswap64(SCRIBE_LOG_MAGIC);
	if (!info->swapped && magic != SCRIBE_LOG_MAGIC)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%.200s: header: wrong magic number at offset 8", label);
	if (need == OLD_HEADER_BYTES) {
		memcpy(&old, bytes, sizeof(old));
		widen(&old, info->swapped, ret_header);
	} else {
		memcpy(ret_header, bytes, sizeof(*ret_header));
	}
	ret_header->magic = SCRIBE_LOG_MAGIC;
	if (info->swapped)
		swap_maps(ret_header);
	info->comp_type = ret_header->comp_type;
	if (info->comp_type > SCRIBE_COMP_NONE)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%.200s: header: unknown compression %d at offset 16",
				      label, info->comp_type);
	if (info->version < 320)
		make_place(ret_header, SCRIBE_MOD_H5D);
	if (info->version < FIRST_WIDE_VERSION)
		make_place(ret_header, SCRIBE_MOD_PNETCDF_VAR);
	return check_maps(label, ret_header, need, info, err);
}

bool scribe_header_has_trailer(const struct scribe_log_header *header)
{
	return memcmp(header->pad, SCRIBE_TRAILER_MARK, sizeof(header->pad)) == 0;
}

int scribe_trailer_decode(const char *label, const struct scribe_log_trailer *bytes,
			  const struct scribe_reader_info *info, struct scribe_log_header *header,
			  struct scribe_err *err)
{
	struct scribe_log_trailer t = *bytes;
	uint64_t end = info->file_bytes - sizeof(t);
	int rc = 0;

	if (memcmp(t.magic, SCRIBE_TRAILER_MAGIC, sizeof(t.magic)) != 0)
		return scribe_err_set(err, -SCRIBE_E_TRUNCATED,
				      "%.200s: trailer: not at the end of the file (offset %llu): the file is "
				      "cut short",
				      label, (unsigned long long)end);
	if (info->swapped) {
		scribe_swap_words(t.map, 2 * SCRIBE_OWN_MODULES);
		scribe_swap_words(&t.partial_flag, 1);
		for (int i = 0; i < SCRIBE_OWN_MODULES; i++)
			t.ver[i] = __builtin_bswap32(t.ver[i]);
	}
	for (int i = 0; i < SCRIBE_OWN_MODULES && rc == 0; i++) {
		int id = SCRIBE_OWN_FIRST + i;
		char buf[24];

		if (t.map[i].len == 0)
			continue;
		rc = check_map(label, scribe_module_label(id, buf), &t.map[i], sizeof(*header), end, err);
		header->mod_map[id] = t.map[i];
		header->mod_ver[id] = t.ver[i];
	}
	header->partial_flag |= t.partial_flag & ~0ull << SCRIBE_OWN_FIRST;
	return rc;
}

int scribe_job_decode(const char *label, const struct scribe_reader_info *info, const void *bytes, size_t len,
		      struct scribe_log_job *ret_job, size_t *ret_text, struct scribe_err *err)
{
	bool wide = info->version >= FIRST_WIDE_VERSION;
	size_t ints = wide ? 7 : 5, text = ints * 8 + SCRIBE_JOB_METADATA_BYTES;
	int64_t v[7] = {0};

	if (len <= text)
		return scribe_err_set(err, -SCRIBE_E_TRUNCATED,
				      "%.200s: job region (file offset %llu): %zu plain bytes, at least %zu needed",
				      label, (unsigned long long)info->job_off, len, text + 1);
	memcpy(v, bytes, ints * 8);
	if (info->swapped)
		scribe_swap_words(v, ints);
	*ret_job = (struct scribe_log_job){
		.uid = v[0],
		.start_time_sec = v[1],
		.start_time_nsec = wide ? v[2] : 0,
		.end_time_sec = wide ? v[3] : v[2],
		.end_time_nsec = wide ? v[4] : 0,
		.nprocs = wide ? v[5] : v[3],
		.jobid = wide ? v[6] : v[4],
	};
	memcpy(ret_job->metadata, (const char *)bytes + ints * 8, SCRIBE_JOB_METADATA_BYTES);
	ret_job->metadata[SCRIBE_JOB_METADATA_BYTES - 1] = 0;
	*ret_text = text;
	return 0;
}
