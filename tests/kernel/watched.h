/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the kernel side share: programs loaded and attached, jobs
 * described, processes started in many ways, and what the kernel told of them.
 */
#ifndef TESTS_KERNEL_WATCHED_H
#define TESTS_KERNEL_WATCHED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/user/load.h"

#define WATCHED_UID 45321u /* of a user that nobody is */
#define WATCHED_GID 45322u

struct told {
	struct scribe_event ev;
	char text[256]; /* its beginning, ends in NUL */
};

struct watched {
	struct scribe_bpf *bpf;
	struct told *told;
	size_t n, room;
	uint64_t position; /* in the ring, behind the last */
	char dir[64];      /* scratch, 0777 */
};

/* The scratch folder alone, entered. */
void watched_scratch(struct watched *w);
/* The level comes from IOSCRIBE_TEST_ATTACH (tp_btf_probe: the weaker one). */
void watched_begin(struct watched *w, const struct scribe_bpf_options *options);
void watched_end(struct watched *w);
/* Where the wire version stands in shared memory. */
uint32_t *watched_version(struct scribe_bpf *bpf);
/* Take what the ring holds. */
void watched_take(struct watched *w);

struct how {
	uint32_t uid, gid;
	int namespaces;     /* CLONE_NEW… */
	const char *cgroup; /* folder to enter, NULL none */
	const char *cwd;    /* NULL: the scratch folder */
	const char *const *argv;
	char *const *env;
};

/* A copy of BUILD/tests/prog/NAME in the scratch folder; its path, static. */
const char *watched_program(struct watched *w, const char *name);
/* Start it; the process id in the initial namespace. */
pid_t watched_start(const struct how *how);
/* Wait until it has ended, with code 0. */
void watched_wait(pid_t pid);
/* Both, and take what was told. */
pid_t watched_run(struct watched *w, const struct how *how);
/* The JOIN of a process id, NULL none. */
const struct told *watched_join(const struct watched *w, pid_t pid);
/* Events of a type for a process id, from the n-th told on; how many. */
unsigned watched_count(const struct watched *w, pid_t pid, uint32_t type, uint32_t flags);
/* Was a file of this last component named by the process? */
bool watched_named(const struct watched *w, pid_t pid, const char *leaf);
/* A job of WATCHED_UID by this variable. */
void watched_job(const char *variable, struct scribe_job_entry *ret_job);

#endif
