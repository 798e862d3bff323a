// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loads the object for this kernel and creates its maps: direct loads or probe reads, attach modes tried in
 * order. Main thread. Must not know how maps are used, names, ranks or logs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/posix.skel.h"
#include "bpf/posix_probe.skel.h"
#include "bpf/user/levels.h"
#include "bpf/user/libbpf_log.h"
#include "bpf/user/load_private.h"
#include "bpf/user/refusal.h"
#include "bpf/user/side_by_side.h"
#include "bpf/user/syscall_table.h"

#define SCRIBE_SLOTS_DEFAULT 114688u
#define SCRIBE_SLOTS_MOST    (1u << 24)
#define SCRIBE_PROCS_DEFAULT 16384u
#define SCRIBE_RING_LEAST    (8u << 20)
#define SCRIBE_RING_MOST     (1u << 30)
#define SCRIBE_RING_CPU      (512u << 10)
#define SCRIBE_DESCS_LEAST   65536u
#define SCRIBE_DESCS_FEW     16384u /* with a daemon running a full table only costs time */
#define SCRIBE_DESCS_CPU     2048u

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

struct variant {
	struct bpf_object *object;
	struct bpf_object_skeleton *skeleton;
	unsigned char *classes;
	uint32_t *lose_each, *streams_reported;
	uint32_t *slot_mask, *proc_mask, *tab_mask, *index_mask, *page_bytes;
	void *generated;
};

/* The skeleton types differ only in name. */
#define VARIANT(type) \
	static int variant_##type(struct variant *v) \
	{ \
		struct scribe_##type *s = scribe_##type##__open(); \
		if (!s) \
			return -errno; \
		v->generated = s; \
		v->object = s->obj; \
		v->skeleton = s->skeleton; \
		v->classes = (unsigned char *)s->rodata->scribe_syscall_classes; \
		v->lose_each = (uint32_t *)&s->rodata->scribe_lose_each; \
		v->streams_reported = (uint32_t *)&s->rodata->scribe_shm_counters_reported; \
		v->slot_mask = (uint32_t *)&s->rodata->scribe_slot_mask; \
		v->proc_mask = (uint32_t *)&s->rodata->scribe_proc_mask; \
		v->tab_mask = (uint32_t *)&s->rodata->scribe_tab_mask; \
		v->index_mask = (uint32_t *)&s->rodata->scribe_index_mask; \
		v->page_bytes = (uint32_t *)&s->rodata->scribe_page_bytes; \
		return 0; \
	}

VARIANT(posix)
VARIANT(posix_probe)

static int set_entries(struct bpf_object *object, const char *name, uint32_t entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map ? bpf_map__set_max_entries(map, entries) : -ENOENT;
}

static uint32_t descs_of(const struct scribe_bpf_options *o)
{
	uint32_t most = o->slots > SCRIBE_DESCS_LEAST ? o->slots : SCRIBE_DESCS_LEAST;
	uint32_t few = SCRIBE_DESCS_CPU * (uint32_t)libbpf_num_possible_cpus();

	few = few > SCRIBE_DESCS_FEW ? few : SCRIBE_DESCS_FEW;
	/* Pinned: while no daemon runs, nothing removes entries. */
	return o->whole || few > most ? most : few;
}

static int set_sizes(struct variant *v, const struct scribe_bpf_options *o)
{
	uint32_t slots = power_of_two(o->slots + 1), procs = power_of_two(o->procs + 1);
	uint32_t tables = power_of_two(o->tables + SCRIBE_TABLES_CHUNK);
	const struct {
		const char *name;
		uint32_t entries;
	} sizes[] = {
		{"scribe_slots", o->slots / SCRIBE_SLOTS_CHUNK + 1},
		{"scribe_procs", o->procs + 1},
		{"scribe_slot_free", slots / 2},
		{"scribe_proc_free", procs / 2},
		{"scribe_tab_free", tables / 2},
		{"scribe_tgids", o->procs},
		{"scribe_index", power_of_two(2 * o->slots)},
		{"scribe_descs", descs_of(o)},
		{"scribe_events", o->ring_bytes},
		{"scribe_asked", (uint32_t)sysconf(_SC_PAGESIZE)},
	};
	int ret;

	/* Powers of two, because programs mask positions with constants. */
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ret = set_entries(v->object, sizes[i].name, sizes[i].entries);
		if (ret)
			return ret;
	}
	*v->slot_mask = slots - 1;
	*v->proc_mask = procs - 1;
	*v->index_mask = power_of_two(2 * o->slots) - 1;
	*v->tab_mask = tables - 1;
	*v->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	*v->lose_each = o->lose_each;
	*v->streams_reported = o->streams_reported;
	scribe_syscalls_fill(v->classes, 512);
	return 0;
}

