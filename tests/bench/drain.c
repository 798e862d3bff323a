/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draining and memory: a child makes RECORDS files' worth of records, with four
 * or with 40 distinct sizes each; printed are the time to drain them all, the
 * kernel memory of all maps, and what it would be on 128 CPUs. Needs root.
 * usage: drain [RECORDS [SIZES]]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf/user/load.h"

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int on_event(void *ctx, const struct scribe_event *ev, const char *text)
{
	(void)ctx;
	(void)ev;
	(void)text;
	return 0;
}

static int on_slot(void *ctx, const struct scribe_slot_view *v)
{
	unsigned long *seen = ctx;

	seen[0]++;
	seen[1] += v->shard[0]->ops[1];
	return 0;
}

static void child(const char *folder, long records, int sizes, int start)
{
	static char data[65536];
	char path[4096], c;

	if (read(start, &c, 1) != 1)
		_exit(1);
	for (long i = 0; i < records; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/f%ld", folder, i);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		if (fd < 0)
			_exit(2);
		for (int k = 1; k <= sizes; k++) {
			if (pwrite(fd, data, (size_t)(sizes > 4 ? k : 64), (off_t)k * (4096 + k * 16)) < 0)
				_exit(3);
		}
		close(fd);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	long records = argc > 1 ? atol(argv[1]) : 100000;
	int sizes = argc > 2 ? atoi(argv[2]) : 1, start[2], status;
	struct scribe_bpf_options o = {.slots = (uint32_t)records + (uint32_t)records / 16 + 64};
	struct scribe_job_entry job = {.active = 1, .quota = 1u << 30, .mem_align = 8};
	char folder[] = "/dev/shm/ioscribe-drain-XXXXXX", command[128];
	unsigned long seen[2] = {0, 0};
	struct scribe_err err = {0};
	struct scribe_bpf *b;
	uint32_t index, proc_id;
	double before, after;
	pid_t pid;

	if (!mkdtemp(folder) || pipe(start))
		return 1;
	if (scribe_bpf_open(&o, &b, &err) || scribe_bpf_attach(b, &err)) {
		fprintf(stderr, "drain: %s\n", err.text);
		return 1;
	}
	scribe_bpf_set_job(b, 0, &job);
	pid = fork();
	if (pid == 0)
		child(folder, records, sizes, start[0]);
	if (pid < 0 || scribe_bpf_enrol(b, pid, 0, &index, &proc_id, &err) || write(start[1], "x", 1) != 1) {
		fprintf(stderr, "drain: %s\n", err.text);
		return 1;
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		scribe_bpf_poll(b, 1, on_event, b);
	scribe_bpf_poll(b, 0, on_event, b);
	before = now_ms();
	if (scribe_bpf_drain_and_free(b, index, on_slot, seen))
		fprintf(stderr, "drain: harvest failed\n");
	after = now_ms();
	printf("child status %d; %lu records, %lu writes; drained in %.1f ms\n", status, seen[0], seen[1],
	       after - before);
	printf("kernel memory for %u records (the maps' own account): %.1f MiB here, %.1f MiB with 128 CPUs\n", o.slots,
	       (double)scribe_bpf_memory(b) / 1048576.0,
	       (double)(scribe_bpf_memory(b) +
			(128 - (uint64_t)sysconf(_SC_NPROCESSORS_CONF)) * scribe_bpf_memory_per_cpu(b)) /
		       1048576.0);
	scribe_bpf_free(b);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) || seen[0] < (unsigned long)records;
}
