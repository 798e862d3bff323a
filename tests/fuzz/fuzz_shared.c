/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory in which programs count, shared with the daemon: a play of what two programs write into it, of what the
 * kernel says of its places, and of the daemon's looks. Whatever stands there: only records that the kernel has
 * named get numbers, each use once, they become records of a log, a look takes a bounded number of calls, and no
 * descriptor stays. Operations from rings are such as there can be.
 */
#include <stddef.h>

#include "logfmt/base/clock.h"
#include "logfmt/counters/module.h"
#include "logfmt/records/lib_finish.h"
#include "runtime/daemon/model/standard_streams.h"
#include "runtime/daemon/operations/segments_private.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/programs/shm_segments.h"
#include "runtime/daemon/tables/heatmaps.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

#define STEPS_MAX 200
#define PROGRAMS  2
#define MEMORIES  3
#define LABELS    4
/* Of a memory: its head; each of its places, and all tries beyond the first; its rings. */
#define READS_MAX (5 + 3 * (200 + 9) + 2 * (4 + RINGS * (SCRIBE_SHM_RING_SEGMENTS / 256 + 1)))
#define RINGS     2
#define TRACES    (1u << 20) /* bytes */

static struct fuzz_input in;
static struct scribe_daemon d;
static struct scribe_job w;
static struct scribe_log_unit unit;
static struct scribe_rank rank;
static struct scribe_process process[PROGRAMS];
static struct scribe_slot_name slots[LABELS];
static struct scribe_name_entry label[LABELS];
static struct scribe_segments traced;
static int memory[MEMORIES];
static unsigned reads; /* of the daemon's, in this step */
static uint32_t named; /* bit i: the kernel has said label i of a place; LABELS bits further: as a file */

ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t where);
ssize_t __real_pread(int fd, void *bytes, size_t n, off_t where);

ssize_t __wrap_pread(int fd, void *bytes, size_t n, off_t where)
{
	reads++;
	return __real_pread(fd, bytes, n, where);
}

static unsigned byte(void)
{
	return fuzz_byte(&in);
}

static size_t take(void *to, size_t cap)
{
	return fuzz_take(&in, to, cap);
}

static uint32_t place_number(void)
{
	static const uint32_t odd[] = {SCRIBE_SHM_COUNTERS_MAX - 1, SCRIBE_SHM_COUNTERS_MAX, UINT32_MAX, 4000};
	unsigned b = byte();

	return b & 0x80 ? odd[b % 4] : b % 4;
}

/* ---- the programs ---- */

/* It asks, and has what it got instead of what it had: its size and seals cannot be changed. */
static void ask(int i, struct scribe_process *p, uint32_t id, uint64_t made_ns)
{
	const struct scribe_msg_streams m = {.id = id, .made_ns = made_ns};
	int fd = scribe_shm_counters_make(&d, p, &m);

	if (fd < 0)
		return;
	if (memory[i] >= 0)
		close(memory[i]);
	memory[i] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (memory[i] < 0 || !ftruncate(memory[i], (off_t)sizeof(struct scribe_shm_counters) / 2) ||
	    !fcntl(memory[i], F_ADD_SEALS, F_SEAL_WRITE))
		abort();
}

static void put(int i, size_t where, const void *bytes, size_t n)
{
	(void)!pwrite(memory[i], bytes, n, (off_t)where); /* it may have none */
}

static void put_number(int i, size_t where, uint32_t value)
{
	put(i, where, &value, sizeof(value));
}

/* As its program would have it: `used`, a use that is open or closed, numbers of the input. */
static void write_place(int i)
{
	uint32_t n = byte() % 4, gen = byte() % 4;
	struct scribe_counter_slot s = {0};
	struct scribe_stream_more more = {0};

	take(&s.shard[0], byte());
	take(&more, byte());
	s.shard[byte() % SCRIBE_STREAM_SHARDS].events = 1 + byte();
	put_number(i, offsetof(struct scribe_shm_counters, used), 4);
	put_number(i, offsetof(struct scribe_shm_counters, gen) + n * 4, gen);
	put_number(i, offsetof(struct scribe_shm_counters, closed) + n * 4, byte() & 1 ? gen : 0);
	put(i, offsetof(struct scribe_shm_counters, stream) + n * sizeof(s), &s, sizeof(s));
	put(i, offsetof(struct scribe_shm_counters, more) + n * sizeof(more), &more, sizeof(more));
}

static uint64_t odd_number(void)
{
	static const uint64_t odd[] = {0,
				       1,
				       SCRIBE_SHM_RING_SEGMENTS - 1,
				       SCRIBE_SHM_RING_SEGMENTS,
				       SCRIBE_SHM_RING_SEGMENTS + 1,
				       INT64_MAX,
				       UINT64_MAX,
				       UINT64_MAX - 1};
	unsigned b = byte();

	return b & 0x80 ? odd[b % 8] : b;
}

