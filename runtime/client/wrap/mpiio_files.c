/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO counted in the program. Data calls (uprobes/tables/mpiio_list.h) add to their file's slot. The MPI
 * library is not probed: opens, closes, syncs, views, and data calls without a slot pass through probed
 * functions here. State per file is in streams.c. Must not know: stdio, logs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "logfmt/counters/counters_mpiio.h"
#include "runtime/client/mpi/mpi_abi.h"
#include "runtime/client/process/compat.h"
#include "runtime/client/wrap/cursors.h"
#include "runtime/client/wrap/file_views.h"
#include "runtime/client/wrap/heat.h"
#include "runtime/client/wrap/segments.h"
#include "runtime/client/wrap/streams.h"
#include "uprobes/tables/mpiio_list.h"

#define EXPORT __attribute__((visibility("default")))
#define NO_MPI 16 /* cannot happen: no next definition */
#define ARGS   6
/* Yields; then the size counts as dropped. */
#define LOCK_TRIES 1000
/* MPICH datatype handles: kind and size. */
#define BUILTIN   0x4c000000u
#define INFO_NULL 0x1c000000u /* MPICH */

/* Probed to report a slot; the kernel emulates its first instruction. */
void ioscribe_file_site(const void *file, uint32_t memory, uint32_t index, uint32_t gen, const void *word);
__asm__(".text\n"
	".globl ioscribe_file_site\n"
	".type ioscribe_file_site, %function\n"
	"ioscribe_file_site:\n"
	"	nop\n"
	"	ret\n"
	".size ioscribe_file_site, .-ioscribe_file_site\n");

__attribute__((section(".probes"), visibility("default"))) volatile unsigned short ioscribe_file_on = 0;

/* All arguments are in registers; unused ones are ignored. */
typedef int (*data_fn)(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);

/* The original call. */
struct onward {
	data_fn real;
	const intptr_t *a;
};

static int pass(const struct onward *o)
{
	return o->real(o->a[0], o->a[1], o->a[2], o->a[3], o->a[4], o->a[5]);
}

typedef int (*size_fn)(intptr_t, int64_t *);

struct form {
	const char *name;
	uint8_t op, count_at;
	uint8_t count, type; /* argument numbers */
	bool wide;           /* 64-bit count */
	enum scribe_file_where where;
};

/* `file` must be first: the kernel reads it. */
static __thread struct {
	uint64_t file;         /* of the current call, 0 none */
	uintptr_t sp;          /* stack position, to recognise a call that never returned */
	uint64_t announced_to; /* `born` of the process that announced the word */
	struct scribe_stream_cache cache;
} mine __attribute__((tls_model("initial-exec")));

static scribe_mpi_fn type_size;
static int is_openmpi;        /* 1 yes, -1 no */
static const void *file_null; /* MPI_FILE_NULL of Open MPI */

static void announce(const void *file, uint32_t memory, uint32_t index, uint32_t gen)
{
	ioscribe_file_site(file, memory, index, gen, &mine.file);
}

/* NULL: none. */
static const void *object_of(const char *name, const void *caller)
{
	/* The program may have a copy of the object; that one is in use. */
	const void *at = dlsym(RTLD_DEFAULT, name);

	if (!at)
		at = (const void *)(uintptr_t)scribe_mpi_next(name, caller);
	dlerror(); /* the program must not see failed lookups */
	return at;
}

/* By an object that only Open MPI exports. */
static bool openmpi(const void *caller)
{
	if (!is_openmpi) {
		file_null = object_of("ompi_mpi_file_null", caller);
		is_openmpi = file_null ? 1 : -1;
	}
	return is_openmpi > 0;
}

/* NULL: not counted here. */
static struct scribe_counter_slot *place_of(const void *file, const void *caller)
{
	const struct scribe_stream_cache *c = &mine.cache;
	struct scribe_counter_slot *s;

	/* Valid while the table is unchanged and the daemon has not taken this use. */
	if (c->f == file && c->version == scribe_stream_state->version && c->version &&
	    (!c->stream || *(volatile const uint32_t *)c->taken != c->gen))
		return c->stream;
	openmpi(caller);
	if (file == file_null)
		return NULL; /* will fail */
	s = scribe_file_find(file, &mine.cache, announce);
	if (s && mine.announced_to != scribe_stream_state->born) {
		/* A forked child has announced nothing yet. */
		ioscribe_file_site(NULL, 0, 0, 0, &mine.file);
		mine.announced_to = scribe_stream_state->born;
	}
	return s;
}

