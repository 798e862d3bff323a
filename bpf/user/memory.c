// SPDX-License-Identifier: BSD-3-Clause
/*
 * Maps shared with kernel programs, as memory of this process. Main thread. Must not know names, ranks or logs.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/user/load_private.h"

static int map_fd(struct scribe_bpf *b, const char *name)
{
	const struct scribe_named *m = scribe_bpf_map(b, name);

	return m ? m->fd : -ENOENT;
}

static int map_named(struct scribe_bpf *b, const char *name, struct scribe_bpf_map_info *ret_map)
{
	const struct scribe_named *m = scribe_bpf_map(b, name);

	if (!m)
		return -ENOENT;
	return scribe_bpf_map_memory(m->fd, m->entries, m->value_bytes, ret_map);
}

static int map_chunks(struct scribe_bpf *b)
{
	int slots = map_fd(b, "scribe_slots"), tables = map_fd(b, "scribe_tables"), segs = map_fd(b, "scribe_segs"),
	    heats = map_fd(b, "scribe_heats"), ret;

	if (slots < 0 || tables < 0 || segs < 0 || heats < 0)
		return -ENOENT;
	ret = scribe_chunks_open(&b->slots, slots, b->opt.slots / SCRIBE_SLOTS_CHUNK + 1, SCRIBE_SLOTS_CHUNK,
				 sizeof(struct scribe_slot));
	if (!ret)
		ret = scribe_chunks_open(&b->tables, tables, SCRIBE_TABLE_CHUNKS_MAX, SCRIBE_TABLES_CHUNK,
					 sizeof(struct scribe_value_table));
	if (!ret)
		ret = scribe_chunks_open(&b->segs, segs, SCRIBE_SEG_CHUNKS_MAX, SCRIBE_SEGS_CHUNK,
					 sizeof(struct scribe_segbuf));
	if (!ret)
		ret = scribe_chunks_open(&b->heats, heats, SCRIBE_HEAT_CHUNKS_MAX, SCRIBE_HEATS_CHUNK,
					 sizeof(struct scribe_heat_table));
	if (!ret && b->adopted)
		ret = scribe_pins_chunks(b, &b->heats, SCRIBE_HEAT_CHUNK_PIN);
	if (!ret && b->adopted)
		ret = scribe_pins_chunks(b, &b->segs, SCRIBE_SEG_CHUNK_PIN);
	if (!ret && b->adopted)
		ret = scribe_pins_chunks(b, &b->slots, SCRIBE_SLOT_CHUNK_PIN);
	if (!ret && b->adopted)
		ret = scribe_pins_chunks(b, &b->tables, SCRIBE_TABLE_CHUNK_PIN);
	return ret;
}

/* `fresh`: sizes are written for a later daemon, otherwise read. */
int scribe_bpf_map_all(struct scribe_bpf *b, bool fresh)
{
	const struct scribe_named *events = scribe_bpf_map(b, "scribe_events");
	const struct scribe_named *asked = scribe_bpf_map(b, "scribe_asked");
	int ret;

	if ((ret = map_named(b, "scribe_procs", &b->procs)) || (ret = map_named(b, "scribe_ctl", &b->ctl_map)) ||
	    (ret = map_named(b, "scribe_slot_free", &b->slot_free)) ||
	    (ret = map_named(b, "scribe_proc_free", &b->proc_free)) ||
	    (ret = map_named(b, "scribe_tab_free", &b->tab_free)) ||
	    (ret = map_named(b, "scribe_seg_free", &b->seg_free)) ||
	    (ret = map_named(b, "scribe_heat_free", &b->heat_free)) ||
	    (ret = map_named(b, "scribe_index", &b->index)) || (ret = map_named(b, "scribe_jobs", &b->jobs)))
		return ret;
	b->ctl = b->ctl_map.mem;
	b->descs_fd = map_fd(b, "scribe_descs");
	b->task_fd = map_fd(b, "scribe_task");
	b->tgids_fd = map_fd(b, "scribe_tgids");
	b->excl_fd = map_fd(b, "scribe_excl");
	b->ledger_fd = map_fd(b, "scribe_ledger");
	b->watches_fd = map_fd(b, "scribe_match_index");
	b->possible_cpus = (uint32_t)libbpf_num_possible_cpus();
	ret = events && asked ? scribe_ring_open(&b->ring, events->fd, events->entries) : -ENOENT;
	if (!ret)
		ret = scribe_ring_open(&b->asked, asked->fd, asked->entries);
	if (ret)
		return ret;
	pthread_mutex_init(&b->tails, NULL);
	if (fresh) {
		b->ctl->wire_version = SCRIBE_WIRE_VERSION;
		b->ctl->level = b->level;
		b->ctl->tables_most = b->opt.tables;
		b->ctl->slots_most = b->opt.slots;
		b->ctl->whole = b->opt.whole;
	} else {
		b->opt.tables = b->ctl->tables_most;
		b->opt.slots = b->ctl->slots_most;
		b->opt.whole = b->ctl->whole;
	}
	ret = map_chunks(b);
	if (ret || !fresh)
		return ret;
	/* Index 0 is never used. */
	for (uint32_t i = 1; i <= b->opt.procs; i++)
		scribe_ring_give(b, &b->proc_free, &b->ctl->procs, i);
	ret = scribe_bpf_grow_value_tables(b);
	return ret ? ret : scribe_bpf_jobs_begin(b);
}

static void unmap(struct scribe_bpf_map_info *m)
{
	if (m->mem)
		munmap(m->mem, m->bytes);
}

struct scribe_bpf *scribe_bpf_close_keep_pins(struct scribe_bpf *b)
{
	if (!b)
		return NULL;
	/* It maps chunks: end it before they are unmapped. */
	scribe_grower_stop(b);
	while (b->nlinks)
		close(b->link[--b->nlinks]);
	scribe_ring_close(&b->ring);
	scribe_ring_close(&b->asked);
	scribe_chunks_close(&b->slots);
	scribe_chunks_close(&b->tables);
	scribe_chunks_close(&b->segs);
	scribe_chunks_close(&b->heats);
	unmap(&b->procs);
	unmap(&b->ctl_map);
	unmap(&b->slot_free);
	unmap(&b->proc_free);
	unmap(&b->tab_free);
	unmap(&b->seg_free);
	unmap(&b->heat_free);
	unmap(&b->index);
	unmap(&b->jobs);
	/* After loading, libbpf's object owns these descriptors. */
	for (unsigned i = 0; b->adopted && i < b->nmaps; i++)
		close(b->map[i].fd);
	for (unsigned i = 0; b->adopted && i < b->nprogs; i++)
		close(b->prog[i].fd);
	if (b->skeleton)
		bpf_object__destroy_skeleton(b->skeleton);
	free(b->generated);
	free(b);
	return NULL;
}