/* Operations one by one. */
static void write_ring(int i)
{
	const uint32_t n = byte() % RINGS;
	struct scribe_shm_ring ring = {.owner = 1, .put = odd_number(), .taken = odd_number(), .lost = odd_number()};
	struct scribe_shm_segment s;

	put(i, offsetof(struct scribe_shm_counters, ring) + n * sizeof(ring), &ring, sizeof(ring));
	for (uint32_t k = byte() % 8; k; k--) {
		s = (struct scribe_shm_segment){.offset = (int64_t)odd_number(),
						.bytes = odd_number(),
						.start_ns = odd_number(),
						.end_ns = odd_number(),
						.entry = place_number(),
						.gen = byte() % 4,
						.op = byte()};
		put(i,
		    offsetof(struct scribe_shm_counters, segment) +
			    (n * SCRIBE_SHM_RING_SEGMENTS + odd_number() % SCRIBE_SHM_RING_SEGMENTS) * sizeof(s),
		    &s, sizeof(s));
	}
}

/* Any bytes in the head or in a place. */
static void write_anything(int i)
{
	static const size_t fields[] = {
		offsetof(struct scribe_shm_counters, magic),  offsetof(struct scribe_shm_counters, used),
		offsetof(struct scribe_shm_counters, lost),   offsetof(struct scribe_shm_counters, gen),
		offsetof(struct scribe_shm_counters, closed), offsetof(struct scribe_shm_counters, taken),
		offsetof(struct scribe_shm_counters, stream), offsetof(struct scribe_shm_counters, more)};
	char bytes[64];
	size_t where = fields[byte() % 8] + byte() * 8, n = take(bytes, byte() % sizeof(bytes));

	put(i, where, bytes, n);
}

static void program(void)
{
	unsigned b = byte();
	int i = (int)(b / 4 % MEMORIES);

	switch (b % 4) {
	case 0:
		if (b & 0x40)
			write_ring(i);
		else
			write_anything(i);
		break;
	case 1:
	case 2: /* pages are gone */
		(void)!fallocate(memory[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)byte() << 12,
				 1 + (off_t)(b & 0xc0) * 4096);
		break;
	default:
		write_place(i);
	}
}

/* ---- the kernel ---- */

static void announce(struct scribe_process *p)
{
	struct scribe_ev_stream e = {.memory = byte() % 4, .index = place_number(), .use = byte() % 4};

	e.is_file = byte() % 3 > 1;
	e.slot = byte() % LABELS;
	e.generation = byte() & 1;
	if (!e.slot && e.generation)
		e.is_file = 0; /* a standard stream: never a file of MPI-IO */
	if (slots[e.slot].generation == e.generation)
		named |= 1u << (e.slot + (e.is_file ? LABELS : 0));
	scribe_shm_counters_announced(&d, p, &e);
}

/* ---- the daemon ---- */

static void asked(struct scribe_process *p)
{
	const uint32_t id = byte() % 4;

	ask(byte() % MEMORIES, p, id, byte());
}

static void known(struct scribe_process *p)
{
	struct scribe_stream_use use = {.memory = byte() % 4, .index = place_number(), .gen = byte() % 4};
	uint32_t slot = byte() % LABELS;

	use.file = byte() & 1;
	if (byte() & 1) {
		scribe_shm_counters_known_taken(&d, p, &use);
		return;
	}
	if (slots[slot].generation == 0)
		named |= 1u << (slot + (use.file ? LABELS : 0));
	(void)scribe_shm_counters_known(&d, p, &use, slot, 0);
}

static void step(void)
{
	unsigned b = byte();
	struct scribe_process *p = &process[b / 16 % PROGRAMS];
	uint32_t memories;

	memories = d.nmemories + 1; /* some may go, one come */
	reads = 0;
	switch (b % 10) {
	case 0:
	case 1:
	case 2:
		program();
		break;
	case 3:
		asked(p);
		break;
	case 4:
	case 5:
		announce(p);
		break;
	case 6:
		scribe_shm_counters_sweep(&d);
		break;
	case 7:
		if (scribe_shm_counters_take(&d, p, rank.records) < 0)
			abort();
		break;
	case 8:
		if (b & 0x80)
			scribe_shm_counters_forget(&d, p);
		else if (scribe_shm_counters_replaced(&d, p, rank.records, byte()) < 0)
			abort();
		break;
	default:
		known(p);
	}
	if (reads > memories * READS_MAX)
		abort();
}

/* ---- what has come of it ---- */

