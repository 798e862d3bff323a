/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resolves paths by openat2() below the process's root. RESOLVE_CACHED never waits; otherwise the caller's function
 * decides: the daemon delegates to a helper, which may wait for a file server. The second half also uses the job's
 * changes of links. Must not know what a path is for.
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

/* Also true for "//" and a trailing slash. False: the path needs no look-up. */
static bool has_dots(const char *path)
{
	for (const char *p = path; *p; p++)
		if (p[0] == '/' &&
		    (p[1] == '/' || p[1] == 0 ||
		     (p[1] == '.' && (p[2] == '/' || p[2] == 0 || (p[2] == '.' && (p[3] == '/' || p[3] == 0))))))
			return true;
	return false;
}

struct root {
	int root_fd;
	scribe_path_open_fn fn;
	void *ctx;
};

static int open_at(int root_fd, const char *path, unsigned flags, uint64_t resolve)
{
	/* NO_MAGICLINKS: a path through /proc/PID/fd would be resolved with the daemon's rights. */
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

static int open_below(const struct root *at, const char *path, unsigned flags)
{
	int fd = open_at(at->root_fd, path, flags, RESOLVE_CACHED);

	/* -EAGAIN: not cached. -EINVAL: Linux before 5.12, without RESOLVE_CACHED. */
	return fd == -EAGAIN || fd == -EINVAL ? at->fn(at->ctx, at->root_fd, path, flags) : fd;
}

/* True if the kernel marked the path as removed, and it is not a file with such a name. */
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

/* Path of an O_PATH descriptor relative to the root. */
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
	/* The kernel's text is relative to this process's root: cut off the path of `at`. */
	if (r > 1 && n >= r && !memcmp(ret, root, (size_t)r) && (ret[r] == '/' || ret[r] == 0)) {
		memmove(ret, ret + r, (size_t)(n - r) + 1);
		n -= r;
	}
	if (n == 0) {
		strcpy(ret, "/");
		n = 1;
	}
	return is_gone(at, ret, (size_t)n) ? -1 : n;
}

static bool is_same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static ssize_t follow_links(const struct root *root, const char *path, char *ret, size_t cap)
{
	int fd = open_below(root, path, 0), again;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = path_of(root, fd, ret, cap);
	/*
	 * If a directory was renamed since the open, the process never used this name. A second open must give the same
	 * file.
	 */
	again = open_below(root, path, 0);
	if (again < 0 || !is_same_file(fd, again))
		n = -1;
	if (again >= 0)
		close(again);
	close(fd);
	return n;
}

/* Length, or the negative errno of the open. */
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
	/* Without links, the name is the given one. */
	strcpy(ret, path);
	return (ssize_t)scribe_path_clean(ret);
}

/* Length of the cleaned path; -1: it does not fit. */
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

#define LINKS_MOST      40  /* as in the kernel */
#define COMPONENTS_MOST 128 /* bounds the opens per path, each of which takes time with its length */

/* Replaces a dangling link by its target. False: it is not a link. */
static bool read_dangling(const struct root *root, const char *path, char *ret, size_t cap)
{
	int fd = open_below(root, path, SCRIBE_PATH_NOFOLLOW);
	size_t parent;
	ssize_t n;

	if (fd < 0)
		return false;
	close(fd);
	/* The target may have to be read from disk, so RESOLVE_CACHED is not enough. */
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

/* Resolves the longest existing prefix, starting at `end`, and appends the rest. -1: none, or a limit was reached. */
static ssize_t resolve_from(const struct root *root, const char *path, size_t end, char *ret, size_t cap)
{
	char whole[SCRIBE_NAME_CAPACITY], begin[SCRIBE_NAME_CAPACITY];
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
		/* The prefix does not exist: try a shorter one. */
		while (end > 0 && whole[end - 1] != '/')
			end--;
		while (end > 0 && whole[end - 1] == '/')
			end--;
	}
	return -1;
}

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

size_t scribe_path_resolve(char *path, size_t cap, int root_fd, bool nofollow, scribe_path_open_fn fn, void *ctx)
{
	const struct root root = {root_fd, fn, ctx};
	char real[SCRIBE_NAME_CAPACITY];
	ssize_t n = -1;

	/* nofollow: the call worked on the link itself, so its name stays as it is. */
	if (root_fd >= 0 && path[0] == '/')
		n = resolve_from(&root, path, nofollow ? parent_end(path) : strlen(path), real, sizeof(real));
	if (n < 0 || (size_t)n >= cap)
		return has_dots(path) ? scribe_path_clean(path) : strlen(path);
	memcpy(path, real, (size_t)n + 1);
	return (size_t)n;
}

static bool is_fixed(int root_fd, const char *folder, bool ancestor)
{
	/* From the cache, without a request to a file server. An ancestor may be writable if it is sticky. */
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
	char folder[SCRIBE_NAME_CAPACITY];
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

static unsigned components(const char *path)
{
	unsigned n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

bool scribe_path_is_plain(const char *path, int root_fd, bool nofollow, const struct scribe_link_table *links,
			  uint64_t root)
{
	char begin[SCRIBE_NAME_CAPACITY];
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

static void go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = 0;
}

enum step { STEP_NONE, STEP_DOT, STEP_NAME, STEP_LAST };

/* Moves a component from `rest` to `done`. LAST: it is not followed. */
static enum step next_component(struct scribe_path_walk *k)
{
	char *name = k->rest + strspn(k->rest, "/");
	size_t bytes = strcspn(name, "/"), done = strlen(k->done);
	char *behind = name + bytes;
	enum step step = *behind || !k->nofollow ? STEP_NAME : STEP_LAST;

	if (!bytes)
		return STEP_NONE;
	if ((bytes == 1 && name[0] == '.') || (bytes == 2 && !memcmp(name, "..", 2))) {
		/* As in the kernel: relative to what the links on the way led to. */
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

/* `done` ends in a link to `target`. */
static void enter_link(struct scribe_path_walk *k, const char *target)
{
	size_t n = strlen(target), left = strlen(k->rest);

	if (k->links >= LINKS_MOST || n + 1 + left >= sizeof(k->rest))
		return; /* no call can have succeeded on this path */
	k->links++;
	memmove(k->rest + n + 1, k->rest, left + 1);
	memcpy(k->rest, target, n);
	k->rest[n] = '/';
	if (target[0] == '/')
		k->done[0] = 0;
	else
		go_up(k->done);
}

/* For links that the job did not change. False: the file system must be consulted. */
static bool follow_last(struct scribe_path_walk *k, const struct root *at)
{
	int fd = open_at(at->root_fd, k->done, SCRIBE_PATH_NOFOLLOW, RESOLVE_CACHED);
	char real[SCRIBE_NAME_CAPACITY];
	struct stat st;
	bool is_link;

	/* After errors other than "not cached" the name is gone, and stays as text. */
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

static void note_up(struct scribe_path_walk *k)
{
	/* ".." or a link left the changed component: the file system counts again. */
	if (strlen(k->done) < k->changed)
		k->changed = 0;
}

static int never(void *ctx, int root_fd, const char *path, unsigned flags)
{
	return -EAGAIN;
}

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
		/* Each look-up takes time with the length of `done`: the rest is joined as text. */
		k->cut = k->looked_at >= COMPONENTS_MOST;
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
			/* Below a removed link the file system may already have a newer one. */
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