enum loading { SIDE_BY_SIDE, ONE_BY_ONE, WITHOUT_CACHE };

static int prepare(struct scribe_bpf *b, const struct scribe_bpf_level_row *row, const struct btf *btf,
		   struct scribe_preempted preempted, enum loading how, struct variant *v)
{
	int ret = row->probe_reads ? variant_posix_probe(v) : variant_posix(v);

	if (!ret)
		ret = set_sizes(v, &b->opt);
	if (!ret)
		ret = scribe_bpf_level_choose(row, v->object, btf, preempted, b->opt.nobody_joins);
	if (!ret)
		b->cache = scribe_bpf_cache_choose(v->object, btf, preempted, how != WITHOUT_CACHE);
	return ret ? ret : scribe_side_by_side_targets(v->object);
}

static int load_level(struct scribe_bpf *b, const struct scribe_bpf_level_row *row, const struct btf *btf,
		      struct scribe_preempted preempted, enum loading how, struct scribe_err *err)
{
	struct scribe_side_by_side side = {0};
	struct variant v = {0};
	int ret = 0;

	scribe_said_begin(b->opt.verbose);
	if (how == SIDE_BY_SIDE)
		ret = scribe_side_by_side_begin(&side);
	if (!ret)
		ret = prepare(b, row, btf, preempted, how, &v);
	if (!ret)
		ret = bpf_object__load_skeleton(v.skeleton);
	ret = scribe_side_by_side_end(&side, ret);
	if (ret) {
		if (v.skeleton)
			bpf_object__destroy_skeleton(v.skeleton);
		free(v.generated);
		return scribe_refused(err, ret, SCRIBE_STEP_LOAD, NULL);
	}
	b->object = v.object;
	b->skeleton = v.skeleton;
	b->generated = v.generated;
	b->level = row->level;
	return 0;
}

static void lacks(const struct scribe_bpf_level_row *row, int code, struct scribe_err *err)
{
	char what[64];
	int event = scribe_bpf_level_event(row);

	snprintf(what, sizeof(what), "bpf_attach_mode = %s", row->name);
	if (event < 0)
		scribe_refused(err, event, SCRIBE_STEP_EVENT, what);
	else
		scribe_err_set(err, code, "%s: this kernel has no %s", what, row->kfunc ? row->kfunc : "such way");
}

static int skips(const struct scribe_bpf_level_row *row, struct scribe_err *err)
{
	return scribe_err_set(err, -ENOTSUP,
			      "bpf_attach_mode = %s: calls would be lost, since this kernel preempts its programs: "
			      "bpf_attach_mode = auto takes a way that loses none",
			      row->name);
}

static int load_programs(struct scribe_bpf *b, enum scribe_bpf_level level, struct scribe_err *err)
{
	const struct scribe_bpf_level_row *row;
	struct btf *btf = btf__load_vmlinux_btf();
	int ret = -ENOTSUP;
	struct scribe_preempted preempts;
	bool refused = false;

	if (!btf)
		return scribe_refused(err, -errno, SCRIBE_STEP_TYPES, NULL);
	preempts = scribe_bpf_preempts(btf);
	for (size_t i = 0; ret && (row = scribe_bpf_level_in_order(i, preempts)); i++) {
		if (level != SCRIBE_BPF_AUTO && level != row->level)
			continue;
		if (!scribe_bpf_level_fits(row, btf)) {
			/* the error of a mode that was tried is more precise */
			if (!refused)
				lacks(row, ret, err);
			continue;
		}
		if (level == row->level && !b->opt.inexact && scribe_bpf_level_skips(row, preempts)) {
			ret = skips(row, err);
			break;
		}
		ret = load_level(b, row, btf, preempts, SIDE_BY_SIDE, err);
		/* libbpf keeps the verifier's text, and one verification takes less memory than all */
		if (ret < 0 && ret != -EINTR)
			ret = load_level(b, row, btf, preempts, ONE_BY_ONE, err);
		/* A kernel may refuse what few need. */
		if (ret < 0 && ret != -EPERM && ret != -ENOMEM && ret != -EINTR)
			ret = load_level(b, row, btf, preempts, WITHOUT_CACHE, err);
		refused = ret < 0;
		/* Another mode would fail in the same way. */
		if (ret == -EPERM || ret == -ENOMEM)
			break;
	}
	btf__free(btf);
	return ret;
}

