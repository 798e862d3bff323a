// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous calls of the kernel (what libaio wraps): 8 rounds of 4 writes of
// 4096 bytes and 2 reads of 512, submitted together.
#include "prog.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>

enum { ROUNDS = 8, WRITES = 4, READS = 2, ALL = WRITES + READS };

static char buf[4096];

int main(void)
{
	aio_context_t ctx = 0;
	struct iocb cb[ALL], *list[ALL];
	struct io_event done[ALL];
	int fd = prog_open("aio", O_RDWR | O_CREAT);

	EXACT(pwrite(fd, buf, sizeof(buf), 0), sizeof(buf));
	MUST(syscall(SYS_io_setup, ALL, &ctx));
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < ALL; i++) {
			int writes = i < WRITES;

			memset(&cb[i], 0, sizeof(cb[i]));
			cb[i].aio_lio_opcode = writes ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
			cb[i].aio_fildes = (__u32)fd;
			cb[i].aio_buf = (__u64)(uintptr_t)buf;
			cb[i].aio_nbytes = writes ? 4096 : 512;
			cb[i].aio_offset = writes ? (round * WRITES + i) * 4096 : i * 512;
			list[i] = &cb[i];
		}
		EXACT(syscall(SYS_io_submit, ctx, ALL, list), ALL);
		EXACT(syscall(SYS_io_getevents, ctx, ALL, ALL, done, NULL), ALL);
		for (int i = 0; i < ALL; i++)
			if (done[i].res != (__s64)((struct iocb *)(uintptr_t)done[i].obj)->aio_nbytes)
				return 4;
	}
	MUST(syscall(SYS_io_destroy, ctx));
	return 0;
}
