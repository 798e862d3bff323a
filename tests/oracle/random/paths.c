// SPDX-License-Identifier: BSD-3-Clause
/* Operations on paths, and streams. */
#include "tests/oracle/random/world.h"

bool do_on_path(void)
{
	unsigned how = below(8);
	int64_t size = below(20000);
	struct statx sx;
	struct stat st;
	struct way x;

	if (!way_to_some(&x, true))
		return false;
	set_out(&x);
	switch (how) {
	case 0:
	case 1:
	case 2:
		say("\tMUST(fstatat(%s, %s, &st, %s));", dir_of(&x), shown(x.text),
		    how == 2 ? "AT_SYMLINK_NOFOLLOW" : "0");
		MUST(fstatat(x.dir, x.text, &st, how == 2 ? AT_SYMLINK_NOFOLLOW : 0));
		must_be(st.st_size, w->inode[w->file[x.folder][x.file]].size, "stat");
		add(x.name, POSIX_STATS, 1);
		break;
	case 3:
		say("\tMUST(statx(%s, %s, 0, STATX_SIZE, &sx));", dir_of(&x), shown(x.text));
		MUST(statx(x.dir, x.text, 0, STATX_SIZE, &sx));
		add(x.name, POSIX_STATS, 1);
		break;
	case 4:
		say("\tMUST(faccessat(%s, %s, R_OK, 0));", dir_of(&x), shown(x.text));
		MUST(faccessat(x.dir, x.text, R_OK, 0));
		add(x.name, POSIX_EXT_ACCESSES, 1);
		break;
	case 5:
		if (x.dir != AT_FDCWD) {
			come_back(&x);
			return true;
		}
		say("\tMUST(truncate(%s, %ld));", shown(x.text), (long)size);
		MUST(truncate(x.text, size));
		w->inode[w->file[x.folder][x.file]].size = size;
		add(x.name, POSIX_EXT_TRUNCATES, 1);
		break;
	default:
		say("\tMUST(unlinkat(%s, %s, 0));", dir_of(&x), shown(x.text));
		MUST(unlinkat(x.dir, x.text, 0));
		w->inode[w->file[x.folder][x.file]].names--;
		w->file[x.folder][x.file] = -1;
		add(x.name, POSIX_EXT_UNLINKS, 1);
	}
	come_back(&x);
	return true;
}

/* Calls on a path that is a descriptor's link in procfs: of the name that its file has now. */
bool do_on_link(void)
{
	static const char *const forms[] = {"/proc/self/fd/%d", "/dev/fd/%d", "/proc/thread-self/fd/%d"};
	unsigned how = below(4);
	int64_t size = below(20000);
	struct desc *d;
	int fd = any_fd(&d), name;
	char text[64];
	struct stat st;

	if (fd < 0)
		return false;
	snprintf(text, sizeof(text), forms[below(3)], fd);
	name = w->dentry[d->dentry].name;
	switch (how) {
	case 0:
		say("\tMUST(access(\"%s\", R_OK));", text);
		MUST(access(text, R_OK));
		add(name, POSIX_EXT_ACCESSES, 1);
		return true;
	case 1:
		say("\tMUST(truncate(\"%s\", %ld));", text, (long)size);
		MUST(truncate(text, size));
		w->inode[d->inode].size = size;
		add(name, POSIX_EXT_TRUNCATES, 1);
		return true;
	default:
		say("\tMUST(stat(\"%s\", &st));", text);
		MUST(stat(text, &st));
		must_be(st.st_size, w->inode[d->inode].size, "stat through a link of procfs");
		add(name, POSIX_STATS, 1);
		return true;
	}
}

