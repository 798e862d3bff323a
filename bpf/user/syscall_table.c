// SPDX-License-Identifier: BSD-3-Clause
/*
 * System call numbers of this architecture, what each is to the programs, and
 * which function of the kernel does it. Must not know maps.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "bpf/kern/syscall_class.h"
#include "bpf/user/syscall_table.h"

#define CALL(name) SYS_##name, #name

static const struct {
	int nr;
	const char *name;
	unsigned char class;
} scribe_syscalls[] = {
	{CALL(read), SCRIBE_CLASS_READ},
	{CALL(write), SCRIBE_CLASS_WRITE},
	{CALL(pread64), SCRIBE_CLASS_PREAD},
	{CALL(pwrite64), SCRIBE_CLASS_PWRITE},
	{CALL(readv), SCRIBE_CLASS_READV},
	{CALL(writev), SCRIBE_CLASS_WRITEV},
	{CALL(preadv), SCRIBE_CLASS_PREADV},
	{CALL(pwritev), SCRIBE_CLASS_PWRITEV},
	{CALL(preadv2), SCRIBE_CLASS_PREADV2},
	{CALL(pwritev2), SCRIBE_CLASS_PWRITEV2},
	{CALL(lseek), SCRIBE_CLASS_LSEEK},
	{CALL(fstat), SCRIBE_CLASS_FSTAT},
	{CALL(fsync), SCRIBE_CLASS_FSYNC},
	{CALL(fdatasync), SCRIBE_CLASS_FDATASYNC},
	{CALL(syncfs), SCRIBE_CLASS_FSYNC},
	{CALL(close), SCRIBE_CLASS_CLOSE},
	{CALL(dup), SCRIBE_CLASS_DUP},
	{CALL(dup3), SCRIBE_CLASS_DUP_TO},
	{CALL(fcntl), SCRIBE_CLASS_FCNTL},
	{CALL(ftruncate), SCRIBE_CLASS_FTRUNCATE},
	{CALL(fallocate), SCRIBE_CLASS_FALLOCATE},
	{CALL(fadvise64), SCRIBE_CLASS_FADVISE},
	{CALL(readahead), SCRIBE_CLASS_FADVISE},
	{CALL(getdents64), SCRIBE_CLASS_GETDENTS},
	{CALL(fstatfs), SCRIBE_CLASS_FSTATFS},
	{CALL(fgetxattr), SCRIBE_CLASS_FXATTR_READ},
	{CALL(flistxattr), SCRIBE_CLASS_FXATTR_READ},
	{CALL(fsetxattr), SCRIBE_CLASS_FXATTR_WRITE},
	{CALL(fremovexattr), SCRIBE_CLASS_FXATTR_WRITE},
	{CALL(sync_file_range), SCRIBE_CLASS_SYNC_RANGE},
	{CALL(mmap), SCRIBE_CLASS_MMAP},
	{CALL(sendfile), SCRIBE_CLASS_SENDFILE},
	{CALL(splice), SCRIBE_CLASS_SPLICE},
	{CALL(copy_file_range), SCRIBE_CLASS_COPY_RANGE},
	{CALL(ioctl), SCRIBE_CLASS_IOCTL},
	{CALL(openat), SCRIBE_CLASS_OPENAT},
	{CALL(openat2), SCRIBE_CLASS_OPENAT2},
	{CALL(open_by_handle_at), SCRIBE_CLASS_OPENAT}, /* (mount, handle, flags) */
	{CALL(newfstatat), SCRIBE_CLASS_FSTATAT},
	{CALL(statx), SCRIBE_CLASS_STATX},
	{CALL(faccessat), SCRIBE_CLASS_FACCESSAT},
	{CALL(faccessat2), SCRIBE_CLASS_FACCESSAT2},
	{CALL(readlinkat), SCRIBE_CLASS_READLINKAT},
	{CALL(unlinkat), SCRIBE_CLASS_UNLINKAT},
	{CALL(mknodat), SCRIBE_CLASS_MKNODAT},
	{CALL(mkdirat), SCRIBE_CLASS_MKDIRAT},
	{CALL(renameat2), SCRIBE_CLASS_RENAMEAT2},
	{CALL(linkat), SCRIBE_CLASS_LINKAT},
	{CALL(symlinkat), SCRIBE_CLASS_SYMLINKAT},
	{CALL(truncate), SCRIBE_CLASS_TRUNCATE},
	{CALL(statfs), SCRIBE_CLASS_STATFS},
	{CALL(getxattr), SCRIBE_CLASS_XATTR_READ},
	{CALL(listxattr), SCRIBE_CLASS_XATTR_READ},
	{CALL(lgetxattr), SCRIBE_CLASS_LXATTR_READ},
	{CALL(llistxattr), SCRIBE_CLASS_LXATTR_READ},
	{CALL(setxattr), SCRIBE_CLASS_XATTR_WRITE},
	{CALL(removexattr), SCRIBE_CLASS_XATTR_WRITE},
	{CALL(lsetxattr), SCRIBE_CLASS_LXATTR_WRITE},
	{CALL(lremovexattr), SCRIBE_CLASS_LXATTR_WRITE},
	/* from Linux 6.13 on; numbers are the same on every architecture */
	{463, "setxattrat", SCRIBE_CLASS_XATTRAT_WRITE},
	{464, "getxattrat", SCRIBE_CLASS_XATTRAT_READ},
	{465, "listxattrat", SCRIBE_CLASS_XATTRAT_READ},
	{466, "removexattrat", SCRIBE_CLASS_XATTRAT_WRITE},
	{CALL(close_range), SCRIBE_CLASS_CLOSE_RANGE},
	{CALL(msync), SCRIBE_CLASS_MSYNC},
	{CALL(io_submit), SCRIBE_CLASS_AIO_SUBMIT},
	{CALL(io_getevents), SCRIBE_CLASS_AIO_GETEVENTS},
	{CALL(io_setup), SCRIBE_CLASS_AIO_SETUP},
	{CALL(io_destroy), SCRIBE_CLASS_AIO_DESTROY},
	{CALL(exit_group), SCRIBE_CLASS_EXIT},
	{CALL(execve), SCRIBE_CLASS_EXEC},
	{CALL(execveat), SCRIBE_CLASS_EXEC},
