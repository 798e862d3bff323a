// SPDX-License-Identifier: BSD-3-Clause
/*
 * System call numbers of this architecture and their classes; calls not listed are not traced. Main thread.
 * Must not know maps.
 */
#include <sys/syscall.h>

#include "bpf/kern/syscall_class.h"
#include "bpf/user/syscall_table.h"

static const struct {
	int nr;
	unsigned char class;
} scribe_syscalls[] = {
	{SYS_read, SCRIBE_CLASS_READ},
	{SYS_write, SCRIBE_CLASS_WRITE},
	{SYS_pread64, SCRIBE_CLASS_PREAD},
	{SYS_pwrite64, SCRIBE_CLASS_PWRITE},
	{SYS_readv, SCRIBE_CLASS_READV},
	{SYS_writev, SCRIBE_CLASS_WRITEV},
	{SYS_preadv, SCRIBE_CLASS_PREADV},
	{SYS_pwritev, SCRIBE_CLASS_PWRITEV},
	{SYS_preadv2, SCRIBE_CLASS_PREADV2},
	{SYS_pwritev2, SCRIBE_CLASS_PWRITEV2},
	{SYS_lseek, SCRIBE_CLASS_LSEEK},
	{SYS_fstat, SCRIBE_CLASS_FSTAT},
	{SYS_fsync, SCRIBE_CLASS_FSYNC},
	{SYS_fdatasync, SCRIBE_CLASS_FDATASYNC},
	{SYS_syncfs, SCRIBE_CLASS_FSYNC},
	{SYS_close, SCRIBE_CLASS_CLOSE},
	{SYS_dup, SCRIBE_CLASS_DUP},
	{SYS_dup3, SCRIBE_CLASS_DUP_TO},
	{SYS_fcntl, SCRIBE_CLASS_FCNTL},
	{SYS_ftruncate, SCRIBE_CLASS_FTRUNCATE},
	{SYS_fallocate, SCRIBE_CLASS_FALLOCATE},
	{SYS_fadvise64, SCRIBE_CLASS_FADVISE},
	{SYS_readahead, SCRIBE_CLASS_FADVISE},
	{SYS_getdents64, SCRIBE_CLASS_GETDENTS},
	{SYS_fstatfs, SCRIBE_CLASS_FSTATFS},
	{SYS_fgetxattr, SCRIBE_CLASS_FXATTR_READ},
	{SYS_flistxattr, SCRIBE_CLASS_FXATTR_READ},
	{SYS_fsetxattr, SCRIBE_CLASS_FXATTR_WRITE},
	{SYS_fremovexattr, SCRIBE_CLASS_FXATTR_WRITE},
	{SYS_sync_file_range, SCRIBE_CLASS_SYNC_RANGE},
	{SYS_mmap, SCRIBE_CLASS_MMAP},
	{SYS_sendfile, SCRIBE_CLASS_SENDFILE},
	{SYS_splice, SCRIBE_CLASS_SPLICE},
	{SYS_copy_file_range, SCRIBE_CLASS_COPY_RANGE},
	{SYS_ioctl, SCRIBE_CLASS_IOCTL},
	{SYS_openat, SCRIBE_CLASS_OPENAT},
	{SYS_openat2, SCRIBE_CLASS_OPENAT2},
	{SYS_open_by_handle_at, SCRIBE_CLASS_OPENAT}, /* (mount, handle, flags) */
	{SYS_newfstatat, SCRIBE_CLASS_FSTATAT},
	{SYS_statx, SCRIBE_CLASS_STATX},
	{SYS_faccessat, SCRIBE_CLASS_FACCESSAT},
	{SYS_faccessat2, SCRIBE_CLASS_FACCESSAT2},
	{SYS_readlinkat, SCRIBE_CLASS_READLINKAT},
	{SYS_unlinkat, SCRIBE_CLASS_UNLINKAT},
	{SYS_mknodat, SCRIBE_CLASS_MKNODAT},
	{SYS_mkdirat, SCRIBE_CLASS_MKDIRAT},
	{SYS_renameat2, SCRIBE_CLASS_RENAMEAT2},
	{SYS_linkat, SCRIBE_CLASS_LINKAT},
	{SYS_symlinkat, SCRIBE_CLASS_SYMLINKAT},
	{SYS_truncate, SCRIBE_CLASS_TRUNCATE},
	{SYS_statfs, SCRIBE_CLASS_STATFS},
	{SYS_getxattr, SCRIBE_CLASS_XATTR_READ},
	{SYS_listxattr, SCRIBE_CLASS_XATTR_READ},
	{SYS_lgetxattr, SCRIBE_CLASS_LXATTR_READ},
	{SYS_llistxattr, SCRIBE_CLASS_LXATTR_READ},
	{SYS_setxattr, SCRIBE_CLASS_XATTR_WRITE},
	{SYS_removexattr, SCRIBE_CLASS_XATTR_WRITE},
	{SYS_lsetxattr, SCRIBE_CLASS_LXATTR_WRITE},
	{SYS_lremovexattr, SCRIBE_CLASS_LXATTR_WRITE},
	/* Linux 6.13; the same number on every architecture */
	{463, SCRIBE_CLASS_XATTRAT_WRITE}, /* setxattrat */
	{464, SCRIBE_CLASS_XATTRAT_READ},  /* getxattrat */
	{465, SCRIBE_CLASS_XATTRAT_READ},  /* listxattrat */
	{466, SCRIBE_CLASS_XATTRAT_WRITE}, /* removexattrat */
	{SYS_close_range, SCRIBE_CLASS_CLOSE_RANGE},
	{SYS_msync, SCRIBE_CLASS_MSYNC},
	{SYS_io_submit, SCRIBE_CLASS_AIO_SUBMIT},
	{SYS_io_getevents, SCRIBE_CLASS_AIO_GETEVENTS},
	{SYS_io_setup, SCRIBE_CLASS_AIO_SETUP},
	{SYS_io_destroy, SCRIBE_CLASS_AIO_DESTROY},
	{SYS_exit_group, SCRIBE_CLASS_EXIT},
	{SYS_execve, SCRIBE_CLASS_EXEC},
	{SYS_execveat, SCRIBE_CLASS_EXEC},
#ifdef SYS_io_pgetevents
	{SYS_io_pgetevents, SCRIBE_CLASS_AIO_GETEVENTS},
#endif
#ifdef __x86_64__ /* not on newer architectures */
	{SYS_open, SCRIBE_CLASS_OPEN},
	{SYS_creat, SCRIBE_CLASS_CREAT},
	{SYS_dup2, SCRIBE_CLASS_DUP_TO},
	{SYS_stat, SCRIBE_CLASS_STAT},
	{SYS_lstat, SCRIBE_CLASS_LSTAT},
	{SYS_access, SCRIBE_CLASS_ACCESS},
	{SYS_readlink, SCRIBE_CLASS_READLINK},
	{SYS_unlink, SCRIBE_CLASS_UNLINK},
	{SYS_mknod, SCRIBE_CLASS_MKNOD},
	{SYS_mkdir, SCRIBE_CLASS_MKDIR},
	{SYS_rmdir, SCRIBE_CLASS_RMDIR},
	{SYS_rename, SCRIBE_CLASS_RENAME},
	{SYS_link, SCRIBE_CLASS_LINK},
	{SYS_symlink, SCRIBE_CLASS_SYMLINK},
#endif
#ifdef SYS_renameat
	{SYS_renameat, SCRIBE_CLASS_RENAMEAT},
#endif
	{-1, 0},
};

void scribe_syscalls_fill(unsigned char *classes, unsigned n)
{
	for (unsigned i = 0; scribe_syscalls[i].nr >= 0; i++) {
		if ((unsigned)scribe_syscalls[i].nr < n)
			classes[scribe_syscalls[i].nr] = scribe_syscalls[i].class;
	}
}
