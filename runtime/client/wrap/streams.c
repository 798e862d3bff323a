/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots in shared memory and the table from streams to slots. From a stream's announcement on the kernel side
 * omits its system calls, so nothing counts twice whatever fails. Must not know: which calls exist.
 */
#include "runtime/client/wrap/streams.h"
#include "runtime/client/wrap/segments.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/client/process/compat.h"
#include "runtime/client/wrap/cursors.h"
#include "runtime/client/wrap/heat.h"
#include "runtime/client/wrap/seccomp.h"
#include "runtime/client/wrap/shared_memory.h"
#include "runtime/client/wrap/stream_ends.h"

#define ENTRIES       4096u
#define GROUP         (ENTRIES / 64) /* a little over a page */
#define FILL_MAX      3072u
#define PLACES_TRIED  64u
#define LOCK_YIELDS   200
#define LOCK_TRIES    2200 /* then 0.1 s */
#define LOCK_SLEEP_NS 50000
#define LOCK_SPINS    1000000 /* where sleeping is forbidden */
#define KEY_FACTOR    0x9e3779b97f4a7c15ull

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static struct scribe_stream_state nothing;
struct scribe_stream_state *scribe_stream_state = &nothing;
__thread struct scribe_stream_cache scribe_stream_cache;
static const char not_single;
static const char *single = &not_single; /* variable of glibc 2.32 */
static uint32_t fill;                    /* used entries; inexact after a fork */

int fileno(FILE *f);
off_t ftello(FILE *f);
size_t __fpending(FILE *f);

static bool regular(int fd, struct stat *st)
{
	return syscall(SYS_fstat, fd, st) == 0 && S_ISREG(st->st_mode);
}

bool scribe_stream_idle(const FILE *f)
{
	int n = scribe_stream_standard(f);

	return n >= 0 && !(scribe_stream_state->standard & 1u << n);
}

/* Identifies the thread. */
static uint64_t me(void)
{
	return (uint64_t)(uintptr_t)&scribe_stream_cache;
}

