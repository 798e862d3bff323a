// SPDX-License-Identifier: BSD-3-Clause
/*
 * Attaching the library programs: links, files already seen. Must not know:
 * processes, names, logs.
 */
#include "uprobes/attach_private.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "uprobes/image.h"
#include "uprobes/sites.h"

#define MULTI_RETURN  1u
#define COOKIES_MAX   4096
#define DECISIONS_MAX 4096

/* What the kernel reads of struct bpf_attr for this command (uapi/linux/bpf.h of 6.6). */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

/* The places of one kind (single stream calls or not), entry or return. */
struct batch {
	uint64_t offset[COOKIES_MAX], cookie[COOKIES_MAX];
	uint64_t semaphore[COOKIES_MAX]; /* where in the file a counter goes up while the place is probed, 0
					    none */
	uint32_t n;
};

static int multi_link(int prog, const char *path, const struct batch *b, bool at_return)
{
	struct multi_attr attr = {
		.prog_fd = (uint32_t)prog,
		.attach_type = SCRIBE_ATTACH_UPROBE_MULTI,
		.path = (uint64_t)(uintptr_t)path,
		.offsets = (uint64_t)(uintptr_t)b->offset,
		.cookies = (uint64_t)(uintptr_t)b->cookie,
		.ref_ctr_offsets = b->semaphore[0] ? (uint64_t)(uintptr_t)b->semaphore : 0,
		.cnt = b->n,
		.multi_flags = at_return ? MULTI_RETURN : 0,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, 64);

	return fd < 0 ? -errno : fd;
}

/* ---- attaching ---- */

int scribe_uprobes_keep_link(struct scribe_uprobes *u, const struct scribe_probe_link *link)
{
	if (u->nlinks == u->links_room) {
		size_t room = u->links_room ? u->links_room * 2 : 16;
		struct scribe_probe_link *more = realloc(u->link, room * sizeof(*more));

		if (!more) {
			struct scribe_probe_link lost = *link;

			scribe_probe_link_close(u, &lost);
			return -ENOMEM;
		}
		u->link = more;
		u->links_room = room;
	}
	u->link[u->nlinks++] = *link;
	return 0;
}

static void add_place(struct batch *b, uint64_t offset, uint64_t cookie)
{
	b->offset[b->n] = offset;
	b->cookie[b->n++] = cookie;
}

static int attach_multi(struct scribe_uprobes *u, const char *path, const struct batch *b, bool at_return,
			bool counts)
{
	struct scribe_probe_link l = {.fd = multi_link(u->program_fd, path, b, at_return), .counts = counts};

	if (l.fd < 0)
		return l.fd;
	scribe_pinned_link(u, &l);
	return scribe_uprobes_keep_link(u, &l);
}

static int attach_perf(struct scribe_uprobes *u, const char *path, const struct batch *b, bool at_return,
		       bool counts)
{
	for (uint32_t i = 0; i < b->n; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = b->cookie[i], .retprobe = at_return,
			    .ref_ctr_offset = b->semaphore[i]);
		struct scribe_probe_link l = {.fd = -1, .counts = counts};
		int rc;

		l.perf = bpf_program__attach_uprobe_opts(u->program, -1, path, b->offset[i], &opts);
		if (!l.perf)
			return -errno;
		rc = scribe_uprobes_keep_link(u, &l);
		if (rc)
			return rc;
	}
	return 0;
}

static int attach_batch(struct scribe_uprobes *u, const char *path, const struct batch *b, bool at_return,
			bool counts)
{
	if (!b->n)
		return 0;
	if (u->level == SCRIBE_UPROBE_MULTI)
		return attach_multi(u, path, b, at_return, counts);
	return attach_perf(u, path, b, at_return, counts);
}

/* Give a place its index among the kernel's sites. */
static int announce(struct scribe_uprobes *u, const struct scribe_planned *one, uint32_t image,
		    uint64_t *ret_cookie)
{
	struct scribe_site site = one->site;
	uint32_t index = u->nsites;

	if (index >= SCRIBE_SITES_MAX)
		return -E2BIG;
	site.image = (uint16_t)image;
	if (bpf_map_update_elem(u->sites_fd, &index, &site, BPF_ANY))
		return -errno;
	u->nsites++;
	*ret_cookie = index;
	return 0;
}

/* Returns first: a call between the two links is then without a beginning, and ignored. */
static int attach_plan(struct scribe_uprobes *u, const struct scribe_plan *plan, enum scribe_layer layer,
		       uint32_t image, const char *path, bool counts)
{
	struct batch *b = calloc(2, sizeof(*b)), *returns = b + 1;
	int rc = b ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < plan->n && b->n < COOKIES_MAX; i++) {
		const struct scribe_planned *one = &plan->at[i];
		uint64_t cookie = 0;

		if (((one->site.flags & SCRIBE_SITE_COUNTS) != 0) != counts)
			continue;
		rc = announce(u, one, image, &cookie);
		if (rc)
			break;
		b->semaphore[b->n] = one->semaphore;
		add_place(b, one->offset, cookie);
		if (one->site.flags & SCRIBE_SITE_RETURNS)
			add_place(returns, one->offset, SCRIBE_COOKIE_RETURN | layer);
	}
	scribe_plan_read(plan, path);
	scribe_pinned_counts(u);
	if (rc == 0)
		rc = attach_batch(u, path, returns, true, counts);
	if (rc == 0)
		rc = attach_batch(u, path, b, false, counts);
	free(b);
	return rc;
}

