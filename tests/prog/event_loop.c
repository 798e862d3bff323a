// SPDX-License-Identifier: BSD-3-Clause
// link: uring
// A program with an event loop that ends in the middle of it: event_loop SEED. What it waits for never comes: polls,
// reads of pipes, sockets and event descriptors, timeouts, connections, some of them with requests linked behind; by
// io_uring, libaio and epoll. What it does to its file has ended by then: prints the bytes that it has written there.
#include "prog.h"

#include <liburing.h>
#include <linux/aio_abi.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

static unsigned long long dice;
static struct io_uring ring;
static char buf[4096];
static int file;

static unsigned below(unsigned n)
{
	dice = dice * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(dice >> 33) % n;
}

/* Something that nothing can be read from. */
static int silent(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int p[2], fd;

	switch (below(5)) {
	case 0:
		return (int)MUST(eventfd(0, 0));
	case 1:
		MUST(pipe(p));
		return p[0];
	case 2:
		MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
		return p[0];
	case 3:
		return (int)MUST(timerfd_create(CLOCK_MONOTONIC, 0));
	default:
		fd = (int)MUST(socket(AF_INET, SOCK_STREAM, 0));
		MUST(bind(fd, (struct sockaddr *)&any, sizeof(any)));
		MUST(listen(fd, 1));
		return fd;
	}
}

static struct io_uring_sqe *next(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe)
		exit(3);
	return sqe;
}

static void wait_by_ring(void)
{
	static struct __kernel_timespec hour = {.tv_sec = 3600};
	struct io_uring_sqe *sqe = next();
	int fd = silent();

	switch (below(5)) {
	case 0:
		io_uring_prep_poll_add(sqe, fd, POLLIN);
		break;
	case 1:
		io_uring_prep_timeout(sqe, &hour, 0, 0);
		break;
	case 2:
		io_uring_prep_recv(sqe, fd, buf, 10, 0);
		break;
	case 3:
		io_uring_prep_accept(sqe, fd, NULL, NULL, 0);
		break;
	default:
		io_uring_prep_read(sqe, fd, buf, 8, 0);
		sqe->flags |= below(2) ? IOSQE_ASYNC : 0;
	}
	sqe->user_data = 1;
	if (below(3) == 0) { /* never done: what it waits for does not come, or has failed */
		sqe->flags |= IOSQE_IO_LINK;
		sqe = next();
		io_uring_prep_read(sqe, file, buf, 100, 0);
		sqe->user_data = 1;
	}
	MUST(io_uring_submit(&ring));
}

static void wait_by_aio(aio_context_t context)
{
	static struct iocb cb[64], *list[1];
	static unsigned n;

	cb[n] = (struct iocb){.aio_fildes = (unsigned)silent(), .aio_lio_opcode = IOCB_CMD_POLL, .aio_buf = POLLIN};
	list[0] = &cb[n++];
	MUST(syscall(SYS_io_submit, context, 1l, list));
}

static void wait_by_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = (int)MUST(epoll_create1(0));

	MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, silent(), &event));
	MUST(epoll_wait(epoll, &event, 1, 0));
}

/* One write; the ring's other completions are of requests that were refused. */
static unsigned write_some(void)
{
	unsigned bytes = 1 + below(4000);
	struct io_uring_cqe *cqe;
	struct io_uring_sqe *sqe;
	bool done = false;

	if (below(2)) {
		EXACT(write(file, buf, bytes), bytes);
		return bytes;
	}
	sqe = next();
	io_uring_prep_write(sqe, file, buf, bytes, (__u64)-1);
	sqe->user_data = 2;
	MUST(io_uring_submit(&ring));
	while (!done) {
		MUST(io_uring_wait_cqe(&ring, &cqe));
		done = cqe->user_data == 2;
		if (done)
			EXACT(cqe->res, bytes);
		io_uring_cqe_seen(&ring, cqe);
	}
	return bytes;
}

int main(int argc, char **argv)
{
	unsigned steps, bytes = 0;
	aio_context_t context = 0;
	char name[64];

	if (argc < 2)
		return 2;
	dice = strtoull(argv[1], NULL, 10);
	snprintf(name, sizeof(name), "loop.%s", argv[1]);
	file = prog_open(name, O_CREAT | O_RDWR);
	EXACT(io_uring_queue_init(64, &ring, 0), 0);
	MUST(syscall(SYS_io_setup, 64, &context));
	steps = 3 + below(12);
	while (steps--) {
		switch (below(5)) {
		case 0:
			wait_by_aio(context);
			break;
		case 1:
			wait_by_epoll();
			break;
		case 2:
			bytes += write_some();
			break;
		default:
			wait_by_ring();
		}
	}
	printf("%s %u\n", name, bytes);
	fflush(stdout);
	if (below(2))
		_exit(0);
	kill(getpid(), SIGKILL);
	return 0;
}
