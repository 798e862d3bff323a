/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of fixed length in files, converted in the caller's buffer of SCRIBE_FIXED_MAX_BYTES. Counters that
 * an old version lacks become -1 ("not monitored"), as in Darshan's reader. Must not know files or streams.
 */
#include "logfmt/file/layout.h"

#include <string.h>

#include "logfmt/counters/module.h"

#define BASE_WORDS 2

/* With base record, before the newest version: Darshan's releases and docs/format.md (POSIX_EXT). */
static const struct {
	int module;
	unsigned version;
	unsigned bytes;
} old_sizes[] = {
	{SCRIBE_MOD_POSIX, 1, 680},       {SCRIBE_MOD_POSIX, 2, 648},     {SCRIBE_MOD_POSIX, 3, 664},
	{SCRIBE_MOD_MPIIO, 1, 544},       {SCRIBE_MOD_MPIIO, 2, 544},     {SCRIBE_MOD_H5F, 1, 40},
	{SCRIBE_MOD_H5F, 2, 56},          {SCRIBE_MOD_H5D, 1, 904},       {SCRIBE_MOD_PNETCDF_FILE, 1, 48},
	{SCRIBE_MOD_PNETCDF_FILE, 2, 64}, {SCRIBE_MOD_BGQ, 1, 120},       {SCRIBE_MOD_STDIO, 1, 240},
	{SCRIBE_MOD_POSIX_EXT, 1, 216},   {SCRIBE_MOD_POSIX_EXT, 2, 224}, {SCRIBE_MOD_PROCESS, 1, 512},
};

size_t scribe_disk_bytes(int module, unsigned version)
{
	const struct scribe_module *m = scribe_module_by_id(module);

	if (!m || m->record_bytes == 0)
		return 0;
	if (version == m->version)
		return m->record_bytes;
	for (size_t i = 0; i < sizeof(old_sizes) / sizeof(old_sizes[0]); i++) {
		if (old_sizes[i].module == module && old_sizes[i].version == version)
			return old_sizes[i].bytes;
	}
	return 0;
}

void scribe_swap_words(void *words, size_t n)
{
	uint64_t *w = words;

	for (size_t i = 0; i < n; i++)
		w[i] = __builtin_bswap64(w[i]);
}

void scribe_disk_swap(int module, unsigned version, void *rec)
{
	size_t words = scribe_disk_bytes(module, version) / 8;

	switch (module) {
	case SCRIBE_MOD_DFS:
		words = offsetof(struct scribe_dfs_record, pool_uuid) / 8;
		break;
	case SCRIBE_MOD_DAOS:
		words = offsetof(struct scribe_daos_record, pool_uuid) / 8;
		scribe_swap_words((char *)rec + offsetof(struct scribe_daos_record, oid_hi), 2);
		break;
	case SCRIBE_MOD_PROCESS:
		words = offsetof(struct scribe_process_record, host) / 8 - (version == 1 ? 2 : 0);
		break;
	default:
		break;
	}
	scribe_swap_words(rec, words);
}

/* As a time. */
static const double unknown = -1;

/* Inserts two doubles before w[at], which `total` words follow. */
static void insert_unknown_times(uint64_t *w, size_t at, size_t total)
{
	memmove(w + at + 2, w + at, total * 8);
	memcpy(w + at, &unknown, 8);
	memcpy(w + at + 1, &unknown, 8);
}

/* Numbers are words of the old layouts. 0: cannot be converted. */
static int posix_up(uint64_t *w, unsigned version)
{
	uint64_t *c = w + BASE_WORDS;

	if (version == 1) {
		/* Counts fopen and its like, which became STDIO's: the record is left out, as in Darshan's reader. */
		if ((int64_t)c[6] > 0)
			return 0;
		memmove(c + 6, c + 10, (58 + 15) * 8);
	}
	if (version <= 2)
		insert_unknown_times(c, 64 + 3, 12);
	memmove(c + 13, c + 8, (56 + 17) * 8);
	memmove(c + 3, c + 1, 7 * 8);
	c[SCRIBE_POSIX_FILENOS] = c[SCRIBE_POSIX_DUPS] = (uint64_t)-1;
	c[SCRIBE_POSIX_RENAME_SOURCES] = c[SCRIBE_POSIX_RENAME_TARGETS] = (uint64_t)-1;
	c[SCRIBE_POSIX_RENAMED_FROM] = 0;
	return 1;
}

