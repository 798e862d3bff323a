/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links and dots of a path; see path_resolve.h. Paths are opened with O_PATH below the process's
 * root by openat2(). RESOLVE_CACHED answers from the kernel's dentry cache alone and never waits;
 * where that is not enough the caller's function decides. In the daemon it refuses or delegates to
 * a helper; in a helper it opens the path and may wait for a file server. The second half walks a
 * path component by component, with the job's own changes of links (link_table.c) before what the
 * file system shows now. Nothing is owned; descriptors are closed in the same call.
 */
#include "runtime/daemon/model/path_resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/path.h"

/*
 * Does the path need the file system at all? Chains from the kernel do not. Also true for empty
 * components: "//" and a slash at the end.
 */
static bool has_dots(const char *path)
{
	for (const char *p = path; *p; p++)
		if (p[0] == '/' && (p[1] == '/' || p[1] == 0 ||
				    (p[1] == '.' && (p[2] == '/' || p[2] == 0 ||
						     (p[2] == '.' && (p[3] == '/' || p[3] == 0))))))
			return true;
	return false;
}

/* The root below which a path is looked up, and who opens what the kernel's cache does not hold. */
struct root {
	int root_fd;
	scribe_path_open_fn fn;
	void *ctx;
};

/* RESOLVE_NO_MAGICLINKS: a path through /proc/PID/fd would be resolved with the daemon's rights. */
static int open_at(int root_fd, const char *path, unsigned flags, uint64_t resolve)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | (flags & SCRIBE_PATH_NOFOLLOW ? O_NOFOLLOW : 0),
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve |
					  (flags & SCRIBE_PATH_NO_LINKS ? RESOLVE_NO_SYMLINKS : 0)};
	int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int scribe_path_open(void *ctx, int root_fd, const char *path, unsigned flags)
{
	return open_at(root_fd, path, flags, 0);
}

/* -EAGAIN: not in the cache. -EINVAL: a kernel before 5.12, which has no RESOLVE_CACHED. */
static int open_below(const struct root *at, const char *path, unsigned flags)
{
	int fd = open_at(at->root_fd, path, flags, RESOLVE_CACHED);

	return fd == -EAGAIN || fd == -EINVAL ? at->fn(at->ctx, at->root_fd, path, flags) : fd;
}

/*
 * Did the kernel mark the path of a removed file? A file may be called so, too. The mark is
 * believed only if no file of that name exists.
 */
static bool is_gone(const struct root *at, const char *path, size_t n)
{
	static const char mark[] = " (deleted)";
	int fd;

	if (n < sizeof(mark) - 1 || strcmp(path + n - (sizeof(mark) - 1), mark))
		return false;
	fd = open_below(at, path, SCRIBE_PATH_NOFOLLOW);
	if (fd >= 0)
		close(fd);
	return fd < 0;
}

/*
 * Where an O_PATH descriptor stands, relative to the root. The kernel's text is relative to this
 * process's root, so the text of the root's own path is cut off in front.
 */
static ssize_t path_of(const struct root *at, int fd, char *ret, size_t cap)
{
	char link[64], root[PATH_MAX];
	ssize_t n, r;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret, cap - 1);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", at->root_fd);
	r = readlink(link, root, sizeof(root));
	if (n <= 0 || n >= (ssize_t)cap - 1 || ret[0] != '/' || r <= 0 || r >= (ssize_t)sizeof(root))
		return -1;
	ret[n] = 0;
	if (r > 1 && n >= r && !memcmp(ret, root, (size_t)r) && (ret[r] == '/' || ret[r] == 0)) {
		memmove(ret, ret + r, (size_t)(n - r) + 1);
		n -= r;
	}
	if (n == 0) {
		strcpy(ret, "/");
		n = 1;
	}
	return is_gone(at, ret, (size_t)n) ? -1 : n; /* removed between open and now */
}

static bool is_same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * A path with links followed. The kernel says where a descriptor stands *now*: when a directory was
 * renamed since it was opened that is no name that the process has used, and the path leads
 * elsewhere. Therefore it is opened a second time, and both must be the same file.
 */
