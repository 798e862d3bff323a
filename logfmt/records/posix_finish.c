/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds kernel shards and makes records. Must not know processes or files. */
#include "logfmt/records/posix_finish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/records/quantum.h"

void scribe_posix_acc_init(struct scribe_posix_acc *acc)
{
	memset(acc, 0, sizeof(*acc));
}

void scribe_posix_acc_free(struct scribe_posix_acc *acc)
{
	if (!acc)
		return;
	free(acc->access.more);
	free(acc->stride.more);
	memset(acc, 0, sizeof(*acc));
}

/* The entries: in `own`, or if they do not fit, hashed in `more`. */
static const struct scribe_value *places_of(const struct scribe_value_map *m, uint32_t *ret_n)
{
	*ret_n = m->capacity ? m->capacity : SCRIBE_MAP_OWN;
	return m->capacity ? m->more : m->own;
}

static struct scribe_value *hashed_place(struct scribe_value *v, uint32_t capacity, int64_t value)
{
	uint32_t at = (uint32_t)(((uint64_t)value * 0x9e3779b97f4a7c15ull) >> 32) & (capacity - 1);

	while (v[at].value != 0 && v[at].value != value)
		at = (at + 1) & (capacity - 1);
	return &v[at];
}

/* -ENOMEM: the map is unchanged. */
static int map_grow(struct scribe_value_map *m)
{
	uint32_t capacity = m->capacity ? m->capacity * 2 : 16;
	struct scribe_value *more = calloc(capacity, sizeof(*more));
	const struct scribe_value *old;
	uint32_t n;

	if (!more)
		return -ENOMEM;
	old = places_of(m, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (old[i].value != 0)
			*hashed_place(more, capacity, old[i].value) = old[i];
	}
	free(m->more);
	m->more = more;
	m->capacity = capacity;
	return 0;
}

static int map_add(struct scribe_value_map *m, int64_t value, uint64_t count)
{
	struct scribe_value *v = NULL;

	if (value == 0 || count == 0)
		return 0;
	for (uint32_t i = 0; !m->capacity && i < m->used; i++) {
		if (m->own[i].value == value)
			v = &m->own[i];
	}
	if (!v && !m->capacity && m->used < SCRIBE_MAP_OWN)
		v = &m->own[m->used];
	if (!v) { /* a quarter of the entries stays empty, which ends searches */
		if (m->used < SCRIBE_MAP_MOST && (!m->capacity || (m->used + 1) * 4 > m->capacity * 3) && map_grow(m))
			return -ENOMEM;
		v = hashed_place(m->more, m->capacity, value);
		/* Limits a record's memory, however many processes share it. */
		if (v->value == 0 && m->used >= SCRIBE_MAP_MOST) {
			m->dropped += count;
			return 0;
		}
	}
	m->used += v->value == 0;
	v->value = value;
	v->count += count;
	return 0;
}

static int map_add_all(struct scribe_value_map *m, const struct scribe_value *v, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = map_add(m, v[i].value, v[i].count);
	return rc;
}

static int map_add_table(struct scribe_value_map *m, const struct scribe_value_table *t)
{
	if (!t)
		return 0;
	m->dropped += t->dropped;
	return map_add_all(m, t->v, SCRIBE_TABLE_VALUES);
}

bool scribe_value_map_at(const struct scribe_value_map *map, uint32_t i, struct scribe_value *ret_value)
{
	uint32_t places;
	const struct scribe_value *v = places_of(map, &places);

	if (i >= places)
		return false;
	*ret_value = v[i];
	return true;
}

void scribe_value_map_top(const struct scribe_value_map *map, struct scribe_value *ret_top, unsigned n)
{
	uint32_t places;
	const struct scribe_value *v = places_of(map, &places);

	memset(ret_top, 0, n * sizeof(*ret_top));
	for (uint32_t i = 0; i < places; i++) {
		unsigned at = n;

		if (v[i].value == 0)
			continue;
		while (at > 0 && (v[i].count > ret_top[at - 1].count ||
				  (v[i].count == ret_top[at - 1].count && v[i].value > ret_top[at - 1].value)))
			at--;
		if (at == n)
			continue;
		memmove(&ret_top[at + 1], &ret_top[at], (n - 1 - at) * sizeof(*ret_top));
		ret_top[at] = v[i];
	}
}

static void later(uint64_t *at, uint64_t ns)
{
	if (ns > *at)
		*at = ns;
}

static void sooner(uint64_t *at, uint64_t ns)
{
	/* 0 means "never" and must not become the minimum. */
	if (ns != 0 && (*at == 0 || ns < *at))
		*at = ns;
}

