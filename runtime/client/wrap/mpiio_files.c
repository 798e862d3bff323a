/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data calls of MPI-IO, counted: each calls the next definition of its name and
 * puts what it moved into the place of its file. Which calls there are is in
 * uprobes/tables/mpiio_list.h; what counts, and as how many bytes, is what
 * uprobes/kern/mpiio.bpf.h says for the same functions.
 *
 * The MPI library is probed anyway, for callers that do not come by here. The
 * kernel side leaves out a call while the thread's word names its file. Once the
 * daemon has said which bytes stand beneath the probes, they are put back in this
 * process: a call that is counted here then meets no trap. Where that fails, calls
 * are slower and as exact. Must not know: streams of the C library, logs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "logfmt/counters/counters_mpiio.h"
#include "runtime/client/process/compat.h"
#include "runtime/client/wrap/cursors.h"
#include "runtime/client/wrap/file_views.h"
#include "runtime/client/wrap/heat.h"
#include "runtime/client/wrap/segments.h"
#include "runtime/client/wrap/streams.h"
#include "runtime/client/mpi/mpi_abi.h"
#include "uprobes/tables/mpiio_list.h"

#define EXPORT     __attribute__((visibility("default")))
#define NO_MPI     16 /* an error code for the case that cannot be: no next name */
#define ARGS       6
#define LOCK_TRIES 1000
#define BREAK      0xcc /* a probe, in memory */
#define BUILTIN    0x4c000000u

/* The probed places: the kernel emulates their first instruction. */
void ioscribe_file_site(const void *file, uint32_t memory, uint32_t index, uint32_t gen, const void *word);
__asm__(".text\n"
	".globl ioscribe_file_site\n"
	".type ioscribe_file_site, %function\n"
	"ioscribe_file_site:\n"
	"	nop\n"
	"	ret\n"
	".size ioscribe_file_site, .-ioscribe_file_site\n");

__attribute__((section(".probes"), visibility("default"))) volatile unsigned short ioscribe_file_on = 0;

/* All arguments are in registers; a function with fewer does not look at the others. */
typedef int (*data_fn)(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);
typedef int (*size_fn)(intptr_t, int64_t *);

struct form {
	const char *name;
	uint8_t op, count_at;
	uint8_t count, type; /* which arguments */
	bool wide;           /* a count of 64 bits */
	enum scribe_file_where where;
};

/* Of this thread. The word comes first: the kernel reads it. */
static __thread struct {
	uint64_t file; /* whose call the thread is in, 0 none */
	uintptr_t sp;  /* and where on the stack: a call that never returned is known by it */
	uint64_t announced_to; /* the process to which the word has been announced */
	struct scribe_stream_cache cache;
} mine __attribute__((tls_model("initial-exec")));

static scribe_mpi_fn type_size;
static int is_openmpi;        /* 1 yes, -1 no */
static const void *file_null; /* MPI_FILE_NULL, once that is known */

/* ---- places ---- */

static void announce(const void *file, uint32_t memory, uint32_t index, uint32_t gen)
{
	ioscribe_file_site(file, memory, index, gen, &mine.file);
}

static bool openmpi(const void *caller)
{
	if (!is_openmpi) {
		file_null = dlsym(RTLD_DEFAULT, "ompi_mpi_file_null"); /* the program's own copy, perhaps */
		if (!file_null)
			file_null = (const void *)(uintptr_t)scribe_mpi_next("ompi_mpi_file_null", caller);
		is_openmpi = file_null ? 1 : -1;
		dlerror(); /* the program shall not meet our failed lookup */
	}
	return is_openmpi > 0;
}

/* The place of a file, NULL: not counted here. */
static struct scribe_counter_slot *place_of(const void *file, const void *caller)
{
	const struct scribe_stream_cache *c = &mine.cache;
	struct scribe_counter_slot *s;

	if (c->f == file && c->version == scribe_stream_state->version && c->version &&
	    (!c->stream || *(volatile const uint32_t *)c->taken != c->gen))
		return c->stream;
	openmpi(caller);
	if (file == file_null)
		return NULL; /* the call will fail */
	s = scribe_file_find(file, &mine.cache, announce);
	if (s && mine.announced_to != scribe_stream_state->born) {
		ioscribe_file_site(NULL, 0, 0, 0, &mine.file);
		mine.announced_to = scribe_stream_state->born;
	}
	return s;
}

