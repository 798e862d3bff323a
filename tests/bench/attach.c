/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tp_btf against tracepoint attachment: what each adds to pread of a process
 * that is recorded, of one that is not, and to a call that is not looked at
 * (getppid). Medians of ROUNDS interleaved rounds. Needs root. All of this acts
 * on every process of the machine only by the filter: nothing is recorded of
 * others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/bench/attach.skel.h"

#define ROUNDS 9
#define CALLS  200000

enum { BASE, TP_BTF, TRACEPOINT, WAYS };
enum { OWN_PREAD, OTHER_PREAD, OTHER_CALL, WHATS };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double preads(int fd)
{
	char b[8];
	double start = now_ns();

	for (long i = 0; i < CALLS; i++) {
		if (pread(fd, b, 8, (i * 8) & 4095) != 8)
			exit(1);
	}
	return (now_ns() - start) / CALLS;
}

static double getppids(void)
{
	double start = now_ns();

	for (long i = 0; i < CALLS; i++)
		getppid();
	return (now_ns() - start) / CALLS;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Be recorded, or not, from now on. */
static void recorded(struct scribe_attach *s, int yes)
{
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0), map = bpf_map__fd(s->maps.scribe_b_task);
	char zero[64] = {0};

	if (yes)
		bpf_map_update_elem(map, &self, zero, BPF_ANY);
	else
		bpf_map_delete_elem(map, &self);
	close(self);
}

static void attach(struct scribe_attach *s, int way, struct bpf_link *links[2])
{
	struct bpf_program *in = way == TP_BTF ? s->progs.scribe_b_enter : s->progs.scribe_b_tpin;
	struct bpf_program *out = way == TP_BTF ? s->progs.scribe_b_exit : s->progs.scribe_b_tpout;

	links[0] = links[1] = NULL;
	if (way == BASE)
		return;
	links[0] = bpf_program__attach(in);
	links[1] = bpf_program__attach(out);
	if (!links[0] || !links[1]) {
		fprintf(stderr, "attach: %s (is tracefs mounted?)\n", strerror(errno));
		exit(1);
	}
}

int main(void)
{
	static const char *const ways[] = {"none", "tp_btf", "tracepoint"};
	static const char *const whats[] = {"pread, recorded", "pread, another process", "another call"};
	static double ns[WHATS][WAYS][ROUNDS];
	char path[] = "/dev/shm/ioscribe-attach-XXXXXX", block[4096] = {0};
	struct scribe_attach *s = scribe_attach__open();
	int fd = mkstemp(path);

	if (!s || fd < 0 || write(fd, block, sizeof(block)) != sizeof(block))
		return 1;
	unlink(path);
	s->rodata->wanted = SYS_pread64;
	if (scribe_attach__load(s)) {
		fprintf(stderr, "attach: the programs do not load: run as root\n");
		return 1;
	}
	for (int r = 0; r < ROUNDS; r++) {
		for (int w = 0; w < WAYS; w++) {
			struct bpf_link *links[2];

			attach(s, w, links);
			recorded(s, 1);
			ns[OWN_PREAD][w][r] = preads(fd);
			recorded(s, 0);
			ns[OTHER_PREAD][w][r] = preads(fd);
			ns[OTHER_CALL][w][r] = getppids();
			bpf_link__destroy(links[0]);
			bpf_link__destroy(links[1]);
		}
	}
	for (int i = 0; i < WHATS; i++) {
		double base;

		for (int w = 0; w < WAYS; w++)
			qsort(ns[i][w], ROUNDS, sizeof(double), by_value);
		base = ns[i][BASE][ROUNDS / 2];
		for (int w = 0; w < WAYS; w++)
			printf("%-24s %-10s %7.1f ns  %+7.1f  x%.2f\n", whats[i], ways[w], ns[i][w][ROUNDS / 2],
			       ns[i][w][ROUNDS / 2] - base, ns[i][w][ROUNDS / 2] / base);
	}
	scribe_attach__destroy(s);
	return 0;
}
