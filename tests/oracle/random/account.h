/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a random program has done, by name: kept in memory that its children and the programs that it executes
 * share.
 */
#ifndef TESTS_ORACLE_RANDOM_ACCOUNT_H
#define TESTS_ORACLE_RANDOM_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTERS(X) \
	X(POSIX_OPENS) \
	X(POSIX_DUPS) \
	X(POSIX_READS) \
	X(POSIX_WRITES) \
	X(POSIX_BYTES_READ) \
	X(POSIX_BYTES_WRITTEN) \
	X(POSIX_MAX_BYTE_READ) \
	X(POSIX_MAX_BYTE_WRITTEN) \
	X(POSIX_SEEKS) \
	X(POSIX_STATS) \
	X(POSIX_MMAPS) \
	X(POSIX_FSYNCS) \
	X(POSIX_FDSYNCS) \
	X(POSIX_RENAME_SOURCES) \
	X(POSIX_RENAME_TARGETS) \
	X(POSIX_EXT_UNLINKS) \
	X(POSIX_EXT_MKDIRS) \
	X(POSIX_EXT_RMDIRS) \
	X(POSIX_EXT_LINKS) \
	X(POSIX_EXT_SYMLINKS) \
	X(POSIX_EXT_READLINKS) \
	X(POSIX_EXT_ACCESSES) \
	X(POSIX_EXT_TRUNCATES) \
	X(POSIX_EXT_FALLOCATES) \
	X(POSIX_EXT_FADVISES) \
	X(POSIX_EXT_XATTR_READS) \
	X(POSIX_EXT_MSYNCS) \
	X(POSIX_EXT_MAPPED_BYTES) \
	X(POSIX_EXT_SPLICES) \
	X(POSIX_EXT_AIO_OPS) \
	X(POSIX_EXT_URING_OPS) \
	X(POSIX_EXT_CREATES) \
	X(POSIX_EXT_CLOSES) \
	X(STDIO_OPENS) \
	X(STDIO_READS) \
	X(STDIO_WRITES) \
	X(STDIO_BYTES_READ) \
	X(STDIO_BYTES_WRITTEN) \
	X(POSIX_EXT_RANKS_READ) \
	X(POSIX_EXT_RANKS_WROTE)

enum counter {
#define X(name) name,
	COUNTERS(X)
#undef X
		COUNTERS_N
};

#define FOLDERS  4
#define LINKS    2
#define FILES    5
#define INODES   64
#define DESCS    4096
#define DENTRIES 4096
#define FDS      512
/* Names of a folder that is carried about: its other name, and a link in it. */
enum carried { CARRIED, LINK_AT_HOME, CARRIED_N };

#define IN_ROOT (FOLDERS * FILES) /* names as a program in another root sees them */
#define NAMES   (2 * IN_ROOT + FOLDERS + 2 * LINKS + CARRIED_N * FOLDERS)

/* An entry of a folder: it moves with a rename, and keeps its last name when it is removed. */
struct dentry {
	int name;
};

/*
 * An open description: what the kernel calls a struct file. A process that has opened it has it under the
 * name that it was opened by, any other under the name that the file has when it first uses it.
 */
struct desc {
	int inode, dentry;
	int64_t at;
	bool reads, writes, appends;
};

struct inode {
	int64_t size;
	int names, descs; /* how often it is named, and open */
};

/* All that children and executed programs share. */
struct world {
	uint64_t seed;
	uint32_t now, ops, ndescs;
	uint64_t count[NAMES][COUNTERS_N];
	bool folder[FOLDERS];
	int link[LINKS];           /* the folder that it leads to, -1: there is none */
	int file[FOLDERS][FILES];  /* its inode, -1: there is none */
	int entry[FOLDERS][FILES]; /* and its dentry */
	struct inode inode[INODES];
	struct desc desc[DESCS];
	struct dentry dentry[DENTRIES];
	uint32_t ndentries;
	/* of the program that executes another: its descriptors' descriptions, -1 none; and its names of them
	 */
	int fd[FDS], known[DESCS];
};

extern struct world *w;

static inline int file_name(int folder, int file)
{
	return folder * FILES + file;
}

static inline int folder_name(int folder)
{
	return 2 * IN_ROOT + folder;
}

static inline int link_name(int link, bool new)
{
	return 2 * IN_ROOT + FOLDERS + (new ? LINKS : 0) + link;
}

static inline int carried_name(enum carried what, int folder)
{
	return 2 * IN_ROOT + FOLDERS + 2 * LINKS + (int)what * FOLDERS + folder;
}

static inline void add(int name, enum counter c, uint64_t n)
{
	w->count[name][c] += n;
}

static inline void highest(int name, enum counter c, int64_t byte)
{
	if (byte > (int64_t)w->count[name][c])
		w->count[name][c] = (uint64_t)byte;
}

/* A read or write of so many bytes that began there. */
static inline void moved(int name, bool write, int64_t from, int64_t bytes)
{
	add(name, write ? POSIX_WRITES : POSIX_READS, 1);
	add(name, write ? POSIX_BYTES_WRITTEN : POSIX_BYTES_READ, (uint64_t)bytes);
	/* as Darshan has it, also where nothing was there to be read */
	highest(name, write ? POSIX_MAX_BYTE_WRITTEN : POSIX_MAX_BYTE_READ, from + bytes - 1);
}

#endif
