/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock in a time namespace: /proc as this test has it, every form of it that a process may see. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/base/clock.h"

#define INITIAL "time:[4026531834]"
#define OTHER   "time:[4026532500]"
#define THIRD   "time:[4026532501]"

/* NULL: not there. These definitions come before the C library's. */
static const char *own, *children, *offsets;
static int opened;

ssize_t readlink(const char *restrict path, char *restrict to, size_t bytes)
{
	const char *text = !strcmp(path, "/proc/self/ns/time")                ? own
			   : !strcmp(path, "/proc/self/ns/time_for_children") ? children
									      : NULL;
	size_t n = text ? strlen(text) : 0;

	assert_true(n < bytes);
	errno = ENOENT;
	if (!text)
		return -1;
	memcpy(to, text, n);
	return (ssize_t)n;
}

int open(const char *path, int flags, ...)
{
	int fd;

	assert_string_equal(path, "/proc/self/timens_offsets");
	assert_true(flags & O_CLOEXEC);
	opened++;
	errno = ENOENT;
	if (!offsets)
		return -1;
	fd = memfd_create("offsets", MFD_CLOEXEC);
	assert_int_equal(pwrite(fd, offsets, strlen(offsets), 0), strlen(offsets));
	return fd;
}

static int64_t ahead_with(const char *its_own, const char *its_children, const char *its_offsets)
{
	const struct timespec ts = {.tv_sec = 1000000, .tv_nsec = 7};

	own = its_own;
	children = its_children;
	offsets = its_offsets;
	opened = 0;
	scribe_clock_calibrate();
	return 1000000000000007 - (int64_t)scribe_clock_initial_ns(&ts);
}

static void unknown_keeps_the_last(void **state)
{
	(void)state;
	assert_int_equal(ahead_with(NULL, NULL, NULL), 0);
	assert_int_equal(ahead_with(OTHER, OTHER, "monotonic 5 0\nboottime 9 0\n"), 5000000000);
	/* no /proc; unshare(2) has made another one for the children; no offsets, or other words */
	assert_int_equal(ahead_with(NULL, NULL, "monotonic 6 0\n"), 5000000000);
	assert_int_equal(ahead_with(OTHER, THIRD, "monotonic 6 0\n"), 5000000000);
	assert_int_equal(opened, 0);
	assert_int_equal(ahead_with(OTHER, NULL, "monotonic 6 0\n"), 5000000000);
	assert_int_equal(ahead_with(OTHER, OTHER, NULL), 5000000000);
	assert_int_equal(ahead_with(OTHER, OTHER, ""), 5000000000);
	assert_int_equal(ahead_with(OTHER, OTHER, "boottime 6 0\n"), 5000000000);
}

static void offsets_are_read(void **state)
{
	(void)state;
	assert_int_equal(ahead_with(OTHER, OTHER, "monotonic       50000         0\nboottime  1 1\n"), 50000000000000);
	assert_int_equal(opened, 1);
	assert_int_equal(ahead_with(OTHER, OTHER, "monotonic       -3 250000000\nboottime  1 1\n"), -2750000000);
	assert_int_equal(ahead_with(OTHER, OTHER, "boottime 1 1\nmonotonic 2 5\n"), 2000000005);
}

static void initial_reads_no_file(void **state)
{
	(void)state;
	assert_int_equal(ahead_with(OTHER, OTHER, "monotonic 5 0\n"), 5000000000);
	assert_int_equal(ahead_with(INITIAL, THIRD, "monotonic 6 0\n"), 0);
	assert_int_equal(opened, 0);
}

static void now_is_of_the_initial(void **state)
{
	struct timespec ts;
	uint64_t now;

	(void)state;
	ahead_with(OTHER, OTHER, "monotonic -50 0\n");
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = scribe_now_ns();
	assert_in_range(now - (uint64_t)ts.tv_sec * 1000000000 - (uint64_t)ts.tv_nsec, 50000000000, 60000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_keeps_the_last),
		cmocka_unit_test(offsets_are_read),
		cmocka_unit_test(initial_reads_no_file),
		cmocka_unit_test(now_is_of_the_initial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
