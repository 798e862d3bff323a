/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a system call number means to the programs: one byte a number in a
 * table that the loader fills, so that the filter is one load and the numbers
 * of an architecture stand in one place (bpf/user/syscall_table.c).
 */
#ifndef BPF_KERN_SYSCALL_CLASS_H
#define BPF_KERN_SYSCALL_CLASS_H

/* Descriptor in argument 1 unless said otherwise. */
enum scribe_syscall_class {
	SCRIBE_CLASS_NONE = 0,
	/* data on one descriptor; keep these first, odd ones read */
	SCRIBE_CLASS_READ,
	SCRIBE_CLASS_WRITE,
	SCRIBE_CLASS_READV,
	SCRIBE_CLASS_WRITEV,
	SCRIBE_CLASS_LAST_AT_POS = SCRIBE_CLASS_WRITEV, /* without an offset of their own */
	SCRIBE_CLASS_PREADV2, /* with flags, and offset -1 for none */
	SCRIBE_CLASS_PWRITEV2,
	SCRIBE_CLASS_PREADV,
	SCRIBE_CLASS_PWRITEV,
	SCRIBE_CLASS_LAST_VECTOR = SCRIBE_CLASS_PWRITEV,
	SCRIBE_CLASS_PREAD,
	SCRIBE_CLASS_PWRITE,
	SCRIBE_CLASS_LAST_DATA = SCRIBE_CLASS_PWRITE,
	/* other calls on one descriptor */
	SCRIBE_CLASS_LSEEK,
	SCRIBE_CLASS_FSTAT,
	SCRIBE_CLASS_FSYNC,
	SCRIBE_CLASS_FDATASYNC,
	SCRIBE_CLASS_CLOSE,
	SCRIBE_CLASS_DUP,    /* dup */
	SCRIBE_CLASS_DUP_TO, /* dup2, dup3: what was at argument 2 is closed */
	SCRIBE_CLASS_FCNTL, /* F_DUPFD, F_DUPFD_CLOEXEC */
	SCRIBE_CLASS_FTRUNCATE,
	SCRIBE_CLASS_FALLOCATE,
	SCRIBE_CLASS_FADVISE,
	SCRIBE_CLASS_GETDENTS,
	SCRIBE_CLASS_FSTATFS,
	SCRIBE_CLASS_FXATTR_READ,
	SCRIBE_CLASS_FXATTR_WRITE,
	SCRIBE_CLASS_SYNC_RANGE,
	SCRIBE_CLASS_MMAP, /* argument 5 */
	SCRIBE_CLASS_LAST_FD = SCRIBE_CLASS_MMAP,
	/* two descriptors */
	SCRIBE_CLASS_SENDFILE,
	SCRIBE_CLASS_SPLICE,
	SCRIBE_CLASS_COPY_RANGE,
	SCRIBE_CLASS_IOCTL, /* FICLONE, FICLONERANGE, FIDEDUPERANGE */
	/* opens: known at return */
	SCRIBE_CLASS_OPEN,    /* open(path, flags, mode) */
	SCRIBE_CLASS_CREAT,   /* creat(path, mode) */
	SCRIBE_CLASS_OPENAT,  /* openat(dir, path, flags, mode) */
	SCRIBE_CLASS_OPENAT2, /* openat2(dir, path, how, size) */
	/* calls on paths */
	SCRIBE_CLASS_STAT,
	SCRIBE_CLASS_LSTAT,
	SCRIBE_CLASS_FSTATAT, /* may be on a descriptor (AT_EMPTY_PATH) */
	SCRIBE_CLASS_STATX,
	SCRIBE_CLASS_ACCESS,
	SCRIBE_CLASS_FACCESSAT,
	SCRIBE_CLASS_FACCESSAT2, /* may be on a descriptor, too */
	SCRIBE_CLASS_READLINK,
	SCRIBE_CLASS_READLINKAT, /* may be on a descriptor, too */
	SCRIBE_CLASS_UNLINK,
	SCRIBE_CLASS_UNLINKAT,
	SCRIBE_CLASS_MKNOD,
	SCRIBE_CLASS_MKNODAT,
	SCRIBE_CLASS_MKDIR,
	SCRIBE_CLASS_MKDIRAT,
	SCRIBE_CLASS_RMDIR,
	SCRIBE_CLASS_RENAME,
	SCRIBE_CLASS_RENAMEAT, /* also renameat2 */
	SCRIBE_CLASS_LINK,
	SCRIBE_CLASS_LINKAT,
	SCRIBE_CLASS_SYMLINK,
	SCRIBE_CLASS_SYMLINKAT,
	SCRIBE_CLASS_TRUNCATE,
	SCRIBE_CLASS_STATFS,
	SCRIBE_CLASS_XATTR_READ,
	SCRIBE_CLASS_LXATTR_READ,
	SCRIBE_CLASS_XATTR_WRITE,
	SCRIBE_CLASS_LXATTR_WRITE,
	SCRIBE_CLASS_XATTRAT_READ, /* may be on a descriptor, too */
	SCRIBE_CLASS_XATTRAT_WRITE,
	SCRIBE_CLASS_LAST_PATH = SCRIBE_CLASS_XATTRAT_WRITE,
	/* others */
	SCRIBE_CLASS_CLOSE_RANGE,
	SCRIBE_CLASS_MSYNC,
	SCRIBE_CLASS_AIO_SUBMIT,
	SCRIBE_CLASS_AIO_GETEVENTS,
	SCRIBE_CLASS_AIO_SETUP,
	SCRIBE_CLASS_AIO_DESTROY,
	SCRIBE_CLASS_EXIT, /* exit_group */
	SCRIBE_CLASS_EXEC, /* one that fails: what the kernel has read for it is nobody's */
	/* in no table: a data call whose file does not count, on its way */
	SCRIBE_CLASS_LEFT_READ,
	SCRIBE_CLASS_LEFT_WRITE,
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