static ssize_t follow_links(const struct root *root, const char *path, char *ret, size_t cap)
{
	int fd = open_below(root, path, 0), again;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = path_of(root, fd, ret, cap);
	again = open_below(root, path, 0);
	if (again < 0 || !is_same_file(fd, again))
		n = -1;
	if (again >= 0)
		close(again);
	close(fd);
	return n;
}

/* What is there: without links on its way it is called as it was given. Its bytes, or what an open of it says. */
static ssize_t real_path(const struct root *root, const char *path, char *ret, size_t cap)
{
	int fd = open_below(root, path, SCRIBE_PATH_NO_LINKS);

	if (fd == -ELOOP)
		return follow_links(root, path, ret, cap);
	if (fd < 0)
		return fd;
	close(fd);
	if (strlen(path) >= cap)
		return -1;
	strcpy(ret, path);
	return (ssize_t)scribe_path_clean(ret);
}

/* `text` of `bytes` behind the path in `ret`, cleaned. Bytes; -1: there is no room. */
static ssize_t append(char *ret, size_t cap, const char *text, size_t bytes)
{
	size_t at = strlen(ret);

	if (at + 2 + bytes > cap)
		return -1;
	ret[at] = '/';
	memcpy(ret + at + 1, text, bytes);
	ret[at + 1 + bytes] = 0;
	return (ssize_t)scribe_path_clean(ret);
}

#define LINKS_MOST      40 /* as the kernel follows */
/* Bounds the number of opens for one path: each is as long as the path in front of it. */
#define COMPONENTS_MOST 128

/*
 * `path` is a link whose target is gone: the path that it stood for into `ret`. False: it is none. What a link
 * says may have to be read from a disk: that is who opens what the cache does not hold.
 */
static bool read_dangling(const struct root *root, const char *path, char *ret, size_t cap)
{
	int fd = open_below(root, path, SCRIBE_PATH_NOFOLLOW);
	size_t parent;
	ssize_t n;

	if (fd < 0)
		return false;
	close(fd);
	fd = root->fn(root->ctx, root->root_fd, path, SCRIBE_PATH_NOFOLLOW);
	if (fd < 0)
		return false;
	parent = (size_t)((const char *)memrchr(path, '/', strlen(path)) - path) + 1;
	memcpy(ret, path, parent);
	n = parent < cap ? readlinkat(fd, "", ret + parent, cap - parent) : -1;
	close(fd);
	if (n <= 0 || parent + (size_t)n >= cap)
		return false;
	ret[parent + (size_t)n] = 0;
	if (ret[parent] == '/')
		memmove(ret, ret + parent, (size_t)n + 1);
	return true;
}

/*
 * The longest beginning of `path` that is there, resolved, and the rest as it stands; `end`: of the
 * beginning. From the full length, `end` goes back one component whenever the beginning does not
 * exist. A dangling link is replaced by its target, and the search begins again with the new text.
 * -1: no beginning exists, or a limit was hit.
 */
static ssize_t resolve_from(const struct root *root, const char *path, size_t end, char *ret, size_t cap)
{
	char whole[SCRIBE_NAME_ROOM], begin[SCRIBE_NAME_ROOM];
	unsigned links = 0;
	ssize_t n;

	if (strlen(path) >= sizeof(whole))
		return -1;
	strcpy(whole, path);
	for (unsigned i = 0; i < COMPONENTS_MOST; i++) {
		memcpy(begin, whole, end);
		begin[end] = 0;
		n = real_path(root, end ? begin : "/", ret, cap);
		if (n >= 0)
			return whole[end] ? append(ret, cap, whole + end, strlen(whole + end)) : n;
		if (!end)
			return -1;
		if (n == -ENOENT && links < LINKS_MOST && read_dangling(root, begin, ret, cap)) {
			links++;
			if (append(ret, cap, whole + end, strlen(whole + end)) < 0 || strlen(ret) >= sizeof(whole))
				return -1;
			strcpy(whole, ret);
			end = strlen(whole);
			continue;
		}
		while (end > 0 && whole[end - 1] != '/')
			end--;
		while (end > 0 && whole[end - 1] == '/')
			end--;
	}
	return -1;
}