size_t scribe_uprobes_covered(const struct scribe_uprobes *u, uint32_t image,
			      struct scribe_probe_byte ret_byte[SCRIBE_PROBE_BYTES_MAX])
{
	return scribe_covered_of(&u->covered, image, ret_byte);
}

static int attach_library(struct scribe_uprobes *u, const struct scribe_elf *elf,
			  const struct scribe_library *l, const char *path, struct scribe_uprobes_result *ret)
{
	struct scribe_image image;
	struct scribe_plan plan;
	uint32_t index = u->nimages;
	int rc;

	if (index >= SCRIBE_IMAGE_OPENMPI)
		return -E2BIG;
	scribe_image_read(elf, l->layer, &image);
	image.h5_mpi_unseen &= !(scribe_uprobes_layers(u) & 1u << SCRIBE_LAYER_MPIIO);
	/* the handlers know the streams of glibc, which are these */
	if ((l->layer == SCRIBE_LAYER_STDIO && l->probes[0].fn != SCRIBE_FN_STREAM_INSIDE &&
	     (!image.fileno_at || !image.std_at[0])) ||
	    (l->layer == SCRIBE_LAYER_HDF5 && !image.h5d_shared_at) ||
	    (l->layer == SCRIBE_LAYER_PNETCDF && !image.nc_files_at))
		return -ENOTSUP;
	rc = scribe_plan_make(elf, l, &image, u->opt.stdio_calls, &plan);
	if (rc)
		return rc;
	if (bpf_map_update_elem(u->images_fd, &index, &image, BPF_ANY))
		rc = -errno;
	else
		u->nimages++;
	if (rc == 0 && l->layer == SCRIBE_LAYER_MPIIO && image.flavour == SCRIBE_FLAVOUR_OPENMPI) {
		uint32_t known = SCRIBE_IMAGE_OPENMPI;

		bpf_map_update_elem(u->images_fd, &known, &image, BPF_ANY);
	}
	if (rc == 0)
		scribe_covered_add(&u->covered, elf, &plan, index);
	if (rc == 0)
		rc = attach_plan(u, &plan, l->layer, index, path, false);
	if (rc == 0)
		rc = attach_plan(u, &plan, l->layer, index, path, true);
	for (size_t i = 0; rc == 0 && i < plan.n; i++) {
		ret->places++;
		ret->cheap += plan.at[i].cheap;
	}
	if (rc == 0)
		ret->modules |= l->modules;
	scribe_plan_clear(&plan);
	return rc;
}

const struct scribe_uprobed *scribe_uprobes_known(const struct scribe_uprobes *u, uint64_t dev, uint64_t ino)
{
	for (size_t i = 0; i < u->nseen; i++)
		if (u->seen[i].ino == ino && u->seen[i].dev == dev)
			return &u->seen[i];
	return NULL;
}