/* Put back the bytes of the library that holds `code`. */
static void uncover(const void *code)
{
	struct scribe_stream_state *s = scribe_stream_state;
	struct scribe_shm_counters *m = s->memory;
	uint64_t n = __atomic_load_n(&m->nbytes, __ATOMIC_ACQUIRE);
	Dl_info whole, at;
	int fd;

	if (__atomic_exchange_n(&s->uncovered, 1, __ATOMIC_ACQ_REL) || n > SCRIBE_PROBE_BYTES_MAX ||
	    !dladdr(code, &whole))
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC);
	for (uint64_t i = 0; fd >= 0 && i < n; i++) {
		uintptr_t address = (uintptr_t)whole.dli_fbase + m->byte[i].vaddr;
		unsigned char now = 0, was = (unsigned char)m->byte[i].was;

		if (!dladdr((void *)address, &at) || at.dli_fbase != whole.dli_fbase ||
		    syscall(SYS_pread64, fd, &now, 1, address) != 1 || now != BREAK)
			continue;
		if (syscall(SYS_pwrite64, fd, &was, 1, address) != 1)
			break;
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
}

/* ---- counting ---- */

/* Bytes of one element of a datatype that a call has just taken. */
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

/* Among everybody else's further sizes. Not waited for beyond a moment: a signal may have come between. */
static void count_far(struct scribe_stream_more *more, int64_t bytes)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (__atomic_exchange_n(&more->lock, 1, __ATOMIC_ACQUIRE)) {
			syscall(SYS_sched_yield);
			continue;
		}
		scribe_table_count(&more->access[SCRIBE_PART_SHARED], bytes);
		__atomic_store_n(&more->lock, 0, __ATOMIC_RELEASE);
		return;
	}
	__atomic_fetch_add(&more->access[SCRIBE_PART_SHARED].dropped, 1, __ATOMIC_RELAXED);
}

static void apply_own(struct scribe_counter_slot *s, struct scribe_stream_more *more, enum scribe_stream_part i,
		      const struct scribe_lib_op *op, const struct scribe_lib_place *at)
{
	scribe_lib_apply(&s->part[i], &more->ext[i], op, at, 0);
	scribe_stream_heat(scribe_stream_state->memory, s, i, op);
	if (scribe_top_count(s->part[i].access, scribe_lib_value(op), 0))
		scribe_table_count(&more->access[i], scribe_lib_value(op));
}

static void apply(struct scribe_counter_slot *s, const struct scribe_lib_op *op)
{
	struct scribe_shm_counters *m = scribe_stream_state->memory;
	struct scribe_stream_more *more = &m->more[s - m->stream];
	struct scribe_lib_place at;

	scribe_stream_untimed();
	if (scribe_stream_alone())
		scribe_lib_cursor_alone(scribe_stream_cursor(s), op, &at);
	else
		scribe_lib_cursor(scribe_stream_cursor(s), op, &at);
	if (!scribe_stream_mine(s)) {
		scribe_lib_apply(&s->part[SCRIBE_PART_SHARED], &more->ext[SCRIBE_PART_SHARED], op, &at, 1);
		scribe_stream_heat(scribe_stream_state->memory, s, SCRIBE_PART_SHARED, op);
		if (scribe_top_count(s->part[SCRIBE_PART_SHARED].access, scribe_lib_value(op), 1))
			count_far(more, scribe_lib_value(op));
		return;
	}
	scribe_stream_mark(s);
	apply_own(s, more, SCRIBE_PART_OWNER, op, &at);
	scribe_stream_mark(s);
	apply_own(s, more, SCRIBE_PART_OWNER_SHADOW, op, &at);
}

/* The operation by itself, for the daemon, which is woken when it should come soon. */
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

	if (scribe_segment_put(m, (uint64_t)(uintptr_t)&mine, scribe_stream_state->born, &segment))
		ioscribe_file_site((const void *)a[0], m->id, segment.entry, segment.gen, &mine.file);
}

