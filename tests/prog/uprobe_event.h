/* SPDX-License-Identifier: BSD-3-Clause */
/* Another tool's uprobes, as perf makes them. */
#ifndef TESTS_PROG_UPROBE_EVENT_H
#define TESTS_PROG_UPROBE_EVENT_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS_MAX 512
#define CPUS_MAX   256

struct uprobe_events {
	unsigned long long offset[EVENTS_MAX];
	int fd[EVENTS_MAX][CPUS_MAX];
	int n, cpus;
};

static inline void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* Offsets in a file, one a line, decimal. */
static inline void uprobe_events_read(struct uprobe_events *e, const char *path)
{
	FILE *f = fopen(path, "r");

	must(f != NULL, path);
	for (e->n = 0; e->n < EVENTS_MAX && fscanf(f, "%llu", &e->offset[e->n]) == 1;)
		e->n++;
	fclose(f);
	must(e->n > 0, "offsets");
}

static inline int event_open(unsigned type, const char *library, unsigned long long offset, int pid, int cpu)
{
	struct perf_event_attr a = {
		.type = type, .size = sizeof(a), .config1 = (uint64_t)(uintptr_t)library, .config2 = offset};
	int fd = (int)syscall(SYS_perf_event_open, &a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	must(fd >= 0, "perf_event_open");
	return fd;
}

/* Of this thread, or of everybody who maps the library. */
static inline void uprobe_events_open(struct uprobe_events *e, const char *library, int everybody)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	unsigned type = 0;

	must(f && fscanf(f, "%u", &type) == 1, "uprobe");
	fclose(f);
	e->cpus = everybody ? (int)sysconf(_SC_NPROCESSORS_ONLN) : 1;
	must(e->cpus <= CPUS_MAX, "processors");
	for (int i = 0; i < e->n; i++)
		for (int cpu = 0; cpu < e->cpus; cpu++)
			e->fd[i][cpu] =
				event_open(type, library, e->offset[i], everybody ? -1 : 0, everybody ? cpu : -1);
}

static inline void uprobe_events_print(const struct uprobe_events *e, FILE *to)
{
	for (int i = 0; i < e->n; i++) {
		uint64_t hits = 0, one;

		for (int cpu = 0; cpu < e->cpus; cpu++, hits += one)
			must(read(e->fd[i][cpu], &one, sizeof(one)) == sizeof(one), "read");
		fprintf(to, "hits %llu %llu\n", e->offset[i], (unsigned long long)hits);
	}
}

#endif
