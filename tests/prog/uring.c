// SPDX-License-Identifier: BSD-3-Clause
// link: uring
// io_uring beyond what fio does: opens through the ring, descriptors that only
// the ring knows, chains, forced threads, completions that are not reported.
//   uring plain | direct | skip | many | passthrough
#include "prog.h"

#include <liburing.h>

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

/* Submit and wait for one completion. */
static int done(void)
{
	struct io_uring_cqe *cqe;
	int res;

	MUST(io_uring_submit(&ring));
	MUST(io_uring_wait_cqe(&ring, &cqe));
	res = cqe->res;
	io_uring_cqe_seen(&ring, cqe);
	return res;
}

static void plain(void)
{
	struct iovec iov[2] = {{buf, 1000}, {buf + 1000, 500}};
	int fd;

	io_uring_prep_openat(next(), AT_FDCWD, "plain", O_RDWR | O_CREAT, 0644);
	fd = (int)MUST(done());
	for (int i = 0; i < 5; i++) {
		io_uring_prep_write(next(), fd, buf, 4096, (__u64)-1); /* current position */
		EXACT(done(), 4096);
	}
	io_uring_prep_write(next(), fd, buf, 100, 50000);
	EXACT(done(), 100);
	io_uring_prep_writev(next(), fd, iov, 2, 60000);
	EXACT(done(), 1500);
	io_uring_prep_fsync(next(), fd, 0);
	EXACT(done(), 0);
	io_uring_prep_fsync(next(), fd, IORING_FSYNC_DATASYNC);
	EXACT(done(), 0);
	io_uring_prep_read(next(), fd, buf, 8192, 0);
	EXACT(done(), 8192);
	io_uring_prep_readv(next(), fd, iov, 2, 100);
	EXACT(done(), 1500);
	io_uring_prep_fallocate(next(), fd, 0, 0, 100000);
	EXACT(done(), 0);
	io_uring_prep_read(next(), fd, buf, 100, 99950);
	EXACT(done(), 50);
	io_uring_prep_write(next(), fd, (void *)8, 100, 0); /* fails */
	if (done() >= 0)
		exit(4);
	io_uring_prep_close(next(), fd);
	EXACT(done(), 0);
}

static void direct(void)
{
	struct iovec reg = {buf, sizeof(buf)};
	struct io_uring_sqe *sqe;

	EXACT(io_uring_register_files_sparse(&ring, 4), 0);
	EXACT(io_uring_register_buffers(&ring, &reg, 1), 0);
	io_uring_prep_openat_direct(next(), AT_FDCWD, "direct", O_RDWR | O_CREAT, 0644, 1);
	EXACT(done(), 0);
	for (int i = 0; i < 8; i++) {
		sqe = next();
		io_uring_prep_write_fixed(sqe, 1, buf, 2048, (__u64)i * 2048, 0);
		sqe->flags |= IOSQE_FIXED_FILE | (i % 2 ? IOSQE_ASYNC : 0);
		EXACT(done(), 2048);
	}
	sqe = next();
	io_uring_prep_read_fixed(sqe, 1, buf, 8192, 0, 0);
	sqe->flags |= IOSQE_FIXED_FILE;
	EXACT(done(), 8192);
	io_uring_prep_close_direct(next(), 1);
	EXACT(done(), 0);
}

/* Successful completions are not reported: only the last one of each chain is. */
static void skip(void)
{
	int fd = prog_open("skip", O_RDWR | O_CREAT);

	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 4; k++) {
			struct io_uring_sqe *sqe = next();

			io_uring_prep_write(sqe, fd, buf, 300, (__u64)(i * 4 + k) * 300);
			sqe->flags |= k < 3 ? IOSQE_CQE_SKIP_SUCCESS | IOSQE_IO_LINK : 0;
		}
		EXACT(done(), 300);
	}
	MUST(close(fd));
}

/* Many in flight at once, completed in batches. */
static void many(void)
{
	int fd = prog_open("many", O_RDWR | O_CREAT);

	MUST(rename("many", "moved")); /* it keeps the name that it was opened by */

	for (int round = 0; round < 50; round++) {
		struct io_uring_cqe *cqe;

		for (int i = 0; i < 64; i++) {
			io_uring_prep_write(next(), fd, buf, 512, (__u64)(round * 64 + i) * 512);
			if (i % 8 == 7)
				MUST(io_uring_submit(&ring));
		}
		for (int i = 0; i < 64; i++) {
			MUST(io_uring_wait_cqe(&ring, &cqe));
			EXACT(cqe->res, 512);
			io_uring_cqe_seen(&ring, cqe);
		}
	}
	MUST(close(fd));
}

/* as a command to an NVMe device, which /dev/null takes as well */
static void passthrough(void)
{
	struct io_uring_sqe *sqe = next();

	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, (int)MUST(open("/dev/null", O_RDWR)), NULL, 0, 0);
	EXACT(done(), 0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	EXACT(io_uring_queue_init(128, &ring, 0), 0);
	if (strcmp(how, "plain") == 0)
		plain();
	else if (strcmp(how, "direct") == 0)
		direct();
	else if (strcmp(how, "skip") == 0)
		skip();
	else if (strcmp(how, "many") == 0)
		many();
	else if (strcmp(how, "passthrough") == 0)
		passthrough();
	else
		return 2;
	io_uring_queue_exit(&ring);
	return 0;
}
