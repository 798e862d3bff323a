// SPDX-License-Identifier: BSD-3-Clause
/* Descriptors come and go. */
#include "tests/oracle/random/world.h"

bool do_open(void)
{
	static const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR};
	int flags = modes[below(3)] | O_CREAT, fd, inode, open_now = 0;
	bool cloexec = below(4) == 0;
	struct way x;
	int folder;

	for (int i = 0; i < FDS; i++)
		open_now += from_fd[i] >= 0;
	if (!any_folder(&folder) || !way_to(&x, folder, (int)below(FILES)) || open_now > 40)
		return false;
	if (w->file[x.folder][x.file] < 0 && free_inode() < 0)
		return false;
	if ((flags & O_ACCMODE) != O_RDONLY)
		flags |= (below(4) == 0 ? O_APPEND : 0) | (below(4) == 0 ? O_TRUNC : 0);
	set_out(&x);
	say("\tfd = MUST(openat(%s, %s, 0%o, 0644));", dir_of(&x), shown(x.text), flags | (cloexec ? O_CLOEXEC : 0));
	fd = (int)MUST(openat(x.dir, x.text, flags | (cloexec ? O_CLOEXEC : 0), 0644));
	say("\tis(fd, %d);", fd);
	come_back(&x);
	inode = opened(x.name, x.folder, x.file, flags);
	add(x.name, POSIX_OPENS, 1);
	fd_is(fd, new_desc(x.name, w->entry[x.folder][x.file], inode, flags), cloexec);
	return true;
}

bool do_close(void)
{
	struct desc *d;
	int fd = any_fd(&d);

	if (fd < 0)
		return false;
	say("\tMUST(close(%d));", fd);
	MUST(close(fd));
	add(name_of(fd), POSIX_EXT_CLOSES, 1);
	from_fd[fd] = -1;
	return true;
}

bool do_dup(void)
{
	unsigned how = below(4);
	struct desc *d, *other;
	int fd = any_fd(&d), to, over;

	if (fd < 0)
		return false;
	if (how == 0) {
		to = (int)MUST(dup(fd));
		say("\tis(MUST(dup(%d)), %d);", fd, to);
	} else if (how == 1) {
		to = (int)MUST(fcntl(fd, F_DUPFD, 60));
		say("\tis(MUST(fcntl(%d, F_DUPFD, 60)), %d);", fd, to);
	} else {
		over = any_fd(&other);
		if (over == fd)
			return false;
		to = (int)MUST(how == 2 ? dup2(fd, over) : dup3(fd, over, 0));
		say("\tMUST(dup2(%d, %d));", fd, over);
	}
	fd_is(to, from_fd[fd], false);
	add(name_of(fd), POSIX_OPENS, 1);
	add(name_of(fd), POSIX_DUPS, 1);
	return true;
}

bool do_pass(void)
{
	bool first = below(2);
	struct desc *d;
	int fd = any_fd(&d), got, desc;

	if (fd < 0)
		return false;
	say("\tfd = passed(%d, %d);", fd, first);
	got = passed(fd, first);
	say("\tis(fd, %d);", got);
	desc = from_fd[fd];
	if (first) {
		add(name_of(fd), POSIX_EXT_CLOSES, 1);
		from_fd[fd] = -1;
	}
	fd_is(got, desc, false);
	return true;
}

/* Opened by a child that ends, and come here without an open. */
bool do_take(void)
{
	struct way x;
	int got, inode;

	if (!way_to_some(&x, true) || x.in || x.dir != AT_FDCWD)
		return false;
	got = taken(x.text);
	say("\tfd = taken(%s);\n\tis(fd, %d);", shown(x.text), got);
	inode = opened(x.name, x.folder, x.file, O_RDWR);
	add(x.name, POSIX_OPENS, 1);
	fd_is(got, new_desc(-1, w->entry[x.folder][x.file], inode, O_RDWR), true);
	return true;
}

bool do_close_range(void)
{
	int first = (int)below(70), last = first + (int)below(30);

	say("\tMUST(syscall(SYS_close_range, %d, %d, 0));", first < 10 ? 10 : first, last < 10 ? 10 : last);
	if (first < 10)
		first = 10;
	if (last < 10)
		last = 10;
	MUST(syscall(SYS_close_range, first, last, 0));
	for (int i = first; i <= last; i++)
		if (from_fd[i] >= 0) {
			add(name_of(i), POSIX_EXT_CLOSES, 1);
			from_fd[i] = -1;
		}
	return true;
}