static void check_record(const struct scribe_file_record *f)
{
	union scribe_lib_record record, twice[2];
	size_t n, slot = 0;
	char *elem;

	while (slot < LABELS && label[slot].id != f->id)
		slot++;
	if (scribe_is_standard_stream(f->id)) {
		if (f->module != SCRIBE_MOD_STDIO)
			abort();
	} else if (slot == LABELS || (f->module != SCRIBE_MOD_STDIO && f->module != SCRIBE_MOD_MPIIO) ||
		   !(named >> (slot + (f->module == SCRIBE_MOD_MPIIO ? LABELS : 0)) & 1) || label[slot].excluded) {
		abort();
	}
	n = scribe_lib_record_make(f->module, &f->acc, f->id, 0, 1, 0, NULL, NULL, &record);
	if (n == 0 || n != scribe_record_length(f->module, &record, n))
		abort();
	fuzz_touch(&record, n);
	elem = malloc(2 * scribe_reduction_bytes(f->module));
	twice[0] = twice[1] = record;
	if (!elem || scribe_reduction_begin(f->module, &twice[0], elem) ||
	    scribe_reduction_begin(f->module, &twice[1], elem + scribe_reduction_bytes(f->module)))
		abort();
	scribe_reduction_join(f->module, elem, elem + scribe_reduction_bytes(f->module));
	scribe_reduction_end(f->module, elem, &record);
	free(elem);
}

static void check_track(struct scribe_track *t, unsigned side)
{
	const uint64_t now = scribe_now_ns();
	struct scribe_segmerge m;
	struct scribe_seg s;
	uint64_t n = 0, before = 0;

	if (scribe_segmerge_begin(&m, &t, 1, side) < 0)
		abort();
	for (; scribe_segmerge_next(&m, &s) > 0; n++) {
		if (s.offset < -1 || s.bytes > SCRIBE_CALL_BYTES || s.start_ns < before || s.end_ns < s.start_ns ||
		    s.end_ns > now || (s.offset > 0 && s.offset > INT64_MAX - (int64_t)s.bytes))
			abort();
		before = s.start_ns;
	}
	if (n != t->side[side].n)
		abort();
	scribe_segmerge_end(&m);
}

/* Operations are of places that the kernel has named as files. */
static void check_traced(void)
{
	for (size_t i = 0; i < traced.by_slot.buckets; i++) {
		struct scribe_traced *e = traced.by_slot.entry[i].value;
		const uint32_t slot = (uint32_t)traced.by_slot.entry[i].key;

		if (!e)
			continue;
		/* a slot of no name has no record: what is kept of it goes nowhere */
		if (slot >= LABELS || e->state != SCRIBE_TRACED_UNBOUND)
			abort();
		check_track(&e->track, 0);
		check_track(&e->track, 1);
	}
	if (d.segpool.memory > TRACES)
		abort();
	scribe_segments_clear(&traced);
	if (d.segpool.memory || d.segpool.file)
		abort();
}

static void begin(const uint8_t *data, size_t size)
{
	in = (struct fuzz_input){data, data + size};
	named = 0;
	d = (struct scribe_daemon){.slot = slots, .slots = LABELS, .root = -1};
	d.segpool.memory_most = TRACES;
	traced = (struct scribe_segments){0};
	scribe_segstore_open(&traced.store, &d.segpool);
	w = (struct scribe_job){.daemon = &d, .segments = &traced};
	unit = (struct scribe_log_unit){.id = 1};
	rank = (struct scribe_rank){.records = scribe_records_new()};
	for (int i = 0; i < LABELS; i++) {
		label[i] = (struct scribe_name_entry){.id = 100u + (unsigned)i, .excluded = i == LABELS - 1};
		slots[i] = (struct scribe_slot_name){.generation = i & 1, .name = &label[i]};
	}
	for (unsigned i = 0; i < PROGRAMS; i++) {
		free(process[i].why);
		process[i] = (struct scribe_process){.proc_id = i + 1, .job = &w, .unit = &unit, .rank = &rank};
	}
	for (int i = 0; i < MEMORIES; i++) {
		memory[i] = -1;
		ask(i, &process[i % PROGRAMS], (uint32_t)i, 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t before = fuzz_in_use();

	begin(data, size);
	for (int i = 0; i < STEPS_MAX && in.at < in.end; i++)
		step();
	for (int i = 0; i < 2 * PROGRAMS; i++) {
		uint64_t had = process[i % PROGRAMS].totals.operations;

		if (scribe_shm_counters_take(&d, &process[i % PROGRAMS], rank.records) < 0)
			abort();
		if (i >= PROGRAMS && process[i % PROGRAMS].totals.operations != had)
			abort(); /* what was taken is not taken again */
	}
	for (size_t i = 0; i < rank.records->n; i++)
		check_record(rank.records->file[i]);
	if (byte() & 1)
		scribe_shm_counters_end_work(&d, &w);
	scribe_shm_counters_clear(&d);
	if (d.nmemories || d.nfound)
		abort();
	check_traced();
	scribe_records_free(rank.records);
	scribe_heatmaps_forget(&rank);
	scribe_name_table_clear(&w.names);
	for (int i = 0; i < MEMORIES; i++)
		if (memory[i] >= 0)
			close(memory[i]);
	if (fuzz_in_use() != before)
		abort();
	return 0;
}