static void add_sums(struct scribe_posix_shard *s, const struct scribe_posix_shard *p)
{
	s->events += p->events;
	s->opens += p->opens;
	s->dups += p->dups;
	s->seeks += p->seeks;
	s->stats += p->stats;
	s->mmaps += p->mmaps;
	s->fsyncs += p->fsyncs;
	s->fdsyncs += p->fdsyncs;
	s->rename_sources += p->rename_sources;
	s->rename_targets += p->rename_targets;
	s->rw_switches += p->rw_switches;
	s->mem_not_aligned += p->mem_not_aligned;
	s->file_not_aligned += p->file_not_aligned;
	for (int w = 0; w < 2; w++) {
		s->ops[w] += p->ops[w];
		s->bytes[w] += p->bytes[w];
		s->consec[w] += p->consec[w];
		s->seq[w] += p->seq[w];
		for (int i = 0; i < SCRIBE_SIZE_BUCKETS; i++)
			s->size[w][i] += p->size[w][i];
		later(&s->max_byte[w], p->max_byte[w]);
		/* Of equally slow operations the larger size, so that the order of shards does not matter. */
		if (p->max_ns[w] > s->max_ns[w] ||
		    (p->max_ns[w] == s->max_ns[w] && p->max_ns_size[w] > s->max_ns_size[w])) {
			s->max_ns[w] = p->max_ns[w];
			s->max_ns_size[w] = p->max_ns_size[w];
		}
		sooner(&s->start[w], p->start[w]);
		later(&s->end[w], p->end[w]);
	}
	for (int i = 0; i < 3; i++)
		s->busy_ns[i] += p->busy_ns[i];
	sooner(&s->open_start, p->open_start);
	later(&s->open_end, p->open_end);
	sooner(&s->close_start, p->close_start);
	later(&s->close_end, p->close_end);
}

int scribe_posix_acc_add(struct scribe_posix_acc *acc, const struct scribe_posix_shard *shard,
			 const struct scribe_value_table *access, const struct scribe_value_table *stride)
{
	/* First, because only values can fail: the sums are then added completely or not at all. */
	if (map_add_all(&acc->access, shard->access, SCRIBE_TOP_VALUES) ||
	    map_add_all(&acc->stride, shard->stride, SCRIBE_TOP_VALUES) || map_add_table(&acc->access, access) ||
	    map_add_table(&acc->stride, stride))
		return -ENOMEM;
	add_sums(&acc->sum, shard);
	return 0;
}

int scribe_posix_acc_add_ext(struct scribe_posix_acc *acc, const struct scribe_ext_shard *ext)
{
	for (int i = 0; i < SCRIBE_EXT_COUNT; i++)
		acc->ext.v[i] += ext->v[i];
	return 0;
}

void scribe_posix_acc_add_cache(struct scribe_posix_acc *acc, const uint64_t often[SCRIBE_CACHE_OFTEN],
				const uint64_t seldom[SCRIBE_CACHE_ALL - SCRIBE_CACHE_OFTEN])
{
	for (int i = 0; i < SCRIBE_CACHE_ALL; i++)
		acc->cache[i] += i < SCRIBE_CACHE_OFTEN ? often[i] : seldom[i - SCRIBE_CACHE_OFTEN];
}

int scribe_posix_acc_join(struct scribe_posix_acc *acc, const struct scribe_posix_acc *other)
{
	const struct scribe_value *v;
	uint32_t n;

	v = places_of(&other->access, &n);
	if (map_add_all(&acc->access, v, n))
		return -ENOMEM;
	v = places_of(&other->stride, &n);
	if (map_add_all(&acc->stride, v, n))
		return -ENOMEM;
	acc->access.dropped += other->access.dropped;
	acc->stride.dropped += other->stride.dropped;
	add_sums(&acc->sum, &other->sum);
	scribe_posix_acc_add_cache(acc, other->cache, other->cache + SCRIBE_CACHE_OFTEN);
	acc->faults_lost |= other->faults_lost;
	return scribe_posix_acc_add_ext(acc, &other->ext);
}

static void put_values(int64_t *values, int64_t *counts, const struct scribe_value_map *map)
{
	struct scribe_value top[SCRIBE_TOP_VALUES];

	scribe_value_map_top(map, top, SCRIBE_TOP_VALUES);
	for (int i = 0; i < SCRIBE_TOP_VALUES; i++) {
		values[i] = top[i].value;
		counts[i] = (int64_t)top[i].count;
	}
}

