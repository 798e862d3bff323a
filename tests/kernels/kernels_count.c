// SPDX-License-Identifier: BSD-3-Clause
// Counts in a guest whose clock ticks once an instruction (qemu -icount shift=0):
//   kernels_count calls      instructions of a pread of 8 bytes, a getppid, a stat, an openat with its close
//   kernels_count time CMD…  millions of instructions until CMD has ended
//   kernels_count cpu KIND   instructions of this process, in which it has made preads, writes or files
//   kernels_count programs   what the verifier processed of each program of ours
// A batch that an interrupt falls into is longer, so the shortest of many is taken.
#include "prog.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <time.h>

enum { BATCH = 64, BATCHES = 300 };

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static double pread_batch(int fd)
{
	char buf[8];
	long begin = now();

	for (int i = 0; i < BATCH; i++)
		EXACT(pread(fd, buf, sizeof(buf), 0), sizeof(buf));
	return (double)(now() - begin) / BATCH;
}

static double getppid_batch(int fd)
{
	long begin = now();

	for (int i = 0; i < BATCH; i++)
		syscall(SYS_getppid);
	return (double)(now() - begin) / BATCH;
}

static double stat_batch(int fd)
{
	long begin = now();
	struct stat st;

	for (int i = 0; i < BATCH; i++)
		MUST(stat("count", &st));
	return (double)(now() - begin) / BATCH;
}

static double open_batch(int fd)
{
	long begin = now();

	for (int i = 0; i < BATCH; i++)
		MUST(close(prog_open("count", O_RDONLY)));
	return (double)(now() - begin) / BATCH;
}

static double shortest(double (*batch)(int fd), int fd)
{
	double best = 1e18;

	for (int i = 0; i < BATCHES; i++) {
		double one = batch(fd);

		best = one < best ? one : best;
	}
	return best;
}

static int calls(void)
{
	int fd = prog_open("count", O_RDWR | O_CREAT);

	EXACT(write(fd, "12345678", 8), 8);
	printf("pread %.0f\n", shortest(pread_batch, fd));
	printf("getppid %.0f\n", shortest(getppid_batch, fd));
	printf("stat %.0f\n", shortest(stat_batch, fd));
	printf("open %.0f\n", shortest(open_batch, fd));
	return 0;
}

static int cpu(const char *kind)
{
	static char block[4096];
	const int fd = prog_open("cpu", O_RDWR | O_CREAT);
	struct timespec t;

	EXACT(write(fd, block, sizeof(block)), sizeof(block));
	for (int i = 0; i < BATCHES; i++) {
		if (strcmp(kind, "pread") == 0)
			pread_batch(fd);
		else if (strcmp(kind, "write") == 0)
			for (int k = 0; k < BATCH; k++)
				EXACT(pwrite(fd, block, sizeof(block), 0), sizeof(block));
		else
			for (int k = 0; k < BATCH / 2; k++) {
				MUST(close(prog_open("made", O_RDWR | O_CREAT)));
				MUST(unlink("made"));
			}
	}
	MUST(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t));
	printf("cpu %ld\n", t.tv_sec * 1000000000 + t.tv_nsec);
	return 0;
}

static int time_of(char **command)
{
	long begin = now();
	pid_t child = (pid_t)MUST(fork());

	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	prog_wait(child);
	printf("%ld\n", (now() - begin) / 1000000);
	return 0;
}

static long bpf(int what, union bpf_attr *attr)
{
	return syscall(SYS_bpf, what, attr, sizeof(*attr));
}

static int programs(void)
{
	union bpf_attr next = {0};

	while (bpf(BPF_PROG_GET_NEXT_ID, &next) == 0) {
		union bpf_attr open = {.prog_id = next.next_id}, ask = {0};
		struct bpf_prog_info info = {0};
		int fd = (int)MUST(bpf(BPF_PROG_GET_FD_BY_ID, &open));

		ask.info.bpf_fd = (__u32)fd;
		ask.info.info_len = sizeof(info);
		ask.info.info = (__u64)(uintptr_t)&info;
		MUST(bpf(BPF_OBJ_GET_INFO_BY_FD, &ask));
		if (strncmp(info.name, "scribe_", 7) == 0)
			printf("%s %u\n", info.name, info.verified_insns);
		MUST(close(fd));
		next.start_id = next.next_id;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "calls") == 0)
		return calls();
	if (argc > 2 && strcmp(argv[1], "time") == 0)
		return time_of(argv + 2);
	if (argc == 3 && strcmp(argv[1], "cpu") == 0)
		return cpu(argv[2]);
	if (argc == 2 && strcmp(argv[1], "programs") == 0)
		return programs();
	return 2;
}
