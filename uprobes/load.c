// SPDX-License-Identifier: BSD-3-Clause
/* The library programs: loading, freeing. Must not know: files, processes, names, logs. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uprobes/attach_private.h"
#include "uprobes/lib.skel.h"
#include "uprobes/lib_probe.skel.h"
#include "uprobes/sites.h"

#define PROGRAM "scribe_lib"

static int share_maps(struct scribe_uprobes *u, struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		const char *name = bpf_map__name(map);
		uint32_t entries;
		int fd, rc;

		if (bpf_map__is_internal(map))
			continue;
		fd = scribe_bpf_map_fd(u->bpf, name, &entries);
		if (fd < 0)
			continue; /* one of our own */
		rc = bpf_map__reuse_fd(map, fd);
		if (rc)
			return rc;
	}
	return 0;
}

static uint32_t mask_of(struct scribe_uprobes *u, const char *ring)
{
	uint32_t entries = 1;

	return scribe_bpf_map_fd(u->bpf, ring, &entries) < 0 ? 0 : entries - 1;
}

/* Layers that the wanted modules need. */
uint32_t scribe_uprobes_layers(const struct scribe_uprobes *u)
{
	uint32_t layers = 0;

	for (size_t i = 0; i < scribe_nlibraries; i++)
		if (scribe_libraries[i].modules & u->opt.modules)
			layers |= 1u << scribe_libraries[i].layer;
	return layers;
}

/* The skeleton types differ by name alone. */
#define OPEN_VARIANT(type)                                                                                   \
	static int open_##type(struct scribe_uprobes *u)                                                     \
	{                                                                                                    \
		struct scribe_##type *s = scribe_##type##__open();                                           \
		if (!s)                                                                                      \
			return -errno;                                                                       \
		*(uint32_t *)&s->rodata->scribe_slot_mask = mask_of(u, "scribe_slot_free");                  \
		*(uint32_t *)&s->rodata->scribe_proc_mask = mask_of(u, "scribe_proc_free");                  \
		*(uint32_t *)&s->rodata->scribe_tab_mask = mask_of(u, "scribe_tab_free");                    \
		*(uint32_t *)&s->rodata->scribe_index_mask = mask_of(u, "scribe_index");                     \
		*(uint32_t *)&s->rodata->scribe_layers = scribe_uprobes_layers(u);                           \
		u->keep = s;                                                                                 \
		u->object = s->obj;                                                                          \
		u->skeleton = s->skeleton;                                                                   \
		return 0;                                                                                    \
	}

OPEN_VARIANT(lib)
OPEN_VARIANT(lib_probe)

static void close_variant(struct scribe_uprobes *u)
{
	if (u->skeleton)
		bpf_object__destroy_skeleton(u->skeleton);
	free(u->keep);
	u->skeleton = NULL;
	u->object = NULL;
	u->keep = NULL;
}

static int load_variant(struct scribe_uprobes *u, enum scribe_uprobe_level level)
{
	bool direct = scribe_bpf_chosen(u->bpf) == SCRIBE_BPF_TP_BTF;
	int rc = direct ? open_lib(u) : open_lib_probe(u);

	if (rc)
		return rc;
	u->program = bpf_object__find_program_by_name(u->object, PROGRAM);
	bpf_program__set_expected_attach_type(u->program,
					      level == SCRIBE_UPROBE_MULTI ? SCRIBE_ATTACH_UPROBE_MULTI : 0);
	rc = share_maps(u, u->object);
	if (!rc)
		rc = bpf_object__load_skeleton(u->skeleton);
	if (rc)
		close_variant(u);
	else
		u->level = level;
	return rc;
}

static int explain(int code, struct scribe_err *err)
{
	return scribe_err_set(err, code, "library modules: this kernel does not take the programs: %s",
			      strerror(-code));
}

void scribe_probe_link_close(struct scribe_uprobes *u, struct scribe_probe_link *l)
{
	if (l->pin[0])
		scribe_bpf_unpin(u->bpf, "lib_links", l->pin);
	l->pin[0] = 0;
	if (l->fd >= 0)
		close(l->fd);
	if (l->perf)
		bpf_link__destroy(l->perf);
	l->fd = -1;
	l->perf = NULL;
}