/* rename and link of a file, by paths that start at the working directory. */
bool do_two_names(void)
{
	bool link_it = below(2);
	struct way from, to;
	int folder, file = (int)below(FILES), *old, *new;

	if (!way_to_some(&from, true) || !any_folder(&folder) || !way_to(&to, folder, file))
		return false;
	old = &w->file[from.folder][from.file];
	new = &w->file[to.folder][to.file];
	/* two names of one inode stay both */
	if (from.in || from.dir != AT_FDCWD || to.in || to.dir != AT_FDCWD || *old == *new || (link_it && *new >= 0))
		return false;
	say(link_it ? "\tMUST(link(%s, %s));" : "\tMUST(rename(%s, %s));", shown(from.text), shown(to.text));
	if (link_it) {
		MUST(link(from.text, to.text));
		w->inode[*old].names++;
		add(to.name, POSIX_EXT_LINKS, 1);
		*new = *old;
		w->entry[to.folder][to.file] = new_dentry(to.name);
		return true;
	}
	MUST(rename(from.text, to.text));
	if (*new >= 0)
		w->inode[*new].names--;
	*new = *old;
	*old = -1;
	w->entry[to.folder][to.file] = w->entry[from.folder][from.file];
	w->dentry[w->entry[to.folder][to.file]].name = to.name;
	add(from.name, POSIX_RENAME_SOURCES, 1);
	add(to.name, POSIX_RENAME_TARGETS, 1);
	return true;
}

/* A folder that is there is emptied and removed, one that is not is made. */
bool do_folder(void)
{
	int folder;
	char text[32];

	if (!any_folder(&folder)) {
		snprintf(text, sizeof(text), "d%d", folder);
		say("\tMUST(mkdir(\"%s\", 0755));", text);
		MUST(mkdir(text, 0755));
		w->folder[folder] = true;
		add(folder_name(folder), POSIX_EXT_MKDIRS, 1);
		return true;
	}
	for (int i = 0; i < FILES; i++) {
		if (w->file[folder][i] < 0)
			continue;
		snprintf(text, sizeof(text), "d%d/f%d", folder, i);
		say("\tMUST(unlink(\"%s\"));", text);
		MUST(unlink(text));
		w->inode[w->file[folder][i]].names--;
		w->file[folder][i] = -1;
		add(file_name(folder, i), POSIX_EXT_UNLINKS, 1);
	}
	snprintf(text, sizeof(text), "d%d", folder);
	say("\tMUST(rmdir(\"%s\"));", text);
	MUST(rmdir(text));
	w->folder[folder] = false;
	add(folder_name(folder), POSIX_EXT_RMDIRS, 1);
	return true;
}

bool do_link(void)
{
	int link = (int)below(LINKS), folder = (int)below(FOLDERS);
	char name[8], new[8], target[8];

	snprintf(name, sizeof(name), "l%d", link);
	snprintf(new, sizeof(new), "n%d", link);
	snprintf(target, sizeof(target), "d%d", folder);
	if (w->link[link] < 0) {
		say("\tMUST(symlink(\"%s\", \"%s\"));", target, name);
		MUST(symlink(target, name));
		add(link_name(link, false), POSIX_EXT_SYMLINKS, 1);
		w->link[link] = folder;
		return true;
	}
	switch (below(4)) {
	case 3:
		if (w->link[!link] < 0)
			return false;
		snprintf(new, sizeof(new), "l%d", !link);
		say("\tMUST(syscall(SYS_renameat2, AT_FDCWD, \"%s\", AT_FDCWD, \"%s\", 2));", name, new);
		MUST(syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, new, 2 /* RENAME_EXCHANGE */));
		add(link_name(link, false), POSIX_RENAME_SOURCES, 1);
		add(link_name(!link, false), POSIX_RENAME_TARGETS, 1);
		folder = w->link[link];
		w->link[link] = w->link[!link];
		w->link[!link] = folder;
		return true;
	case 0:
		say("\tMUST(readlink(\"%s\", buffer, 100));", name);
		MUST(readlink(name, buffer, 100));
		add(link_name(link, false), POSIX_EXT_READLINKS, 1);
		return true;
	case 1:
		say("\tMUST(unlink(\"%s\"));", name);
		MUST(unlink(name));
		add(link_name(link, false), POSIX_EXT_UNLINKS, 1);
		w->link[link] = -1;
		return true;
	default:
		say("\tMUST(symlink(\"%s\", \"%s\"));\n\tMUST(rename(\"%s\", \"%s\"));", target, new, new, name);
		MUST(symlink(target, new));
		MUST(rename(new, name));
		add(link_name(link, true), POSIX_EXT_SYMLINKS, 1);
		add(link_name(link, true), POSIX_RENAME_SOURCES, 1);
		add(link_name(link, false), POSIX_RENAME_TARGETS, 1);
		w->link[link] = folder;
		return true;
	}
}