static int64_t number_of(const struct form *f, const intptr_t *a)
{
	return f->wide ? (int64_t)a[f->count] : (int64_t)(int32_t)a[f->count];
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
	int64_t n = number_of(f, a);
	int64_t size = n ? size_of(a[f->type], caller) : 0;

	if (op.end_ns < start)
		op.end_ns = start;
	op.unsized = size < 0;
	op.bytes = size < 0 ? 0 : (uint64_t)(size * n);
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
	if (!ioscribe_file_on || (mine.file && here < mine.sp))
		return real(a[0], a[1], a[2], a[3], a[4], a[5]);
	s = place_of((const void *)a[0], caller);
	if (!s) {
		if (scribe_stream_state->uncovered && (const void *)a[0] != file_null)
			__atomic_fetch_add(&scribe_stream_state->memory->lost, 1, __ATOMIC_RELAXED);
		return real(a[0], a[1], a[2], a[3], a[4], a[5]);
	}
	if (!scribe_stream_state->uncovered && scribe_stream_state->memory->nbytes &&
	    scribe_may_call())
		uncover((const void *)(uintptr_t)real);
	if (f->count_at == SCRIBE_MPIIO_COLL_READS || f->count_at == SCRIBE_MPIIO_COLL_WRITES)
		ioscribe_file_site(NULL, 0, 0, 0, NULL); /* HDF5 above wants to know */
	mine.sp = here;
	*(volatile uint64_t *)&mine.file = (uint64_t)a[0];
	/* whatever begins once the daemon has said that it wants it is kept */
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

/* ---- the calls ---- */

#define WRAP(symbol, op_, counter, count_, type_, wide_, where_)                                             \
	EXPORT int symbol(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);                       \
	EXPORT int symbol(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f)            \
	{                                                                                                    \
		static const struct form form = {#symbol, SCRIBE_OP_##op_, SCRIBE_MPIIO_##counter,           \
						 count_,  type_,           wide_,                            \
						 SCRIBE_FILE_##where_};                                      \
		static scribe_mpi_fn real;                                                                   \
		return call(&real, &form, __builtin_return_address(0),                                       \
			    (const intptr_t[ARGS]){a, b, c, d, e, f});                                       \
	}
#define WRAP_ALL(name, op, counter, count, type, where)                                                      \
	WRAP(MPI_File_##name, op, counter, count, type, false, where)                                        \
	WRAP(PMPI_File_##name, op, counter, count, type, false, where)                                       \
	WRAP(MPI_File_##name##_c, op, counter, count, type, true, where)                                     \
	WRAP(PMPI_File_##name##_c, op, counter, count, type, true, where)

SCRIBE_MPIIO_DATA(WRAP_ALL)

/* What is opened under a name goes on where the last one under it has ended. */
static int open_file(scribe_mpi_fn *slot, const char *symbol, const void *caller, const intptr_t a[ARGS])
{
	data_fn real = next(slot, symbol, caller);
	void **file = (void **)a[4];
	uint64_t name;
	int rc;

	if (!real)
		return NO_MPI;
	name = ioscribe_file_on && a[1] ? scribe_file_name((const char *)a[1]) : 0;
	rc = real(a[0], a[1], a[2], a[3], a[4], a[5]);
	if (rc == 0 && name && file) {
		const struct scribe_file_view view = scribe_file_first_view((int)a[2]);

		scribe_file_opened(*file, name, &view);
	}
	return rc;
}

#define WRAP_OPEN(symbol)                                                                                    \
	EXPORT int symbol(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);                                 \
	EXPORT int symbol(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e)                        \
	{                                                                                                    \
		static scribe_mpi_fn real;                                                                   \
		return open_file(&real, #symbol, __builtin_return_address(0),                                \
				 (const intptr_t[ARGS]){a, b, c, d, e});                                     \
	}
WRAP_OPEN(MPI_File_open)
WRAP_OPEN(PMPI_File_open)

static int view_file(scribe_mpi_fn *slot, const char *symbol, const void *caller, const intptr_t a[ARGS])
{
	data_fn real = next(slot, symbol, caller);
	int rc;

	if (!real)
		return NO_MPI;
	rc = real(a[0], a[1], a[2], a[3], a[4], a[5]);
	if (rc == 0 && ioscribe_file_on) {
		const struct scribe_file_view view =
			scribe_file_view_of(a[1], a[2], a[3], (const char *)a[4], caller);

		scribe_file_viewed((const void *)a[0], &view);
	}
	return rc;
}

#define WRAP_VIEW(symbol)                                                                                    \
	EXPORT int symbol(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);                       \
	EXPORT int symbol(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f)            \
	{                                                                                                    \
		static scribe_mpi_fn real;                                                                   \
		return view_file(&real, #symbol, __builtin_return_address(0),                                \
				 (const intptr_t[ARGS]){a, b, c, d, e, f});                                  \
	}
WRAP_VIEW(MPI_File_set_view)
WRAP_VIEW(PMPI_File_set_view)

/* The file is about to be gone, and its address another one's. */
static int close_file(scribe_mpi_fn *slot, const char *name, const void *caller, void **file)
{
	int (*real)(void **) = (int (*)(void **))(uintptr_t)next(slot, name, caller);

	if (!real)
		return NO_MPI;
	if (ioscribe_file_on && file)
		scribe_stream_forget(*file);
	return real(file);
}

#define WRAP_CLOSE(symbol)                                                                                   \
	EXPORT int symbol(void **file);                                                                      \
	EXPORT int symbol(void **file)                                                                       \
	{                                                                                                    \
		static scribe_mpi_fn real;                                                                   \
		return close_file(&real, #symbol, __builtin_return_address(0), file);                        \
	}
WRAP_CLOSE(MPI_File_close)
WRAP_CLOSE(PMPI_File_close)
