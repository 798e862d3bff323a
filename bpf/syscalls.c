// SPDX-License-Identifier: BSD-3-Clause
/*
 * System call numbers of this architecture, what each is to the programs, and
 * which function of the kernel does it. Must not know maps.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "bpf/acts.h"
#include "bpf/syscalls.h"

#define CALL(name) SYS_##name, #name

static const struct {
	int nr;
	const char *name;
	unsigned char act;
} scribe_syscalls[] = {
	{CALL(read), SCRIBE_ACT_READ},
	{CALL(write), SCRIBE_ACT_WRITE},
	{CALL(pread64), SCRIBE_ACT_PREAD},
	{CALL(pwrite64), SCRIBE_ACT_PWRITE},
	{CALL(readv), SCRIBE_ACT_READV},
	{CALL(writev), SCRIBE_ACT_WRITEV},
	{CALL(preadv), SCRIBE_ACT_PREADV},
	{CALL(pwritev), SCRIBE_ACT_PWRITEV},
	{CALL(preadv2), SCRIBE_ACT_PREADV2},
	{CALL(pwritev2), SCRIBE_ACT_PWRITEV2},
	{CALL(lseek), SCRIBE_ACT_LSEEK},
	{CALL(fstat), SCRIBE_ACT_FSTAT},
	{CALL(fsync), SCRIBE_ACT_FSYNC},
	{CALL(fdatasync), SCRIBE_ACT_FDATASYNC},
	{CALL(close), SCRIBE_ACT_CLOSE},
	{CALL(dup), SCRIBE_ACT_DUP},
	{CALL(dup3), SCRIBE_ACT_DUP},
	{CALL(fcntl), SCRIBE_ACT_FCNTL},
	{CALL(ftruncate), SCRIBE_ACT_FTRUNCATE},
	{CALL(fallocate), SCRIBE_ACT_FALLOCATE},
	{CALL(fadvise64), SCRIBE_ACT_FADVISE},
	{CALL(getdents64), SCRIBE_ACT_GETDENTS},
	{CALL(fstatfs), SCRIBE_ACT_FSTATFS},
	{CALL(fgetxattr), SCRIBE_ACT_FXATTR_READ},
	{CALL(flistxattr), SCRIBE_ACT_FXATTR_READ},
	{CALL(fsetxattr), SCRIBE_ACT_FXATTR_WRITE},
	{CALL(fremovexattr), SCRIBE_ACT_FXATTR_WRITE},
	{CALL(sync_file_range), SCRIBE_ACT_SYNC_RANGE},
	{CALL(mmap), SCRIBE_ACT_MMAP},
	{CALL(sendfile), SCRIBE_ACT_SENDFILE},
	{CALL(splice), SCRIBE_ACT_SPLICE},
	{CALL(copy_file_range), SCRIBE_ACT_COPY_RANGE},
	{CALL(openat), SCRIBE_ACT_OPENAT},
	{CALL(openat2), SCRIBE_ACT_OPENAT2},
	{CALL(newfstatat), SCRIBE_ACT_FSTATAT},
	{CALL(statx), SCRIBE_ACT_STATX},
	{CALL(faccessat), SCRIBE_ACT_FACCESSAT},
	{CALL(faccessat2), SCRIBE_ACT_FACCESSAT},
	{CALL(readlinkat), SCRIBE_ACT_READLINKAT},
	{CALL(unlinkat), SCRIBE_ACT_UNLINKAT},
	{CALL(mkdirat), SCRIBE_ACT_MKDIRAT},
	{CALL(renameat2), SCRIBE_ACT_RENAMEAT},
	{CALL(linkat), SCRIBE_ACT_LINKAT},
	{CALL(symlinkat), SCRIBE_ACT_SYMLINKAT},
	{CALL(truncate), SCRIBE_ACT_TRUNCATE},
	{CALL(statfs), SCRIBE_ACT_STATFS},
	{CALL(getxattr), SCRIBE_ACT_XATTR_READ},
	{CALL(listxattr), SCRIBE_ACT_XATTR_READ},
	{CALL(lgetxattr), SCRIBE_ACT_LXATTR_READ},
	{CALL(llistxattr), SCRIBE_ACT_LXATTR_READ},
	{CALL(setxattr), SCRIBE_ACT_XATTR_WRITE},
	{CALL(removexattr), SCRIBE_ACT_XATTR_WRITE},
	{CALL(lsetxattr), SCRIBE_ACT_LXATTR_WRITE},
	{CALL(lremovexattr), SCRIBE_ACT_LXATTR_WRITE},
	{CALL(close_range), SCRIBE_ACT_CLOSE_RANGE},
	{CALL(msync), SCRIBE_ACT_MSYNC},
	{CALL(io_submit), SCRIBE_ACT_AIO_SUBMIT},
	{CALL(io_getevents), SCRIBE_ACT_AIO_GETEVENTS},
#ifdef SYS_io_pgetevents
	{CALL(io_pgetevents), SCRIBE_ACT_AIO_GETEVENTS},
#endif
#ifdef __x86_64__ /* calls that newer architectures never had */
	{CALL(open), SCRIBE_ACT_OPEN},
	{CALL(creat), SCRIBE_ACT_CREAT},
	{CALL(dup2), SCRIBE_ACT_DUP},
	{CALL(stat), SCRIBE_ACT_STAT},
	{CALL(lstat), SCRIBE_ACT_LSTAT},
	{CALL(access), SCRIBE_ACT_ACCESS},
	{CALL(readlink), SCRIBE_ACT_READLINK},
	{CALL(unlink), SCRIBE_ACT_UNLINK},
	{CALL(mkdir), SCRIBE_ACT_MKDIR},
	{CALL(rmdir), SCRIBE_ACT_RMDIR},
	{CALL(rename), SCRIBE_ACT_RENAME},
	{CALL(link), SCRIBE_ACT_LINK},
	{CALL(symlink), SCRIBE_ACT_SYMLINK},
#endif
#ifdef SYS_renameat
	{CALL(renameat), SCRIBE_ACT_RENAMEAT},
#endif
	{-1, NULL, 0},
};

void scribe_syscalls_fill(unsigned char *acts, unsigned n)
{
	for (unsigned i = 0; scribe_syscalls[i].nr >= 0; i++) {
		if ((unsigned)scribe_syscalls[i].nr < n)
			acts[scribe_syscalls[i].nr] = scribe_syscalls[i].act;
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
