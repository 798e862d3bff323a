// SPDX-License-Identifier: BSD-3-Clause
/*
 * Attaches library programs to a file: a helper studies it, the result is checked and planned, links are made
 * here or by the link maker. Main thread. Must not know: processes, names, logs.
 */
#include "uprobes/attach/attach_state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "bpf/user/map_calls.h"
#include "logfmt/base/clock.h"
#include "logfmt/counters/records.h"
#include "uprobes/elf/library_offsets.h"
#include "uprobes/elf/sites.h"

#define SEEN_MAX 50000 /* without a library; further ones are studied repeatedly */

/* -E2BIG: the table of points is full. */
static int announce(struct scribe_uprobes *u, const struct scribe_planned *one, uint32_t image, uint64_t *ret_cookie)
{
	struct scribe_point point = one->point;
	uint32_t index = u->nsites;

	if (index >= SCRIBE_POINTS_MAX)
		return -E2BIG;
	point.image = (uint16_t)image;
	if (scribe_map_update(u->points_fd, &index, &point, BPF_ANY))
		return -errno;
	u->nsites++;
	*ret_cookie = index;
	return 0;
}

static int attach_plan(struct scribe_uprobes *u, const struct scribe_plan *plan, enum scribe_layer layer,
		       uint32_t image, const char *path)
{
	struct scribe_batch *b = calloc(2, sizeof(*b)), *returns = b + 1;
	int rc = b ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < plan->n && b->n < SCRIBE_COOKIES_MAX; i++) {
		const struct scribe_planned *one = &plan->at[i];
		uint64_t cookie = 0;

		rc = announce(u, one, image, &cookie);
		if (rc)
			break;
		scribe_batch_add(b, one->offset, one->point.vaddr, one->semaphore, cookie);
		if (one->point.flags & SCRIBE_POINT_RETURNS)
			scribe_batch_add(returns, one->offset, one->point.vaddr, one->semaphore,
					 SCRIBE_COOKIE_RETURN | layer);
	}
	scribe_pinned_counts(u);
	/* Returns first: a call between the two links then has a return without an entry, which is ignored. */
	if (rc == 0)
		rc = scribe_batch_attach(u, layer, path, returns, true);
	if (rc == 0)
		rc = scribe_batch_attach(u, layer, path, b, false);
	free(b);
	return rc;
}

/* Users' libraries may fill half of the kernel's tables. */
static bool has_room(const struct scribe_uprobes *u, const struct scribe_plan *plan, uint32_t uid)
{
	return u->nimages < SCRIBE_LIBRARY_OFFSETS_OPENMPI / (uid ? 2 : 1) &&
	       u->nsites + plan->n < SCRIBE_POINTS_MAX / (uid ? 2 : 1);
}

/* For the datatypes of other libraries. Of the site's Open MPI only, not a user's. */
static void note_openmpi(struct scribe_uprobes *u, const struct scribe_elf_analysis *s, unsigned k, uint32_t uid)
{
	const struct scribe_library *l = &scribe_libraries[s->library[k].which];
	uint32_t known = SCRIBE_LIBRARY_OFFSETS_OPENMPI;

	if (l->layer == SCRIBE_LAYER_MPIIO && s->library[k].image.flavour == SCRIBE_FLAVOUR_OPENMPI && !uid)
		scribe_map_update(u->images_fd, &known, &s->library[k].image, BPF_ANY);
}