static void put_data(int64_t *c, const struct scribe_posix_shard *s)
{
	for (int w = 0; w < 2; w++) {
		c[SCRIBE_POSIX_READS + w] = (int64_t)s->ops[w];
		c[SCRIBE_POSIX_BYTES_READ + w] = (int64_t)s->bytes[w];
		c[SCRIBE_POSIX_MAX_BYTE_READ + w] = (int64_t)s->max_byte[w];
		c[SCRIBE_POSIX_CONSEC_READS + w] = (int64_t)s->consec[w];
		c[SCRIBE_POSIX_SEQ_READS + w] = (int64_t)s->seq[w];
		c[SCRIBE_POSIX_MAX_READ_TIME_SIZE + w] = (int64_t)s->max_ns_size[w];
		for (int i = 0; i < SCRIBE_SIZE_BUCKETS; i++)
			c[SCRIBE_POSIX_SIZE_READ_0_100 + w * SCRIBE_SIZE_BUCKETS + i] = (int64_t)s->size[w][i];
	}
	c[SCRIBE_POSIX_RW_SWITCHES] = (int64_t)s->rw_switches;
	c[SCRIBE_POSIX_MEM_NOT_ALIGNED] = (int64_t)s->mem_not_aligned;
	c[SCRIBE_POSIX_FILE_NOT_ALIGNED] = (int64_t)s->file_not_aligned;
}

static void put_calls(int64_t *c, const struct scribe_posix_shard *s)
{
	c[SCRIBE_POSIX_OPENS] = (int64_t)s->opens;
	c[SCRIBE_POSIX_FILENOS] = -1;
	c[SCRIBE_POSIX_DUPS] = (int64_t)s->dups;
	c[SCRIBE_POSIX_SEEKS] = (int64_t)s->seeks;
	c[SCRIBE_POSIX_STATS] = (int64_t)s->stats;
	c[SCRIBE_POSIX_MMAPS] = (int64_t)s->mmaps;
	c[SCRIBE_POSIX_FSYNCS] = (int64_t)s->fsyncs;
	c[SCRIBE_POSIX_FDSYNCS] = (int64_t)s->fdsyncs;
	c[SCRIBE_POSIX_RENAME_SOURCES] = (int64_t)s->rename_sources;
	c[SCRIBE_POSIX_RENAME_TARGETS] = (int64_t)s->rename_targets;
}

/* Timestamps are relative to `base`. */
static void put_times(double *f, const struct scribe_posix_shard *s, uint64_t base)
{
	f[SCRIBE_POSIX_F_OPEN_START_TIMESTAMP] = scribe_quantum_when(s->open_start, base);
	f[SCRIBE_POSIX_F_OPEN_END_TIMESTAMP] = scribe_quantum_when(s->open_end, base);
	f[SCRIBE_POSIX_F_CLOSE_START_TIMESTAMP] = scribe_quantum_when(s->close_start, base);
	f[SCRIBE_POSIX_F_CLOSE_END_TIMESTAMP] = scribe_quantum_when(s->close_end, base);
	for (int w = 0; w < 2; w++) {
		f[SCRIBE_POSIX_F_READ_START_TIMESTAMP + w] = scribe_quantum_when(s->start[w], base);
		f[SCRIBE_POSIX_F_READ_END_TIMESTAMP + w] = scribe_quantum_when(s->end[w], base);
		f[SCRIBE_POSIX_F_MAX_READ_TIME + w] = scribe_quantum_seconds(s->max_ns[w]);
	}
	for (int i = 0; i < 3; i++)
		f[SCRIBE_POSIX_F_READ_TIME + i] = scribe_quantum_seconds(s->busy_ns[i]);
}

void scribe_posix_acc_record(const struct scribe_posix_acc *acc, uint64_t id, int64_t rank, uint64_t base_mono_ns,
			     int64_t mode, int64_t align, int64_t mem_align, uint64_t renamed_from,
			     struct scribe_posix_record *ret_rec)
{
	int64_t *c = ret_rec->counters;

	memset(ret_rec, 0, sizeof(*ret_rec));
	ret_rec->base = (struct scribe_base_record){id, rank};
	put_calls(c, &acc->sum);
	put_data(c, &acc->sum);
	c[SCRIBE_POSIX_RENAMED_FROM] = (int64_t)renamed_from;
	c[SCRIBE_POSIX_MODE] = mode;
	c[SCRIBE_POSIX_MEM_ALIGNMENT] = mem_align;
	c[SCRIBE_POSIX_FILE_ALIGNMENT] = align;
	put_values(&c[SCRIBE_POSIX_STRIDE1_STRIDE], &c[SCRIBE_POSIX_STRIDE1_COUNT], &acc->stride);
	put_values(&c[SCRIBE_POSIX_ACCESS1_ACCESS], &c[SCRIBE_POSIX_ACCESS1_COUNT], &acc->access);
	put_times(ret_rec->fcounters, &acc->sum, base_mono_ns);
}

int scribe_posix_acc_ext_record(const struct scribe_posix_acc *acc, uint64_t id, int64_t rank,
				struct scribe_posix_ext_record *ret_rec)
{
	int any;

