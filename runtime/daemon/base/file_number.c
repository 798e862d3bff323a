// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/daemon/base/file_number.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct scribe_file_number scribe_file_number(const char *path)
{
	struct scribe_file_number n = {0};
	struct statx x;

	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &x) == 0)
		n = (struct scribe_file_number){makedev(x.stx_dev_major, x.stx_dev_minor), x.stx_ino};
	return n;
}

bool scribe_is_same_file(struct scribe_file_number a, struct scribe_file_number b)
{
	return a.inode && a.device == b.device && a.inode == b.inode;
}