/* Of one element; -1: not known. */
static int64_t size_of(intptr_t datatype, const void *caller)
{
	int64_t size = 0;

	if (!openmpi(caller) && ((uint32_t)datatype & 0xff000000u) == BUILTIN)
		return ((uint32_t)datatype >> 8) & 0xff;
	if (!type_size)
		type_size = scribe_mpi_next("PMPI_Type_size_x", caller);
	if (!type_size || ((size_fn)(uintptr_t)type_size)(datatype, &size) != 0)
		return -1;
	return size;
}

static void count_far(struct scribe_stream_more *more, int64_t bytes)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (__atomic_exchange_n(&more->lock, 1, __ATOMIC_ACQUIRE)) {
			/* Try-lock with a limit: the holder may be interrupted by this thread's signal. */
			syscall(SYS_sched_yield);
			continue;
		}
		scribe_table_count(&more->access[SCRIBE_SHARD_SHARED], bytes);
		__atomic_store_n(&more->lock, 0, __ATOMIC_RELEASE);
		return;
	}
	__atomic_fetch_add(&more->access[SCRIBE_SHARD_SHARED].dropped, 1, __ATOMIC_RELAXED);
}

static void apply_own(struct scribe_counter_slot *s, struct scribe_stream_more *more, enum scribe_stream_shard i,
		      const struct scribe_lib_op *op, const struct scribe_lib_address *at)
{
	scribe_lib_apply(&s->shard[i], &more->ext[i], op, at, 0);
	scribe_stream_heat(scribe_stream_state->memory, s, i, op);
	if (scribe_top_count(s->shard[i].access, scribe_lib_value(op), 0))
		scribe_table_count(&more->access[i], scribe_lib_value(op));
}

static void apply(struct scribe_counter_slot *s, const struct scribe_lib_op *op)
{
	struct scribe_shm_counters *m = scribe_stream_state->memory;
	struct scribe_stream_more *more = &m->more[s - m->stream];
	struct scribe_lib_address at;

	scribe_stream_untimed();
	if (scribe_stream_alone())
		scribe_lib_cursor_alone(scribe_stream_cursor(s), op, &at);
	else
		scribe_lib_cursor(scribe_stream_cursor(s), op, &at);
	if (!scribe_stream_mine(s)) {
		scribe_lib_apply(&s->shard[SCRIBE_SHARD_SHARED], &more->ext[SCRIBE_SHARD_SHARED], op, &at, 1);
		scribe_stream_heat(scribe_stream_state->memory, s, SCRIBE_SHARD_SHARED, op);
		if (scribe_top_count(s->shard[SCRIBE_SHARD_SHARED].access, scribe_lib_value(op), 1))
			count_far(more, scribe_lib_value(op));
		return;
	}
	scribe_stream_mark(s);
	/* The owner's shard twice, one under its lock word: the daemon always finds one whole. */
	apply_own(s, more, SCRIBE_SHARD_OWNER, op, &at);
	scribe_stream_mark(s);
	apply_own(s, more, SCRIBE_SHARD_OWNER_SHADOW, op, &at);
}

static void put_segment(const struct scribe_counter_slot *s, const struct form *f, const intptr_t *a,
			const struct scribe_lib_op *op, int64_t at, const void *caller)
{
	struct scribe_shm_counters *m = scribe_stream_state->memory;
	const struct scribe_shm_segment segment = {
		.offset = scribe_file_byte((const void *)a[0], &mine.cache.view, at, op->bytes, caller),
		.bytes = op->bytes,
		.start_ns = op->start_ns,
		.end_ns = op->end_ns,
		.entry = (uint32_t)(s - m->stream),
		.gen = mine.cache.gen,
		.op = f->op};

	if (scribe_segment_put(m, scribe_stream_state->born, &segment))
		ioscribe_file_site((const void *)a[0], m->id, segment.entry, segment.gen, &mine.file);
}

static int64_t number_of(const struct form *f, const intptr_t *a)
{
	return f->wide ? (int64_t)a[f->count] : (int64_t)(int32_t)a[f->count];
}

/* -1: not known. */
static int64_t moved(const struct form *f, const intptr_t *a, const void *caller)
{
	int64_t n = number_of(f, a);
	int64_t size = n ? size_of(a[f->type], caller) : 0;

	return size < 0 ? -1 : size * n;
}

static struct scribe_lib_op count(struct scribe_counter_slot *s, const struct form *f, const intptr_t *a,
				  const void *caller, uint64_t start)
{
	struct scribe_lib_op op = {.start_ns = start,
				   .end_ns = scribe_stream_now(),
				   .offset = -1,
				   .what = SCRIBE_LIB_DATA,
				   .op_class = f->op,
				   .count_at = f->count_at};
	int64_t bytes = moved(f, a, caller);

	if (op.end_ns < start)
		op.end_ns = start;
	op.unsized = bytes < 0;
	op.bytes = bytes < 0 ? 0 : (uint64_t)bytes;
	apply(s, &op);
	return op;
}