/* -ENOTSUP: offsets or points are missing. Indices used before a failure are not reused here. */
static int attach_library(struct scribe_uprobes *u, const struct scribe_elf_analysis *s, unsigned k, uint32_t uid,
			  const char *path, struct scribe_uprobes_result *ret, struct scribe_err *err)
{
	const struct scribe_library *l = &scribe_libraries[s->library[k].which];
	struct scribe_library_offsets image = s->library[k].image;
	uint32_t index = u->nimages;
	struct scribe_plan plan;
	int rc;

	image.h5_mpi_unseen &= !(scribe_uprobes_layers(u) & 1u << SCRIBE_LAYER_MPIIO);
	/* handlers know glibc's streams only */
	if ((l->layer == SCRIBE_LAYER_STDIO && (!image.fileno_at || !image.stderr_at)) ||
	    (l->layer == SCRIBE_LAYER_HDF5 && !image.h5d_shared_at) ||
	    (l->layer == SCRIBE_LAYER_PNETCDF && !image.nc_files_at) || !s->library[k].whole)
		return -ENOTSUP;
	rc = scribe_uprobes_load(u, l->layer, err);
	if (rc == 0)
		rc = scribe_elf_analysis_plan(s, k, &plan);
	if (rc)
		return rc;
	if (!has_room(u, &plan, uid))
		rc = -E2BIG;
	else if (scribe_map_update(u->images_fd, &index, &image, BPF_ANY))
		rc = -errno;
	else
		u->nimages++;
	if (rc == 0)
		rc = attach_plan(u, &plan, l->layer, index, path);
	for (size_t i = 0; rc == 0 && i < plan.n; i++) {
		ret->addresses++;
		ret->emulated += plan.at[i].emulated;
	}
	if (rc == 0)
		ret->modules |= l->modules;
	scribe_plan_clear(&plan);
	return rc;
}

static bool is_changed(const struct scribe_uprobed *f, const struct stat *st)
{
	return f->bytes != (uint64_t)st->st_size || f->changed_s != st->st_ctim.tv_sec ||
	       f->changed_ns != st->st_ctim.tv_nsec;
}

const struct scribe_uprobed *scribe_uprobes_current(struct scribe_uprobes *u, const struct stat *st)
{
	const struct scribe_uprobed *f = scribe_uprobes_known(u, st->st_dev, st->st_ino);

	/* a probed file is held by its links */
	if (!f || (f->modules && f->since_ns != SCRIBE_UPROBED_NEVER) || !is_changed(f, st))
		return f;
	scribe_uprobes_forget(u, (size_t)(f - u->seen));
	return NULL;
}

static int remember(struct scribe_uprobes *u, struct scribe_uprobed *file, bool attached)
{
	file->since_ns = attached && u->opt.link_maker ? SCRIBE_UPROBED_NEVER : scribe_now_ns();
	/* Otherwise set with the last link (scribe_uprobes_made). */
	file->nsites = u->nsites;
	file->nimages = u->nimages;
	file->nplaces = u->nplaces;
	if (attached && !u->opt.link_maker)
		scribe_pinned_file(u, file);
	return scribe_uprobes_keep_file(u, file);
}

static bool is_counted_inside(const struct scribe_uprobes *u, const struct scribe_elf_analysis *s, unsigned k)
{
	const struct scribe_library *l = &scribe_libraries[s->library[k].which];

	return l->layer == SCRIBE_LAYER_MPIIO && !scribe_library_is_inside(l) && !s->program &&
	       l->modules & u->opt.modules & u->opt.wrapped;
}

static void note_library(const struct scribe_uprobes *u, struct scribe_uprobed *file,
			 const struct scribe_elf_analysis *s, unsigned k, bool wanted)
{
	const struct scribe_library *l = &scribe_libraries[s->library[k].which];

	file->library[k].layer = l->layer;
	file->library[k].counted_inside = is_counted_inside(u, s, k);
	file->library[k].modules = wanted || file->library[k].counted_inside ? l->modules : 0;
	file->library[k].init_state = s->library[k].init_state;
	file->library[k].is_wrap = scribe_library_is_inside(l);
	file->nlibraries = k + 1;
}

static bool is_wanted(const struct scribe_uprobes *u, const struct scribe_elf_analysis *s, unsigned k)
{
	const struct scribe_library *l = &scribe_libraries[s->library[k].which];

	return l->modules & u->opt.modules & (scribe_library_is_inside(l) ? u->opt.wrapped : u->opt.modules) &&
	       !is_counted_inside(u, s, k);
}

static bool is_same(int fd, const struct scribe_uprobed *file)
{
	struct stat st;

	/* Written between study and lease, perhaps. */
	return scribe_uprobes_stat(fd, &st) == 0 && !is_changed(file, &st);
}

