// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loading: choose the object that this kernel takes, create and map its maps,
 * attach, enrol. Must not know names, ranks or logs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/levels.h"
#include "bpf/load_private.h"
#include "bpf/map_calls.h"
#include "bpf/posix.skel.h"
#include "bpf/posix_probe.skel.h"
#include "bpf/refusal.h"
#include "bpf/said.h"
#include "bpf/syscalls.h"

#define SCRIBE_SLOTS_DEFAULT 114688u
#define SCRIBE_SLOTS_MOST (1u << 24)
#define SCRIBE_PROCS_DEFAULT 16384u
#define SCRIBE_RING_LEAST (8u << 20)
#define SCRIBE_RING_MOST (1u << 30)
#define SCRIBE_RING_CPU (512u << 10)
#define SCRIBE_DESCS_LEAST 65536u
#define SCRIBE_DESCS_FEW 16384u /* where somebody is there for what follows from a full table: nothing but time */
#define SCRIBE_DESCS_CPU 2048u

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

/* Fields of both skeletons that are set before loading. */
struct variant {
	struct bpf_object *object;
	struct bpf_object_skeleton *skeleton;
	unsigned char *acts;
	uint32_t *lose_each;
	uint32_t *slot_mask, *proc_mask, *tab_mask, *index_mask;
	void *keep;
};

/* The skeleton types differ by name alone. */
#define VARIANT(type)                                                                                         \
	static int variant_##type(struct variant *v)                                                          \
	{                                                                                                     \
		struct scribe_##type *s = scribe_##type##__open();                                            \
		if (!s)                                                                                       \
			return -errno;                                                                        \
		v->keep = s;                                                                                  \
		v->object = s->obj;                                                                           \
		v->skeleton = s->skeleton;                                                                    \
		v->acts = (unsigned char *)s->rodata->scribe_acts;                                            \
		v->lose_each = (uint32_t *)&s->rodata->scribe_lose_each;                                      \
		v->slot_mask = (uint32_t *)&s->rodata->scribe_slot_mask;                                      \
		v->proc_mask = (uint32_t *)&s->rodata->scribe_proc_mask;                                      \
		v->tab_mask = (uint32_t *)&s->rodata->scribe_tab_mask;                                        \
		v->index_mask = (uint32_t *)&s->rodata->scribe_index_mask;                                    \
		return 0;                                                                                     \
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

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ret = set_entries(v->object, sizes[i].name, sizes[i].entries);
		if (ret)
			return ret;
	}
	*v->slot_mask = slots - 1;
	*v->proc_mask = procs - 1;
	*v->index_mask = power_of_two(2 * o->slots) - 1;
	*v->tab_mask = tables - 1;
	*v->lose_each = o->lose_each;
	scribe_syscalls_fill(v->acts, 512);
	return 0;
}

static int load_level(struct scribe_bpf *b, const struct scribe_bpf_level_row *row, const struct btf *btf,
		      bool preempted, struct scribe_err *err)
{
	struct variant v = {0};
	int ret;

	scribe_said_begin(b->opt.verbose);
	ret = row->probe_reads ? variant_posix_probe(&v) : variant_posix(&v);
	if (ret)
		return scribe_refused(err, ret, SCRIBE_STEP_LOAD, NULL, NULL);
	ret = set_sizes(&v, &b->opt);
	if (!ret)
		ret = scribe_bpf_level_choose(row, v.object, btf, preempted, b->opt.nobody_joins);
	if (!ret)
		ret = bpf_object__load_skeleton(v.skeleton);
	if (ret) {
		bpf_object__destroy_skeleton(v.skeleton);
		free(v.keep);
		return scribe_refused(err, ret, SCRIBE_STEP_LOAD, NULL, NULL);
	}
	b->object = v.object;
	b->skeleton = v.skeleton;
	b->keep = v.keep;
	b->level = row->level;
	return 0;
}

static void lacks(const struct scribe_bpf_level_row *row, int code, struct scribe_err *err)
{
	char what[64];
	int event = scribe_bpf_level_event(row);

	snprintf(what, sizeof(what), "attach = %s", row->name);
	if (event < 0)
		scribe_refused(err, event, SCRIBE_STEP_EVENT, what, NULL);
	else
		scribe_err_set(err, code, "%s: this kernel has no %s", what, row->kfunc ? row->kfunc : "such way");
}