static data_fn next(scribe_mpi_fn *slot, const char *name, const void *caller)
{
	scribe_mpi_fn found = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (!found) {
		found = scribe_mpi_next(name, caller);
		__atomic_store_n(slot, found, __ATOMIC_RELAXED);
	}
	return (data_fn)(uintptr_t)found;
}

/* ---- probed functions (uprobes/tables/probes.c) ---- */

/* Not cloned or inlined: the probe must see every call. */
#define PROBED EXPORT __attribute__((noinline))

struct data {
	struct onward onward;
	const struct form *form;
	const void *caller;
	int64_t bytes; /* -1: not known */
};

/* A data call without a slot; `at`: offset argument, -1 none. */
PROBED int ioscribe_mpi_data(const void *file, const int64_t *bytes, uint64_t what, int64_t at, struct data *d);
PROBED int ioscribe_mpi_data(const void *file, const int64_t *bytes, uint64_t what, int64_t at, struct data *d)
{
	int rc = pass(&d->onward);

	(void)file, (void)bytes, (void)what, (void)at;
	d->bytes = rc == 0 ? moved(d->form, d->onward.a, d->caller) : -1;
	return rc;
}

struct opening {
	struct onward onward;
	const void *caller;
	int processes; /* of the communicator; 0: not known */
};

PROBED int ioscribe_mpi_open(const int *processes, const char *name, intptr_t mode, bool hints, void **file,
			     struct opening *o);
PROBED int ioscribe_mpi_open(const int *processes, const char *name, intptr_t mode, bool hints, void **file,
			     struct opening *o)
{
	static scribe_mpi_fn slot;
	int (*comm_size)(intptr_t, int *) =
		(int (*)(intptr_t, int *))(uintptr_t)next(&slot, "PMPI_Comm_size", o->caller);
	int rc = pass(&o->onward);

	(void)processes, (void)name, (void)mode, (void)hints, (void)file;
	if (rc == 0 && comm_size && comm_size(o->onward.a[0], &o->processes) != 0)
		o->processes = 0;
	return rc;
}

PROBED int ioscribe_mpi_close(void **file, const struct onward *o);
PROBED int ioscribe_mpi_close(void **file, const struct onward *o)
{
	(void)file;
	return pass(o);
}

PROBED int ioscribe_mpi_sync(const void *file, const struct onward *o);
PROBED int ioscribe_mpi_sync(const void *file, const struct onward *o)
{
	(void)file;
	return pass(o);
}

PROBED int ioscribe_mpi_view(const void *file, bool hints, const struct onward *o);
PROBED int ioscribe_mpi_view(const void *file, bool hints, const struct onward *o)
{
	(void)file, (void)hints;
	return pass(o);
}

/* Through a probed function. */
static int call_reported(const struct form *f, const struct onward *o, const void *caller)
{
	const intptr_t *a = o->a;
	struct data d = {.onward = *o, .form = f, .caller = caller};

	if ((const void *)a[0] == file_null)
		return pass(o);
	return ioscribe_mpi_data((const void *)a[0], &d.bytes, f->op | (uint64_t)f->count_at << 8,
				 f->where == SCRIBE_FILE_AT ? (int64_t)a[1] : -1, &d);
}

static int call(scribe_mpi_fn *slot, const struct form *f, const void *caller, const intptr_t a[ARGS])
{
	data_fn real = next(slot, f->name, caller);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct scribe_counter_slot *s;
	int64_t at = -1;
	uint64_t start;
	bool wanted;
	int rc;

	if (!real)
		return NO_MPI;
	/* Nested in another MPI-IO call (lower on the stack): that one counts. */
	if (!ioscribe_file_on || (mine.file && here < mine.sp))
		return real(a[0], a[1], a[2], a[3], a[4], a[5]);
	s = place_of((const void *)a[0], caller);
	if (f->count_at == SCRIBE_MPIIO_COLL_READS || f->count_at == SCRIBE_MPIIO_COLL_WRITES)
		ioscribe_file_site(NULL, 0, 0, 0, NULL); /* HDF5's probes need it */
	if (!s)
		return call_reported(f, &(struct onward){real, a}, caller);
	mine.sp = here;
	*(volatile uint64_t *)&mine.file = (uint64_t)a[0];
	/* During the call the kernel attributes system calls to this file. */
	/* repeated, so that every operation started after the daemon's request is kept */
	do {
		wanted = scribe_segment_wanted(scribe_stream_state->memory);
		if (wanted && (number_of(f, a) > 0 || mine.cache.view.kind == SCRIBE_VIEW_WHOLE))
			at = scribe_file_at((const void *)a[0], &mine.cache.view, f->where, a[1], caller);
		start = scribe_stream_now();
	} while (!wanted && scribe_segment_wanted(scribe_stream_state->memory));
	rc = real(a[0], a[1], a[2], a[3], a[4], a[5]);
	*(volatile uint64_t *)&mine.file = 0;
	if (rc == 0) {
		const struct scribe_lib_op op = count(s, f, a, caller, start);

		if (wanted)
			put_segment(s, f, a, &op, at, caller);
	}
	return rc;
}

