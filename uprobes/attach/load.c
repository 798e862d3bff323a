// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loads the library programs: an object per layer with its first library, of which program and tables are kept.
 * Existing tables of other programs are shared. Main thread. Must not know: files, processes, names, logs.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/user/libbpf_log.h"
#include "bpf/user/map_calls.h"
#include "bpf/user/refusal.h"
#include "logfmt/counters/built.h"
#include "uprobes/attach/attach_state.h"
#include "uprobes/elf/sites.h"
#include "uprobes/lib.skel.h"

static int share_maps(struct scribe_uprobes *u, struct bpf_object *object)
{
	struct bpf_map *map;
	int rc = 0;

	bpf_object__for_each_map(map, object)
	{
		/* Internal maps (constants) belong to one object. */
		int fd = bpf_map__is_internal(map) ? -1 : scribe_uprobes_table(u, bpf_map__name(map));

		if (fd >= 0 && rc == 0)
			rc = bpf_map__reuse_fd(map, fd);
	}
	return rc;
}

/* Tables have 2^n entries. 0: not found. */
static uint32_t mask_of(struct scribe_uprobes *u, const char *ring)
{
	uint32_t entries = 1;

	return scribe_bpf_map_fd(u->bpf, ring, &entries) < 0 ? 0 : entries - 1;
}

/* Two indices per entry. */
static uint32_t ring_mask_of(struct scribe_uprobes *u, const char *ring)
{
	return 2 * mask_of(u, ring) + 1;
}

static struct scribe_lib *open_object(struct scribe_uprobes *u)
{
	struct scribe_lib *s;

	scribe_said_begin(u->opt.verbose);
	s = scribe_lib__open();
	if (!s)
		return NULL;
	/* Constants, set before loading, so that the verifier can bound indices. */
	*(uint32_t *)&s->rodata->scribe_slot_mask = ring_mask_of(u, "scribe_slot_free");
	*(uint32_t *)&s->rodata->scribe_proc_mask = ring_mask_of(u, "scribe_proc_free");
	*(uint32_t *)&s->rodata->scribe_tab_mask = ring_mask_of(u, "scribe_tab_free");
	*(uint32_t *)&s->rodata->scribe_index_mask = mask_of(u, "scribe_index");
	return s;
}

/* The first layer creates the tables that only library programs have. */
static int keep_tables(struct scribe_uprobes *u, struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		struct scribe_own_table *own = &u->own[u->nown];
		const char *name = bpf_map__name(map);

		if (bpf_map__is_internal(map) || scribe_uprobes_table(u, name) >= 0)
			continue;
		if (u->nown == SCRIBE_OWN_TABLES_MAX || strlen(name) >= sizeof(own->name))
			return -E2BIG;
		own->fd = fcntl(bpf_map__fd(map), F_DUPFD_CLOEXEC, 3);
		if (own->fd < 0)
			return -errno;
		memcpy(own->name, name, strlen(name) + 1);
		u->nown++;
	}
	return 0;
}

static int keep_program(struct scribe_uprobes *u, const struct bpf_program *program, enum scribe_layer layer)
{
	u->program_fd[layer] = fcntl(bpf_program__fd(program), F_DUPFD_CLOEXEC, 3);
	if (u->program_fd[layer] < 0)
		return -errno;
	scribe_pinned_program(u, layer);
	return 0;
}

static int load_layer(struct scribe_uprobes *u, enum scribe_layer layer)
{
	bool first = u->nown == 0;
	struct scribe_lib *s = open_object(u);
	struct bpf_program *program, *wanted;
	int rc;

	if (!s)
		return -errno;
	wanted = bpf_object__find_program_by_name(s->obj, scribe_attach_program_name(layer));
	bpf_object__for_each_program(program, s->obj) bpf_program__set_autoload(program, program == wanted);
	rc = wanted ? share_maps(u, s->obj) : -ENOTSUP;
	if (rc == 0 && u->level == SCRIBE_UPROBE_MULTI)
		rc = bpf_program__set_expected_attach_type(wanted, SCRIBE_ATTACH_UPROBE_MULTI);
	if (rc == 0)
		rc = bpf_object__load_skeleton(s->skeleton);
	if (rc == 0 && first)
		rc = keep_tables(u, s->obj);
	if (rc == 0 && first) {
		scribe_uprobes_find_tables(u);
		scribe_pinned_begin(u);
	}
	if (rc == 0)
		rc = keep_program(u, wanted, layer);
	scribe_lib__destroy(s);
	return rc;
}