static struct scribe_uprobes *let_go(struct scribe_uprobes *u)
{
	if (!u)
		return NULL;
	for (size_t i = 0; i < u->nlinks; i++)
		scribe_probe_link_close(u, &u->link[i]);
	for (size_t i = 0; u->adopted && i < u->nown; i++)
		close(u->own[i].fd);
	if (u->adopted && u->program_fd >= 0)
		close(u->program_fd);
	scribe_pinned_close(u);
	close_variant(u);
	free(u->link);
	free(u->covered.at);
	free(u->seen);
	free(u->decision);
	free(u);
	return NULL;
}

/* Descriptors of the loaded object. */
static int list_object(struct scribe_uprobes *u)
{
	struct bpf_map *map;

	u->program_fd = bpf_program__fd(u->program);
	bpf_object__for_each_map(map, u->object)
	{
		struct scribe_own_table *own = &u->own[u->nown];
		const char *name = bpf_map__name(map);
		uint32_t entries;

		if (bpf_map__is_internal(map) || scribe_bpf_map_fd(u->bpf, name, &entries) >= 0)
			continue;
		if (u->nown == SCRIBE_OWN_TABLES_MAX || strlen(name) >= sizeof(own->name))
			return -E2BIG;
		memcpy(own->name, name, strlen(name) + 1);
		own->fd = bpf_map__fd(map);
		u->nown++;
	}
	return 0;
}

static int load(struct scribe_uprobes *u)
{
	uint32_t zero = 0, calls = u->opt.stdio_calls;
	int rc = -EINVAL;

	if (u->opt.level != SCRIBE_UPROBE_PERF)
		rc = load_variant(u, SCRIBE_UPROBE_MULTI);
	if (rc && u->opt.level != SCRIBE_UPROBE_MULTI)
		rc = load_variant(u, SCRIBE_UPROBE_PERF);
	if (rc == 0)
		rc = list_object(u);
	if (rc == 0 &&
	    bpf_map_update_elem(scribe_uprobes_table(u, "scribe_calls_on"), &zero, &calls, BPF_ANY))
		rc = -errno;
	if (rc == 0)
		scribe_pinned_begin(u);
	return rc;
}

static struct scribe_uprobes *blank(struct scribe_bpf *bpf, const struct scribe_uprobes_options *options)
{
	struct scribe_uprobes *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->bpf = bpf;
	u->opt = *options;
	u->program_fd = u->head_fd = u->files_fd = u->bytes_fd = -1;
	return u;
}

int scribe_uprobes_open(struct scribe_bpf *bpf, const struct scribe_uprobes_options *options,
			struct scribe_uprobes **ret_u, struct scribe_err *err)
{
	struct scribe_uprobes *u = blank(bpf, options);
	int rc = u ? 0 : -ENOMEM;

	if (u && !scribe_pinned_adopt(u)) {
		/* nothing, or of no use */
		scribe_uprobes_free(u);
		u = blank(bpf, options);
		rc = u ? load(u) : -ENOMEM;
	}
	if (rc) {
		scribe_uprobes_free(u);
		return explain(rc, err);
	}
	u->sites_fd = scribe_uprobes_table(u, "scribe_sites");
	u->images_fd = scribe_uprobes_table(u, "scribe_images");
	u->shapes_fd = scribe_uprobes_table(u, "scribe_shapes");
	u->guard_fd = scribe_uprobes_table(u, "scribe_guard");
	u->calls_fd = scribe_uprobes_table(u, "scribe_calls_on");
	*ret_u = u;
	return 0;
}

struct scribe_uprobes *scribe_uprobes_leave(struct scribe_uprobes *u)
{
	for (size_t i = 0; u && i < u->nlinks; i++)
		u->link[i].pin[0] = 0;
	return let_go(u);
}

struct scribe_uprobes *scribe_uprobes_free(struct scribe_uprobes *u)
{
	if (u)
		scribe_pinned_remove(u);
	return let_go(u);
}