static void h5f_up(uint64_t *w, unsigned version)
{
	uint64_t *c = w + BASE_WORDS;

	if (version == 1)
		insert_unknown_times(c, 1 + 1, 1);
	memmove(c + 3, c + 1, 4 * 8);
	c[SCRIBE_H5F_FLUSHES] = c[SCRIBE_H5F_USE_MPIIO] = (uint64_t)-1;
	memcpy(c + 3 + SCRIBE_H5F_F_META_TIME, &unknown, 8);
}

static void pnetcdf_file_up(uint64_t *w, unsigned version)
{
	struct scribe_pnetcdf_file_record *rec = (void *)w;
	uint64_t *c = w + BASE_WORDS;
	double times[4];
	uint64_t opens;

	/* Version 3 has different counters. Only opens and four times keep their meaning; the rest is unknown. */
	if (version == 1)
		insert_unknown_times(c, 2 + 1, 1);
	opens = c[0] + c[1];
	memcpy(times, c + 2, sizeof(times));
	for (int i = 0; i < SCRIBE_PNETCDF_FILE_COUNT; i++)
		rec->counters[i] = -1;
	for (int i = 0; i < SCRIBE_PNETCDF_FILE_F_COUNT; i++)
		rec->fcounters[i] = -1;
	rec->counters[SCRIBE_PNETCDF_FILE_OPENS] = (int64_t)opens;
	rec->fcounters[SCRIBE_PNETCDF_FILE_F_OPEN_START_TIMESTAMP] = times[0];
	rec->fcounters[SCRIBE_PNETCDF_FILE_F_CLOSE_START_TIMESTAMP] = times[1];
	rec->fcounters[SCRIBE_PNETCDF_FILE_F_OPEN_END_TIMESTAMP] = times[2];
	rec->fcounters[SCRIBE_PNETCDF_FILE_F_CLOSE_END_TIMESTAMP] = times[3];
}

static void posix_ext_up(uint64_t *c, unsigned version)
{
	size_t times = version == 1 ? SCRIBE_EXT_MAPPED_BYTES : SCRIBE_EXT_RANKS_READ;

	memmove(c + SCRIBE_POSIX_EXT_COUNT, c + times, SCRIBE_POSIX_EXT_F_COUNT * 8);
	if (version == 1)
		c[SCRIBE_EXT_MAPPED_BYTES] = 0;
	c[SCRIBE_EXT_RANKS_READ] = c[SCRIBE_EXT_RANKS_WROTE] = (uint64_t)-1;
}

int scribe_disk_upgrade(int module, unsigned version, void *rec)
{
	uint64_t *w = rec;
	uint64_t *c = w + BASE_WORDS;
	size_t bytes = scribe_disk_bytes(module, version);

	/* The record grows in place, so old and new positions overlap: memmove everywhere. */
	switch (module) {
	case SCRIBE_MOD_POSIX:
		return posix_up(w, version);
	case SCRIBE_MOD_MPIIO:
		insert_unknown_times(c, SCRIBE_MPIIO_COUNT + 3, 12);
		return 1;
	case SCRIBE_MOD_H5F:
		h5f_up(w, version);
		return 1;
	case SCRIBE_MOD_PNETCDF_FILE:
		pnetcdf_file_up(w, version);
		return 1;
	case SCRIBE_MOD_H5D: /* version 2 inserted the file's id */
		memmove(c + 1, c, bytes - BASE_WORDS * 8);
		c[0] = 0;
		return 1;
	case SCRIBE_MOD_BGQ: /* version 1 had an alignment word */
		memmove(c, c + 1, bytes - (BASE_WORDS + 1) * 8);
		return 1;
	case SCRIBE_MOD_STDIO:
		memmove(c + 2, c + 1, bytes - (BASE_WORDS + 1) * 8);
		c[SCRIBE_STDIO_FDOPENS] = (uint64_t)-1;
		return 1;
	case SCRIBE_MOD_POSIX_EXT:
		posix_ext_up(c, version);
		return 1;
	case SCRIBE_MOD_PROCESS: /* its last bytes were not used */
		insert_unknown_times(w, offsetof(struct scribe_process_record, cpu_time) / 8, (64 + 256) / 8);
		return 1;
	default:
		return 1;
	}
}