/* The first failure's reason remains for scribe_uprobes_why(). */
int scribe_uprobes_load(struct scribe_uprobes *u, enum scribe_layer layer, struct scribe_err *err)
{
	int rc = u->program_fd[layer] >= 0 ? 0 : load_layer(u, layer);

	if (rc == 0)
		return 0;
	u->refused = true;
	scribe_refused(&u->why, rc, SCRIBE_STEP_LOAD, scribe_attach_program_name(layer));
	if (err)
		*err = u->why;
	return rc;
}

void scribe_uprobes_load_wanted(struct scribe_uprobes *u)
{
	uint32_t layers = scribe_uprobes_layers(u);

	for (unsigned i = 0; i < SCRIBE_LAYERS; i++)
		if (layers & 1u << i)
			(void)scribe_uprobes_load(u, i, NULL);
}

void scribe_uprobes_find_tables(struct scribe_uprobes *u)
{
	u->points_fd = scribe_uprobes_table(u, "scribe_points");
	u->images_fd = scribe_uprobes_table(u, "scribe_lib_offs");
	u->shapes_fd = scribe_uprobes_table(u, "scribe_access_patterns");
}

static struct scribe_uprobes *let_go(struct scribe_uprobes *u)
{
	if (!u)
		return NULL;
	for (size_t i = 0; i < u->nlinks; i++) {
		scribe_probe_link_close(u, &u->link[i]);
		scribe_probe_link_forget(&u->link[i]);
	}
	for (size_t i = 0; i < u->nown; i++)
		close(u->own[i].fd);
	for (unsigned i = 0; i < SCRIBE_LAYERS; i++)
		if (u->program_fd[i] >= 0)
			close(u->program_fd[i]);
	scribe_leases_end(u);
	scribe_events_close(&u->events);
	scribe_pinned_close(u);
	free(u->link);
	scribe_uprobes_drop_pending(u);
	free(u->pending);
	free(u->seen);
	free(u);
	return NULL;
}

static struct scribe_uprobes *blank(struct scribe_bpf *bpf, const struct scribe_uprobes_options *options)
{
	struct scribe_uprobes *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->bpf = bpf;
	u->opt = *options;
	u->events.fd = u->head_fd = u->files_fd = -1;
	for (unsigned i = 0; i < SCRIBE_LAYERS; i++)
		u->program_fd[i] = -1;
	return u;
}

int scribe_uprobes_open(struct scribe_bpf *bpf, const struct scribe_uprobes_options *options,
			struct scribe_uprobes **ret_u, struct scribe_err *err)
{
	struct scribe_uprobes *u;
	int rc = 0;

	if (!IOSCRIBE_LIBRARY_PROBES)
		return scribe_err_set(err, -ENOTSUP,
				      "library calls are not probed: this build is without (IOSCRIBE_LIBRARY_PROBES); "
				      "where to probe and what structures hold is read from x86-64 code only");
	u = blank(bpf, options);
	if (u)
		u->adopted = scribe_pinned_adopt(u);
	if (u && !u->adopted) {
		/* nothing usable */
		scribe_uprobes_free(u);
		u = blank(bpf, options);
		rc = u ? scribe_batch_level(u, err) : 0;
	}
	if (!u)
		return scribe_err_set(err, -ENOMEM, "library modules: out of memory");
	if (rc) {
		scribe_uprobes_free(u);
		return rc;
	}
	if (u->level != SCRIBE_UPROBE_MULTI)
		u->opt.link_maker = NULL;
	scribe_uprobes_find_tables(u);
	*ret_u = u;
	return 0;
}

bool scribe_uprobes_adopted(const struct scribe_uprobes *u)
{
	return u->adopted;
}

struct scribe_uprobes *scribe_uprobes_close_keep_pins(struct scribe_uprobes *u)
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