/* The reason not to probe it; NULL: none. */
static const char *why_not(struct scribe_uprobes *u, int fd, const struct scribe_elf_analysis *s,
			   const struct scribe_uprobed *file)
{
	const char *refused;
	bool wanted = false;
	int rc;

	for (unsigned k = 0; k < s->nlibraries; k++)
		wanted |= is_wanted(u, s, k);
	if (!wanted)
		return NULL;
	refused = u->opt.refuse && !file->site ? u->opt.refuse(u->opt.ctx) : NULL;
	if (refused)
		return refused;
	rc = scribe_lease_take(u, fd, file);
	if (rc == -EAGAIN || !is_same(fd, file))
		return "somebody writes it";
	if (rc < 0 && u->opt.leases && !file->site)
		return "its file system cannot tell when somebody writes it";
	return NULL;
}

static void attach_libraries(struct scribe_uprobes *u, int fd, const char *label, uint32_t uid,
			     const struct scribe_elf_analysis *s, struct scribe_uprobed *file,
			     struct scribe_uprobes_result *ret, struct scribe_err *err)
{
	const char *refused = why_not(u, fd, s, file);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* The kernel resolves this to the studied file, even if its path was replaced. */
	for (unsigned k = 0; k < s->nlibraries; k++) {
		const struct scribe_library *l = &scribe_libraries[s->library[k].which];
		struct scribe_err why = {0};
		bool wanted = is_wanted(u, s, k);
		int rc = 0;

		if (is_counted_inside(u, s, k))
			rc = scribe_uprobes_load(u, l->layer, &why); /* for datatypes and libioscribe-inside.so */
		else if (wanted && refused)
			rc = scribe_err_set(&why, -EPERM, "%s: %s", label, refused);
		else if (wanted)
			rc = attach_library(u, s, k, uid, path, ret, &why);

		note_openmpi(u, s, k, uid);
		note_library(u, file, s, k, wanted && !rc);
		ret->counted_inside |= file->library[k].counted_inside;
		ret->fresh |= wanted && !rc;
		if (!rc)
			continue;
		if (why.code)
			scribe_err_set(err, rc, "%s", why.text);
		else if (rc == -ENOTSUP)
			scribe_err_set(err, rc,
				       "%s: cannot be probed for %s: its version is not known, or built in "
				       "an unknown way",
				       label, l->name);
		else
			scribe_batch_refused(u, rc, label, err);
		/* unknown streams are counted by system calls: nothing is missed */
		if (l->layer != SCRIBE_LAYER_STDIO)
			file->refused |= l->modules & u->opt.modules;
	}
}

int scribe_uprobes_stat(int fd, struct stat *ret)
{
	struct statx x;

	/* Cached attributes are enough, and no server can block the daemon. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &x) < 0)
		return -errno;
	memset(ret, 0, sizeof(*ret));
	ret->st_dev = makedev(x.stx_dev_major, x.stx_dev_minor);
	ret->st_ino = x.stx_ino;
	ret->st_mode = x.stx_mode;
	ret->st_uid = x.stx_uid;
	ret->st_size = (off_t)x.stx_size;
	ret->st_ctim.tv_sec = x.stx_ctime.tv_sec;
	ret->st_ctim.tv_nsec = x.stx_ctime.tv_nsec;
	return 0;
}

static int hold(int fd, uint32_t uid)
{
	char path[64];
	int held;

	/* Closing a readable descriptor on FUSE waits for its server; there only root's files are probed. */
	if (uid)
		return fcntl(fd, F_DUPFD_CLOEXEC, 3);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	held = open(path, O_PATH | O_CLOEXEC);
	return held < 0 ? -errno : held;
}

