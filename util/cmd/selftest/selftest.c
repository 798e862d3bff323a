// SPDX-License-Identifier: BSD-3-Clause
/*
 * ioscribe-selftest DIR [mpi]: does known I/O on a file of DIR by each way and prints the way's name, or why this
 * machine has it not. Must not know how it is traced.
 */
#include "util/cmd/selftest/selftest.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS   4
#define EACH      250
#define ENTRIES   32
#define FILE_MODE 0600

static char block[4096];

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "ioscribe-selftest: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_file(const char *way)
{
	int fd = open(way, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);

	must(fd >= 0, way);
	return fd;
}

static void by_calls(void)
{
	int fd = open_file("posix");

	for (int i = 0; i < 10; i++)
		must(write(fd, block, 4096) == 4096, "write");
	must(lseek(fd, 0, SEEK_SET) == 0, "lseek");
	for (int i = 0; i < 5; i++)
		must(read(fd, block, 512) == 512, "read");
	must(!fsync(fd), "fsync");
	must(!close(fd), "close");
	puts("posix");
}

struct range {
	int fd, number;
};

static void *write_range(void *ctx)
{
	const struct range *p = ctx;

	for (int i = 0; i < EACH; i++)
		must(pwrite(p->fd, block, 1000, ((off_t)p->number * EACH + i) * 1000) == 1000, "pwrite");
	return NULL;
}

static void by_threads(void)
{
	struct range ranges[THREADS];
	pthread_t threads[THREADS];
	int fd = open_file("threads");

	for (int i = 0; i < THREADS; i++) {
		ranges[i] = (struct range){fd, i};
		must(!pthread_create(&threads[i], NULL, write_range, &ranges[i]), "pthread_create");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	must(!close(fd), "close");
	puts("threads");
}

struct ring {
	int fd;
	struct io_uring_params p;
	char *queues; /* both, by IORING_FEAT_SINGLE_MMAP */
	struct io_uring_sqe *sqes;
};

static void submit(struct ring *r, int n)
{
	uint32_t *tail = (uint32_t *)(void *)(r->queues + r->p.sq_off.tail);
	uint32_t *head = (uint32_t *)(void *)(r->queues + r->p.cq_off.head);
	const uint32_t mask = *(const uint32_t *)(const void *)(r->queues + r->p.cq_off.ring_mask);
	const struct io_uring_cqe *cqes = (const void *)(r->queues + r->p.cq_off.cqes);

	__atomic_store_n(tail, *tail + (uint32_t)n, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, r->fd, n, n, IORING_ENTER_GETEVENTS, NULL, 0) == n, "io_uring_enter");
	for (int i = 0; i < n; i++) {
		const struct io_uring_cqe *done = &cqes[(*head + (uint32_t)i) & mask];

		errno = -done->res;
		must(done->res == (int)done->user_data, "an operation of io_uring");
	}
	__atomic_store_n(head, *head + (uint32_t)n, __ATOMIC_RELEASE);
}

/* n operations of `bytes` each, one after the other in the file. */
static void fill(struct ring *r, int fd, unsigned char operation, int n, unsigned bytes)
{
	const uint32_t tail = *(const uint32_t *)(const void *)(r->queues + r->p.sq_off.tail);
	uint32_t *indices = (uint32_t *)(void *)(r->queues + r->p.sq_off.array);

	for (int i = 0; i < n; i++) {
		const uint32_t at = (tail + (uint32_t)i) & (r->p.sq_entries - 1);

		r->sqes[at] = (struct io_uring_sqe){.opcode = operation,
						    .fd = fd,
						    .addr = (uintptr_t)block,
						    .len = bytes,
						    .off = (uint64_t)i * bytes,
						    .user_data = bytes};
		indices[at] = at;
	}
	submit(r, n);
}

