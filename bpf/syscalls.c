// SPDX-License-Identifier: BSD-3-Clause
/*
 * System call numbers of this architecture and what each is to the programs.
 * Knows numbers only; must not know maps.
 */
#include <sys/syscall.h>

#include "bpf/acts.h"
#include "bpf/syscalls.h"

#define V2 SCRIBE_ACT_V2

static const struct {
	int nr;
	unsigned char act;
} scribe_syscalls[] = {
	{SYS_read, SCRIBE_ACT_READ},
	{SYS_write, SCRIBE_ACT_WRITE},
	{SYS_pread64, SCRIBE_ACT_PREAD},
	{SYS_pwrite64, SCRIBE_ACT_PWRITE},
	{SYS_readv, SCRIBE_ACT_READV},
	{SYS_writev, SCRIBE_ACT_WRITEV},
	{SYS_preadv, SCRIBE_ACT_PREADV},
	{SYS_pwritev, SCRIBE_ACT_PWRITEV},
	{SYS_preadv2, SCRIBE_ACT_PREADV | V2},
	{SYS_pwritev2, SCRIBE_ACT_PWRITEV | V2},
	{SYS_lseek, SCRIBE_ACT_LSEEK},
	{SYS_fstat, SCRIBE_ACT_FSTAT},
	{SYS_fsync, SCRIBE_ACT_FSYNC},
	{SYS_fdatasync, SCRIBE_ACT_FDATASYNC},
	{SYS_close, SCRIBE_ACT_CLOSE},
	{SYS_dup, SCRIBE_ACT_DUP},
	{SYS_dup3, SCRIBE_ACT_DUP},
	{SYS_fcntl, SCRIBE_ACT_FCNTL},
	{SYS_ftruncate, SCRIBE_ACT_FTRUNCATE},
	{SYS_fallocate, SCRIBE_ACT_FALLOCATE},
	{SYS_fadvise64, SCRIBE_ACT_FADVISE},
	{SYS_getdents64, SCRIBE_ACT_GETDENTS},
	{SYS_fstatfs, SCRIBE_ACT_FSTATFS},
	{SYS_fgetxattr, SCRIBE_ACT_FXATTR_READ},
	{SYS_flistxattr, SCRIBE_ACT_FXATTR_READ},
	{SYS_fsetxattr, SCRIBE_ACT_FXATTR_WRITE},
	{SYS_fremovexattr, SCRIBE_ACT_FXATTR_WRITE},
	{SYS_sync_file_range, SCRIBE_ACT_SYNC_RANGE},
	{SYS_mmap, SCRIBE_ACT_MMAP},
	{SYS_sendfile, SCRIBE_ACT_SENDFILE},
	{SYS_splice, SCRIBE_ACT_SPLICE},
	{SYS_copy_file_range, SCRIBE_ACT_COPY_RANGE},
	{SYS_openat, SCRIBE_ACT_OPENAT},
	{SYS_openat2, SCRIBE_ACT_OPENAT2},
	{SYS_newfstatat, SCRIBE_ACT_FSTATAT},
	{SYS_statx, SCRIBE_ACT_STATX},
	{SYS_faccessat, SCRIBE_ACT_FACCESSAT},
	{SYS_faccessat2, SCRIBE_ACT_FACCESSAT},
	{SYS_readlinkat, SCRIBE_ACT_READLINKAT},
	{SYS_unlinkat, SCRIBE_ACT_UNLINKAT},
	{SYS_mkdirat, SCRIBE_ACT_MKDIRAT},
	{SYS_renameat2, SCRIBE_ACT_RENAMEAT},
	{SYS_linkat, SCRIBE_ACT_LINKAT},
	{SYS_symlinkat, SCRIBE_ACT_SYMLINKAT},
	{SYS_truncate, SCRIBE_ACT_TRUNCATE},
	{SYS_statfs, SCRIBE_ACT_STATFS},
	{SYS_getxattr, SCRIBE_ACT_XATTR_READ},
	{SYS_listxattr, SCRIBE_ACT_XATTR_READ},
	{SYS_lgetxattr, SCRIBE_ACT_LXATTR_READ},
	{SYS_llistxattr, SCRIBE_ACT_LXATTR_READ},
	{SYS_setxattr, SCRIBE_ACT_XATTR_WRITE},
	{SYS_removexattr, SCRIBE_ACT_XATTR_WRITE},
	{SYS_lsetxattr, SCRIBE_ACT_LXATTR_WRITE},
	{SYS_lremovexattr, SCRIBE_ACT_LXATTR_WRITE},
	{SYS_close_range, SCRIBE_ACT_CLOSE_RANGE},
	{SYS_msync, SCRIBE_ACT_MSYNC},
	{SYS_io_submit, SCRIBE_ACT_AIO_SUBMIT},
	{SYS_io_getevents, SCRIBE_ACT_AIO_GETEVENTS},
#ifdef SYS_io_pgetevents
	{SYS_io_pgetevents, SCRIBE_ACT_AIO_GETEVENTS},
#endif
#ifdef __x86_64__ /* calls that newer architectures never had */
	{SYS_open, SCRIBE_ACT_OPEN},
	{SYS_creat, SCRIBE_ACT_CREAT},
	{SYS_dup2, SCRIBE_ACT_DUP},
	{SYS_stat, SCRIBE_ACT_STAT},
	{SYS_lstat, SCRIBE_ACT_LSTAT},
	{SYS_access, SCRIBE_ACT_ACCESS},
	{SYS_readlink, SCRIBE_ACT_READLINK},
	{SYS_unlink, SCRIBE_ACT_UNLINK},
	{SYS_mkdir, SCRIBE_ACT_MKDIR},
	{SYS_rmdir, SCRIBE_ACT_RMDIR},
	{SYS_rename, SCRIBE_ACT_RENAME},
	{SYS_link, SCRIBE_ACT_LINK},
	{SYS_symlink, SCRIBE_ACT_SYMLINK},
#endif
#ifdef SYS_renameat
	{SYS_renameat, SCRIBE_ACT_RENAMEAT},
#endif
	{-1, 0},
};

void scribe_syscalls_fill(unsigned char *acts, unsigned n)
{
	for (unsigned i = 0; scribe_syscalls[i].nr >= 0; i++) {
		if ((unsigned)scribe_syscalls[i].nr < n)
			acts[scribe_syscalls[i].nr] = scribe_syscalls[i].act;
	}
}
