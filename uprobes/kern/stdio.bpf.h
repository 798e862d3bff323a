/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of the C library: a stream's descriptor moves from POSIX to STDIO, where its system calls count. If
 * the program counts itself, only perror's output is added.
 */
#ifndef UPROBES_KERN_STDIO_BPF_H
#define UPROBES_KERN_STDIO_BPF_H

#include "bpf/kern/streams.bpf.h"
#include "uprobes/kern/call.bpf.h"

/* struct _IO_FILE of glibc: frozen, because macros once used its pointers. */
#define SCRIBE_FILE_FLAGS      0
#define SCRIBE_FILE_WRITE_BASE 32
#define SCRIBE_FILE_WRITE_PTR  40
#define SCRIBE_FILE_PUTTING    0x800

/* 0: none. */
static __always_inline __u64 scribe_stream_file(const struct scribe_library_offsets *im, __u64 stream)
{
	__s32 fd;

	if (!stream || !im->fileno_at)
		return 0;
	fd = (__s32)scribe_user_u32(stream + im->fileno_at);
	return fd < 0 ? 0 : scribe_fd_file(bpf_get_current_task_btf(), fd);
}

/* Position in a stream that is written, with buffered bytes. */
SCRIBE_GLOBAL __s64 scribe_stream_at(__u64 stream, __u64 file)
{
	__s64 pos;

	if (!file)
		return 0;
	pos = scribe_file_pos(file);
	if (!(scribe_user_u32(stream + SCRIBE_FILE_FLAGS) & SCRIBE_FILE_PUTTING))
		return pos;
	if (scribe_file_flags(file) & SCRIBE_O_APPEND)
		pos = scribe_file_size(file);
	return pos + (__s64)(scribe_user_u64(stream + SCRIBE_FILE_WRITE_PTR) -
			     scribe_user_u64(stream + SCRIBE_FILE_WRITE_BASE));
}

SCRIBE_GLOBAL __u32 scribe_stream_slot(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	return t && p ? scribe_stream_record(t, p, addr) : SCRIBE_SKIP_SLOT;
}

static __always_inline bool scribe_stream_counted(struct scribe_thread *t, struct scribe_proc *p, __u64 file)
{
	struct scribe_slot *s = scribe_lib_slot_at(scribe_stream_known(t, p, file, scribe_identity_at(file)));

	return s && s->kind == SCRIBE_KIND_STDIO && (s->flags & SCRIBE_SF_CALLS) && scribe_calls_counted(p, s);
}

/* Into calls->op. False: not counted. */
static __always_inline bool scribe_stream_meaning(struct scribe_calls *calls, const struct scribe_point *point,
						  __u64 file)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_STDIO];
	struct scribe_lib_op *op = &calls->op;
	__s64 at;

	switch (point->fn) {
	case SCRIBE_FN_STREAM_FDOPEN:
		op->what = SCRIBE_LIB_REOPEN;
		return true;
	case SCRIBE_FN_STREAM_FLUSH:
		op->what = SCRIBE_LIB_FLUSH;
		op->op_class = SCRIBE_OP_NONE; /* system calls have the time */
		return true;
	case SCRIBE_FN_STREAM_MESSAGE:
		at = scribe_stream_at(c->arg[0], file);
		if (at <= c->inner)
			return false;
		op->what = SCRIBE_LIB_DATA;
		op->op_class = SCRIBE_OP_WRITE;
		op->bytes = at - c->inner;
		op->offset = c->inner;
		return true;
	}
	return false; /* the open's system call has counted */
}

/* Into calls->fresh. False: not recorded. */
static __always_inline bool scribe_stream_handle(struct scribe_thread *t, struct scribe_proc *p,
						 struct scribe_calls *calls, const struct scribe_point *point,
						 __u64 file)
{
	struct scribe_slot *s;

	if (point->fn == SCRIBE_FN_STREAM_MESSAGE && !scribe_stream_counted(t, p, file))
		return false;
	__builtin_memset(&calls->fresh, 0, sizeof(calls->fresh));
	calls->fresh.slot = scribe_stream_slot(t, p, file);
	s = scribe_lib_slot_at(calls->fresh.slot);
	if (!s)
		return false;
	calls->fresh.generation = s->generation;
	return true;
}

static __always_inline int scribe_stdio_end(struct scribe_calls *calls, __u64 ret)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_STDIO];
	struct scribe_proc *p = 0;
	struct scribe_thread *t = scribe_caller(&p);
	struct scribe_library_offsets *im;
	struct scribe_point *point;
	__u64 file;

	if (!t || !p)
		return 0;
	t->stream_open = 0;
	point = scribe_point_at(c->at);
	im = point ? scribe_library_offsets_at(point->image) : 0;
	if (!im)
		return 0;
	scribe_op_begin(&calls->op, c->start_ns, bpf_ktime_get_ns());
	file = scribe_stream_file(im, point->fn <= SCRIBE_FN_STREAM_FDOPEN ? ret : c->arg[0]);
	if (!file || (point->fn == SCRIBE_FN_STREAM_FLUSH && (__s32)ret != 0))
		return 0;
	if (scribe_stream_handle(t, p, calls, point, file) && scribe_stream_meaning(calls, point, file))
		scribe_lib_on(t, p, &calls->fresh, &calls->op);
	return 0;
}

static __always_inline void scribe_stdio_begin(struct scribe_thread *t, struct scribe_call *c,
					       const struct scribe_point *point,
					       const struct scribe_library_offsets *im)
{
	if (point->fn == SCRIBE_FN_STREAM_OPEN) {
		t->stream_open = 1;
	} else if (point->fn == SCRIBE_FN_STREAM_MESSAGE) {
		c->arg[0] = c->base + im->stderr_at;
		c->inner = scribe_stream_at(c->arg[0], scribe_stream_file(im, c->arg[0]));
	}
}

#endif
