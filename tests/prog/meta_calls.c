// SPDX-License-Identifier: BSD-3-Clause
// The calls that only look at files or change their names and attributes.
#include "prog.h"

#include <dirent.h>
#include <linux/openat2.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

static void stats(int dir, int fd)
{
	struct stat st;
	struct statx sx;
	struct statfs fs;
	char buf[64];

	MUST(stat("f", &st));
	MUST(lstat("f", &st));
	MUST(lstat("soft", &st));
	MUST(stat("soft", &st));
	MUST(fstat(fd, &st));
	MUST(stat(".", &st));
	MUST(fstatat(dir, "f", &st, 0));
	MUST(fstatat(dir, "soft", &st, AT_SYMLINK_NOFOLLOW));
	MUST(fstatat(fd, "", &st, AT_EMPTY_PATH));
	MUST(statx(dir, "f", 0, STATX_ALL, &sx));
	MUST(statx(fd, "", AT_EMPTY_PATH, STATX_ALL, &sx));
#ifdef SYS_stat
	MUST(syscall(SYS_stat, "f", &st));
	MUST(syscall(SYS_lstat, "f", &st));
#else /* arm64 never had these */
	MUST(syscall(SYS_newfstatat, AT_FDCWD, "f", &st, 0));
	MUST(syscall(SYS_newfstatat, AT_FDCWD, "f", &st, AT_SYMLINK_NOFOLLOW));
#endif
	if (stat("nothing", &st) >= 0 || statx(dir, "no/thing", 0, STATX_ALL, &sx) >= 0)
		exit(4);
	MUST(access("f", R_OK));
	MUST(faccessat(dir, "f", W_OK, AT_EACCESS));
	if (access("nothing", R_OK) >= 0)
		exit(4);
	MUST(statfs(".", &fs));
	MUST(statfs("f", &fs));
	MUST(fstatfs(fd, &fs));
	MUST(readlink("soft", buf, sizeof(buf)));
	MUST(readlinkat(dir, "soft", buf, sizeof(buf)));
	if (readlink("f", buf, sizeof(buf)) >= 0)
		exit(4);
}

static void attributes(int fd)
{
	char buf[64];

	if (setxattr("f", "user.a", "1", 1, 0) < 0)
		return; /* the file system has none */
	MUST(lsetxattr("f", "user.b", "22", 2, 0));
	MUST(fsetxattr(fd, "user.c", "333", 3, 0));
	MUST(getxattr("soft", "user.a", buf, sizeof(buf)));
	MUST(lgetxattr("f", "user.a", buf, sizeof(buf)));
	MUST(fgetxattr(fd, "user.a", buf, sizeof(buf)));
	MUST(listxattr("f", buf, sizeof(buf)));
	MUST(llistxattr("f", buf, sizeof(buf)));
	MUST(flistxattr(fd, buf, sizeof(buf)));
	MUST(removexattr("f", "user.a"));
	MUST(lremovexattr("f", "user.b"));
	MUST(fremovexattr(fd, "user.c"));
	if (getxattr("f", "user.none", buf, sizeof(buf)) >= 0 || fgetxattr(fd, "user.none", buf, 1) >= 0)
		exit(4);
}

static void changes(int dir, int fd)
{
	struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 0600, .resolve = RESOLVE_NO_SYMLINKS};
	int other = (int)MUST(syscall(SYS_openat2, dir, "by2", &how, sizeof(how)));

	EXACT(write(other, "two", 3), 3);
	how.resolve = RESOLVE_BENEATH;
	if (syscall(SYS_openat2, dir, "../up", &how, sizeof(how)) >= 0)
		exit(4);
	MUST(ftruncate(fd, 5000));
	MUST(truncate("f", 4000));
	MUST(fallocate(other, 0, 0, 100000));
	MUST(fallocate(other, FALLOC_FL_KEEP_SIZE, 0, 200000));
	MUST(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
	MUST(sync_file_range(fd, 0, 4000, SYNC_FILE_RANGE_WRITE));
	MUST(link("f", "hard"));
	MUST(linkat(dir, "f", dir, "d/hard2", 0));
	MUST(symlinkat("../f", dir, "d/soft2"));
	MUST(mkdirat(dir, "d/e", 0755));
	MUST(rename("hard", "hard3"));
	MUST(unlink("hard3"));
	MUST(unlinkat(dir, "d/hard2", 0));
	MUST(unlinkat(dir, "d/soft2", 0));
	MUST(unlinkat(dir, "d/e", AT_REMOVEDIR));
	if (mkdir("d", 0755) >= 0 || rmdir("nothing") >= 0 || unlink("nothing") >= 0 || rename("no", "thing") >= 0)
		exit(4);
	MUST(rmdir("d"));
	MUST(close(other));
}

int main(void)
{
	int dir = prog_open(".", O_RDONLY | O_DIRECTORY);
	int fd = prog_open("f", O_RDWR | O_CREAT);
	DIR *d;

	EXACT(write(fd, "hello", 5), 5);
	MUST(symlink("f", "soft"));
	MUST(mkdir("d", 0755));
	stats(dir, fd);
	attributes(fd);
	changes(dir, fd);
	d = opendir(".");
	if (!d)
		return 4;
	while (readdir(d))
		;
	closedir(d);
	MUST(chdir(".."));
	MUST(access("w/f", R_OK));
	MUST(fchdir(dir));
	MUST(access("f", R_OK));
	return 0;
}
