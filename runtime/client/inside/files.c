/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data calls of MPI-IO, counted: each calls the next definition of its name and
 * puts what it moved into the place of its file. Which calls there are is in
 * uprobes/mpiio_list.h; what counts, and as how many bytes, is what
 * uprobes/mpiio.bpf.h says for the same functions.
 *
 * The MPI library is probed all the same, for callers that do not come by here. The
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

#include "logfmt/counters_mpiio.h"
#include "runtime/client/compat.h"
#include "runtime/client/inside/streams.h"
#include "runtime/client/mpi_abi.h"
#include "uprobes/mpiio_list.h"

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
};

/* Of this thread. The word comes first: the kernel reads it. */
static __thread struct {
	uint64_t file; /* whose call the thread is in, 0 none */
	uintptr_t sp;  /* and where on the stack: a call that never returned is known by it */
	uint64_t told; /* the process to which the word has been announced */
	struct scribe_stream_cache cache;
} mine __attribute__((tls_model("initial-exec")));

static scribe_mpi_fn type_size;
static int is_openmpi;        /* 1 yes, -1 no */
static const void *file_null; /* MPI_FILE_NULL, once that is known */

/* ---- places ---- */

void scribe_file_announce(const void *file, uint32_t memory, uint32_t index, uint32_t gen)
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
static struct scribe_stream *place_of(const void *file, const void *caller)
{
	const struct scribe_stream_cache *c = &mine.cache;
	struct scribe_stream *s;

	if (c->f == file && c->version == scribe_stream_state->version && c->version &&
	    (!c->stream || *(volatile const uint32_t *)c->taken != c->gen))
		return c->stream;
	openmpi(caller);
	if (file == file_null)
		return NULL; /* the call will fail */
	s = scribe_file_find(file, &mine.cache);
	if (s && mine.told != scribe_stream_state->born) {
		ioscribe_file_site(NULL, 0, 0, 0, &mine.file);
		mine.told = scribe_stream_state->born;
	}
	return s;
}

/* Put back the bytes of the library that holds `code`. */
static void uncover(const void *code)
{
	struct scribe_stream_state *s = scribe_stream_state;
	struct scribe_streams *m = s->memory;
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
		scribe_table_count(&more->access[SCRIBE_PART_OTHERS], bytes);
		__atomic_store_n(&more->lock, 0, __ATOMIC_RELEASE);
		return;
	}
	__atomic_fetch_add(&more->access[SCRIBE_PART_OTHERS].dropped, 1, __ATOMIC_RELAXED);
}

static void apply_own(struct scribe_stream *s, struct scribe_stream_more *more, enum scribe_stream_part i,
		      const struct scribe_lib_op *op, const struct scribe_lib_place *at)
{
	scribe_lib_apply(&s->part[i], &more->ext[i], op, at, 0);
	if (scribe_top_count(s->part[i].access, scribe_lib_value(op), 0))
		scribe_table_count(&more->access[i], scribe_lib_value(op));
}

static void apply(struct scribe_stream *s, const struct scribe_lib_op *op)
{
	struct scribe_streams *m = scribe_stream_state->memory;
	struct scribe_stream_more *more = &m->more[s - m->stream];
	struct scribe_lib_place at;

	if (scribe_stream_alone())
		scribe_lib_cursor_alone(scribe_stream_cursor(s), op, &at);
	else
		scribe_lib_cursor(scribe_stream_cursor(s), op, &at);
	if (!scribe_stream_mine(s)) {
		scribe_lib_apply(&s->part[SCRIBE_PART_OTHERS], &more->ext[SCRIBE_PART_OTHERS], op, &at, 1);
		if (scribe_top_count(s->part[SCRIBE_PART_OTHERS].access, scribe_lib_value(op), 1))
			count_far(more, scribe_lib_value(op));
		return;
	}
	scribe_stream_mark(s);
	apply_own(s, more, SCRIBE_PART_OWN, op, &at);
	scribe_stream_mark(s);
	apply_own(s, more, SCRIBE_PART_AGAIN, op, &at);
}

static void count(struct scribe_stream *s, const struct form *f, const intptr_t *a, const void *caller,
		  uint64_t start)
{
	struct scribe_lib_op op = {.start_ns = start,
				   .end_ns = scribe_stream_now(),
				   .offset = -1,
				   .what = SCRIBE_LIB_DATA,
				   .op_class = f->op,
				   .count_at = f->count_at};
	int64_t n = f->wide ? (int64_t)a[f->count] : (int64_t)(int32_t)a[f->count];
	int64_t size = n ? size_of(a[f->type], caller) : 0;

	if (op.end_ns < start)
		op.end_ns = start;
	op.unsized = size < 0;
	op.bytes = size < 0 ? 0 : (uint64_t)(size * n);
	apply(s, &op);
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
	struct scribe_stream *s;
	uint64_t start;
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
	if (!scribe_stream_state->uncovered && scribe_stream_state->memory->nbytes)
		uncover((const void *)(uintptr_t)real);
	if (f->count_at == SCRIBE_MPIIO_COLL_READS || f->count_at == SCRIBE_MPIIO_COLL_WRITES)
		ioscribe_file_site(NULL, 0, 0, 0, NULL); /* HDF5 above wants to know */
	mine.sp = here;
	*(volatile uint64_t *)&mine.file = (uint64_t)a[0];
	start = scribe_stream_now();
	rc = real(a[0], a[1], a[2], a[3], a[4], a[5]);
	*(volatile uint64_t *)&mine.file = 0;
	if (rc == 0)
		count(s, f, a, caller, start);
	return rc;
}

/* ---- the calls ---- */

#define WRAP(symbol, op_, counter, count_, type_, wide_)                                                     \
	EXPORT int symbol(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);                       \
	EXPORT int symbol(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f)            \
	{                                                                                                    \
		static const struct form form = {#symbol, SCRIBE_OP_##op_, SCRIBE_MPIIO_##counter,           \
						 count_,  type_,           wide_};                           \
		static scribe_mpi_fn real;                                                                   \
		return call(&real, &form, __builtin_return_address(0),                                       \
			    (const intptr_t[ARGS]){a, b, c, d, e, f});                                       \
	}
#define WRAP_ALL(name, op, counter, count, type)                                                             \
	WRAP(MPI_File_##name, op, counter, count, type, false)                                               \
	WRAP(PMPI_File_##name, op, counter, count, type, false)                                              \
	WRAP(MPI_File_##name##_c, op, counter, count, type, true)                                            \
	WRAP(PMPI_File_##name##_c, op, counter, count, type, true)

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
	if (rc == 0 && name && file)
		scribe_file_opened(*file, name);
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
