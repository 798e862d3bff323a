// SPDX-License-Identifier: BSD-3-Clause
/*
 * CLOCK_MONOTONIC in ns, comparable with bpf_ktime_get_ns on the same node: the offset of a time namespace is
 * subtracted.
 */
#include "logfmt/base/clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define LINK_BYTES   64
#define OFFSET_BYTES 256
#define INITIAL      "time:[4026531834]" /* PROC_TIME_INIT_INO */
#define FIELD        "monotonic"

static int64_t ahead_ns;

static bool name_of(const char *path, char name[LINK_BYTES])
{
	ssize_t n = readlink(path, name, LINK_BYTES - 1);

	name[n < 0 ? 0 : n] = 0;
	return n > 0;
}

/* Not strtoll, which newer C libraries link under a name that older ones lack. */
static int64_t number_at(const char **at)
{
	const char *p = *at + strspn(*at, " ");
	const bool minus = *p == '-';
	int64_t n = 0;

	for (p += minus; *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (*p - '0');
	*at = p;
	return minus ? -n : n;
}

static bool read_offset(const char *own, int64_t *ret_ns)
{
	char children[LINK_BYTES], text[OFFSET_BYTES];
	const char *at;
	ssize_t n;
	int fd;

	/*
	 * The file shows the namespace for children; after unshare(2) it differs from this process's until fork or
	 * exec.
	 */
	if (!name_of("/proc/self/ns/time_for_children", children) || strcmp(own, children) != 0)
		return false;
	fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = 0;
	at = strstr(text, FIELD);
	if (!at)
		return false;
	at += sizeof(FIELD) - 1;
	*ret_ns = number_at(&at) * 1000000000;
	*ret_ns += number_at(&at);
	return true;
}

void scribe_clock_calibrate(void)
{
	char own[LINK_BYTES];
	int64_t ns = 0;

	if (name_of("/proc/self/ns/time", own) && (!strcmp(own, INITIAL) || read_offset(own, &ns)))
		__atomic_store_n(&ahead_ns, ns, __ATOMIC_RELAXED);
}

uint64_t scribe_clock_initial_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000ull + (uint64_t)ts->tv_nsec -
	       (uint64_t)__atomic_load_n(&ahead_ns, __ATOMIC_RELAXED);
}

uint64_t scribe_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return scribe_clock_initial_ns(&ts);
}

double scribe_seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	/* 0 rather than a wrapped difference, because threads may read the clock in any order. */
	return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}
