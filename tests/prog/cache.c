// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads, writes and maps a file in one way; prints what the kernel shows by other means: pages in the page cache
 * (mincore), page faults (getrusage).
 *   cache WAY FILE PAGES
 */
#include "prog.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define PAGE 4096L

static long pages;
static const char *path;

static char *map(int prot, int flags, int fd)
{
	char *at = mmap(NULL, (size_t)(pages * PAGE), prot, flags, fd, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(3);
	}
	return at;
}

/* Bytes of the file in the page cache. The mapping is not touched. */
static long resident(void)
{
	unsigned char *in = malloc((size_t)pages);
	int fd = prog_open(path, O_RDONLY);
	char *at = map(PROT_READ, MAP_SHARED, fd);
	long n = 0;

	MUST(mincore(at, (size_t)(pages * PAGE), in));
	for (long i = 0; i < pages; i++)
		n += in[i] & 1;
	MUST(munmap(at, (size_t)(pages * PAGE)));
	MUST(close(fd));
	free(in);
	return n * PAGE;
}

static void forget(void)
{
	int fd = prog_open(path, O_RDWR);

	MUST(fsync(fd));
	MUST(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	MUST(close(fd));
	if (resident()) {
		fprintf(stderr, "%s: pages stay in the cache\n", path);
		exit(4);
	}
}

static void read_all(int flags, int advice)
{
	static char buf[65536] __attribute__((aligned(4096)));
	int fd = prog_open(path, flags);
	unsigned at = 1;

	if (advice)
		MUST(posix_fadvise(fd, 0, 0, advice));
	for (long i = 0; advice && i < pages / 8; i++) {
		at = at * 1103515245 + 12345;
		EXACT(pread(fd, buf, PAGE, (off_t)(at / 65536 % pages) * PAGE), PAGE);
	}
	for (long i = 0; !advice && i < pages * PAGE; i += sizeof(buf))
		EXACT(read(fd, buf, sizeof(buf)), sizeof(buf));
	MUST(close(fd));
}

static void write_all(int flags)
{
	static char buf[65536] __attribute__((aligned(4096)));
	int fd = prog_open(path, flags);

	memset(buf, 'w', sizeof(buf));
	for (long i = 0; i < pages * PAGE; i += sizeof(buf))
		EXACT(write(fd, buf, sizeof(buf)), sizeof(buf));
	MUST(close(fd));
}

static long faults(void)
{
	struct rusage u;

	MUST(getrusage(RUSAGE_SELF, &u));
	return u.ru_minflt + u.ru_majflt;
}

static void touch(char *at, bool store)
{
	long sum = 0;

	for (long i = 0; i < pages; i++) {
		if (store)
			at[i * PAGE] = 'm';
		sum += *(volatile char *)&at[i * PAGE];
	}
	if (sum == 1)
		puts("");
}

static void mapped(int flags, bool store, int times)
{
	int fd = prog_open(path, store ? O_RDWR : O_RDONLY);
	char *at = map(store ? PROT_READ | PROT_WRITE : PROT_READ, flags, fd);
	long before = faults();

	for (int i = 0; i < times; i++)
		touch(at, store);
	printf("faults %ld\n", faults() - before);
	if (store && flags == MAP_SHARED)
		MUST(msync(at, (size_t)(pages * PAGE), MS_SYNC));
	MUST(munmap(at, (size_t)(pages * PAGE)));
	MUST(close(fd));
}

static void four(void)
{
	int fd = prog_open(path, O_RDONLY);
	char *at = map(PROT_READ, MAP_SHARED, fd);

	for (int i = 0; i < 4; i++) {
		pid_t pid = (pid_t)MUST(fork());

		if (pid == 0) {
			touch(at, false);
			_exit(0);
		}
		prog_wait(pid);
	}
	MUST(munmap(at, (size_t)(pages * PAGE)));
	MUST(close(fd));
}

int main(int argc, char **argv)
{
	const char *way = argv[1];

	if (argc != 4)
		return 2;
	path = argv[2];
	pages = atol(argv[3]);
	if (!strcmp(way, "write")) {
		write_all(O_WRONLY | O_CREAT | O_TRUNC);
	} else if (!strcmp(way, "direct_write")) {
		write_all(O_WRONLY | O_DIRECT);
	} else {
		forget();
		if (!strcmp(way, "cold") || !strcmp(way, "warm"))
			read_all(O_RDONLY, 0);
		if (!strcmp(way, "warm"))
			read_all(O_RDONLY, 0);
		if (!strcmp(way, "random"))
			read_all(O_RDONLY, POSIX_FADV_RANDOM);
		if (!strcmp(way, "direct"))
			read_all(O_RDONLY | O_DIRECT, 0);
		if (!strcmp(way, "map_once") || !strcmp(way, "map_twice"))
			mapped(MAP_SHARED, false, way[4] == 't' ? 2 : 1);
		if (!strcmp(way, "map_write"))
			mapped(MAP_SHARED, true, 1);
		if (!strcmp(way, "map_private"))
			mapped(MAP_PRIVATE, true, 1);
		if (!strcmp(way, "map_four"))
			four();
	}
	printf("resident %ld\n", resident());
	return 0;
}