static void by_ring(void)
{
	struct ring r = {0};
	int fd;

	r.fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &r.p);
	if (r.fd < 0 || !(r.p.features & IORING_FEAT_SINGLE_MMAP)) {
		printf("no io_uring: %s\n", r.fd < 0 ? strerror(errno) : "older than Linux 5.4");
		return;
	}
	r.queues = mmap(NULL, r.p.cq_off.cqes + r.p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_POPULATE, r.fd, IORING_OFF_SQ_RING);
	r.sqes = mmap(NULL, r.p.sq_entries * sizeof(*r.sqes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r.fd,
		      IORING_OFF_SQES);
	must(r.queues != MAP_FAILED && r.sqes != MAP_FAILED, "mmap of io_uring");
	fd = open_file("io_uring");
	fill(&r, fd, IORING_OP_WRITE, 16, 4096);
	fill(&r, fd, IORING_OP_READ, 8, 1024);
	must(!close(fd), "close");
	close(r.fd);
	puts("io_uring");
}

static void by_streams(void)
{
	FILE *f = fopen("stdio", "w+e");

	must(f != NULL, "fopen");
	for (int i = 0; i < 100; i++)
		must(fwrite(block, 100, 1, f) == 1, "fwrite");
	rewind(f);
	for (int i = 0; i < 10; i++)
		must(fread(block, 10, 1, f) == 1, "fread");
	must(!fclose(f), "fclose");
	puts("stdio");
}

/* Handles of MPICH's ABI are integers, those of Open MPI addresses. */
struct mpi {
	void *library;
	uintptr_t world, info, byte;
};

static bool find_mpi(struct mpi *m)
{
	static const char *const names[] = {"libmpi.so.12", "libmpich.so.12", "libmpi.so.40"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !m->library; i++)
		m->library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
	if (!m->library)
		return false;
	m->world = (uintptr_t)dlsym(m->library, "ompi_mpi_comm_world");
	m->info = (uintptr_t)dlsym(m->library, "ompi_mpi_info_null");
	m->byte = (uintptr_t)dlsym(m->library, "ompi_mpi_byte");
	if (!m->world) {
		m->world = 0x44000000;
		m->info = 0x1c000000;
		m->byte = 0x4c00010d;
	}
	return true;
}

/* Through RTLD_DEFAULT, so that a preloaded library is called as by a program that is linked. */
static void *call_of(const char *name)
{
	void *call = dlsym(RTLD_DEFAULT, name);

	errno = 0;
	must(call != NULL, name);
	return call;
}

static void by_mpi(void)
{
	typedef int data_fn(void *file, long long at, void *buf, int n, uintptr_t type, void *status);
	enum { CREATE = 1, READ_WRITE = 8 };
	struct mpi m = {0};
	char status[256];
	void *file;
	data_fn *write_at, *read_at, *write_at_all;

	if (!find_mpi(&m)) {
		puts("no mpi_io: neither MPICH's library nor Open MPI's is in the linker's path");
		return;
	}
	write_at = (data_fn *)call_of("MPI_File_write_at");
	read_at = (data_fn *)call_of("MPI_File_read_at");
	write_at_all = (data_fn *)call_of("MPI_File_write_at_all");
	must(!((int (*)(int *, char ***))call_of("MPI_Init"))(NULL, NULL), "MPI_Init");
	must(!((int (*)(uintptr_t, const char *, int, uintptr_t, void **))call_of("MPI_File_open"))(
		     m.world, "mpi_io", CREATE | READ_WRITE, m.info, &file),
	     "MPI_File_open");
	for (int i = 0; i < 4; i++)
		must(!write_at(file, i * 1024, block, 1024, m.byte, status), "MPI_File_write_at");
	for (int i = 0; i < 2; i++)
		must(!read_at(file, i * 1024, block, 1024, m.byte, status), "MPI_File_read_at");
	must(!write_at_all(file, 4096, block, 1024, m.byte, status), "MPI_File_write_at_all");
	must(!((int (*)(void **))call_of("MPI_File_close"))(&file), "MPI_File_close");
	must(!((int (*)(void))call_of("MPI_Finalize"))(), "MPI_Finalize");
	puts("mpi_io");
}

int main(int argc, char **argv)
{
	must(argc > 1 && !chdir(argv[1]), "chdir");
	if (argc > 2) {
		by_mpi();
		return fflush(stdout) != 0;
	}
	by_calls();
	by_threads();
	by_ring();
	by_streams();
	return fflush(stdout) != 0;
}