#ifdef SYS_io_pgetevents
	{CALL(io_pgetevents), SCRIBE_CLASS_AIO_GETEVENTS},
#endif
#ifdef __x86_64__ /* calls that newer architectures never had */
	{CALL(open), SCRIBE_CLASS_OPEN},
	{CALL(creat), SCRIBE_CLASS_CREAT},
	{CALL(dup2), SCRIBE_CLASS_DUP_TO},
	{CALL(stat), SCRIBE_CLASS_STAT},
	{CALL(lstat), SCRIBE_CLASS_LSTAT},
	{CALL(access), SCRIBE_CLASS_ACCESS},
	{CALL(readlink), SCRIBE_CLASS_READLINK},
	{CALL(unlink), SCRIBE_CLASS_UNLINK},
	{CALL(mknod), SCRIBE_CLASS_MKNOD},
	{CALL(mkdir), SCRIBE_CLASS_MKDIR},
	{CALL(rmdir), SCRIBE_CLASS_RMDIR},
	{CALL(rename), SCRIBE_CLASS_RENAME},
	{CALL(link), SCRIBE_CLASS_LINK},
	{CALL(symlink), SCRIBE_CLASS_SYMLINK},
#endif
#ifdef SYS_renameat
	{CALL(renameat), SCRIBE_CLASS_RENAMEAT},
#endif
	{-1, NULL, 0},
};

void scribe_syscalls_fill(unsigned char *classes, unsigned n)
{
	for (unsigned i = 0; scribe_syscalls[i].nr >= 0; i++) {
		if ((unsigned)scribe_syscalls[i].nr < n)
			classes[scribe_syscalls[i].nr] = scribe_syscalls[i].class;
	}
}

#ifdef __x86_64__
#define FUNCTION_PREFIX "__x64_sys_"
/* What a program of 32 bits cannot do without: its calls are counted as not recorded. */
static const char *const compat[] = {"__ia32_sys_read", "__ia32_sys_write", "__ia32_sys_close",
				     "__ia32_compat_sys_open", "__ia32_compat_sys_openat"};
/* Functions that are not called as the call is. */
static const char *const other[][2] = {
	{"fstat", "newfstat"}, {"stat", "newstat"}, {"lstat", "newlstat"}, {"sendfile", "sendfile64"}};

const char *scribe_syscalls_function(unsigned i, char *room, size_t cap, bool *ret_may_lack)
{
	const unsigned n = sizeof(scribe_syscalls) / sizeof(scribe_syscalls[0]) - 1;
	const char *name;

	*ret_may_lack = i >= n;
	if (i >= n)
		return i - n < sizeof(compat) / sizeof(compat[0]) ? compat[i - n] : NULL;
	name = scribe_syscalls[i].name;
	for (size_t at = 0; at < sizeof(other) / sizeof(other[0]); at++)
		if (!strcmp(name, other[at][0]))
			name = other[at][1];
	snprintf(room, cap, FUNCTION_PREFIX "%s", name);
	return room;
}
#else
const char *scribe_syscalls_function(unsigned i, char *room, size_t cap, bool *ret_may_lack)
{
	return NULL;
}
#endif