/* Where the last component begins, without the slashes before it. */
static size_t parent_end(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 0 && path[n - 1] == '/')
		n--;
	return n;
}

/*
 * With nofollow the last component stays as text, because the call has worked on the link itself.
 * If nothing can be opened the path is cleaned as text only.
 */
size_t scribe_path_resolve(char *path, size_t cap, int root_fd, bool nofollow, scribe_path_open_fn fn,
			   void *ctx)
{
	const struct root root = {root_fd, fn, ctx};
	char real[SCRIBE_NAME_ROOM];
	ssize_t n = -1;

	if (root_fd >= 0 && path[0] == '/')
		n = resolve_from(&root, path, nofollow ? parent_end(path) : strlen(path), real, sizeof(real));
	if (n < 0 || (size_t)n >= cap)
		return has_dots(path) ? scribe_path_clean(path) : strlen(path);
	memcpy(path, real, (size_t)n + 1);
	return (size_t)n;
}

/*
 * Others may write into an ancestor where each may only remove what is his own (the sticky bit).
 * AT_STATX_DONT_SYNC: attributes from the cache, no request to a file server.
 */
static bool is_fixed(int root_fd, const char *folder, bool ancestor)
{
	int fd = open_at(root_fd, folder, SCRIBE_PATH_NO_LINKS, RESOLVE_CACHED);
	struct statx s = {0};
	bool fixed = fd >= 0 && statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MODE | STATX_UID, &s) == 0 &&
		     (s.stx_mask & (STATX_MODE | STATX_UID)) == (STATX_MODE | STATX_UID) && s.stx_uid == 0 &&
		     (!(s.stx_mode & 022) || (ancestor && s.stx_mode & 01000));

	if (fd >= 0)
		close(fd);
	return fixed;
}

bool scribe_path_folder_is_fixed(int root_fd, const char *path)
{
	char folder[SCRIBE_NAME_ROOM];
	size_t n = strlen(path);
	bool ancestor = false;

	if (root_fd < 0 || n >= sizeof(folder) || path[0] != '/')
		return false;
	memcpy(folder, path, n + 1);
	while ((n = parent_end(folder)) > 0) {
		folder[n] = 0;
		if (!is_fixed(root_fd, folder, ancestor))
			return false;
		ancestor = true;
	}
	return is_fixed(root_fd, "/", ancestor);
}

/* ---- a walk that knows what the job has done to links ---- */