static int list_object(struct scribe_bpf *b)
{
	struct bpf_program *prog;
	struct bpf_map *map;

	bpf_object__for_each_map(map, b->object)
	{
		struct scribe_named *m = &b->map[b->nmaps];

		/* Internal maps such as .rodata contain a '.'. */
		if (strchr(bpf_map__name(map), '.'))
			continue;
		if (++b->nmaps == SCRIBE_MAPS_MAX)
			return -E2BIG;
		snprintf(m->name, sizeof(m->name), "%s", bpf_map__name(map));
		m->fd = bpf_map__fd(map);
		m->type = bpf_map__type(map);
		m->entries = bpf_map__max_entries(map);
		m->value_bytes = bpf_map__value_size(map);
	}
	bpf_object__for_each_program(prog, b->object)
	{
		struct scribe_named *m = &b->prog[b->nprogs];

		if (!bpf_program__autoload(prog))
			continue;
		if (++b->nprogs == SCRIBE_PROGS_MAX)
			return -E2BIG;
		snprintf(m->name, sizeof(m->name), "%s", bpf_program__name(prog));
		m->fd = bpf_program__fd(prog);
	}
	return 0;
}

static void fill_defaults(struct scribe_bpf_options *o)
{
	uint64_t names;

	if (!o->slots)
		o->slots = SCRIBE_SLOTS_DEFAULT;
	if (o->slots > SCRIBE_SLOTS_MOST)
		o->slots = SCRIBE_SLOTS_MOST;
	if (!o->procs)
		o->procs = SCRIBE_PROCS_DEFAULT;
	if (!o->tables)
		o->tables = 2 * o->slots;
	if (o->tables > SCRIBE_TABLES_CHUNK * (SCRIBE_TABLE_CHUNKS_MAX - 1))
		o->tables = SCRIBE_TABLES_CHUNK * (SCRIBE_TABLE_CHUNKS_MAX - 1);
	o->whole = o->whole || o->pins;
	/* Pinned, the ring must hold all names while no daemon drains it. */
	names = (uint64_t)o->slots * SCRIBE_RING_NAME + SCRIBE_RING_OTHERS + SCRIBE_RING_ENV;
	if (!o->whole && names > (uint64_t)SCRIBE_RING_CPU * (unsigned)libbpf_num_possible_cpus())
		names = (uint64_t)SCRIBE_RING_CPU * (unsigned)libbpf_num_possible_cpus();
	if (!o->ring_bytes)
		o->ring_bytes = names < SCRIBE_RING_LEAST  ? SCRIBE_RING_LEAST
				: names < SCRIBE_RING_MOST ? (uint32_t)names
							   : SCRIBE_RING_MOST;
	o->ring_bytes = power_of_two(o->ring_bytes);
}

struct scribe_bpf *scribe_bpf_free(struct scribe_bpf *b)
{
	if (!b)
		return NULL;
	scribe_bpf_detach(b);
	if (b->pins[0])
		scribe_bpf_remove_pins(b->pins);
	return scribe_bpf_close_keep_pins(b);
}

int scribe_bpf_open(const struct scribe_bpf_options *options, struct scribe_bpf **ret_bpf, struct scribe_err *err)
{
	struct scribe_bpf *b;
	int ret;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return scribe_refused(err, -errno, SCRIBE_STEP_TYPES, NULL);
	b = calloc(1, sizeof(*b));
	if (!b)
		return scribe_err_set(err, -ENOMEM, "no memory for the loader");
	b->opt = *options;
	fill_defaults(&b->opt);
	ret = load_programs(b, options->level, err);
	if (!ret) {
		ret = list_object(b);
		if (!ret && options->pins) {
			snprintf(b->pins, sizeof(b->pins), "%s", options->pins);
			b->opt.pins = NULL; /* the caller's */
			ret = scribe_pins_all(b, err);
			if (ret) {
				scribe_bpf_free(b);
				return ret;
			}
		}
		if (!ret)
			ret = scribe_bpf_map_all(b, true);
		if (ret)
			scribe_refused(err, ret, SCRIBE_STEP_MEMORY, NULL);
		else
			b->ctl->cache = b->cache;
	}
	if (ret) {
		scribe_bpf_free(b);
		return ret;
	}
	*ret_bpf = b;
	return 0;
}

enum scribe_bpf_level scribe_bpf_chosen(const struct scribe_bpf *b)
{
	return b->level;
}

bool scribe_bpf_probe_reads(const struct scribe_bpf *b)
{
	const struct scribe_bpf_level_row *row = scribe_bpf_level_row(b->level);

	return !row || row->probe_reads;
}
