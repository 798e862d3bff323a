// SPDX-License-Identifier: BSD-3-Clause
/*
 * Stands in for libcufile.so: its symbols and types, with memory of the program for that of a GPU. It moves data by
 * mappings, without system calls, as GPUDirect does; with CUFILE_FORCE_COMPAT_MODE by pread and pwrite, as cuFile's
 * compatibility mode does.
 */
#include "cufile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct handle {
	int fd;
	char *map;
	size_t bytes;
};

CUfileError_t cuFileHandleRegister(CUfileHandle_t *fh, CUfileDescr_t *descr)
{
	struct handle *h = calloc(1, sizeof(*h));
	struct stat st;

	if (!h || descr->type != CU_FILE_HANDLE_TYPE_OPAQUE_FD || fstat(descr->handle.fd, &st)) {
		free(h);
		return (CUfileError_t){5008, 0};
	}
	h->fd = descr->handle.fd;
	h->bytes = (size_t)st.st_size;
	h->map = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
	*fh = h;
	return (CUfileError_t){0, 0};
}

void cuFileHandleDeregister(CUfileHandle_t fh)
{
	struct handle *h = fh;

	munmap(h->map, h->bytes);
	free(h);
}

static ssize_t move(struct handle *h, char *base, size_t size, off_t at, int writes)
{
	if (at < 0 || at > (off_t)h->bytes) {
		errno = EINVAL;
		return -1;
	}
	if (size > h->bytes - (size_t)at)
		size = h->bytes - (size_t)at;
	if (getenv("CUFILE_FORCE_COMPAT_MODE"))
		return writes ? pwrite(h->fd, base, size, at) : pread(h->fd, base, size, at);
	if (writes)
		memcpy(h->map + at, base, size);
	else
		memcpy(base, h->map + at, size);
	return (ssize_t)size;
}

ssize_t cuFileRead(CUfileHandle_t fh, void *base, size_t size, off_t file_offset, off_t base_offset)
{
	return move(fh, (char *)base + base_offset, size, file_offset, 0);
}

ssize_t cuFileWrite(CUfileHandle_t fh, const void *base, size_t size, off_t file_offset, off_t base_offset)
{
	return move(fh, (char *)base + base_offset, size, file_offset, 1);
}

CUfileError_t cuFileReadAsync(CUfileHandle_t fh, void *base, size_t *size, off_t *file_offset, off_t *base_offset,
			      ssize_t *bytes_read, void *stream)
{
	*bytes_read = move(fh, (char *)base + *base_offset, *size, *file_offset, 0);
	return (CUfileError_t){0, 0};
}

CUfileError_t cuFileWriteAsync(CUfileHandle_t fh, void *base, size_t *size, off_t *file_offset, off_t *base_offset,
			       ssize_t *bytes_written, void *stream)
{
	*bytes_written = move(fh, (char *)base + *base_offset, *size, *file_offset, 1);
	return (CUfileError_t){0, 0};
}

CUfileError_t cuFileBatchIOSubmit(void *batch, unsigned nr, CUfileIOParams_t *requests, unsigned flags)
{
	for (unsigned i = 0; i < nr; i++)
		if (move(requests[i].fh, requests[i].u.batch.devPtr_base, requests[i].u.batch.size,
			 requests[i].u.batch.file_offset, requests[i].opcode) < 0)
			return (CUfileError_t){5001, 0};
	return (CUfileError_t){0, 0};
}
