/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places of the memory shared with the daemon, the table from streams to places.
 * The kernel side is told of a stream by a call of ioscribe_stream_site, which is
 * probed: from then on it leaves that stream's system calls out. So nothing is
 * counted twice whatever fails in between. Must not know: which calls there are.
 */
#include "runtime/client/inside/streams.h"

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

#include "runtime/client/compat.h"

#define ENTRIES      4096u
#define FILL_MAX     3072u
#define PLACES_TRIED 64u
#define LOCK_TRIES   1000
#define KEY_FACTOR   0x9e3779b97f4a7c15ull

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* The site: the kernel emulates its first instruction. */
void ioscribe_stream_site(int fd, uint32_t memory, uint32_t index, uint32_t gen);
__asm__(".text\n"
	".globl ioscribe_stream_site\n"
	".type ioscribe_stream_site, %function\n"
	"ioscribe_stream_site:\n"
	"	nop\n"
	"	ret\n"
	".size ioscribe_stream_site, .-ioscribe_stream_site\n");

__attribute__((section(".probes"), visibility("default"))) volatile unsigned short ioscribe_stream_on = 0;

static struct scribe_stream_state nothing;
struct scribe_stream_state *scribe_stream_state = &nothing;
__thread struct scribe_stream_cache scribe_stream_cache;
static const char not_single;
static const char *single = &not_single; /* glibc 2.32 says so in a variable */
static uint32_t fill;                    /* entries of the table in use; a guess after a fork */

int fileno(FILE *f);
off_t ftello(FILE *f);
size_t __fpending(FILE *f);

static bool regular(int fd, struct stat *st)
{
	return syscall(SYS_fstat, fd, st) == 0 && S_ISREG(st->st_mode);
}

int64_t scribe_stream_tell(FILE *f)
{
	int kept = errno;
	int64_t at = ftello(f);

	errno = kept;
	return at;
}

/* ---- state ---- */

static uint64_t clock_ns(void);

/* False: it is held too long; by what a signal handler has interrupted, perhaps. */
static bool lock(struct scribe_stream_state *s)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!__atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE))
			return true;
		syscall(SYS_sched_yield);
	}
	return false;
}

static void unlock(struct scribe_stream_state *s)
{
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
}

/* Pages for the state, which a fork wipes; the first thread's count. */
static struct scribe_stream_state *first_state(void)
{
	struct scribe_stream_state *s, *seen = &nothing;
	const char *found = dlsym(RTLD_DEFAULT, "__libc_single_threaded");