const struct scribe_uprobed *scribe_uprobes_known_inode(const struct scribe_uprobes *u, uint64_t ino)
{
	for (size_t i = 0; i < u->nseen; i++)
		if (u->seen[i].ino == ino && u->seen[i].nlibraries)
			return &u->seen[i];
	return NULL;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

int scribe_uprobes_keep_file(struct scribe_uprobes *u, const struct scribe_uprobed *file)
{
	if (u->nseen == u->seen_room) {
		size_t room = u->seen_room ? u->seen_room * 2 : 64;
		struct scribe_uprobed *more = realloc(u->seen, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		u->seen = more;
		u->seen_room = room;
	}
	u->seen[u->nseen++] = *file;
	return 0;
}

static int remember(struct scribe_uprobes *u, struct scribe_uprobed *file, bool attached)
{
	file->since_ns = now_ns();
	if (attached)
		scribe_pinned_file(u, file);
	return scribe_uprobes_keep_file(u, file);
}

/* The library by which programs count inside themselves. */
static bool is_ours(const struct scribe_library *l)
{
	return l->probes[0].fn == SCRIBE_FN_STREAM_INSIDE || l->probes[0].fn == SCRIBE_FN_MPI_INSIDE;
}

/* What is ours stands before functions of other libraries, and is none of these. */
static uint32_t search(const struct scribe_elf *elf)
{
	uint32_t libraries = 0, ours = 0;

	for (size_t i = 0; i < scribe_nlibraries; i++)
		if (scribe_library_in(elf, &scribe_libraries[i]))
			*(is_ours(&scribe_libraries[i]) ? &ours : &libraries) |= 1u << i;
	return ours ? ours : libraries;
}

/* Known libraries in a file, by its build id where that has been met before. */
static uint32_t libraries_in(struct scribe_uprobes *u, const struct scribe_elf *elf, uint64_t bytes)
{
	struct scribe_decision one = {.bytes = bytes}, *more;

	one.id_bytes = scribe_elf_build_id(elf, one.id);
	for (size_t i = 0; one.id_bytes && i < u->ndecisions; i++) {
		const struct scribe_decision *d = &u->decision[i];

		if (d->id_bytes == one.id_bytes && d->bytes == bytes && !memcmp(d->id, one.id, one.id_bytes))
			return d->libraries;
	}
	one.libraries = search(elf);
	if (!one.id_bytes || u->ndecisions == DECISIONS_MAX)
		return one.libraries;
	more = realloc(u->decision, (u->ndecisions + 1) * sizeof(*more));
	if (more) {
		u->decision = more;
		u->decision[u->ndecisions++] = one;
	}
	return one.libraries;
}

static void note_library(struct scribe_uprobed *file, const struct scribe_elf *elf,
			 const struct scribe_library *l, bool wanted)
{
	unsigned n = file->nlibraries;

	if (n == SCRIBE_LIBRARIES_A_FILE)
		return;
	file->library[n].layer = l->layer;
	file->library[n].modules = wanted ? l->modules : 0;
	scribe_image_begun(elf, l->layer, &file->library[n].begun);
	file->nlibraries++;
}

int scribe_uprobes_file(struct scribe_uprobes *u, int fd, const char *label,
			struct scribe_uprobes_result *ret, struct scribe_err *err)
{
	const struct scribe_uprobed *seen;
	struct scribe_uprobed file = {0};
	struct scribe_elf *elf = NULL;
	uint32_t libraries;
	char path[64];
	struct stat st;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (fstat(fd, &st) < 0)
		return scribe_err_set(err, -errno, "%s: %s", label, strerror(errno));
	seen = scribe_uprobes_known(u, st.st_dev, st.st_ino);
	if (seen) {
		ret->modules = seen->modules;
		return 0;
	}
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	if (!S_ISREG(st.st_mode) || scribe_elf_open(fd, label, &elf, err) < 0)
		return remember(u, &file, false);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	libraries = libraries_in(u, elf, (uint64_t)st.st_size);
	scribe_elf_code_bias(elf, &file.bias);
	u->dev = file.dev;
	u->ino = file.ino;
	u->unpinned = false;
	for (size_t i = 0; i < scribe_nlibraries; i++) {
		const struct scribe_library *l = &scribe_libraries[i];
		bool wanted = l->modules & u->opt.modules & (is_ours(l) ? u->opt.inside : u->opt.modules);

		if (!(libraries & 1u << i))
			continue;
		rc = wanted ? attach_library(u, elf, l, path, ret) : 0;
		if (rc) {
			scribe_err_set(err, rc, "%s: cannot be probed for %s: %s", label, l->name,
				       rc == -ENOTSUP ? "its version is not known, or built in an unknown way"
						      : strerror(-rc));
			/* streams that nobody knows stay with their system calls: nothing is missed */
			if (l->layer != SCRIBE_LAYER_STDIO)
				file.refused |= l->modules & u->opt.modules;
			continue;
		}
		ret->fresh |= wanted;
		note_library(&file, elf, l, wanted);
	}
	scribe_elf_free(elf);
	file.modules = ret->modules;
	rc = remember(u, &file, ret->fresh);
	return rc ? scribe_err_set(err, rc, "out of memory") : ret->fresh || !err->code ? 0 : err->code;
}

enum scribe_uprobe_level scribe_uprobes_level(const struct scribe_uprobes *u)
{
	return u->level;
}

int scribe_uprobes_table(const struct scribe_uprobes *u, const char *name)
{
	uint32_t entries;

	for (size_t i = 0; i < u->nown; i++)
		if (!strcmp(u->own[i].name, name))
			return u->own[i].fd;
	return scribe_bpf_map_fd(u->bpf, name, &entries);
}

bool scribe_uprobes_shape(const struct scribe_uprobes *u, int64_t key, struct scribe_shape *ret_shape)
{
	return bpf_map_lookup_elem(u->shapes_fd, &key, ret_shape) == 0;
}

uint64_t scribe_uprobes_stream_calls(const struct scribe_uprobes *u)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t *each = calloc(cpus > 0 ? (size_t)cpus : 1, sizeof(*each)), sum = 0;
	uint32_t zero = 0;

	if (each && bpf_map_lookup_elem(u->guard_fd, &zero, each) == 0)
		for (int i = 0; i < cpus; i++)
			sum += each[i];
	free(each);
	return sum;
}

bool scribe_uprobes_dropped_stream_calls(const struct scribe_uprobes *u)
{
	uint32_t zero = 0, on = 1;

	return u->opt.stdio_calls && bpf_map_lookup_elem(u->calls_fd, &zero, &on) == 0 && !on;
}

void scribe_uprobes_drop_stream_calls(struct scribe_uprobes *u)
{
	uint32_t zero = 0, off = 0;

	bpf_map_update_elem(u->calls_fd, &zero, &off, BPF_ANY);
	for (size_t i = 0; i < u->nlinks; i++)
		if (u->link[i].counts)
			scribe_probe_link_close(u, &u->link[i]);
}
