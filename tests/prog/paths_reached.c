// SPDX-License-Identifier: BSD-3-Clause
// Paths that are known by what they lead to, not by their text.
//   paths_reached links | over | excluded | shared | anonymous | aio
#define _GNU_SOURCE 1
#include "prog.h"

#include <linux/aio_abi.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>

static char path[8192];
static struct stat st;

static const char *text(const char *format, long a, long b)
{
	snprintf(path, 4096, format, a, b);
	return path;
}

static void make(const char *name)
{
	MUST(close(prog_open(name, O_CREAT | O_RDWR)));
}

static int held(const char *name, int flags)
{
	return (int)MUST(open(name, flags, 0644));
}

/* A child that waits for a pipe's end, so that others can go through its links. */
static pid_t waiting(int *ret_end)
{
	int p[2], ready[2];
	pid_t pid;
	char c;

	MUST(pipe(p));
	MUST(pipe(ready));
	pid = (pid_t)MUST(fork());
	if (pid == 0) {
		close(p[1]);
		MUST(mkdir("inner", 0755));
		MUST(chdir("inner"));
		MUST(write(ready[1], "r", 1));
		_exit(read(p[0], &c, 1) != 0);
	}
	close(p[0]);
	EXACT(read(ready[0], &c, 1), 1);
	*ret_end = p[1];
	return pid;
}

static void links(void)
{
	char here[4000];
	int fd, dir, end;
	pid_t pid;

	make("stat.dat");
	make("exe.dat");
	make("cut.dat");
	fd = held("stat.dat", O_PATH);
	dir = held(".", O_PATH | O_DIRECTORY);
	MUST(stat(text("/proc/self/fd/%ld", fd, 0), &st));
	MUST(stat(text("/proc/thread-self/fd/%ld", fd, 0), &st));
	MUST(stat(text("/proc/%ld/fd/%ld", getpid(), fd), &st));
	MUST(stat(text("/proc/self/task/%ld/fd/%ld", getpid(), fd), &st));
	MUST(stat(text("/dev/fd/%ld", fd, 0), &st));
	MUST(stat(text("/proc/self/fd/%ld/stat.dat", dir, 0), &st));
	MUST(stat(text("//proc//self/fd/%ld//stat.dat", dir, 0), &st));
	MUST(stat("/proc/self/cwd/stat.dat", &st));
	MUST(lstat("/proc/self/cwd/stat.dat", &st));
	MUST(lstat(text("/proc/self/fd/%ld", fd, 0), &st)); /* the link itself */
	MUST(access(text("/dev/fd/%ld", fd, 0), R_OK));
	MUST(truncate("/proc/self/cwd/cut.dat", 100));
	MUST(rename("/proc/self/cwd/exe.dat", text("/proc/self/fd/%ld/other.dat", dir, 0)));
	MUST(dup2(held("stat.dat", O_RDONLY), 0));
	MUST(stat("/dev/stdin", &st));
	pid = waiting(&end);
	MUST(stat(text("/proc/%ld/fd/%ld", pid, fd), &st));
	MUST(stat(text("/proc/%ld/cwd/../stat.dat", pid, 0), &st));
	close(end);
	prog_wait(pid);
	if (!getcwd(here, sizeof(here)))
		exit(3);
	snprintf(path, sizeof(path), "/proc/self/root%s/stat.dat", here);
	MUST(stat(path, &st));
}

/* Results that are written over the path that was asked for. */
static void over(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	make("over.dat");
	MUST(symlink("over.dat", "over.link"));
	if (setxattr("over.dat", "user.t", "value", 5, 0) < 0)
		exit(77);
	MUST(readlink(strcpy(page, "over.link"), page, 100));
	MUST(syscall(SYS_readlinkat, AT_FDCWD, strcpy(page, "over.link"), page, 100));
	EXACT(getxattr(strcpy(page, "over.dat"), "user.t", page, 100), 5);
	MUST(listxattr(strcpy(page, "over.dat"), page, 100));
	MUST(stat(strcpy(page, "over.dat"), (struct stat *)page));
	MUST(syscall(SYS_newfstatat, AT_FDCWD, strcpy(page + 4, "over.dat"), page, 0));
	MUST(statfs(strcpy(page + 60, "over.dat"), (struct statfs *)page));
	MUST(syscall(SYS_statx, AT_FDCWD, strcpy(page, "over.dat"), 0, 0x7ff, page));
	/* a path before its buffer, which is not written over */
	MUST(stat(strcpy(page, "over.dat"), (struct stat *)(page + 16)));
}

