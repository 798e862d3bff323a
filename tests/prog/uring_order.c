// SPDX-License-Identifier: BSD-3-Clause
// link: uring
// io_uring requests whose file or offset is known only when they are issued or have completed.
//   uring_order append | chain | direct | pending
#include "prog.h"

#include <liburing.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#define RWF_APPEND_ 0x10

static struct io_uring ring;
static char buf[8192];

static struct io_uring_sqe *next(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe) {
		fprintf(stderr, "no submission entry\n");
		exit(3);
	}
	return sqe;
}

static int result(void)
{
	struct io_uring_cqe *cqe;
	int res;

	MUST(io_uring_wait_cqe(&ring, &cqe));
	res = cqe->res;
	io_uring_cqe_seen(&ring, cqe);
	return res;
}

/* Submits what was prepared, and compares the results in order. */
static void results(unsigned n, const int *want)
{
	MUST(io_uring_submit(&ring));
	for (unsigned i = 0; i < n; i++)
		EXACT(result(), want[i]);
}

#define RESULTS(...) results(sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__})

static void write_at(int fd, unsigned bytes, long long at, int rw_flags, unsigned flags)
{
	struct io_uring_sqe *sqe = next();

	io_uring_prep_write(sqe, fd, buf, bytes, (__u64)at);
	sqe->rw_flags = rw_flags;
	sqe->flags |= flags;
}

static void append(void)
{
	int a = prog_open("plain", O_RDWR | O_CREAT), b = prog_open("appends", O_RDWR | O_CREAT | O_APPEND);

	EXACT(write(a, buf, 1000), 1000);
	for (int i = 0; i < 3; i++) {
		write_at(a, 100, 0, RWF_APPEND_, i == 1 ? IOSQE_ASYNC : 0);
		RESULTS(100);
	}
	write_at(a, 50, -1, RWF_APPEND_, 0);
	RESULTS(50);
	for (int i = 0; i < 3; i++) {
		write_at(b, 200, 7, 0, 0);
		RESULTS(200);
	}
	EXACT(lseek(a, 0, SEEK_END), 1350);
	EXACT(lseek(b, 0, SEEK_END), 600);
}

static int next_number(void)
{
	int fd = (int)MUST(dup(0));

	MUST(close(fd));
	return fd;
}

static void open_one(const char *name, unsigned link)
{
	struct io_uring_sqe *sqe = next();

	io_uring_prep_openat(sqe, AT_FDCWD, name, O_RDWR | O_CREAT, 0640);
	sqe->flags |= link;
}

static void close_one(int fd, unsigned link)
{
	struct io_uring_sqe *sqe = next();

	io_uring_prep_close(sqe, fd);
	sqe->flags |= link;
}

static void chain(void)
{
	struct io_uring_sqe *sqe;
	int fd = next_number();

	open_one("first", IOSQE_IO_LINK);
	write_at(fd, 1000, 0, 0, IOSQE_IO_LINK);
	close_one(fd, 0);
	RESULTS(fd, 1000, 0);
	/* one number, three files: each step is of the file that the number is then */
	open_one("second", IOSQE_IO_HARDLINK);
	write_at(fd, 2000, 0, 0, IOSQE_IO_HARDLINK | IOSQE_ASYNC);
	close_one(fd, IOSQE_IO_HARDLINK);
	open_one("third", IOSQE_IO_HARDLINK);
	write_at(fd, 300, 0, 0, IOSQE_IO_HARDLINK);
	close_one(fd, 0);
	RESULTS(fd, 2000, 0, fd, 300, 0);
	/* the chain ends where the open fails: nothing behind it is done */
	open_one("none/none", IOSQE_IO_LINK);
	write_at(fd, 10, 0, 0, IOSQE_IO_LINK);
	close_one(fd, 0);
	RESULTS(-ENOENT, -ECANCELED, -ECANCELED);
	/* behind a request that is not about files */
	open_one("fourth", 0);
	RESULTS(fd);
	sqe = next();
	io_uring_prep_nop(sqe);
	sqe->flags |= IOSQE_IO_LINK;
	close_one(fd, 0);
	RESULTS(0, 0);
}

static void direct(void)
{
	struct io_uring_sqe *sqe;
	int at;

	EXACT(io_uring_register_files_sparse(&ring, 4), 0);
	sqe = next();
	io_uring_prep_openat_direct(sqe, AT_FDCWD, "chosen", O_RDWR | O_CREAT, 0640, 2);
	sqe->flags |= IOSQE_IO_LINK;
	write_at(2, 500, 0, 0, IOSQE_IO_LINK | IOSQE_FIXED_FILE);
	io_uring_prep_close_direct(next(), 2);
	RESULTS(0, 500, 0);
	sqe = next();
	io_uring_prep_openat_direct(sqe, AT_FDCWD, "given", O_RDWR | O_CREAT, 0600, 0);
	sqe->file_index = IORING_FILE_INDEX_ALLOC;
	MUST(io_uring_submit(&ring));
	at = (int)MUST(result());
	io_uring_prep_close_direct(next(), (unsigned)at);
	RESULTS(0);
}

/* What never comes is waited for when the program ends. Its files' operations have all been done, or never
 * begin. */
static void pending(void)
{
	int fd = prog_open("loop", O_RDWR | O_CREAT), wake = (int)MUST(eventfd(0, 0)), p[2];
	struct io_uring_sqe *sqe;

	MUST(pipe(p));
	io_uring_prep_read(next(), wake, buf, 8, 0);
	sqe = next();
	io_uring_prep_read(sqe, p[0], buf, 100, 0);
	sqe->flags |= IOSQE_ASYNC;
	sqe = next();
	io_uring_prep_poll_add(sqe, p[0], POLLIN);
	sqe->flags |= IOSQE_IO_LINK;
	io_uring_prep_read(next(), fd, buf, 100, 0);
	MUST(io_uring_submit(&ring));
	write_at(fd, 300, 0, 0, 0);
	RESULTS(300);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	EXACT(io_uring_queue_init(128, &ring, 0), 0);
	if (strcmp(how, "append") == 0)
		append();
	else if (strcmp(how, "chain") == 0)
		chain();
	else if (strcmp(how, "direct") == 0)
		direct();
	else if (strcmp(how, "pending") == 0)
		pending();
	else
		return 2;
	io_uring_queue_exit(&ring);
	return 0;
}
