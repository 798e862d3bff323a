/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the random program: what is there, ways to it, and operations by kind. An operation that is
 * none with what is there returns false and has done nothing.
 */
#ifndef TESTS_ORACLE_RANDOM_WORLD_H
#define TESTS_ORACLE_RANDOM_WORLD_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "tests/oracle/random/account.h"
#include "tests/oracle/random/async.h"

extern char base[200], outside[64], buffer[20000];
extern char **args;
extern uint64_t dice;
extern bool print;
extern int memory;        /* of the account, for programs that are executed */
extern int from_fd[FDS];  /* the description of a descriptor, -1: none of ours */
extern bool on_exec[FDS]; /* closed by an exec */
extern int known[DESCS];  /* this process's name of a description, -1: it has not used it yet */

/* A way to a file: its name in the account, and how a call gets there. */
struct way {
	int name, folder, file;
	int dir;      /* descriptor to start at, AT_FDCWD none */
	bool in;      /* the working directory is its folder meanwhile */
	bool by_link; /* `text` is made when `dir` is open: its link in procfs */
	char text[400];
};

/* One operation as a line of C, where that is asked for. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Exits with 9 where a call has not returned what the account says. */
void must_be(long have, long want, const char *what);
uint64_t roll(void);
unsigned below(unsigned n);
bool any_folder(int *ret);
bool way_to(struct way *x, int folder, int file);
bool way_to_some(struct way *x, bool there);
void set_out(struct way *x);
void come_back(struct way *x);
const char *dir_of(const struct way *x);
const char *shown(const char *text);
void fd_is(int fd, int desc, bool cloexec);
int any_fd(struct desc **ret);
int name_of(int fd);
int new_dentry(int name);
int new_desc(int name, int dentry, int inode, int flags);
int free_inode(void);
/* The file is open now, made where it was not there: its inode, -1: there are no more. */
int opened(int name, int folder, int file, int flags);

bool do_open(void);
bool do_close(void);
bool do_dup(void);
bool do_pass(void);
bool do_take(void);
bool do_close_range(void);
bool do_data(void);
bool do_batch(void);
bool do_chain(void);
bool do_on_link(void);
bool do_copy(void);
bool do_on_fd(void);
bool do_on_path(void);
bool do_two_names(void);
bool do_folder(void);
bool do_link(void);
bool do_carry(void);
bool do_stream(void);
bool do_fork(void);
bool do_thread(void);
bool do_signal(void);
bool do_mount(void);
bool do_root(void);
bool do_exec(bool may);
void some_operations(unsigned n);

#endif
