// SPDX-License-Identifier: BSD-3-Clause
/*
 * Uses cuFile in the working directory, with known totals. Each rank, or process: of "all" four reads of 1 MiB, the
 * last cut to 512 KiB by the file's end, and one that fails; of "ownRANK" three writes of 4,096 and one of 100 bytes,
 * two asynchronous reads, one asynchronous write and three requests of a batch; of both a thread reads 1,000 bytes.
 * "own" is registered twice.
 */
#include "cufile.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MIB (1 << 20)

static char data[MIB];

static void must(int good, const char *what)
{
	if (!good) {
		fprintf(stderr, "cuFile program: %s\n", what);
		exit(1);
	}
}

static CUfileHandle_t enter(int fd)
{
	CUfileDescr_t descr = {.type = CU_FILE_HANDLE_TYPE_OPAQUE_FD, .handle.fd = fd};
	CUfileHandle_t fh;

	must(cuFileHandleRegister(&fh, &descr).err == 0, "register");
	return fh;
}

static void *reads(void *fh)
{
	static char more[1000];

	must(cuFileRead(fh, more, sizeof(more), 0, 0) == sizeof(more), "a thread's read");
	return NULL;
}

static void by_thread(CUfileHandle_t fh)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, reads, fh) && !pthread_join(thread, NULL), "thread");
}

static void all_ranks(void)
{
	CUfileHandle_t all = enter(open("all", O_RDWR));

	for (off_t i = 0; i < 4; i++)
		must(cuFileRead(all, data, MIB, i * MIB, 0) == (i == 3 ? MIB / 2 : MIB), "read");
	must(cuFileRead(all, data, MIB, -1, 0) < 0, "a read before the file");
	by_thread(all);
	cuFileHandleDeregister(all);
}

static void own(const char *name)
{
	CUfileIOParams_t requests[3] = {{0}};
	size_t size = 4096;
	off_t zero = 0;
	ssize_t bytes;
	int fd = open(name, O_RDWR | O_CREAT, 0666);
	CUfileHandle_t fh;

	must(fd >= 0 && !ftruncate(fd, MIB), name);
	fh = enter(fd);
	for (off_t i = 0; i < 3; i++)
		must(cuFileWrite(fh, data, 4096, i * 4096, 0) == 4096, "write");
	must(cuFileWrite(fh, data, 100, 0, 50) == 100, "write");
	by_thread(fh);
	cuFileHandleDeregister(fh);
	fh = enter(fd);
	for (int i = 0; i < 2; i++)
		must(cuFileReadAsync(fh, data, &size, &zero, &zero, &bytes, NULL).err == 0, "asynchronous read");
	must(cuFileWriteAsync(fh, data, &size, &zero, &zero, &bytes, NULL).err == 0, "asynchronous write");
	for (int i = 0; i < 3; i++) {
		requests[i].u.batch.devPtr_base = data;
		requests[i].u.batch.size = 512;
		requests[i].fh = fh;
		requests[i].opcode = i & 1;
	}
	must(cuFileBatchIOSubmit(NULL, 3, requests, 0).err == 0, "batch");
	cuFileHandleDeregister(fh);
}

int main(void)
{
	const char *rank = getenv("PMI_RANK");
	CUfileDescr_t other = {.type = CU_FILE_HANDLE_TYPE_USERSPACE_FS};
	CUfileHandle_t fh;
	char name[32];

	must(cuFileHandleRegister(&fh, &other).err != 0, "a handle of another file system");
	snprintf(name, sizeof(name), "own%s", rank ? rank : "");
	all_ranks();
	own(name);
	return 0;
}