/* The first level that this kernel takes, or the one that is asked for. */
static int load_programs(struct scribe_bpf *b, enum scribe_bpf_level level, struct scribe_err *err)
{
	const struct scribe_bpf_level_row *row;
	struct btf *btf = btf__load_vmlinux_btf();
	int ret = -ENOTSUP;
	struct scribe_preempted preempts;
	bool refused = false;

	if (!btf)
		return scribe_refused(err, -errno, SCRIBE_STEP_TYPES, NULL, NULL);
	preempts = scribe_bpf_preempts(btf);
	for (size_t i = 0; ret && (row = scribe_bpf_level_in_order(i, preempts.calls)); i++) {
		if (level != SCRIBE_BPF_AUTO && level != row->level)
			continue;
		if (!scribe_bpf_level_fits(row, btf)) {
			/* the words of one that was tried say more */
			if (!refused)
				lacks(row, ret, err);
			continue;
		}
		ret = load_level(b, row, btf, preempts.others, err);
		refused = ret < 0;
		/* Programs at functions may be refused where those at tracepoints are not. */
		if ((ret == -EPERM && row->level != SCRIBE_BPF_FENTRY) || ret == -ENOMEM)
			break;
	}
	btf__free(btf);
	return ret;
}

const struct scribe_named *scribe_bpf_map(const struct scribe_bpf *b, const char *name)
{
	for (unsigned i = 0; i < b->nmaps; i++)
		if (!strcmp(b->map[i].name, name))
			return &b->map[i];
	return NULL;
}

static int map_fd(struct scribe_bpf *b, const char *name)
{
	const struct scribe_named *m = scribe_bpf_map(b, name);

	return m ? m->fd : -ENOENT;
}

