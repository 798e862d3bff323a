/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel side for fuzz_message.c: the functions of bpf/user/load.h, uprobes/ and
 * runtime/daemon/privsep/helper.h on memory of this program. What the kernel and the hands
 * would do is said by the functions here. No BPF, no files, no processes.
 */
#ifndef TESTS_FUZZ_KERNEL_H
#define TESTS_FUZZ_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/user/load.h"

#define FUZZ_PROCS 32
#define FUZZ_SLOTS 64
#define FUZZ_TGID  5000000 /* above all process ids that Linux gives */
#define FUZZ_TGIDS 8

/* All as after a start. */
void fuzz_kernel_reset(void);

/* Process `tgid` appears: a fork of a traced one, or joined to `job` at exec. */
void fuzz_kernel_fork(int tgid, int parent);
void fuzz_kernel_join(int tgid, uint32_t job, uint32_t uid);
/* EXEC, ENV: text with NULs; `last`: the environment is complete. */
void fuzz_kernel_exec(int tgid, const char *argv, uint32_t bytes, bool hidden);
void fuzz_kernel_env(int tgid, const char *text, uint32_t bytes, bool last);
/* It ends; `told` false: the event is lost. */
void fuzz_kernel_exit(int tgid, int status, bool told);
/* It works on a file. */
void fuzz_kernel_touch(int tgid, unsigned file, uint64_t bytes, unsigned kind, bool named);
/* A stream is counted inside. */
void fuzz_kernel_stream(int tgid, uint32_t memory, uint32_t place);
void fuzz_kernel_mapped(int tgid, uint32_t inode);
void fuzz_kernel_lost(uint32_t job);
/* What the next operations of the loader return, bits: open, attach, set_job. */
void fuzz_kernel_fail(unsigned what);
/* Is this process part of the job with that user? */
bool fuzz_kernel_traces(int tgid);

/* What hands answer from now on, and after how many looks. */
void fuzz_hands(int rc, unsigned looks);
/* What fetched files hold from now on: these bytes, or a copy of an image. */
void fuzz_hands_file(const void *bytes, size_t n);
void fuzz_hands_image(int fd);

/* With `keep`: the last log that was put, its destination, and how many there were. */
extern struct fuzz_put {
	bool keep;
	int fd;
	unsigned n;
	char to[4096];
} fuzz_put;

/* ---- calls.c ---- */
#define FUZZ_ARRIVING 64

extern int64_t fuzz_now_ns; /* CLOCK_MONOTONIC of the daemon */
void fuzz_calls_reset(void);
/* The next connection that the daemon accepts is of this peer. False: too many wait. */
bool fuzz_calls_arriving(pid_t pid, uid_t uid);

#endif
