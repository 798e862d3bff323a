// SPDX-License-Identifier: BSD-3-Clause
/* What is there, and ways to it. */
#include "tests/oracle/random/world.h"

#include <stdarg.h>

void say(const char *format, ...)
{
	va_list ap;

	if (!print)
		return;
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void must_be(long have, long want, const char *what)
{
	if (have == want)
		return;
	fprintf(stderr, "operation %u: %s gave %ld, the account has %ld\n", w->now, what, have, want);
	_exit(9);
}

/* splitmix64 */
uint64_t roll(void)
{
	uint64_t z = dice += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

unsigned below(unsigned n)
{
	return (unsigned)(roll() % n);
}

/* ---- ways to a file ---- */

bool any_folder(int *ret)
{
	*ret = (int)below(FOLDERS);
	return w->folder[*ret];
}

bool way_to(struct way *x, int folder, int file)
{
	unsigned kind = below(12);

	*x = (struct way){.folder = folder, .file = file, .name = file_name(folder, file), .dir = AT_FDCWD};
	for (int i = 0; (kind == 6 || kind == 7) && i < LINKS; i++)
		if (w->link[i] == folder) {
			snprintf(x->text, sizeof(x->text), "%s%sl%d/f%d", kind == 6 ? base : "", kind == 6 ? "/" : "",
				 i, file);
			return true;
		}
	switch (kind) {
	case 0:
		snprintf(x->text, sizeof(x->text), "%s/d%d/f%d", base, folder, file);
		break;
	case 1:
		snprintf(x->text, sizeof(x->text), "d%d/../d%d/./f%d", folder, folder, file);
		break;
	case 2:
		snprintf(x->text, sizeof(x->text), "%s/d%d/f%d", outside, folder, file);
		break;
	case 3:
		snprintf(x->text, sizeof(x->text), "f%d", file);
		x->in = true;
		break;
	case 4:
		snprintf(x->text, sizeof(x->text), "f%d", file);
		x->dir = 0;
		break;
	case 8:
		snprintf(x->text, sizeof(x->text), "/proc/%s/cwd/d%d/f%d", file % 2 ? "self" : "thread-self", folder,
			 file);
		break;
	case 9:
		snprintf(x->text, sizeof(x->text), "/proc/self/root%s/d%d/f%d", base, folder, file);
		break;
	case 10:
		x->dir = 0;
		x->by_link = true;
		break;
	default:
		snprintf(x->text, sizeof(x->text), "d%d/f%d", folder, file);
	}
	return true;
}

bool way_to_some(struct way *x, bool there)
{
	int folder, file = (int)below(FILES);

	if (!any_folder(&folder) || (w->file[folder][file] >= 0) != there)
		return false;
	return way_to(x, folder, file);
}

void set_out(struct way *x)
{
	char folder[8];

	snprintf(folder, sizeof(folder), "d%d", x->folder);
	if (x->in) {
		say("\tMUST(chdir(\"%s\"));", folder);
		MUST(chdir(folder));
	} else if (x->dir != AT_FDCWD) {
		say("\tdir = MUST(open(\"%s\", O_RDONLY | O_DIRECTORY));", folder);
		x->dir = (int)MUST(open(folder, O_RDONLY | O_DIRECTORY));
		if (x->by_link)
			snprintf(x->text, sizeof(x->text), "/proc/self/fd/%d/f%d", x->dir, x->file);
	}
}

void come_back(struct way *x)
{
	if (x->in) {
		say("\tMUST(chdir(base));");
		MUST(chdir(base));
	} else if (x->dir != AT_FDCWD) {
		say("\tMUST(close(dir));");
		MUST(close(x->dir));
	}
}

const char *dir_of(const struct way *x)
{
	return x->dir == AT_FDCWD ? "AT_FDCWD" : "dir";
}

const char *shown(const char *text)
{
	static char room[4][500];
	static unsigned at;
	char *to = room[at++ % 4];

	if (!strncmp(text, base, strlen(base)))
		snprintf(to, 500, "in(\"%s\")", text + strlen(base));
	else if (!strncmp(text, outside, strlen(outside)))
		snprintf(to, 500, "out(\"%s\")", text + strlen(outside));
	else
		snprintf(to, 500, "\"%s\"", text);
	return to;
}

/* ---- descriptors ---- */

void fd_is(int fd, int desc, bool cloexec)
{
	if (fd >= FDS)
		_exit(8);
	from_fd[fd] = desc;
	on_exec[fd] = cloexec;
}

/* The name that a descriptor's description has in this process. */
int name_of(int fd)
{
	int *name = &known[from_fd[fd]];

	if (*name < 0)
		*name = w->dentry[w->desc[from_fd[fd]].dentry].name;
	return *name;
}

int new_dentry(int name)
{
	if (w->ndentries == DENTRIES)
		_exit(8);
	w->dentry[w->ndentries].name = name;
	return (int)w->ndentries++;
}

int any_fd(struct desc **ret)
{
	int some[FDS], n = 0;

	for (int i = 0; i < FDS; i++)
		if (from_fd[i] >= 0)
			some[n++] = i;
	if (!n)
		return -1;
	n = some[below((unsigned)n)];
	*ret = &w->desc[from_fd[n]];
	return n;
}

int new_desc(int name, int dentry, int inode, int flags)
{
	struct desc *d = &w->desc[w->ndescs];

	if (w->ndescs == DESCS - 1)
		_exit(8);
	known[w->ndescs] = name;
	*d = (struct desc){.dentry = dentry,
			   .inode = inode,
			   .reads = (flags & O_ACCMODE) != O_WRONLY,
			   .writes = (flags & O_ACCMODE) != O_RDONLY,
			   .appends = flags & O_APPEND};
	return (int)w->ndescs++;
}

int free_inode(void)
{
	for (int i = 0; i < INODES; i++)
		if (!w->inode[i].names && !w->inode[i].descs)
			return i;
	return -1;
}

/* Descriptions are not counted down: an inode that was open is not used again. */
int opened(int name, int folder, int file, int flags)
{
	int inode = w->file[folder][file], fresh = inode < 0;

	if (fresh) {
		inode = free_inode();
		if (inode < 0)
			return -1;
		w->inode[inode] = (struct inode){.names = 1};
		w->file[folder][file] = inode;
		w->entry[folder][file] = new_dentry(name);
		add(name, POSIX_EXT_CREATES, 1);
	}
	if (flags & O_TRUNC)
		w->inode[inode].size = 0;
	w->inode[inode].descs = 1;
	return inode;
}