/* False: held too long, or by this thread below a signal handler. */
static bool lock(struct scribe_stream_state *s)
{
	const struct timespec moment = {.tv_nsec = LOCK_SLEEP_NS};
	int tries = scribe_may_call() ? LOCK_TRIES : LOCK_SPINS;

	for (int i = 0; i < tries; i++) {
		uint64_t owner = 0;

		if (__atomic_compare_exchange_n(&s->lock, &owner, me(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (owner == me())
			return false;
		if (scribe_may_call() && i < LOCK_YIELDS)
			syscall(SYS_sched_yield);
		else if (scribe_may_call())
			syscall(SYS_nanosleep, &moment, NULL);
	}
	return false;
}

static void unlock(struct scribe_stream_state *s)
{
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
}

static struct scribe_stream_state *first_state(void)
{
	struct scribe_stream_state *s, *seen = &nothing;
	const char *found = dlsym(RTLD_DEFAULT, "__libc_single_threaded");

	if (found)
		single = found;
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return NULL;
	/* The kernel zeroes it in a child. Of several threads the first one wins. */
	if (madvise(s, sizeof(*s), MADV_WIPEONFORK) == 0 &&
	    __atomic_compare_exchange_n(&scribe_stream_state, &seen, s, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return s;
	munmap(s, sizeof(*s));
	return seen == &nothing ? NULL : seen;
}

/* False: not now, or never. */
static bool begin(void)
{
	struct scribe_stream_state *s = scribe_stream_state;
	uint64_t now;

	if (scribe_seccomp_known() & (SCRIBE_SECCOMP_CALLS | SCRIBE_SECCOMP_COUNTER))
		return false;
	/* In a new process all is zero, by the loader or by fork. */
	scribe_clock_calibrate();
	now = scribe_clock_ns();
	if (s == &nothing)
		s = first_state();
	if (!s || !lock(s))
		return false;
	if (!s->version) {
		fill = 0;
		s->memory = scribe_shm_counters_get(now ^ (uint64_t)getpid() << 16, now);
		/* noted in the log: system calls of streams are fewer than their calls */
		if (!s->memory)
			scribe_announce_use(STDOUT_FILENO, 0, SCRIBE_SHM_COUNTERS_MAX, 0, SCRIBE_ANNOUNCE_STANDARD);
		s->born = now | 1;
		/* differs from any cached version of earlier processes */
		__atomic_store_n(&s->version, now | 1, __ATOMIC_RELEASE);
	}
	unlock(s);
	return true;
}

static uint32_t home_of(const void *f)
{
	return (uint32_t)(((uintptr_t)f >> 4) * 0x9e3779b97f4a7c15ull >> 40) % ENTRIES;
}

static struct scribe_stream_entry *entry_of(struct scribe_stream_state *s, const void *f)
{
	uint32_t at = home_of(f);

	while (s->entry[at].f && s->entry[at].f != f)
		at = (at + 1) % ENTRIES;
	return &s->entry[at];
}

static void put_in(struct scribe_stream_state *s, struct scribe_stream_entry *e, const struct scribe_stream_entry *as)
{
	*e = *as;
	s->groups |= 1ull << ((size_t)(e - s->entry) / GROUP);
	/* Marked for ever: take_out moves entries within marked groups only. */
	fill++;
}

static void take_out(struct scribe_stream_state *s, struct scribe_stream_entry *e)
{
	uint32_t gap = (uint32_t)(e - s->entry), at = gap;

	for (;;) {
		at = (at + 1) % ENTRIES;
		if (!s->entry[at].f)
			break;
		/* it may move into the gap unless its home is between gap and it */
		if ((at - home_of(s->entry[at].f)) % ENTRIES < (at - gap) % ENTRIES)
			continue;
		s->entry[gap] = s->entry[at];
		gap = at;
	}
	s->entry[gap].f = NULL;
	fill -= fill > 0;
}

static bool is_free(const struct scribe_shm_counters *m, uint32_t i)
{
	return m->gen[i] == m->closed[i] && (!m->gen[i] || m->taken[i] == m->gen[i]);
}

/* SCRIBE_SHM_COUNTERS_MAX: none found. */
static uint32_t free_place(struct scribe_stream_state *s)
{
	const struct scribe_shm_counters *m = s->memory;

	/* restart at the front if free: touched pages are never freed */
	if (s->next >= PLACES_TRIED && is_free(m, 0))
		s->next = 0;
	for (uint32_t i = 0; i < PLACES_TRIED; i++) {
		uint32_t at = (s->next + i) % SCRIBE_SHM_COUNTERS_MAX;

		if (is_free(m, at)) {
			s->next = at + 1;
			return at;
		}
	}
	s->next = (s->next + PLACES_TRIED) % SCRIBE_SHM_COUNTERS_MAX;
	return m->used; /* never used so far; SCRIBE_SHM_COUNTERS_MAX: none */
}

/* NULL: none free. */
static struct scribe_counter_slot *occupy(struct scribe_stream_state *s, struct scribe_stream_entry *e,
					  struct scribe_cursor *cursor)
{
	struct scribe_shm_counters *m = s->memory;
	uint32_t i = cursor ? free_place(s) : SCRIBE_SHM_COUNTERS_MAX;
	struct scribe_counter_slot *at;

	if (i == SCRIBE_SHM_COUNTERS_MAX)
		return NULL;
	at = &m->stream[i];
	memset(at, 0, offsetof(struct scribe_counter_slot, heat));
	scribe_stream_heat_begin(m, at);
	at->owner = me();
	at->cursor = (uint64_t)(uintptr_t)cursor;
	e->index = i;
	/* A generation other than `closed` marks the slot as used. */
	e->gen = ++m->gen[i];
	if (i >= m->used)
		m->used = i + 1;
	e->counted = true;
	return at;
}

static void apply(struct scribe_counter_slot *s, const struct scribe_lib_op *op);

static void count_open(struct scribe_counter_slot *at, enum scribe_lib_what what)
{
	uint64_t now = scribe_stream_now();
	const struct scribe_lib_op op = {.start_ns = now,
					 .end_ns = now,
					 .offset = -1,
					 .what = what,
					 .op_class = SCRIBE_OP_NONE,
					 .count_at = SCRIBE_LIB_NO_COUNT};

	apply(at, &op);
}

/* Files named like the stream, whatever it leads to. */
static void place_standard(struct scribe_stream_state *s, struct scribe_stream_entry *e, int n)
{
	struct scribe_counter_slot *at = occupy(s, e, scribe_cursor_of(&s->cursors, (uint64_t)n + 1));

	if (!at)
		return;
	e->standard = true;
	scribe_announce_use(n, s->memory->id, e->index, e->gen, SCRIBE_ANNOUNCE_STANDARD);
	if (!(s->standard & 1u << n))
		count_open(at, SCRIBE_LIB_OPEN);
	s->standard |= 1u << n;
}

static void place_stream(struct scribe_stream_state *s, struct scribe_stream_entry *e)
{
	FILE *f = (FILE *)(uintptr_t)e->f;
	struct scribe_counter_slot *at;
	struct stat st;
	int fd = fileno(f);

	if (scribe_stream_standard(f) >= 0) {
		place_standard(s, e, scribe_stream_standard(f));
		return;
	}
	if (fd < 0 || !regular(fd, &st))
		return;
	at = occupy(s, e, scribe_cursor_of(&s->cursors, (uint64_t)st.st_dev * KEY_FACTOR + (uint64_t)st.st_ino));
	if (!at) {
		/* Without a slot the kernel side counts, but must know the stream. */
		scribe_announce_use(fd, s->memory->id, SCRIBE_SHM_COUNTERS_MAX, 0, SCRIBE_ANNOUNCE_COUNTED);
		return;
	}
	e->append = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
	scribe_announce_use(fd, s->memory->id, e->index, e->gen, SCRIBE_ANNOUNCE_COUNTED);
	at->pos = e->append ? (int64_t)st.st_size + (int64_t)__fpending(f) : ftello(f);
	/* Appending starts at the end of the file, with buffered bytes. */
	if (at->pos < 0)
		at->pos = INT64_MIN / 2;
}

static void place_file(struct scribe_stream_state *s, struct scribe_stream_entry *e)
{
	uint64_t key = e->name ? e->name : (uint64_t)(uintptr_t)e->f * KEY_FACTOR + ++s->nameless;

	if (!occupy(s, e, scribe_cursor_of(&s->cursors, key)))
		return; /* the kernel side continues to count */
	memset(&s->memory->more[e->index], 0, sizeof(s->memory->more[0]));
}

static void assign(struct scribe_stream_state *s, struct scribe_stream_entry *e)
{
	e->placed = true;
	e->counted = false;
	e->append = false;
	e->standard = false;
	if (!s->memory || !scribe_may_call())
		return;
	if (e->file)
		place_file(s, e);
	else
		place_stream(s, e);
}

static void place_again(struct scribe_stream_state *s, struct scribe_stream_entry *e)
{
	struct scribe_counter_slot *was = &s->memory->stream[e->index];
	bool standard = e->standard;
	int64_t pos = was->pos;

	s->memory->closed[e->index] = e->gen;
	if (!scribe_may_call()) /* no other slot can be announced */
		__atomic_fetch_add(e->file ? &s->memory->lost : &s->memory->unsized, 1, __ATOMIC_RELAXED);
	assign(s, e);
	if (standard && e->counted)
		s->memory->stream[e->index].pos = pos;
}

static void remember(struct scribe_stream_state *s, const struct scribe_stream_entry *e, struct scribe_stream_cache *c)
{

	c->f = e->f;
	c->version = s->version;
	c->stream = e->counted ? &s->memory->stream[e->index] : NULL;
	c->taken = e->counted ? &s->memory->taken[e->index] : NULL;
	c->gen = e->gen;
	c->view = e->view;
}

/* `announce` NULL: a stream. */
static struct scribe_counter_slot *find(const void *f, struct scribe_stream_cache *c, scribe_file_announce_fn announce)
{
	struct scribe_stream_state *s;
	struct scribe_stream_entry *e;
	bool fresh = true;
	int kept = errno;

	if (!scribe_stream_state->version && !begin()) {
		errno = kept;
		return NULL;
	}
	s = scribe_stream_state;
	if (!lock(s)) {
		errno = kept;
		return NULL;
	}
	e = entry_of(s, f);
	if (!e->f && fill >= FILL_MAX) {
		unlock(s);
		errno = kept;
		return NULL;
	}
	if (!e->f)
		put_in(s, e, &(struct scribe_stream_entry){.f = f, .file = announce != NULL});
	if (!e->placed)
		assign(s, e);
	else if (e->counted && s->memory->taken[e->index] == e->gen)
		place_again(s, e);
	else
		fresh = false;
	/* Only new slots: each announcement passes a probe. */
	if (fresh && e->file && e->counted && announce)
		announce(e->f, s->memory->id, e->index, e->gen);
	remember(s, e, c);
	unlock(s);
	errno = kept;
	return c->stream;
}

struct scribe_counter_slot *scribe_stream_find(FILE *f)
{
	return find(f, &scribe_stream_cache, NULL);
}

struct scribe_counter_slot *scribe_file_find(const void *file, struct scribe_stream_cache *c,
					     scribe_file_announce_fn announce)
{
	return find(file, c, announce);
}

void scribe_file_opened(const void *file, uint64_t name, const struct scribe_file_view *view)
{
	struct scribe_stream_state *s;
	struct scribe_stream_entry *e;
	int kept = errno;

	scribe_stream_forget(file); /* an earlier one, with an unseen end */
	if ((scribe_stream_state->version || begin()) && lock(scribe_stream_state)) {
		s = scribe_stream_state;
		e = entry_of(s, file);
		if (!e->f && fill < FILL_MAX)
			put_in(s, e,
			       &(struct scribe_stream_entry){.f = file, .file = true, .name = name, .view = *view});
		unlock(s);
	}
	errno = kept;
}

void scribe_file_viewed(const void *file, const struct scribe_file_view *view)
{
	struct scribe_stream_state *s = scribe_stream_state;
	struct scribe_stream_entry *e;
	int kept = errno;

	if (s->version && lock(s)) {
		e = entry_of(s, file);
		if (e->f) {
			e->view = *view;
			s->version += 2;
		}
		unlock(s);
	}
	errno = kept;
}

/* Before close or after a flush. */
static void ends(struct scribe_shm_counters *m, const struct scribe_stream_entry *e, bool closing)
{
	struct scribe_counter_slot *at = &m->stream[e->index];
	FILE *f = (FILE *)(uintptr_t)e->f;

	if (!e->counted || e->file || e->standard || !scribe_may_call())
		return;
	if (e->append)
		scribe_append_end(at, f, closing);
	else if (closing)
		scribe_stream_end_position(at, f);
}

void scribe_stream_forget(const void *f)
{
	struct scribe_stream_state *s = scribe_stream_state;
	struct scribe_stream_entry *e;
	int kept = errno;

	if (!f || !s->version)
		return;
	if (!lock(s)) {
		errno = kept;
		return;
	}
	e = entry_of(s, f);
	if (e->f) {
		if (e->counted) {
			ends(s->memory, e, true);
			__atomic_store_n(&s->memory->closed[e->index], e->gen, __ATOMIC_RELEASE);
		}
		take_out(s, e);
		s->version += 2;
	}
	unlock(s);
	errno = kept;
}

void scribe_stream_made(FILE *f)
{
	struct scribe_counter_slot *at = scribe_stream_of(f);

	if (at)
		count_open(at, SCRIBE_LIB_REOPEN);
}

/* Streams that exit() flushes. */
__attribute__((destructor)) static void at_exit(void)
{
	struct scribe_stream_state *s = scribe_stream_state;

	if (!s->version || !s->memory || !scribe_may_call() || !lock(s))
		return;
	for (uint32_t i = 0; i < ENTRIES; i++)
		if (s->groups >> i / GROUP & 1 && s->entry[i].f)
			ends(s->memory, &s->entry[i], true);
	unlock(s);
}

static inline bool alone(void)
{
	/* glibc clears it when a second thread starts. */
	return *(volatile const char *)single;
}

bool scribe_stream_alone(void)
{
	return alone();
}

bool scribe_stream_mine(const struct scribe_counter_slot *s)
{
	return s->owner == me();
}

static inline int64_t advance(struct scribe_counter_slot *s, int64_t bytes)
{
	int64_t at = s->pos;

	if (!alone())
		return __atomic_fetch_add(&s->pos, bytes, __ATOMIC_RELAXED);
	s->pos = at + bytes;
	return at;
}

static void apply(struct scribe_counter_slot *s, const struct scribe_lib_op *op)
{
	static struct scribe_ext_shard none; /* unused by streams */
	struct scribe_lib_address at;

	scribe_stream_untimed();
	if (__builtin_expect(scribe_segment_wanted_of_streams(scribe_stream_state->memory), 0))
		scribe_segment_put_stream(scribe_stream_state->memory, scribe_stream_state->born, s, op);
	if (alone())
		scribe_lib_cursor_alone(scribe_stream_cursor(s), op, &at);
	else
		scribe_lib_cursor(scribe_stream_cursor(s), op, &at);
	if (!scribe_stream_mine(s)) {
		scribe_lib_apply(&s->shard[SCRIBE_SHARD_SHARED], &none, op, &at, 1);
		scribe_stream_heat(scribe_stream_state->memory, s, SCRIBE_SHARD_SHARED, op);
		return;
	}
	scribe_stream_mark(s);
	scribe_lib_apply(&s->shard[SCRIBE_SHARD_OWNER], &none, op, &at, 0);
	scribe_stream_heat(scribe_stream_state->memory, s, SCRIBE_SHARD_OWNER, op);
	scribe_stream_mark(s);
	scribe_lib_apply(&s->shard[SCRIBE_SHARD_OWNER_SHADOW], &none, op, &at, 0);
	scribe_stream_heat(scribe_stream_state->memory, s, SCRIBE_SHARD_OWNER_SHADOW, op);
}

void scribe_stream_data(struct scribe_counter_slot *s, unsigned op, uint64_t bytes, uint64_t start)
{
	struct scribe_lib_op x = {.start_ns = start,
				  .bytes = bytes,
				  .what = SCRIBE_LIB_DATA,
				  .op_class = op,
				  .count_at = SCRIBE_LIB_NO_COUNT};
	int64_t at = advance(s, (int64_t)bytes);

	x.offset = at < 0 ? -1 : at;
	x.end_ns = scribe_stream_now();
	if (x.end_ns < start)
		x.end_ns = start;
	apply(s, &x);
}

void scribe_stream_back(struct scribe_counter_slot *s, int64_t bytes)
{
	advance(s, -bytes);
}

static void other(struct scribe_counter_slot *s, uint32_t what, uint32_t op_class, uint64_t start)
{
	struct scribe_lib_op x = {.start_ns = start,
				  .end_ns = scribe_stream_now(),
				  .offset = -1,
				  .what = what,
				  .op_class = op_class,
				  .count_at = SCRIBE_LIB_NO_COUNT};

	if (x.end_ns < start)
		x.end_ns = start;
	apply(s, &x);
}

void scribe_stream_seek(struct scribe_counter_slot *s, FILE *f, uint64_t start)
{
	int64_t at = scribe_stream_position(f);

	__atomic_store_n(&s->pos, at < 0 ? INT64_MIN / 2 : at, __ATOMIC_RELAXED);
	other(s, SCRIBE_LIB_SEEK, SCRIBE_OP_META, start);
}

void scribe_stream_flush(struct scribe_counter_slot *s, FILE *f, uint64_t start)
{
	struct scribe_stream_state *state = scribe_stream_state;
	struct scribe_stream_entry *e;
	int kept = errno;

	other(s, SCRIBE_LIB_FLUSH, SCRIBE_OP_WRITE, start);
	if (lock(state)) {
		e = entry_of(state, f);
		if (e->f)
			ends(state->memory, e, false);
		unlock(state);
	}
	errno = kept;
}
