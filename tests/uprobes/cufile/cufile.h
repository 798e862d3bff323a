/* SPDX-License-Identifier: BSD-3-Clause */
/* What the test uses of cuFile's interface: types and symbols as in NVIDIA's cufile.h. */
#ifndef TESTS_UPROBES_CUFILE_CUFILE_H
#define TESTS_UPROBES_CUFILE_CUFILE_H

#include <sys/types.h>

typedef void *CUfileHandle_t;
typedef struct {
	int err;
	int cu_err;
} CUfileError_t;

enum { CU_FILE_HANDLE_TYPE_OPAQUE_FD = 1, CU_FILE_HANDLE_TYPE_USERSPACE_FS = 3 };

typedef struct {
	int type;
	union {
		int fd;
		void *handle;
	} handle;
	const void *fs_ops;
} CUfileDescr_t;

typedef struct {
	int mode;
	union {
		struct {
			void *devPtr_base;
			off_t file_offset;
			off_t devPtr_offset;
			size_t size;
		} batch;
	} u;
	CUfileHandle_t fh;
	int opcode;
	void *cookie;
} CUfileIOParams_t;

CUfileError_t cuFileHandleRegister(CUfileHandle_t *fh, CUfileDescr_t *descr);
void cuFileHandleDeregister(CUfileHandle_t fh);
ssize_t cuFileRead(CUfileHandle_t fh, void *base, size_t size, off_t file_offset, off_t base_offset);
ssize_t cuFileWrite(CUfileHandle_t fh, const void *base, size_t size, off_t file_offset, off_t base_offset);
CUfileError_t cuFileReadAsync(CUfileHandle_t fh, void *base, size_t *size, off_t *file_offset, off_t *base_offset,
			      ssize_t *bytes_read, void *stream);
CUfileError_t cuFileWriteAsync(CUfileHandle_t fh, void *base, size_t *size, off_t *file_offset, off_t *base_offset,
			       ssize_t *bytes_written, void *stream);
CUfileError_t cuFileBatchIOSubmit(void *batch, unsigned nr, CUfileIOParams_t *requests, unsigned flags);

#endif
