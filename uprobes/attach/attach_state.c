// SPDX-License-Identifier: BSD-3-Clause
/*
 * State shared by the attaching units. Array entries move when one is added. Main thread. Must not know: how
 * programs are loaded or attached.
 */
#include "uprobes/attach/attach_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *scribe_attach_program_name(enum scribe_layer layer)
{
	/* clang-format off */
	static const char *const program[] = {
		[SCRIBE_LAYER_STDIO] = "scribe_lib_stdio",
		[SCRIBE_LAYER_MPIIO] = "scribe_lib_mpiio",
		[SCRIBE_LAYER_HDF5] = "scribe_lib_hdf5",
		[SCRIBE_LAYER_PNETCDF] = "scribe_lib_pnetcdf",
		[SCRIBE_LAYER_CUFILE] = "scribe_lib_cufile",
	};
	/* clang-format on */

	return program[layer];
}

uint32_t scribe_uprobes_layers(const struct scribe_uprobes *u)
{
	uint32_t layers = 0;

	for (size_t i = 0; i < scribe_nlibraries; i++)
		if (scribe_libraries[i].modules & u->opt.modules)
			layers |= 1u << scribe_libraries[i].layer;
	return layers;
}

int scribe_uprobes_table(const struct scribe_uprobes *u, const char *name)
{
	uint32_t entries;

	for (size_t i = 0; i < u->nown; i++)
		if (!strcmp(u->own[i].name, name))
			return u->own[i].fd;
	return scribe_bpf_map_fd(u->bpf, name, &entries);
}

void scribe_probe_link_close(struct scribe_uprobes *u, struct scribe_probe_link *l)
{
	/* While a pin exists, closing the descriptor does not detach. */
	if (l->pin[0])
		scribe_bpf_unpin(u->bpf, "lib_links", l->pin);
	l->pin[0] = 0;
	/* The last close may block in the kernel, so the link maker does it. */
	if (l->fd >= 0 && u->opt.link_maker)
		u->opt.link_maker->drop(l->fd);
	else if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	scribe_events_detach(&u->events, &l->event);
}

void scribe_probe_link_forget(struct scribe_probe_link *l)
{
	free(l->plan);
	l->plan = NULL;
}

int scribe_uprobes_keep_link(struct scribe_uprobes *u, const struct scribe_probe_link *link)
{
	if (u->nlinks == u->links_capacity) {
		size_t capacity = u->links_capacity ? u->links_capacity * 2 : 16;
		struct scribe_probe_link *more = realloc(u->link, capacity * sizeof(*more));

		if (!more) {
			struct scribe_probe_link lost = *link;

			scribe_probe_link_close(u, &lost);
			scribe_probe_link_forget(&lost);
			return -ENOMEM;
		}
		u->link = more;
		u->links_capacity = capacity;
	}
	u->link[u->nlinks++] = *link;
	return 0;
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

uint64_t scribe_uprobes_inside_since(const struct scribe_uprobes *u)
{
	uint64_t since = SCRIBE_UPROBED_NEVER;

	for (size_t i = 0; i < u->nseen; i++)
		if (u->seen[i].nlibraries && u->seen[i].library[0].is_wrap && u->seen[i].modules &&
		    u->seen[i].since_ns < since)
			since = u->seen[i].since_ns;
	return since;
}

int scribe_uprobes_keep_file(struct scribe_uprobes *u, const struct scribe_uprobed *file)
{
	if (u->nseen == u->seen_capacity) {
		size_t capacity = u->seen_capacity ? u->seen_capacity * 2 : 64;
		struct scribe_uprobed *more = realloc(u->seen, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		u->seen = more;
		u->seen_capacity = capacity;
	}
	u->seen[u->nseen++] = *file;
	return 0;
}

void scribe_uprobes_forget(struct scribe_uprobes *u, size_t which)
{
	const struct scribe_uprobed *f = &u->seen[which];

	for (size_t i = 0; i < u->nlinks; i++) {
		struct scribe_probe_link *l = &u->link[i];

		if (l->orphan || l->ino != f->ino || l->dev != f->dev)
			continue;
		scribe_probe_link_forget(l);
		l->orphan = true;
	}
	u->nseen--;
	memmove(&u->seen[which], &u->seen[which + 1], (u->nseen - which) * sizeof(u->seen[0]));
}

bool scribe_uprobes_busy_with(const struct scribe_uprobes *u, uint64_t dev, uint64_t ino)
{
	for (size_t i = 0; i < u->npending; i++)
		if (u->pending[i].ino == ino && u->pending[i].dev == dev)
			return true;
	return false;
}

void scribe_pending_close(struct scribe_pending *p)
{
	close(p->fd);
	if (p->asked >= 0)
		close(p->asked);
	p->fd = p->asked = -1;
}

void scribe_uprobes_drop_pending(struct scribe_uprobes *u)
{
	for (; u->npending; u->npending--) {
		struct scribe_pending *p = &u->pending[u->npending - 1];

		scribe_pending_close(p);
	}
}
