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

#define IS_APPEND 0x10 /* RWF_APPEND */

long result[BATCH_MOST];
static char batch_buffer[BATCH_MOST][512];

struct aio_ring {
	unsigned id, nr, head, tail, magic, compat, incompat, header;
	struct io_event event[];
};

void aio_batch(int fd, int write, long from, unsigned n, unsigned size, int by_ring, int append)
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
				      .aio_offset = from + (long)(i * size),
				      .aio_rw_flags = append ? IS_APPEND : 0};
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

struct uring {
	struct io_uring_params p;
	int fd;
	char *sq, *cq;
	struct io_uring_sqe *sqe;
};

static void uring_begin(struct uring *r)
{
	*r = (struct uring){0};
	r->fd = (int)MUST(syscall(SYS_io_uring_setup, 4, &r->p));
	r->sq = uring_map(r->fd, r->p.sq_off.array + r->p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	r->cq = uring_map(r->fd, r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	r->sqe = (struct io_uring_sqe *)uring_map(r->fd, r->p.sq_entries * sizeof(*r->sqe), IORING_OFF_SQES);
}

static void uring_end(struct uring *r)
{
	munmap(r->sqe, r->p.sq_entries * sizeof(*r->sqe));
	munmap(r->cq, r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe));
	munmap(r->sq, r->p.sq_off.array + r->p.sq_entries * sizeof(unsigned));
	close(r->fd);
}

static struct io_uring_sqe *uring_next(struct uring *r, unsigned char opcode, int fd, unsigned user_data)
{
	unsigned *tail = (unsigned *)(r->sq + r->p.sq_off.tail), *array = (unsigned *)(r->sq + r->p.sq_off.array);
	unsigned at = *tail & (r->p.sq_entries - 1);

	r->sqe[at] = (struct io_uring_sqe){.opcode = opcode, .fd = fd, .user_data = user_data};
	array[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	return &r->sqe[at];
}

/* Waits for so many completions. */
static void uring_results(struct uring *r, unsigned n)
{
	unsigned *head = (unsigned *)(r->cq + r->p.cq_off.head), *end = (unsigned *)(r->cq + r->p.cq_off.tail);
	struct io_uring_cqe *cqe = (struct io_uring_cqe *)(r->cq + r->p.cq_off.cqes);

	for (unsigned done = 0; done < n;) {
		if (*head == __atomic_load_n(end, __ATOMIC_ACQUIRE)) {
			MUST(syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0));
			continue;
		}
		result[cqe[*head & (r->p.cq_entries - 1)].user_data] = cqe[*head & (r->p.cq_entries - 1)].res;
		__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
		done++;
	}
}

void uring_batch(int fd, int write, long from, unsigned n, unsigned size, int append)
{
	struct io_uring_sqe *sqe;
	struct uring r;

	uring_begin(&r);
	for (unsigned i = 0; i < n; i++) {
		sqe = uring_next(&r, write ? IORING_OP_WRITE : IORING_OP_READ, fd, i);
		sqe->addr = (uintptr_t)batch_buffer[i];
		sqe->len = size;
		sqe->off = (uint64_t)(from + (long)(i * size));
		sqe->rw_flags = append ? IS_APPEND : 0;
		MUST(syscall(SYS_io_uring_enter, r.fd, 1, 0, 0, NULL, 0));
	}
	uring_results(&r, n);
	uring_end(&r);
}

void uring_chain(int dir, const char *path, int flags, unsigned size, int direct)
{
	int none[2] = {-1, -1}, fd = 0;
	struct io_uring_sqe *sqe;
	struct uring r;

	uring_begin(&r);
	if (direct) {
		MUST(syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_FILES, none, 2));
		fd = 1;
	} else {
		fd = (int)MUST(dup(r.fd)); /* the number that comes next */
		close(fd);
	}
	sqe = uring_next(&r, IORING_OP_OPENAT, dir, 0);
	sqe->addr = (uintptr_t)path;
	sqe->open_flags = (unsigned)flags;
	sqe->len = 0640;
	sqe->flags = IOSQE_IO_LINK;
	sqe->file_index = direct ? (unsigned)fd + 1 : 0;
	sqe = uring_next(&r, IORING_OP_WRITE, fd, 1);
	sqe->addr = (uintptr_t)batch_buffer[0];
	sqe->len = size;
	sqe->flags = (unsigned char)(IOSQE_IO_LINK | (direct ? IOSQE_FIXED_FILE : 0));
	sqe = uring_next(&r, IORING_OP_CLOSE, direct ? 0 : fd, 2);
	sqe->file_index = direct ? (unsigned)fd + 1 : 0;
	MUST(syscall(SYS_io_uring_enter, r.fd, 3, 3, IORING_ENTER_GETEVENTS, NULL, 0));
	uring_results(&r, 3);
	uring_end(&r);
}

int passed(int fd, int close_first)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} c;
	char byte = 'f';
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = c.room, .msg_controllen = sizeof(c.room)};
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