static int begin(struct scribe_uprobes *u, const struct scribe_uprobed *f, int fd, const char *label)
{
	struct scribe_pending p = {.dev = f->dev, .ino = f->ino, .uid = f->uid, .asked = -1};

	if (scribe_uprobes_busy_with(u, f->dev, f->ino))
		return 0;
	if (u->npending == u->pending_capacity) {
		size_t capacity = u->pending_capacity ? u->pending_capacity * 2 : 16;
		struct scribe_pending *more = realloc(u->pending, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		u->pending = more;
		u->pending_capacity = capacity;
	}
	p.fd = hold(fd, f->uid);
	if (p.fd < 0)
		return p.fd;
	snprintf(p.label, sizeof(p.label), "%s", label);
	u->pending[u->npending++] = p;
	return 0;
}

int scribe_uprobes_refused(struct scribe_uprobes *u, struct scribe_uprobed *f, int rc, const char *label,
			   struct scribe_err *err)
{
	f->refused |= f->modules & ~(1ull << SCRIBE_MOD_STDIO);
	/* Unprobed streams are still counted by system calls. */
	f->modules = 0;
	return scribe_batch_refused(u, rc, label, err);
}

/* From now on no call is missed, and the next daemon can adopt the links. */
void scribe_uprobes_made(struct scribe_uprobes *u, struct scribe_uprobed *f)
{
	f->since_ns = scribe_now_ns();
	scribe_pinned_file(u, f);
}

int scribe_uprobes_file(struct scribe_uprobes *u, int fd, const char *label, bool site,
			struct scribe_uprobes_result *ret, struct scribe_err *err)
{
	static struct scribe_elf_analysis s;
	const struct scribe_uprobed *seen;
	struct scribe_uprobed file = {0};
	struct stat st;
	int rc;

	memset(ret, 0, sizeof(*ret));
	rc = scribe_uprobes_stat(fd, &st);
	if (rc < 0)
		return scribe_err_set(err, rc, "%s: %s", label, strerror(-rc));
	seen = scribe_uprobes_current(u, &st);
	if (seen) {
		ret->modules = seen->modules;
		return 0;
	}
	if (!S_ISREG(st.st_mode))
		return 0;
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	file.uid = st.st_uid;
	file.site = site;
	file.bytes = (uint64_t)st.st_size;
	file.changed_s = st.st_ctim.tv_sec;
	file.changed_ns = st.st_ctim.tv_nsec;
	rc = u->opt.study ? u->opt.study(u->opt.ctx, fd, st.st_uid, &s) : -ENOTSUP;
	/* The file may have taken over the helper. */
	if (rc == 0 && !scribe_elf_analysis_check(&s, (uint64_t)st.st_size))
		rc = -EBADMSG;
	ret->unread = rc < 0 && rc != -ENOEXEC;
	if (ret->unread)
		return scribe_err_set(err, rc, "%s: %s", label, strerror(-rc));
	/* -ENOEXEC: no library; remembered to avoid another study. */
	if (rc < 0)
		return u->nseen < SEEN_MAX ? remember(u, &file, false) : 0;
	file.bias = s.bias;
	u->dev = file.dev;
	u->ino = file.ino;
	u->unpinned = false;
	attach_libraries(u, fd, label, st.st_uid, &s, &file, ret, err);
	file.modules = ret->modules;
	if (!s.nlibraries && u->nseen >= SEEN_MAX)
		return 0;
	rc = remember(u, &file, ret->fresh);
	if (rc == 0 && ret->fresh && u->opt.link_maker)
		rc = begin(u, &file, fd, label);
	return rc ? scribe_err_set(err, rc, "out of memory") : ret->fresh || !err->code ? 0 : err->code;
}

uint64_t scribe_uprobes_named(const struct scribe_uprobes *u, const char *name)
{
	uint64_t modules = 0;

	for (size_t i = 0; i < scribe_nlibraries; i++)
		if (fnmatch(scribe_libraries[i].pattern, name, 0) == 0)
			modules |= scribe_libraries[i].modules & u->opt.modules;
	return modules;
}

size_t scribe_uprobes_attached(const struct scribe_uprobes *u)
{
	return u->nlinks;
}

const char *scribe_uprobes_why(const struct scribe_uprobes *u)
{
	return u->refused ? u->why.text : "";
}

bool scribe_uprobes_shape(const struct scribe_uprobes *u, int64_t key, struct scribe_access_pattern *ret_shape)
{
	return scribe_map_lookup(u->shapes_fd, &key, ret_shape) == 0;
}