#define WRAP(symbol, op_, counter, count_, type_, wide_, where_) \
	EXPORT int symbol(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t); \
	EXPORT int symbol(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f) \
	{ \
		static const struct form form = {#symbol, SCRIBE_OP_##op_, SCRIBE_MPIIO_##counter, count_, \
						 type_,   wide_,           SCRIBE_FILE_##where_}; \
		static scribe_mpi_fn real; \
		return call(&real, &form, __builtin_return_address(0), (const intptr_t[ARGS]){a, b, c, d, e, f}); \
	}
#define WRAP_ALL(name, op, counter, count, type, where) \
	WRAP(MPI_File_##name, op, counter, count, type, false, where) \
	WRAP(PMPI_File_##name, op, counter, count, type, false, where) \
	WRAP(MPI_File_##name##_c, op, counter, count, type, true, where) \
	WRAP(PMPI_File_##name##_c, op, counter, count, type, true, where)

SCRIBE_MPIIO_DATA(WRAP_ALL)

static bool has_hints(intptr_t info, const void *caller)
{
	static const void *null;

	if (!openmpi(caller))
		return (uint32_t)info != INFO_NULL;
	if (!null)
		null = object_of("ompi_mpi_info_null", caller);
	return null && (const void *)info != null;
}

static int open_file(const struct onward *on, const void *caller)
{
	const intptr_t *a = on->a;
	struct opening o = {*on, caller, 0};
	void **file = (void **)a[4];
	uint64_t name = a[1] ? scribe_file_name((const char *)a[1]) : 0;
	int rc = ioscribe_mpi_open(&o.processes, (const char *)a[1], a[2], has_hints(a[3], caller), file, &o);

	if (rc == 0 && name && file) {
		const struct scribe_file_view view = scribe_file_first_view((int)a[2]);

		scribe_file_opened(*file, name, &view);
	}
	return rc;
}

static int view_file(const struct onward *on, const void *caller)
{
	const intptr_t *a = on->a;
	int rc = ioscribe_mpi_view((const void *)a[0], has_hints(a[5], caller), on);

	if (rc == 0) {
		const struct scribe_file_view view = scribe_file_view_of(a[1], a[2], a[3], (const char *)a[4], caller);

		scribe_file_viewed((const void *)a[0], &view);
	}
	return rc;
}

static int sync_file(const struct onward *on, const void *caller)
{
	(void)caller;
	return ioscribe_mpi_sync((const void *)on->a[0], on);
}

static int close_file(const struct onward *on, const void *caller)
{
	void **file = (void **)on->a[0];

	(void)caller;
	/* Before the close: the address may be reused at once. */
	if (file)
		scribe_stream_forget(*file);
	return ioscribe_mpi_close(file, on);
}

static int other(scribe_mpi_fn *slot, const char *symbol, int (*fn)(const struct onward *, const void *),
		 const void *caller, const intptr_t a[ARGS])
{
	const struct onward on = {next(slot, symbol, caller), a};

	if (!on.real)
		return NO_MPI;
	return ioscribe_file_on ? fn(&on, caller) : pass(&on);
}

#define WRAP_OTHER(symbol, fn) \
	EXPORT int symbol(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t); \
	EXPORT int symbol(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f) \
	{ \
		static scribe_mpi_fn real; \
		return other(&real, #symbol, fn, __builtin_return_address(0), \
			     (const intptr_t[ARGS]){a, b, c, d, e, f}); \
	}
#define WRAP_BOTH(name, fn) \
	WRAP_OTHER(MPI_File_##name, fn) \
	WRAP_OTHER(PMPI_File_##name, fn)
WRAP_BOTH(open, open_file)
WRAP_BOTH(close, close_file)
WRAP_BOTH(sync, sync_file)
WRAP_BOTH(set_view, view_file)