/* A folder with a link in it has another name for a while; a file is named through the link. */
bool do_carry(void)
{
	int folder, to, file = (int)below(FILES);
	char home[8], away[8], target[16], link[2][16], through[2][32];
	struct stat st;

	if (!any_folder(&folder) || !any_folder(&to) || to == folder || w->file[to][file] < 0)
		return false;
	snprintf(home, sizeof(home), "d%d", folder);
	snprintf(away, sizeof(away), "e%d", folder);
	snprintf(target, sizeof(target), "../d%d", to);
	for (int i = 0; i < 2; i++) {
		snprintf(link[i], sizeof(link[i]), "%s/s", i ? away : home);
		snprintf(through[i], sizeof(through[i]), "%s/f%d", link[i], file);
	}
	say("\tMUST(symlink(\"%s\", \"%s\"));\n\tMUST(access(\"%s\", R_OK));\n\tMUST(rename(\"%s\", "
	    "\"%s\"));",
	    target, link[0], through[0], home, away);
	MUST(symlink(target, link[0]));
	MUST(access(through[0], R_OK));
	MUST(rename(home, away));
	say("\tMUST(stat(\"%s\", &st));\n\tMUST(rename(\"%s\", \"%s\"));\n\tMUST(stat(\"%s\", "
	    "&st));\n\tMUST(unlink(\"%s\"));",
	    through[1], away, home, through[0], link[0]);
	MUST(stat(through[1], &st));
	MUST(rename(away, home));
	MUST(stat(through[0], &st));
	MUST(unlink(link[0]));
	add(carried_name(LINK_AT_HOME, folder), POSIX_EXT_SYMLINKS, 1);
	add(carried_name(LINK_AT_HOME, folder), POSIX_EXT_UNLINKS, 1);
	add(file_name(to, file), POSIX_EXT_ACCESSES, 1);
	add(file_name(to, file), POSIX_STATS, 2);
	add(folder_name(folder), POSIX_RENAME_SOURCES, 1);
	add(folder_name(folder), POSIX_RENAME_TARGETS, 1);
	add(carried_name(CARRIED, folder), POSIX_RENAME_SOURCES, 1);
	add(carried_name(CARRIED, folder), POSIX_RENAME_TARGETS, 1);
	return true;
}

/* ---- streams ---- */

bool do_stream(void)
{
	unsigned n = 1 + below(20), bytes = 1 + below(300);
	int folder, inode;
	bool fresh;
	struct way x;
	FILE *f;

	if (!any_folder(&folder) || !way_to(&x, folder, (int)below(FILES)) || x.dir != AT_FDCWD)
		return false;
	fresh = w->file[x.folder][x.file] < 0;
	if (fresh && free_inode() < 0)
		return false;
	set_out(&x);
	say("\tstream(%s, %u, %u);", shown(x.text), n, bytes);
	f = fopen(x.text, "w");
	if (!f)
		_exit(3);
	come_back(&x);
	inode = opened(x.name, x.folder, x.file, O_WRONLY | O_TRUNC);
	for (unsigned i = 0; i < n; i++)
		if (fwrite(buffer, bytes, 1, f) != 1)
			_exit(3);
	if (fclose(f))
		_exit(3);
	w->inode[inode].size = (int64_t)n * bytes;
	add(x.name, STDIO_OPENS, 1);
	add(x.name, STDIO_WRITES, n);
	add(x.name, STDIO_BYTES_WRITTEN, (uint64_t)n * bytes);
	add(x.name, POSIX_EXT_CLOSES, 1);
	return true;
}