	memset(ret_rec, 0, sizeof(*ret_rec));
	ret_rec->base = (struct scribe_base_record){id, rank};
	ret_rec->counters[SCRIBE_EXT_RANKS_READ] = acc->sum.ops[SCRIBE_OP_READ] > 0;
	ret_rec->counters[SCRIBE_EXT_RANKS_WROTE] = acc->sum.ops[SCRIBE_OP_WRITE] > 0;
	any = ret_rec->counters[SCRIBE_EXT_RANKS_READ] || ret_rec->counters[SCRIBE_EXT_RANKS_WROTE];
	for (int i = 0; i < SCRIBE_EXT_COUNT; i++) {
		any |= acc->ext.v[i] != 0;
		/* From CLOSE_NS on the fields are nanoseconds. */
		if (i < SCRIBE_EXT_CLOSE_NS)
			ret_rec->counters[i] = (int64_t)acc->ext.v[i];
		else
			ret_rec->fcounters[i - SCRIBE_EXT_CLOSE_NS] = scribe_quantum_seconds(acc->ext.v[i]);
	}
	return any;
}

#define CACHE_BIT(name) (1u << SCRIBE_CACHE_##name)

/* Bits of counters that cannot be told for this file. */
static uint32_t cache_unknown(const struct scribe_posix_acc *acc)
{
	const uint64_t *ext = acc->ext.v;
	uint32_t bits = 0;

	/* Their requests are made by other threads of the kernel, or outside of reads and writes. */
	if (ext[SCRIBE_EXT_URING_OPS] || ext[SCRIBE_EXT_AIO_OPS] || ext[SCRIBE_EXT_SPLICES])
		bits |= CACHE_BIT(BYTES_FETCHED) | CACHE_BIT(READS_FETCHED) | CACHE_BIT(BYTES_DIRTIED) |
			CACHE_BIT(DIRECT_BYTES_READ) | CACHE_BIT(DIRECT_BYTES_WRITTEN) |
			CACHE_BIT(COUNT) << SCRIBE_CACHE_F_FETCH_TIME;
	if (acc->faults_lost)
		bits |= CACHE_BIT(MINOR_FAULTS) | CACHE_BIT(MAJOR_FAULTS) | CACHE_BIT(BYTES_FAULTED) |
			CACHE_BIT(MAPPED_BYTES_DIRTIED);
	return bits;
}

int scribe_posix_acc_cache_record(const struct scribe_posix_acc *acc, uint64_t id, int64_t rank, uint32_t known,
				  struct scribe_cache_record *ret_rec)
{
	int64_t *minor = &ret_rec->counters[SCRIBE_CACHE_MINOR_FAULTS];
	int64_t *major = &ret_rec->counters[SCRIBE_CACHE_MAJOR_FAULTS];
	const uint32_t unknown = known & cache_unknown(acc);
	int any = unknown != 0;

	known &= ~unknown;
	memset(ret_rec, 0, sizeof(*ret_rec));
	ret_rec->base = (struct scribe_base_record){id, rank};
	for (int i = 0; i < SCRIBE_CACHE_ALL; i++) {
		const bool is_known = known >> i & 1;

		any |= is_known && acc->cache[i];
		if (i < SCRIBE_CACHE_COUNT)
			ret_rec->counters[i] = is_known ? (int64_t)acc->cache[i] : -1;
		else
			ret_rec->fcounters[i - SCRIBE_CACHE_COUNT] =
				is_known ? scribe_quantum_seconds(acc->cache[i]) : -1;
	}
	/* All faults are counted: which of them fetched is not known when they begin. Read-ahead by request is none. */
	if (*minor > 0 && *major > 0)
		*minor = *minor > *major ? *minor - *major : 0;
	return any;
}

/* put_data and put_times depend on these. */
_Static_assert(SCRIBE_POSIX_WRITES == SCRIBE_POSIX_READS + 1 &&
		       SCRIBE_POSIX_BYTES_WRITTEN == SCRIBE_POSIX_BYTES_READ + 1 &&
		       SCRIBE_POSIX_MAX_BYTE_WRITTEN == SCRIBE_POSIX_MAX_BYTE_READ + 1 &&
		       SCRIBE_POSIX_CONSEC_WRITES == SCRIBE_POSIX_CONSEC_READS + 1 &&
		       SCRIBE_POSIX_SEQ_WRITES == SCRIBE_POSIX_SEQ_READS + 1 &&
		       SCRIBE_POSIX_SIZE_WRITE_0_100 == SCRIBE_POSIX_SIZE_READ_0_100 + SCRIBE_SIZE_BUCKETS,
	       "order of counters");
