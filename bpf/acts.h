/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a system call number means to the programs: one byte a number in a
 * table that the loader fills, so that the filter is one load and the numbers
 * of an architecture stand in one place (bpf/syscalls.c).
 */
#ifndef BPF_ACTS_H
#define BPF_ACTS_H

/* Descriptor in argument 1 unless said otherwise. */
enum scribe_act {
	SCRIBE_ACT_NONE = 0,
	/* data on one descriptor; keep these first, odd ones read */
	SCRIBE_ACT_READ,
	SCRIBE_ACT_WRITE,
	SCRIBE_ACT_READV,
	SCRIBE_ACT_WRITEV,
	SCRIBE_ACT_LAST_AT_POS = SCRIBE_ACT_WRITEV, /* without an offset of their own */
	SCRIBE_ACT_PREADV2, /* with flags, and offset -1 for none */
	SCRIBE_ACT_PWRITEV2,
	SCRIBE_ACT_PREADV,
	SCRIBE_ACT_PWRITEV,
	SCRIBE_ACT_LAST_VECTOR = SCRIBE_ACT_PWRITEV,
	SCRIBE_ACT_PREAD,
	SCRIBE_ACT_PWRITE,
	SCRIBE_ACT_LAST_DATA = SCRIBE_ACT_PWRITE,
	/* other calls on one descriptor */
	SCRIBE_ACT_LSEEK,
	SCRIBE_ACT_FSTAT,
	SCRIBE_ACT_FSYNC,
	SCRIBE_ACT_FDATASYNC,
	SCRIBE_ACT_CLOSE,
	SCRIBE_ACT_DUP,   /* dup, dup2, dup3 */
	SCRIBE_ACT_FCNTL, /* F_DUPFD, F_DUPFD_CLOEXEC */
	SCRIBE_ACT_FTRUNCATE,
	SCRIBE_ACT_FALLOCATE,
	SCRIBE_ACT_FADVISE,
	SCRIBE_ACT_GETDENTS,
	SCRIBE_ACT_FSTATFS,
	SCRIBE_ACT_FXATTR_READ,
	SCRIBE_ACT_FXATTR_WRITE,
	SCRIBE_ACT_SYNC_RANGE,
	SCRIBE_ACT_MMAP, /* argument 5 */
	SCRIBE_ACT_LAST_FD = SCRIBE_ACT_MMAP,
	/* two descriptors */
	SCRIBE_ACT_SENDFILE,
	SCRIBE_ACT_SPLICE,
	SCRIBE_ACT_COPY_RANGE,
	/* opens: known at return */
	SCRIBE_ACT_OPEN,    /* open(path, flags, mode) */
	SCRIBE_ACT_CREAT,   /* creat(path, mode) */
	SCRIBE_ACT_OPENAT,  /* openat(dir, path, flags, mode) */
	SCRIBE_ACT_OPENAT2, /* openat2(dir, path, how, size) */
	/* calls on paths */
	SCRIBE_ACT_STAT,
	SCRIBE_ACT_LSTAT,
	SCRIBE_ACT_FSTATAT, /* may be on a descriptor (AT_EMPTY_PATH) */
	SCRIBE_ACT_STATX,
	SCRIBE_ACT_ACCESS,
	SCRIBE_ACT_FACCESSAT,
	SCRIBE_ACT_READLINK,
	SCRIBE_ACT_READLINKAT,
	SCRIBE_ACT_UNLINK,
	SCRIBE_ACT_UNLINKAT,
	SCRIBE_ACT_MKDIR,
	SCRIBE_ACT_MKDIRAT,
	SCRIBE_ACT_RMDIR,
	SCRIBE_ACT_RENAME,
	SCRIBE_ACT_RENAMEAT, /* also renameat2 */
	SCRIBE_ACT_LINK,
	SCRIBE_ACT_LINKAT,
	SCRIBE_ACT_SYMLINK,
	SCRIBE_ACT_SYMLINKAT,
	SCRIBE_ACT_TRUNCATE,
	SCRIBE_ACT_STATFS,
	SCRIBE_ACT_XATTR_READ,
	SCRIBE_ACT_LXATTR_READ,
	SCRIBE_ACT_XATTR_WRITE,
	SCRIBE_ACT_LXATTR_WRITE,
	SCRIBE_ACT_LAST_PATH = SCRIBE_ACT_LXATTR_WRITE,
	/* others */
	SCRIBE_ACT_CLOSE_RANGE,
	SCRIBE_ACT_MSYNC,
	SCRIBE_ACT_AIO_SUBMIT,
	SCRIBE_ACT_AIO_GETEVENTS,
	/* in no table: a data call whose file does not count, on its way */
	SCRIBE_ACT_LEFT_READ,
	SCRIBE_ACT_LEFT_WRITE,
};

/* Why; the first four in the order of the ledger. */
enum scribe_left {
	SCRIBE_LEFT_PIPE,
	SCRIBE_LEFT_SOCKET,
	SCRIBE_LEFT_OTHER,
	SCRIBE_LEFT_EXCLUDED,
	SCRIBE_LEFT_LOST, /* it should have been recorded */
};

#endif
