/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fuzz targets share: a log in memory, and reading all of it. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "logfmt/file/names.h"
#include "logfmt/file/reader.h"
#include "logfmt/file/writer.h"
#include "logfmt/records/reduce.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One memory file, reused: its contents become the pieces. */
static inline int fuzz_file(const void *const *pieces, const size_t *sizes, int n)
{
	static int fd = -1;
	off_t at = 0;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0))
		abort();
	for (int i = 0; i < n; i++) {
		if (pwrite(fd, pieces[i], sizes[i], at) != (ssize_t)sizes[i])
			abort();
		at += (off_t)sizes[i];
	}
	return fd;
}

/* Look at every byte, so that the sanitizers see it. */
static inline void fuzz_touch(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	unsigned sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += p[i];
	__asm__ volatile("" : : "r"(sum));
}

static inline void fuzz_names(struct scribe_reader *r)
{
	struct scribe_names *names = scribe_names_new();
	struct scribe_err err;

	if (scribe_names_load(names, r, &err) == 0) {
		for (size_t i = 0; i < scribe_names_count(names); i++) {
			struct scribe_name n = scribe_names_at(names, i);
			char text[64];

			fuzz_touch(n.bytes, n.len + 1);
			scribe_name_escape(n.bytes, n.len, text, sizeof(text));
			if (!scribe_names_find(names, n.id, NULL))
				abort();
		}
	}
	scribe_names_free(names);
}

/* All records of a module; lengths must agree, reducible ones are reduced. */
static inline void fuzz_module(struct scribe_reader *r, int id)
{
	size_t bytes = scribe_reduction_bytes(id);
	char *elem = bytes ? malloc(2 * bytes) : NULL;
	const void *rec;
	size_t len;

	while (scribe_reader_borrow_record(r, id, &rec, &len) > 0) {
		fuzz_touch(rec, len);
		if (scribe_module_by_id(id) && scribe_record_length(id, rec, len) != len)
			abort();
		if (elem && scribe_reduction_begin(id, rec, elem) == 0 &&
		    scribe_reduction_begin(id, rec, elem + bytes) == 0) {
			char *out = calloc(1, len);

			scribe_reduction_join(id, elem, elem + bytes);
			scribe_reduction_end(id, elem, out);
			free(out);
		}
	}
	free(elem);
}

static inline void fuzz_read(int fd)
{
	struct scribe_reader *r;
	struct scribe_err err;
	const struct scribe_mount *mounts;

	if (scribe_reader_open_fd(fd, "fuzz", &r, &err)) {
		if (err.text[0] == 0 || strchr(err.text, '\n'))
			abort();
		return;
	}
	fuzz_touch(scribe_reader_exe(r), strlen(scribe_reader_exe(r)));
	for (size_t i = scribe_reader_mounts(r, &mounts); i-- > 0;)
		fuzz_touch(mounts[i].path, strlen(mounts[i].path));
	fuzz_names(r);
	for (int id = 0; id < SCRIBE_MAX_MODULES; id++) {
		const void *raw;
		size_t len;

		fuzz_module(r, id);
		while (scribe_reader_borrow_raw(r, id, &raw, &len) > 0)
			fuzz_touch(raw, len);
	}
	scribe_reader_free(r);
}

/* An uncompressed log around given names and one module's region of `version`; its descriptor. */
static inline int fuzz_log(const void *names, size_t nnames, int module, unsigned version, int swapped,
			   const void *records, size_t nrecords)
{
	struct scribe_log_header h;
	struct scribe_log_job job = {.nprocs = 4};
	const void *pieces[4] = {&h, NULL, names, records};
	size_t sizes[4] = {sizeof(h), 0, nnames, nrecords};
	void *text;
	int fd;

	scribe_log_header_init(&h);
	h.comp_type = SCRIBE_COMP_NONE;
	if (scribe_job_region_encode(&job, "exe", NULL, 0, &text, &sizes[1], NULL))
		abort();
	pieces[1] = text;
	h.name_map = (struct scribe_log_map){sizes[0] + sizes[1], nnames};
	h.mod_map[module] = (struct scribe_log_map){sizes[0] + sizes[1] + nnames, nrecords};
	h.mod_ver[module] = version;
	if (swapped) {
		uint64_t *w = &h.partial_flag;

		h.magic = (int64_t)__builtin_bswap64((uint64_t)h.magic);
		for (int i = 0; i < 3 + 2 * SCRIBE_MAX_MODULES; i++)
			w[i] = __builtin_bswap64(w[i]);
		for (int i = 0; i < SCRIBE_MAX_MODULES; i++)
			h.mod_ver[i] = __builtin_bswap32(h.mod_ver[i]);
	}
	fd = fuzz_file(pieces, sizes, 4);
	free(text);
	return fd;
}

#define FUZZ_HEAD 5

/*
 * A log from any input, its descriptor or -1. Byte 0 from 0x80 on: the rest is a
 * whole file. Else: module, version, byte order and length of the names, one
 * byte each, then names and plain records.
 */
static inline int fuzz_any(const uint8_t *data, size_t size)
{
	const void *piece = data + 1;
	size_t n = size - 1;

	if (size > 0 && data[0] >= 0x80)
		return fuzz_file(&piece, &n, 1);
	if (size < FUZZ_HEAD)
		return -1;
	n = size - FUZZ_HEAD < data[4] ? size - FUZZ_HEAD : data[4];
	return fuzz_log(data + FUZZ_HEAD, n, data[1] % SCRIBE_MAX_MODULES, data[2] % 6, data[3] & 1,
			data + FUZZ_HEAD + n, size - FUZZ_HEAD - n);
}

/* Standard output to nowhere. */
static inline void fuzz_quiet(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
		abort();
	close(null);
}

#endif