/* What the object holds, by name. Constants and the like have a '.' in theirs. */
static int list_object(struct scribe_bpf *b)
{
	struct bpf_program *prog;
	struct bpf_map *map;

	bpf_object__for_each_map(map, b->object) {
		struct scribe_named *m = &b->map[b->nmaps];

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
	bpf_object__for_each_program(prog, b->object) {
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

int scribe_bpf_map_memory(int fd, uint32_t entries, uint32_t value_bytes, struct scribe_map *ret_map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes;

	ret_map->fd = fd;
	ret_map->entries = entries;
	ret_map->value_bytes = (value_bytes + 7) / 8 * 8;
	bytes = ((size_t)entries * ret_map->value_bytes + page - 1) / page * page;
	ret_map->mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ret_map->mem == MAP_FAILED) {
		ret_map->mem = NULL;
		return -errno;
	}
	ret_map->bytes = bytes;
	return 0;
}

static int map_named(struct scribe_bpf *b, const char *name, struct scribe_map *ret_map)
{
	const struct scribe_named *m = scribe_bpf_map(b, name);

	if (!m)
		return -ENOENT;
	return scribe_bpf_map_memory(m->fd, m->entries, m->value_bytes, ret_map);
}

static int map_chunks(struct scribe_bpf *b)
{
	int slots = map_fd(b, "scribe_slots"), tables = map_fd(b, "scribe_tables"), ret;

	if (slots < 0 || tables < 0)
		return -ENOENT;
	ret = scribe_chunks_open(&b->slots, slots, b->opt.slots / SCRIBE_SLOTS_CHUNK + 1, SCRIBE_SLOTS_CHUNK,
				 sizeof(struct scribe_slot));
	if (!ret)
		ret = scribe_chunks_open(&b->tables, tables, SCRIBE_TABLE_CHUNKS_MAX, SCRIBE_TABLES_CHUNK,
					 sizeof(struct scribe_value_table));
	if (!ret && b->adopted)
		ret = scribe_pins_chunks(b, &b->slots, SCRIBE_SLOT_CHUNK_PIN);
	if (!ret && b->adopted)
		ret = scribe_pins_chunks(b, &b->tables, SCRIBE_TABLE_CHUNK_PIN);
	return ret;
}

int scribe_bpf_map_all(struct scribe_bpf *b, bool fresh)
{
	const struct scribe_named *events = scribe_bpf_map(b, "scribe_events");
	const struct scribe_named *asked = scribe_bpf_map(b, "scribe_asked");
	int ret;

	if ((ret = map_named(b, "scribe_procs", &b->procs)) ||
	    (ret = map_named(b, "scribe_ctl", &b->ctl_map)) ||
	    (ret = map_named(b, "scribe_slot_free", &b->slot_free)) ||
	    (ret = map_named(b, "scribe_proc_free", &b->proc_free)) ||
	    (ret = map_named(b, "scribe_tab_free", &b->tab_free)) ||
	    (ret = map_named(b, "scribe_index", &b->index)) ||
	    (ret = map_named(b, "scribe_jobs", &b->jobs)))
		return ret;
	b->ctl = b->ctl_map.mem;
	b->descs_fd = map_fd(b, "scribe_descs");
	b->task_fd = map_fd(b, "scribe_task");
	b->tgids_fd = map_fd(b, "scribe_tgids");
	b->excl_fd = map_fd(b, "scribe_excl");
	b->ledger_fd = map_fd(b, "scribe_ledger");
	b->watches_fd = map_fd(b, "scribe_watches");
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
	for (uint32_t i = 1; i <= b->opt.procs; i++)
		scribe_ring_give(b, &b->proc_free, &b->ctl->procs, i);
	ret = scribe_bpf_grow(b);
	return ret ? ret : scribe_bpf_jobs_begin(b);
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
	names = (uint64_t)o->slots * SCRIBE_RING_NAME + SCRIBE_RING_OTHERS;
	if (!o->whole && names > (uint64_t)SCRIBE_RING_CPU * (unsigned)libbpf_num_possible_cpus())
		names = (uint64_t)SCRIBE_RING_CPU * (unsigned)libbpf_num_possible_cpus();
	if (!o->ring_bytes)
		o->ring_bytes = names < SCRIBE_RING_LEAST  ? SCRIBE_RING_LEAST
				: names < SCRIBE_RING_MOST ? (uint32_t)names
							   : SCRIBE_RING_MOST;
	o->ring_bytes = power_of_two(o->ring_bytes);
}

int scribe_bpf_open(const struct scribe_bpf_options *options, struct scribe_bpf **ret_bpf,
		    struct scribe_err *err)
{
	struct scribe_bpf *b;
	int ret;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return scribe_refused(err, -errno, SCRIBE_STEP_TYPES, NULL, NULL);
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
			scribe_refused(err, ret, SCRIBE_STEP_MEMORY, NULL, NULL);
	}
	if (ret) {
		scribe_bpf_free(b);
		return ret;
	}
	*ret_bpf = b;
	return 0;
}

static void unmap(struct scribe_map *m)
{
	if (m->mem)
		munmap(m->mem, m->bytes);
}

struct scribe_bpf *scribe_bpf_leave(struct scribe_bpf *b)
{
	if (!b)
		return NULL;
	scribe_grower_stop(b);
	while (b->nlinks)
		close(b->link[--b->nlinks]);
	scribe_ring_close(&b->ring);
	scribe_ring_close(&b->asked);
	scribe_chunks_close(&b->slots);
	scribe_chunks_close(&b->tables);
	unmap(&b->procs);
	unmap(&b->ctl_map);
	unmap(&b->slot_free);
	unmap(&b->proc_free);
	unmap(&b->tab_free);
	unmap(&b->index);
	unmap(&b->jobs);
	for (unsigned i = 0; b->adopted && i < b->nmaps; i++)
		close(b->map[i].fd);
	for (unsigned i = 0; b->adopted && i < b->nprogs; i++)
		close(b->prog[i].fd);
	if (b->skeleton)
		bpf_object__destroy_skeleton(b->skeleton);
	free(b->keep);
	free(b);
	return NULL;
}

struct scribe_bpf *scribe_bpf_free(struct scribe_bpf *b)
{
	if (!b)
		return NULL;
	scribe_bpf_detach(b);
	if (b->pins[0])
		scribe_bpf_remove_pins(b->pins);
	return scribe_bpf_leave(b);
}

int scribe_bpf_attach(struct scribe_bpf *b, struct scribe_err *err)
{
	for (unsigned i = 0; i < b->nprogs && !(i == 0 && b->nlinks); i++) {
		const char *name = b->prog[i].name;
		int fd = scribe_bpf_attach_program(name, b->prog[i].fd), rc = fd < 0 ? fd : 0;

		if (rc == 0) {
			snprintf(b->link_name[b->nlinks], sizeof(b->link_name[0]), "%s", name);
			b->link[b->nlinks++] = fd;
			rc = scribe_bpf_pin(b, "links", name, fd);
		}
		if (rc < 0) {
			scribe_bpf_detach(b);
			return scribe_refused(err, rc, SCRIBE_STEP_ATTACH, name, NULL);
		}
	}
	return 0;
}

bool scribe_bpf_attached(const struct scribe_bpf *b)
{
	return b->nlinks != 0;
}

void scribe_bpf_detach(struct scribe_bpf *b)
{
	while (b->nlinks) {
		b->nlinks--;
		scribe_bpf_unpin(b, "links", b->link_name[b->nlinks]);
		close(b->link[b->nlinks]);
	}
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

/* A free process entry; the kernel takes from the same ring. */
static uint32_t proc_take(struct scribe_bpf *b)
{
	struct scribe_ring_ctl *c = &b->ctl->procs;

	for (int i = 0; i < 1000; i++) {
		uint32_t head = __atomic_load_n(&c->head, __ATOMIC_ACQUIRE), index;

		if (head == c->tail)
			return 0;
		index = *scribe_ring_entry(&b->proc_free, head);
		if (__sync_bool_compare_and_swap(&c->head, head, head + 1))
			return index;
	}
	return 0;
}

int scribe_bpf_enrol(struct scribe_bpf *b, pid_t pid, uint32_t job, uint32_t *ret_index, uint32_t *ret_serial,
		     struct scribe_err *err)
{
	struct bpf_map_info info = {0};
	uint32_t info_bytes = sizeof(info), index, *value;
	struct scribe_proc *p;
	int fd, ret;

	if (job >= SCRIBE_JOBS_MAX)
		return scribe_err_set(err, -EINVAL, "process %d: no job %u", (int)pid, job);
	index = proc_take(b);
	if (!index)
		return scribe_err_set(err, -EAGAIN, "process %d: the process table is full", (int)pid);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0) {
		scribe_ring_give(b, &b->proc_free, &b->ctl->procs, index);
		return scribe_err_set(err, -errno, "process %d: %s", (int)pid, strerror(errno));
	}
	p = scribe_bpf_proc(b, index);
	memset(p, 0, sizeof(*p));
	p->job = job;
	p->mem_align = scribe_job_of(b, job)->mem_align;
	p->tgid = (uint32_t)pid;
	p->threads = 1;
	p->serial = __sync_fetch_and_add(&b->ctl->next_serial, 1) + 1;
	ret = bpf_obj_get_info_by_fd(b->task_fd, &info, &info_bytes);
	value = ret ? NULL : calloc(1, info.value_size);
	if (!value) {
		ret = -ENOMEM;
	} else {
		value[0] = index; /* struct scribe_thread begins with these */
		value[1] = p->serial;
		value[2] = p->mem_align;
		ret = scribe_map_update(b->task_fd, &fd, value, BPF_NOEXIST) ? -errno : 0;
	}
	free(value);
	close(fd);
	if (ret) {
		p->serial = 0;
		scribe_ring_give(b, &b->proc_free, &b->ctl->procs, index);
		return scribe_err_set(err, ret, "process %d: cannot be enrolled: %s", (int)pid, strerror(-ret));
	}
	__sync_fetch_and_add(&scribe_job_of(b, job)->proc_used, 1);
	scribe_map_update(b->tgids_fd, &p->tgid, &(uint32_t[2]){index, p->serial}, BPF_ANY);
	*ret_index = index;
	*ret_serial = p->serial;
	return 0;
}

struct scribe_proc *scribe_bpf_proc(struct scribe_bpf *b, uint32_t index)
{
	return index < b->procs.entries ? (struct scribe_proc *)b->procs.mem + index : NULL;
}

struct scribe_slot *scribe_bpf_slot(struct scribe_bpf *b, uint32_t index)
{
	return scribe_chunks_at(&b->slots, index);
}