/* Excluded is what is reached, whatever the way says. */
static void excluded(void)
{
	int fd = held("/usr/bin/env", O_RDONLY);

	MUST(stat(text("/proc/self/fd/%ld", fd, 0), &st));
	MUST(stat("/proc/self/root/etc/passwd", &st));
	MUST(stat("/proc/self/root/usr/bin/env", &st));
	make("in.dat");
	MUST(stat("/proc/self/cwd/in.dat", &st));
}

static int opened;

static int closes_and_opens(void *ready)
{
	int *pipes = ready;
	char c;

	EXACT(read(pipes[0], &c, 1), 1);
	MUST(close(opened));
	MUST(rename("before.dat", "after.dat"));
	EXACT(held("after.dat", O_WRONLY), opened);
	EXACT(write(pipes[3], "r", 1), 1);
	_exit(0);
}

/* Two processes with one table of descriptors: what one closes and opens, the other uses by the same number.
 */
static void shared(void)
{
	static char stack[65536] __attribute__((aligned(64)));
	int pipes[4];
	pid_t pid;
	char c;

	MUST(pipe(pipes));
	MUST(pipe(pipes + 2));
	opened = held("before.dat", O_CREAT | O_WRONLY);
	pid = (pid_t)MUST(clone(closes_and_opens, stack + sizeof(stack), CLONE_FILES | SIGCHLD, pipes));
	EXACT(write(opened, "0123456789", 10), 10);
	EXACT(write(pipes[1], "r", 1), 1);
	EXACT(read(pipes[2], &c, 1), 1);
	EXACT(write(opened, "0123456789012345678", 19), 19);
	prog_wait(pid);
}

static void anonymous(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *q = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	make("one.dat");
	MUST(msync(p, 4096, MS_SYNC));
	MUST(msync(q, 4096, MS_SYNC));
}

/* Appends in one list, to two files in turns; polls and an event descriptor that never come. */
static void aio(void)
{
	static struct iocb cb[9], *list[9];
	static struct io_event event[9];
	int a = held("one.dat", O_CREAT | O_RDWR | O_APPEND), b = held("two.dat", O_CREAT | O_RDWR);
	int c = held("three.dat", O_CREAT | O_RDWR | O_APPEND), wake = (int)MUST(eventfd(0, 0));
	static struct iovec iov[1024];
	aio_context_t context = 0;

	EXACT(write(a, path, 100), 100);
	MUST(syscall(SYS_io_setup, 16, &context));
	for (int i = 0; i < 8; i++) {
		cb[i] = (struct iocb){.aio_fildes = (unsigned)(i % 2 ? b : a),
				      .aio_lio_opcode = IOCB_CMD_PWRITE,
				      .aio_buf = (uintptr_t)path,
				      .aio_nbytes = 10 + (unsigned)i,
				      .aio_rw_flags = i % 2 ? 0x10 /* RWF_APPEND */ : 0};
		list[i] = &cb[i];
	}
	EXACT(syscall(SYS_io_submit, context, 8l, list), 8);
	EXACT(syscall(SYS_io_getevents, context, 8l, 8l, event, NULL), 8);
	/* as many vectors as one may have, then what stands behind them */
	for (int i = 0; i < 1024; i++)
		iov[i] = (struct iovec){path, 1};
	cb[0] = (struct iocb){.aio_fildes = (unsigned)c,
			      .aio_lio_opcode = IOCB_CMD_PWRITEV,
			      .aio_buf = (uintptr_t)iov,
			      .aio_nbytes = 1024};
	cb[1] = (struct iocb){.aio_fildes = (unsigned)c,
			      .aio_lio_opcode = IOCB_CMD_PWRITE,
			      .aio_buf = (uintptr_t)path,
			      .aio_nbytes = 5};
	EXACT(syscall(SYS_io_submit, context, 2l, list), 2);
	EXACT(syscall(SYS_io_getevents, context, 2l, 2l, event, NULL), 2);
	cb[0] = (struct iocb){.aio_fildes = (unsigned)wake, .aio_lio_opcode = IOCB_CMD_POLL, .aio_buf = 1};
	cb[1] = (struct iocb){.aio_fildes = (unsigned)a,
			      .aio_lio_opcode = IOCB_CMD_PREAD,
			      .aio_buf = (uintptr_t)path,
			      .aio_nbytes = 50};
	EXACT(syscall(SYS_io_submit, context, 2l, list), 2);
	EXACT(syscall(SYS_io_getevents, context, 1l, 1l, event, NULL), 1);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "links") == 0)
		links();
	else if (strcmp(how, "over") == 0)
		over();
	else if (strcmp(how, "excluded") == 0)
		excluded();
	else if (strcmp(how, "shared") == 0)
		shared();
	else if (strcmp(how, "anonymous") == 0)
		anonymous();
	else if (strcmp(how, "aio") == 0)
		aio();
	else
		return 2;
	return 0;
}
