// SPDX-License-Identifier: BSD-3-Clause
// The plain calls on one file, by libc and by raw system call.
#include "prog.h"

#include <sys/syscall.h>
#include <sys/uio.h>

static char buf[8192];

/* arm64 never had the older forms. */
#ifdef SYS_open
#define OLD_OPEN(...)  syscall(SYS_open, __VA_ARGS__)
#define OLD_CREAT(...) syscall(SYS_creat, __VA_ARGS__)
#else
#define OLD_OPEN(...)     syscall(SYS_openat, AT_FDCWD, __VA_ARGS__)
#define OLD_CREAT(p, ...) syscall(SYS_openat, AT_FDCWD, p, O_CREAT | O_WRONLY | O_TRUNC, __VA_ARGS__)
#endif

int main(void)
{
	int fd = prog_open("plain", O_RDWR | O_CREAT | O_TRUNC);
	int second;
	struct iovec iov[2] = {{buf, 100}, {buf + 1, 900}};

	for (int i = 0; i < 10; i++)
		EXACT(write(fd, buf, 4096), 4096);
	EXACT(pwrite(fd, buf, 512, 100000), 512);
	EXACT(writev(fd, iov, 2), 1000);
	MUST(lseek(fd, 0, SEEK_SET));
	MUST(lseek(fd, 10, SEEK_CUR));
	EXACT(read(fd, buf + 1, 1000), 1000);
	EXACT(readv(fd, iov, 2), 1000);
	EXACT(pread(fd, buf, 8192, 0), 8192);
	EXACT(pread(fd, buf, 8192, 1 << 20), 0);
	EXACT(preadv(fd, iov, 2, 64), 1000);
	EXACT(pwritev(fd, iov, 2, 200000), 1000);
	MUST(fsync(fd));
	MUST(fdatasync(fd));
	if (syscall(SYS_write, fd, 1L, 4096L) >= 0 || pread(fd, buf, 10, -5) >= 0 || lseek(fd, -1, SEEK_SET) >= 0)
		return 4;
	second = (int)MUST(dup(fd));
	MUST(dup2(fd, 77));
	MUST(dup3(fd, 78, O_CLOEXEC));
	MUST(fcntl(fd, F_DUPFD, 100));
	MUST(fcntl(fd, F_DUPFD_CLOEXEC, 100));
	EXACT(write(second, "x", 1), 1);
	EXACT(write(77, "xy", 2), 2);
	EXACT(write(100, "xyz", 3), 3);
	MUST(close(second));
	MUST(close(77));
	MUST(close(fd));
	fd = (int)MUST(OLD_OPEN("raw", O_WRONLY | O_CREAT, 0600));
	EXACT(syscall(SYS_write, fd, buf, 333), 333);
	MUST(syscall(SYS_close, fd));
	fd = (int)MUST(OLD_CREAT("created", 0600));
	MUST(close(fd));
	if (open("missing/file", O_RDONLY) >= 0 || open("missing", O_RDONLY) >= 0)
		return 4;
	fd = prog_open("plain", O_PATH);
	MUST(close(fd));
	fd = prog_open("raw", O_WRONLY);
	if (read(fd, buf, 10) >= 0)
		return 4;
	return 0;
}
