// SPDX-License-Identifier: BSD-3-Clause
/* See async.h. By bare system calls: no library stands between. */
#include "tests/oracle/random/async.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

long result[BATCH_MOST];
static char batch_buffer[BATCH_MOST][512];

struct aio_ring {
	unsigned id, nr, head, tail, magic, compat, incompat, header;
	struct io_event event[];
};

void aio_batch(int fd, int write, long from, unsigned n, unsigned size, int by_ring)
{
	static struct iocb cb[BATCH_MOST], *list[BATCH_MOST];
	static struct io_event event[BATCH_MOST];
	static aio_context_t context;
	static int owner;
	volatile struct aio_ring *ring;
	unsigned done = 0;

	if (owner != getpid()) {
		context = 0;
		MUST(syscall(SYS_io_setup, BATCH_MOST, &context));
		owner = getpid();
	}
	ring = (volatile struct aio_ring *)context;
	for (unsigned i = 0; i < n; i++) {
		cb[i] = (struct iocb){.aio_fildes = (unsigned)fd,
				      .aio_lio_opcode = write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
				      .aio_buf = (uintptr_t)batch_buffer[i],
				      .aio_nbytes = size,
				      .aio_offset = from + (long)(i * size)};
		list[i] = &cb[i];
	}
	while (done < n)
		done += (unsigned)MUST(syscall(SYS_io_submit, context, (long)(n - done), list + done));
	for (done = 0; done < n;) {
		if (by_ring) {
			unsigned head = ring->head;

			if (head == __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE))
				continue;
			memcpy(&event[done++], (const void *)&ring->event[head], sizeof(event[0]));
			__atomic_store_n(&ring->head, (head + 1) % ring->nr, __ATOMIC_RELEASE);
		} else {
			done += (unsigned)MUST(
				syscall(SYS_io_getevents, context, 1l, (long)(n - done), event + done, NULL));
		}
	}
	for (unsigned i = 0; i < n; i++)
		result[((struct iocb *)(uintptr_t)event[i].obj) - cb] = (long)event[i].res;
}

static char *uring_map(int fd, size_t bytes, off_t at)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);

	if (p == MAP_FAILED)
		_exit(3);
	return p;
}

void uring_batch(int fd, int write, long from, unsigned n, unsigned size)
{
	struct io_uring_params p = {0};
	int ring = (int)MUST(syscall(SYS_io_uring_setup, 4, &p));
	char *sq = uring_map(ring, p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	char *cq = uring_map(ring, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
			     IORING_OFF_CQ_RING);
	size_t sqe_bytes = p.sq_entries * sizeof(struct io_uring_sqe);
	struct io_uring_sqe *sqe = (struct io_uring_sqe *)uring_map(ring, sqe_bytes, IORING_OFF_SQES);
	unsigned *tail = (unsigned *)(sq + p.sq_off.tail), *array = (unsigned *)(sq + p.sq_off.array);
	unsigned *head = (unsigned *)(cq + p.cq_off.head), *end = (unsigned *)(cq + p.cq_off.tail);
	struct io_uring_cqe *cqe = (struct io_uring_cqe *)(cq + p.cq_off.cqes);

	for (unsigned i = 0; i < n; i++) {
		unsigned at = *tail & (p.sq_entries - 1);

		memset(&sqe[at], 0, sizeof(sqe[at]));
		sqe[at].opcode = write ? IORING_OP_WRITE : IORING_OP_READ;
		sqe[at].fd = fd;
		sqe[at].addr = (uintptr_t)batch_buffer[i];
		sqe[at].len = size;
		sqe[at].off = (uint64_t)(from + (long)(i * size));
		sqe[at].user_data = i;
		array[at] = at;
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		MUST(syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0));
	}
	for (unsigned done = 0; done < n;) {
		if (*head == __atomic_load_n(end, __ATOMIC_ACQUIRE)) {
			MUST(syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0));
			continue;
		}
		result[cqe[*head & (p.cq_entries - 1)].user_data] = cqe[*head & (p.cq_entries - 1)].res;
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
		done++;
	}
	munmap(sqe, sqe_bytes);
	munmap(cq, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe));
	munmap(sq, p.sq_off.array + p.sq_entries * sizeof(unsigned));
	close(ring);
}

int passed(int fd, int close_first)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} c;
	char byte = 'f';
	struct iovec iov = {&byte, 1};
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = c.room, .msg_controllen = sizeof(c.room)};
	int pair[2], got;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	memset(&c, 0, sizeof(c));
	c.align.cmsg_level = SOL_SOCKET;
	c.align.cmsg_type = SCM_RIGHTS;
	c.align.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&c.align), &fd, sizeof(fd));
	MUST(sendmsg(pair[0], &m, 0));
	if (close_first)
		MUST(close(fd));
	MUST(recvmsg(pair[1], &m, 0));
	memcpy(&got, CMSG_DATA(&c.align), sizeof(got));
	close(pair[0]);
	close(pair[1]);
	return got;
}

int taken(const char *path)
{
	int ready[2], go[2], number, pidfd, got;
	char c = 0;
	pid_t pid;

	MUST(pipe(ready));
	MUST(pipe(go));
	pid = (pid_t)MUST(fork());
	if (pid == 0) {
		number = (int)MUST(open(path, O_RDWR));
		_exit(write(ready[1], &number, sizeof(number)) != sizeof(number) || read(go[0], &c, 1) != 1);
	}
	if (read(ready[0], &number, sizeof(number)) != sizeof(number))
		_exit(3);
	pidfd = (int)MUST(syscall(SYS_pidfd_open, pid, 0));
	got = (int)MUST(syscall(SYS_pidfd_getfd, pidfd, number, 0));
	MUST(write(go[1], &c, 1));
	MUST(waitpid(pid, NULL, 0));
	close(pidfd);
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
	return got;
}