static unsigned components(const char *path)
{
	unsigned n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

/*
 * The common case, cheap: one cached open without links proves the name. False does not mean that
 * there is a link, only that the walk is needed.
 */
bool scribe_path_is_plain(const char *path, int root_fd, bool nofollow, const struct scribe_link_table *links,
			  uint64_t root)
{
	char begin[SCRIBE_NAME_ROOM];
	size_t n = nofollow ? parent_end(path) : strlen(path);
	int fd;

	if (root_fd < 0 || path[0] != '/' || n >= sizeof(begin) || has_dots(path) ||
	    components(path) > COMPONENTS_MOST || scribe_links_cross(links, root, path))
		return false;
	memcpy(begin, path, n);
	begin[n] = 0;
	fd = open_at(root_fd, n ? begin : "/", SCRIBE_PATH_NO_LINKS, RESOLVE_CACHED);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void scribe_path_walk_begin(struct scribe_path_walk *k, const char *path, bool nofollow)
{
	k->done[0] = 0;
	k->links = k->looked_at = 0;
	k->changed = 0;
	k->cut = false;
	k->nofollow = nofollow;
	strcpy(k->rest, path);
}

/* Removes the last component; at the root nothing is left to remove. */
static void go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = 0;
}

enum step { STEP_NONE, STEP_DOT, STEP_NAME, STEP_LAST };

/*
 * The next component goes from what is left to what is done. LAST: it is not followed. ".." is
 * resolved against what is done, where links are followed already: that is how the kernel does it.
 */
static enum step next_component(struct scribe_path_walk *k)
{
	char *name = k->rest + strspn(k->rest, "/");
	size_t bytes = strcspn(name, "/"), done = strlen(k->done);
	char *behind = name + bytes;
	enum step step = *behind || !k->nofollow ? STEP_NAME : STEP_LAST;

	if (!bytes)
		return STEP_NONE;
	if ((bytes == 1 && name[0] == '.') || (bytes == 2 && !memcmp(name, "..", 2))) {
		if (bytes == 2)
			go_up(k->done);
		step = STEP_DOT;
	} else if (done + 1 + bytes >= sizeof(k->done)) {
		return STEP_NONE;
	} else {
		k->done[done] = '/';
		memcpy(k->done + done + 1, name, bytes);
		k->done[done + 1 + bytes] = 0;
	}
	memmove(k->rest, behind, strlen(behind) + 1);
	return step;
}

/*
 * What is done ends in a link that says `target`. The target goes in front of the rest; a relative
 * one is resolved in the link's folder.
 */
static void enter_link(struct scribe_path_walk *k, const char *target)
{
	size_t n = strlen(target), left = strlen(k->rest);

	if (k->links >= LINKS_MOST || n + 1 + left >= sizeof(k->rest))
		return; /* no path that a call has succeeded on */
	k->links++;
	memmove(k->rest + n + 1, k->rest, left + 1);
	memcpy(k->rest, target, n);
	k->rest[n] = '/';
	if (target[0] == '/')
		k->done[0] = 0;
	else
		go_up(k->done);
}

/*
 * Of what the job has not changed. False: the file system would have to be asked. True: `done` is
 * resolved as far as it exists. An error other than "not cached" is a name that is gone: it stays.
 */
static bool follow_last(struct scribe_path_walk *k, const struct root *at)
{
	int fd = open_at(at->root_fd, k->done, SCRIBE_PATH_NOFOLLOW, RESOLVE_CACHED);
	char real[SCRIBE_NAME_ROOM];
	struct stat st;
	bool is_link;

	if (fd < 0)
		return fd != -EAGAIN && fd != -EINVAL;
	is_link = fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
	close(fd);
	if (!is_link)
		return true;
	fd = open_at(at->root_fd, k->done, 0, RESOLVE_CACHED);
	if (fd < 0)
		return false;
	if (path_of(at, fd, real, sizeof(real)) >= 0)
		strcpy(k->done, real[1] ? real : "");
	close(fd);
	return true;
}

/*
 * What is done may have become shorter. Once it is shorter than the changed component, ".." or a
 * link has led out of it, and the file system counts again.
 */
static void note_up(struct scribe_path_walk *k)
{
	if (strlen(k->done) < k->changed)
		k->changed = 0;
}

static int never(void *ctx, int root_fd, const char *path, unsigned flags)
{
	return -EAGAIN;
}

/*
 * Components beyond the limit are joined as text (`cut`). Where the walk returns false, `done` ends
 * in the component in question, and scribe_path_walk_answer() may replace it before the next call.
 */
bool scribe_path_walk(struct scribe_path_walk *k, int root_fd, const struct scribe_link_table *links, uint64_t root)
{
	const struct root at = {root_fd, never, NULL};
	const char *target;

	for (;;) {
		enum step step = next_component(k);

		note_up(k);
		if (step == STEP_DOT)
			continue;
		if (step != STEP_NAME)
			break;
		k->cut = k->looked_at >= COMPONENTS_MOST; /* each look takes as long as what is done is long */
		if (k->cut)
			continue;
		k->looked_at++;
		switch (scribe_links_find(links, root, k->done, &target)) {
		case SCRIBE_LINK_IS:
			enter_link(k, target);
			note_up(k);
			break;
		case SCRIBE_LINK_IS_NOT:
			if (!k->changed)
				k->changed = strlen(k->done);
			break;
		default:
			/* below the place of a link the file system may already have another one */
			if (root_fd >= 0 && !k->changed && !follow_last(k, &at))
				return false;
		}
	}
	if (!k->done[0])
		strcpy(k->done, "/");
	return true;
}

void scribe_path_walk_answer(struct scribe_path_walk *k, const char *path)
{
	strcpy(k->done, path[0] == '/' && path[1] ? path : "");
}
