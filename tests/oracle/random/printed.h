/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program needs that compare.py --shrink has printed: build it by
 * cc -D_GNU_SOURCE -I SOURCES program.c SOURCES/tests/oracle/random/{printed,async}.c, run it traced as
 * `program FOLDER`.
 */
#ifndef TESTS_ORACLE_RANDOM_PRINTED_H
#define TESTS_ORACLE_RANDOM_PRINTED_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "tests/oracle/random/async.h"

extern char base[200], buffer[20000];
extern int fd, dir;
extern struct stat st;
extern struct statx sx;
extern pid_t pid;

void begin(int argc, char **argv);
int finish(void);
/* A path in the folder, and one to it that leads through a link below an excluded one. */
const char *in(const char *name);
const char *out(const char *name);
/* Exits unless a descriptor has the number that it has had in the random program. */
void is(long have, int number);
struct iovec *two(long n);
long sendfile_from(int from, int to, long n);
void mapped(int number);
void stream(const char *name, unsigned n, unsigned bytes);
/* A child uses `name` where `from` is mounted on `to`; and in another root. */
void mounted(const char *from, const char *to, const char *name);
void rooted(const char *name);
void closed_by_exec(int number);

#endif