	if (found)
		single = found;
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return NULL;
	if (madvise(s, sizeof(*s), MADV_WIPEONFORK) == 0 &&
	    __atomic_compare_exchange_n(&scribe_stream_state, &seen, s, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return s;
	munmap(s, sizeof(*s));
	return seen == &nothing ? NULL : seen;
}

/* In a new process: the state is zero, by the loader or by the fork. False: not now. */
static bool begin(void)
{
	struct scribe_stream_state *s = scribe_stream_state;
	uint64_t now = clock_ns();

	if (s == &nothing)
		s = first_state();
	if (!s || !lock(s))
		return false;
	if (!s->version) {
		fill = 0;
		s->memory = scribe_streams_make(now ^ (uint64_t)getpid() << 16, now);
		s->born = now | 1;
		/* a number that no cache of an earlier process holds */
		__atomic_store_n(&s->version, now | 1, __ATOMIC_RELEASE);
	}
	unlock(s);
	return true;
}

/* ---- the table ---- */

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

/* Take an entry out and close the gap. */
static void take_out(struct scribe_stream_state *s, struct scribe_stream_entry *e)
{
	uint32_t gap = (uint32_t)(e - s->entry), at = gap;

	for (;;) {
		at = (at + 1) % ENTRIES;
		if (!s->entry[at].f)
			break;
		/* may it stand in the gap? only if its home is not between gap and it */
		if ((at - home_of(s->entry[at].f)) % ENTRIES < (at - gap) % ENTRIES)
			continue;
		s->entry[gap] = s->entry[at];
		gap = at;
	}
	s->entry[gap].f = NULL;
	fill -= fill > 0;
}

static bool is_free(const struct scribe_streams *m, uint32_t i)
{
	return m->gen[i] == m->closed[i] && (!m->gen[i] || m->taken[i] == m->gen[i]);
}

/* A free place, or SCRIBE_STREAMS_MAX: looked for a little way, behind the last one. */
static uint32_t free_place(struct scribe_stream_state *s)
{
	const struct scribe_streams *m = s->memory;

	/* again from the front when that is free: pages are touched for good */
	if (s->next >= PLACES_TRIED && is_free(m, 0))
		s->next = 0;
	for (uint32_t i = 0; i < PLACES_TRIED; i++) {
		uint32_t at = (s->next + i) % SCRIBE_STREAMS_MAX;

		if (is_free(m, at)) {
			s->next = at + 1;
			return at;
		}
	}
	s->next = (s->next + PLACES_TRIED) % SCRIBE_STREAMS_MAX;
	return m->used; /* one that never was in use; SCRIBE_STREAMS_MAX: none */
}

/* Take a free place for an entry, with the cursor of its file; NULL: there is none. */
static struct scribe_stream *occupy(struct scribe_stream_state *s, struct scribe_stream_entry *e,
				    uint64_t key)
{
	struct scribe_cursor *cursor = scribe_cursor_of(s, key);
	struct scribe_streams *m = s->memory;
	uint32_t i = cursor ? free_place(s) : SCRIBE_STREAMS_MAX;
	struct scribe_stream *at;

	if (i == SCRIBE_STREAMS_MAX) {
		m->full++;
		return NULL;
	}
	at = &m->stream[i];
	memset(at, 0, sizeof(*at));
	at->owner = (uint64_t)(uintptr_t)&scribe_stream_cache;
	at->cursor = (uint64_t)(uintptr_t)cursor;
	e->index = i;
	e->gen = ++m->gen[i];
	if (i >= m->used)
		m->used = i + 1;
	e->counted = true;
	return at;
}

/* Give a stream a place, and tell the kernel side. */
static void place_stream(struct scribe_stream_state *s, struct scribe_stream_entry *e)
{
	FILE *f = (FILE *)(uintptr_t)e->f;
	struct scribe_stream *at;
	struct stat st;
	int fd = fileno(f);

	if (fd < 0 || !regular(fd, &st))
		return;
	at = occupy(s, e, (uint64_t)st.st_dev * KEY_FACTOR + (uint64_t)st.st_ino);
	if (!at) {
		ioscribe_stream_site(fd, s->memory->id, SCRIBE_STREAMS_MAX, 0);
		return;
	}
	e->append = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
	ioscribe_stream_site(fd, s->memory->id, e->index, e->gen);
	at->pos = e->append ? (int64_t)st.st_size + (int64_t)__fpending(f) : ftello(f);
	if (at->pos < 0)
		at->pos = INT64_MIN / 2;
}

static void place_file(struct scribe_stream_state *s, struct scribe_stream_entry *e)
{
	if (!occupy(s, e, e->name ? e->name : (uint64_t)(uintptr_t)e->f * KEY_FACTOR + ++s->nameless))
		return; /* the kernel side goes on counting it */
	memset(&s->memory->more[e->index], 0, sizeof(s->memory->more[0]));
	scribe_file_announce(e->f, s->memory->id, e->index, e->gen);
}

static void place(struct scribe_stream_state *s, struct scribe_stream_entry *e)
{
	e->placed = true;
	e->counted = false;
	e->append = false;
	if (!s->memory)
		return;
	if (e->file)
		place_file(s, e);
	else
		place_stream(s, e);
}

static void remember(struct scribe_stream_state *s, const struct scribe_stream_entry *e,
		     struct scribe_stream_cache *c)
{

	c->f = e->f;
	c->version = s->version;
	c->stream = e->counted ? &s->memory->stream[e->index] : NULL;
	c->taken = e->counted ? &s->memory->taken[e->index] : NULL;
	c->gen = e->gen;
}

static struct scribe_stream *find(const void *f, bool file, struct scribe_stream_cache *c)
{
	struct scribe_stream_state *s;
	struct scribe_stream_entry *e;
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
	if (!e->f) {
		*e = (struct scribe_stream_entry){.f = f, .file = file};
		fill++;
	}
	if (!e->placed) {
		place(s, e);
	} else if (e->counted && s->memory->taken[e->index] == e->gen) {
		/* the daemon has taken this use while the stream is open */
		s->memory->closed[e->index] = e->gen;
		place(s, e);
	}
	remember(s, e, c);
	unlock(s);
	errno = kept;
	return c->stream;
}

struct scribe_stream *scribe_stream_find(FILE *f)
{
	return find(f, false, &scribe_stream_cache);
}

struct scribe_stream *scribe_file_find(const void *file, struct scribe_stream_cache *c)
{
	return find(file, true, c);
}

void scribe_file_opened(const void *file, uint64_t name)
{
	struct scribe_stream_state *s;
	struct scribe_stream_entry *e;
	int kept = errno;

	scribe_stream_forget(file); /* an earlier one, whose end was not seen */
	if ((scribe_stream_state->version || begin()) && lock(scribe_stream_state)) {
		s = scribe_stream_state;
		e = entry_of(s, file);
		if (!e->f && fill < FILL_MAX) {
			*e = (struct scribe_stream_entry){.f = file, .file = true, .name = name};
			fill++;
		}
		unlock(s);
	}
	errno = kept;
}

void scribe_stream_forget(const void *f)
{
	struct scribe_stream_state *s = scribe_stream_state;
	struct scribe_stream_entry *e;
	int kept = errno;

	if (!f || !s->version || !lock(s))
		return;
	e = entry_of(s, f);
	if (e->f) {
		if (e->counted) {
			scribe_stream_ends(s->memory, e, true);
			__atomic_store_n(&s->memory->closed[e->index], e->gen, __ATOMIC_RELEASE);
		}
		take_out(s, e);
		s->version += 2;
	}
	unlock(s);
	errno = kept;
}

void scribe_stream_appends(void)
{
	if (ioscribe_stream_on)
		ioscribe_stream_site(-1, 0, 0, 0);
}

/* Streams that exit will flush. */
__attribute__((destructor)) static void at_exit(void)
{
	struct scribe_stream_state *s = scribe_stream_state;

	if (!s->version || !s->memory || __atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE))
		return;
	for (uint32_t i = 0; i < ENTRIES; i++)
		if (s->entry[i].f)
			scribe_stream_ends(s->memory, &s->entry[i], true);
	unlock(s);
}

/* ---- counting ---- */

/* No second thread has ever been. */
static inline bool alone(void)
{
	return *(volatile const char *)single;
}

bool scribe_stream_alone(void)
{
	return alone();
}

bool scribe_stream_mine(const struct scribe_stream *s)
{
	return s->owner == (uint64_t)(uintptr_t)&scribe_stream_cache;
}

static inline int64_t advance(struct scribe_stream *s, int64_t bytes)
{
	int64_t at = s->pos;

	if (!alone())
		return __atomic_fetch_add(&s->pos, bytes, __ATOMIC_RELAXED);
	s->pos = at + bytes;
	return at;
}

static void apply(struct scribe_stream *s, const struct scribe_lib_op *op)
{
	static struct scribe_ext_part none; /* streams count nothing there */
	struct scribe_lib_place at;

	if (alone())
		scribe_lib_cursor_alone(scribe_stream_cursor(s), op, &at);
	else
		scribe_lib_cursor(scribe_stream_cursor(s), op, &at);
	if (!scribe_stream_mine(s)) {
		scribe_lib_apply(&s->part[SCRIBE_PART_OTHERS], &none, op, &at, 1);
		return;
	}
	scribe_stream_mark(s);
	scribe_lib_apply(&s->part[SCRIBE_PART_OWN], &none, op, &at, 0);
	scribe_stream_mark(s);
	scribe_lib_apply(&s->part[SCRIBE_PART_AGAIN], &none, op, &at, 0);
}

void scribe_stream_data(struct scribe_stream *s, unsigned op, uint64_t bytes, uint64_t start)
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

void scribe_stream_back(struct scribe_stream *s, int64_t bytes)
{
	advance(s, -bytes);
}

static void other(struct scribe_stream *s, uint32_t what, uint32_t op_class, uint64_t start)
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

void scribe_stream_seek(struct scribe_stream *s, FILE *f, uint64_t start)
{
	int64_t at = scribe_stream_tell(f);

	__atomic_store_n(&s->pos, at < 0 ? INT64_MIN / 2 : at, __ATOMIC_RELAXED);
	other(s, SCRIBE_LIB_SEEK, SCRIBE_OP_META, start);
}

void scribe_stream_flush(struct scribe_stream *s, FILE *f, uint64_t start)
{
	struct scribe_stream_state *state = scribe_stream_state;
	struct scribe_stream_entry *e;
	int kept = errno;

	other(s, SCRIBE_LIB_FLUSH, SCRIBE_OP_WRITE, start);
	if (!lock(state))
		return;
	e = entry_of(state, f);
	if (e->f)
		scribe_stream_ends(state->memory, e, false);
	unlock(state);
	errno = kept;
}

/* ---- time ---- */

static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

#ifdef __x86_64__
#include <cpuid.h>

#define ANCHOR_NS   1000000ull /* a counter is trusted that long */
#define READ_CYCLES 5000ull    /* a longer reading of the clock was interrupted */

/* The thread's relation of counter and clock. */
static __thread struct {
	uint64_t ticks, ns;             /* now and then taken anew */
	uint64_t first_ticks, first_ns; /* the speed is measured from here */
	uint64_t span, speed;           /* ticks until the next; ns << 32 a tick, 0: not known yet */
} anchor __attribute__((tls_model("initial-exec")));

/* 1: the counter runs evenly on all processors (bit "invariant TSC"); -1 not. */
static int steady;

static uint64_t ticks_now(void)
{
	return __builtin_ia32_rdtsc();
}

static uint64_t anchor_anew(void)
{
	uint64_t before = ticks_now(), ns = clock_ns(), after = ticks_now();

	if (!steady) {
		unsigned a, b, c, d = 0;

		steady = __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8) ? 1 : -1;
	}
	if (steady < 0 || after - before > READ_CYCLES)
		return ns;
	if (!anchor.first_ticks || before < anchor.first_ticks) {
		anchor.first_ticks = before;
		anchor.first_ns = ns;
		anchor.speed = 0;
	} else if (ns - anchor.first_ns >= ANCHOR_NS) {
		double speed = (double)(ns - anchor.first_ns) / (double)(before - anchor.first_ticks);

		anchor.speed = (uint64_t)(speed * 4294967296.0);
		anchor.span = (uint64_t)((double)ANCHOR_NS / speed);
	}
	anchor.ticks = before;
	anchor.ns = ns;
	return ns;
}

uint64_t scribe_stream_now(void)
{
	uint64_t gone;

	if (!anchor.speed)
		return steady < 0 ? clock_ns() : anchor_anew();
	gone = ticks_now() - anchor.ticks;
	if (gone >= anchor.span)
		return anchor_anew();
	return anchor.ns + (gone * anchor.speed >> 32);
}
#else
uint64_t scribe_stream_now(void)
{
	return clock_ns();
}
#endif
